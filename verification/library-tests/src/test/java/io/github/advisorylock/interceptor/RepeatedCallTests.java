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

package io.github.advisorylock.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.MethodRetryEvent;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SingleRunnerInterceptor} where other advice of a method repeats its
 * calls: the lock of the tick is kept from one attempt to the next.
 */
@ExtendWith(OutputCaptureExtension.class)
class RepeatedCallTests {

	private static final Instant MIDNIGHT = Instant.now().truncatedTo(ChronoUnit.DAYS);

	private static final Interval DAY = new Interval(Duration.ofDays(1), Counted.FROM_BEGIN);

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=repeated_")
		.withUserConfiguration(Retries.class)
		.withBean(Jobs.class);

	@AfterEach
	void clear() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
		TestPostgres.execute("DELETE FROM repeated_run; DELETE FROM repeated_job");
	}

	@ParameterizedTest
	@EnumSource
	void otherInstanceIsBusyBetweenAttempts(Kind kind) {
		inTwoInstances((one, two) -> {
			one.state().failures = 2;
			one.state().between = () -> kind.call(two);
			kind.call(one);
			assertThat(one.state().attempts).isEqualTo(3);
			assertThat(two.state().attempts).isZero();
			assertThat(two.state().skips).containsExactly(LockOutcome.BUSY, LockOutcome.BUSY);
			assertThat(one.state().skips).isEmpty();
			assertThat(one.state().ends).singleElement().satisfies((end) -> {
				assertThat(end.failure()).isNull();
				assertThat(end.attempt()).isEqualTo(3);
			});
			kind.call(two);
			assertThat(two.state().attempts).isZero();
			assertThat(two.state().skips).hasSize(3).last().isNotEqualTo(LockOutcome.BUSY);
		});
	}

	@Tag("gate")
	@ParameterizedTest
	@EnumSource
	void otherInstanceRunsTheTickWhenNoAttemptIsLeft(Kind kind, CapturedOutput output) {
		inTwoInstances((one, two) -> {
			one.state().failures = 5;
			assertThatIllegalStateException().isThrownBy(() -> kind.call(one)).withMessage("attempt 4 fails");
			assertThat(one.state().attempts).isEqualTo(4);
			assertThat(one.state().skips).isEmpty();
			assertThat(one.state().ends).singleElement()
				.satisfies((end) -> assertThat(end.failure()).hasMessage("attempt 4 fails"));
			kind.call(two);
			assertThat(two.state().attempts).isOne();
		});
		assertThat(output).contains("attempt 1", "attempt 2", "attempt 3");
	}

	@Test
	void otherThreadOfTheInstanceIsBusyBetweenAttempts() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.state().failures = 1;
			jobs.state().between = () -> onOtherThread(() -> Kind.TICK.call(jobs));
			Kind.TICK.call(jobs);
			assertThat(jobs.state().attempts).isEqualTo(2);
			assertThat(jobs.state().skips).containsExactly(LockOutcome.BUSY);
		});
	}

	@Test
	void callWhoseBodyHasRunIsNoSkip() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.state().failures = 3;
			List<ForeignSession> others = new ArrayList<>();
			jobs.state().between = () -> {
				if (others.isEmpty()) {
					others.add(ForeignSession.holding(AdvisoryLockKey.of("test", "transaction")));
				}
			};
			assertThatIllegalStateException().isThrownBy(jobs::transaction).withMessage("attempt 1 fails");
			others.forEach(ForeignSession::close);
			assertThat(jobs.state().attempts).isOne();
			assertThat(jobs.state().skips).isEmpty();
			assertThat(jobs.state().ends).singleElement()
				.satisfies((end) -> assertThat(end.failure()).hasMessage("attempt 1 fails"));
		});
	}

	@Test
	void otherInstanceMayRunWhereNoTickIsKnown() {
		inTwoInstances((one, two) -> {
			one.state().failures = 1;
			one.state().between = two::transaction;
			one.transaction();
			assertThat(two.state().attempts).isOne();
			assertThat(one.state().attempts).isEqualTo(2);
		});
	}

	@Test
	void annotationsThatMakeNoSenseBesideALockAreTold(CapturedOutput output) {
		this.runner.withBean(Senseless.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("method 'limited' of class", "which is inside its lock",
				"method 'caughtUp' of class", "set 'maxRetries' of @SingleRunner");
		assertThat(StringUtils.countOccurrencesOf(output.getOut(), "advisory-lock.doctor.other-advice")).isEqualTo(2);
	}

	private void inTwoInstances(BiConsumer<Jobs, Jobs> test) {
		this.runner
			.run((one) -> this.runner.run((two) -> test.accept(one.getBean(Jobs.class), two.getBean(Jobs.class))));
	}

	private static void onOtherThread(Runnable task) {
		Thread thread = new Thread(task);
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * What is once per tick or interval, and how.
	 */
	enum Kind {

		TICK((jobs) -> PlannedTime.run(MIDNIGHT, jobs::transaction)),

		TICK_WITHOUT_TRANSACTIONAL((jobs) -> PlannedTime.run(MIDNIGHT, jobs::plain)),

		INTERVAL((jobs) -> PlannedTime.run(DAY, jobs::transaction)),

		SESSION((jobs) -> PlannedTime.run(MIDNIGHT, jobs::session)),

		PER_TICK((jobs) -> PlannedTime.run(MIDNIGHT, jobs::perTick));

		private final Consumer<Jobs> call;

		Kind(Consumer<Jobs> call) {
			this.call = call;
		}

		private void call(Jobs jobs) {
			this.call.accept(jobs);
		}

	}

	/**
	 * What an instance is to do, and what it has seen.
	 */
	static class State {

		private final List<SingleRunnerFinishedEvent> ends = new ArrayList<>();

		private final List<LockOutcome> skips = new ArrayList<>();

		private Runnable between = () -> {
		};

		private int failures;

		private int attempts;

		private void work() {
			this.attempts++;
			if (this.attempts <= this.failures) {
				throw new IllegalStateException("attempt " + this.attempts + " fails");
			}
		}

	}

	static class Jobs {

		private final State state = new State();

		State state() {
			return this.state;
		}

		@Retryable(maxRetries = 3, delay = 1)
		@Transactional
		@SingleRunner("transaction")
		void transaction() {
			this.state.work();
		}

		@Retryable(maxRetries = 3, delay = 1)
		@SingleRunner("plain")
		void plain() {
			this.state.work();
		}

		@Retryable(maxRetries = 3, delay = 1)
		@Transactional
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			this.state.work();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@Retryable(maxRetries = 3, delay = 1)
		@Transactional
		@SingleRunner(key = "per-tick", once = Once.PER_TICK)
		void perTick() {
			this.state.work();
		}

		@EventListener
		void on(MethodRetryEvent event) {
			this.state.between.run();
		}

		@EventListener
		void on(SingleRunnerFinishedEvent event) {
			this.state.ends.add(event);
		}

		@EventListener
		void on(SingleRunnerSkippedEvent event) {
			this.state.skips.add(event.outcome());
		}

	}

	static class Senseless {

		@ConcurrencyLimit(1)
		@SingleRunner("limited")
		void limited() {
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@Retryable
		@SingleRunner(key = "caught-up", once = Once.PER_TICK, catchUp = "1h")
		void caughtUp() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Retries {

	}

}
