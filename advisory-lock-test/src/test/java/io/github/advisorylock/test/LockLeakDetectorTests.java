/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.test;

import java.util.Objects;
import java.util.concurrent.CountDownLatch;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.test.shop.OrderRepository;
import io.github.advisorylock.test.shop.ShopApplication;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedSuccessfully;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

/**
 * Tests for {@link LockLeakDetector}: runs tests that leave something behind.
 */
@Tag("gate")
class LockLeakDetectorTests {

	private static final String PARAMETER = "leaks";

	private static final CountDownLatch END = new CountDownLatch(1);

	@Test
	void lockThatIsLeftBehindFailsItsTestOnly() {
		Events tests = run(LeftLocks.class);
		tests.assertThatEvents()
			.haveExactly(1, event(test("leavesLock"),
					finishedWithFailure(
							message((text) -> text.contains("left behind advisory lock left (EXCLUSIVE, taken by")))))
			.haveExactly(1, event(test("holdsElsewhere"), finishedWithFailure()))
			.haveExactly(1, event(test("leavesNothing"), finishedSuccessfully()));
	}

	@Test
	void threadThatIsLeftBehindFailsItsTestOnly() {
		run(LeftThreads.class).assertThatEvents()
			.haveExactly(1,
					event(test("leavesThread"),
							finishedWithFailure(message((text) -> text.contains("thread 'advisory-lock-left'")))))
			.haveExactly(1,
					event(test("leavesScheduler"),
							finishedWithFailure(message((text) -> text.contains("thread 'advisory-lock-worker'")))))
			.haveExactly(1, event(test("endsThread"), finishedSuccessfully()))
			.haveExactly(1, event(test("wakesThreadOfOthers"), finishedSuccessfully()));
	}

	@Test
	void applicationThatIsLeftOpenFailsItsTestOnly() {
		run(LeftApplications.class).assertThatEvents()
			.haveExactly(1,
					event(test("leavesApplication"),
							finishedWithFailure(message((text) -> text.contains("thread 'advisory-lock-timer'")))))
			.haveExactly(1, event(test("closesApplication"), finishedSuccessfully()));
	}

	private static Events run(Class<?> tests) {
		return EngineTestKit.engine("junit-jupiter")
			.configurationParameter(PARAMETER, "true")
			.configurationParameter("advisory-lock.test.patience", "PT1S")
			.selectors(selectClass(tests))
			.execute()
			.testEvents();
	}

	/**
	 * Tests that leave locks behind.
	 */
	@ExtendWith(OnDemand.class)
	@AdvisoryLockTest
	@ContextConfiguration(classes = ShopApplication.class)
	static class LeftLocks {

		@Autowired
		private AdvisoryLockOperations operations;

		@Autowired
		private TestLocks locks;

		@MockitoBean
		@SuppressWarnings("unused")
		private OrderRepository orders;

		@Test
		void leavesLock() {
			this.operations.tryAcquire(LockRequest.of("left")).orElseThrow();
		}

		@Test
		@SuppressWarnings("resource")
		void holdsElsewhere() {
			this.locks.holdElsewhere("left");
		}

		@Test
		void leavesNothing() {
			this.operations.tryAcquire(LockRequest.of("left")).orElseThrow().close();
		}

	}

	/**
	 * Tests that leave threads behind, which have their names from the library.
	 */
	@ExtendWith({ OnDemand.class, LockLeakDetector.class })
	static class LeftThreads {

		private static final LockScheduler OTHERS = LockScheduler.inTurn(LockScheduler.Threads.ofCurrent());

		@Test
		void leavesThread() {
			Thread thread = new Thread(LeftThreads::awaitEnd, "advisory-lock-left");
			thread.setDaemon(true);
			thread.start();
		}

		@Test
		void endsThread() {
			new Thread(() -> {
			}, "advisory-lock-ends").start();
		}

		@Test
		@SuppressWarnings("resource")
		void leavesScheduler() {
			LockScheduler.inTurn(LockScheduler.Threads.ofCurrent()).execute(LeftThreads::awaitEnd);
		}

		@Test
		void wakesThreadOfOthers() {
			OTHERS.execute(LeftThreads::awaitEnd);
		}

		@AfterAll
		static void end() {
			END.countDown();
			OTHERS.close();
		}

		private static void awaitEnd() {
			try {
				END.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	/**
	 * Tests that start applications of their own.
	 */
	@ExtendWith({ OnDemand.class, LockLeakDetector.class })
	static class LeftApplications {

		private static @Nullable ConfigurableApplicationContext left;

		@Test
		void leavesApplication() {
			left = start();
		}

		@Test
		void closesApplication() {
			start().close();
		}

		private static ConfigurableApplicationContext start() {
			ConfigurableApplicationContext context = SpringApplication.run(ShopApplication.class,
					"--spring.datasource.url=" + TestPostgres.url(), "--advisory-lock.ledger.initialize-schema=always");
			context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("left")).orElseThrow().close();
			return context;
		}

		@AfterAll
		static void end() {
			Objects.requireNonNull(left).close();
		}

	}

	/**
	 * Keeps tests that have to fail out of every other run.
	 */
	static class OnDemand implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return context.getConfigurationParameter(PARAMETER).isPresent() ? ConditionEvaluationResult.enabled(null)
					: ConditionEvaluationResult.disabled("is run by another test");
		}

	}

}
