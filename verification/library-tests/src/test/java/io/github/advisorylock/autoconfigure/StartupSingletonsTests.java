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

package io.github.advisorylock.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.jdbc.LedgerLifecycle;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the start of an application makes of the library's beans.
 */
class StartupSingletonsTests {

	private final ApplicationContextRunner runner = LockContextRunner.withoutProperties();

	@Test
	void applicationWithoutLocksHasOnlyWhatLooksForThem() {
		this.runner.run((context) -> {
			assertThat(singletons(context.getBeanFactory())).containsExactlyInAnyOrder(
					"advisoryLockSingleRunnerPostProcessor", "advisoryLockSingleRunnerAdviceArrangement",
					"advisoryLockLeaderOnlyMethods", "advisoryLockPooledConnectionPreparation",
					"advisoryLockContainerPreparation", "advisoryLockPlannedTimesFirst", "advisoryLockPlannedTimesLast",
					"advisoryLockTimeUnitStartupCheck", "advisoryLockSingleRunnerStartupCheck");
			assertThat(context.getBean(HikariDataSource.class).isRunning()).isFalse();
		});
	}

	/**
	 * Whoever sets one wants to hear if it is wrong.
	 */
	@Test
	void propertiesAreCheckedWithoutLocksWhereOneIsSet() {
		this.runner.withPropertyValues("advisory-lock.leader.terms-above=-1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("advisory-lock.leader.terms-above"));
		this.runner.withPropertyValues("advisory-lock.doctor.standby=off")
			.run((context) -> assertThat(singletons(context.getBeanFactory())).contains("advisoryLockSettings",
					"advisoryLockKeyFactory"));
	}

	@Test
	void lockThatIsAskedForAfterTheStartIsTakenAndEndsWithTheContext() {
		this.runner.run((context) -> {
			AdvisoryLockKey key = AdvisoryLockKey.of("test", "late");
			assertThat(context.getBeanProvider(AdvisoryLockOperations.class)
				.getObject()
				.tryAcquire(LockRequest.of("late"))).isPresent();
			assertThat(ForeignSession.holders(key)).hasSize(1);
			assertThat(singletons(context.getBeanFactory())).contains("advisoryLockLifecycle",
					"advisoryLockWaitLifecycle", "advisoryLockLongHoldWatcher", "advisoryLockLedgerLifecycle");
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();
			Awaitility.await().untilAsserted(() -> assertThat(ForeignSession.holders(key)).isEmpty());
		});
	}

	@Test
	void methodHasEverythingMadeAtTheStart() {
		this.runner.withBean(Job.class)
			.run((context) -> assertThat(singletons(context.getBeanFactory())).contains("advisoryLockDatabases",
					"advisoryLockSession", "advisoryLockTemplate", "advisoryLockOperations", "advisoryLockLifecycle",
					"advisoryLockWaitLifecycle", "advisoryLockLedgerLifecycle"));
	}

	@Test
	void recordedMethodOfLazyBeanIsRunAndWatched() {
		this.runner
			.withPropertyValues("advisory-lock.ledger.instances=false",
					"advisory-lock.ledger.table-prefix=startup_singletons_",
					"advisory-lock.ledger.initialize-schema=always")
			.withBean(RecordedJob.class, RecordedJob::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(singletons(context.getBeanFactory())).doesNotContain("advisoryLockDatabases");
				assertThat(context.getBean(RecordedJob.class).run()).isEqualTo("ran");
				assertThat(context.getBean(LedgerLifecycle.class).isRunning()).isTrue();
			});
	}

	private static List<String> singletons(ConfigurableListableBeanFactory beans) {
		return Stream.of(beans.getSingletonNames()).filter((name) -> name.startsWith("advisory")).toList();
	}

	static class Job {

		@SingleRunner("startup-singletons")
		void run() {
		}

	}

	static class RecordedJob {

		@Scheduled(cron = "0 0 0 * * *")
		@SingleRunner(key = "startup-singletons-recorded", once = Once.PER_TICK, catchUp = "1h")
		String run() {
			return "ran";
		}

	}

}
