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

package io.github.advisorylock.annotation;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for methods that several instances may run at a time.
 */
@ExtendWith(OutputCaptureExtension.class)
class PermitMethodTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("test", "partner");

	private static final Interval DAY = new Interval(Duration.ofDays(1), Counted.FROM_BEGIN);

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Jobs.class);

	@AfterEach
	void waitUntilNoLockIsLeft() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@Test
	void asManyRunOnAllInstancesTogether() {
		this.runner.run((first) -> this.runner.run((second) -> {
			Jobs here = first.getBean(Jobs.class);
			Jobs there = second.getBean(Jobs.class);
			assertThat(here.call(() -> elsewhere(() -> there.call(() -> LockOutcome.EXECUTED))).value())
				.isEqualTo(LockOutcome.EXECUTED);
			assertThat(here
				.call(() -> elsewhere(() -> there.call(() -> elsewhere(() -> here.call(() -> LockOutcome.EXECUTED)))))
				.value()).isEqualTo(LockOutcome.BUSY);
			assertThat(here.call(() -> LockOutcome.EXECUTED).outcome()).isEqualTo(LockOutcome.EXECUTED);
		}));
	}

	@ParameterizedTest
	@CsvSource({ "session, 3, EXECUTED", "transaction, 3, EXECUTED", "session, 1, BUSY", "transaction, 1, BUSY" })
	void propertyReplacesTheNumber(String scope, int permits, LockOutcome expected) {
		this.runner
			.withPropertyValues("advisory-lock.jobs.partner.scope=" + scope,
					"advisory-lock.jobs.partner.permits=" + permits)
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				assertThat(jobs.call(
						() -> elsewhere(() -> jobs.call(() -> elsewhere(() -> jobs.call(() -> LockOutcome.EXECUTED)))))
					.value()).isEqualTo(expected);
			});
	}

	@Test
	void workerInAnotherLanguageTakesPart() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			try (ForeignSession worker = ForeignSession.holding(KEY);
					ForeignSession other = ForeignSession.holding(KEY.permit(2))) {
				assertThat(jobs.call(() -> LockOutcome.EXECUTED).outcome()).isEqualTo(LockOutcome.BUSY);
				assertThat(worker.unlock(KEY)).isTrue();
				assertThat(jobs.call(() -> LockOutcome.EXECUTED).outcome()).isEqualTo(LockOutcome.EXECUTED);
				assertThat(other.unlock(KEY.permit(2))).isTrue();
			}
		});
	}

	/**
	 * What is for several has no run that others could be too soon after.
	 */
	@Test
	void intervalIsNotRemembered() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(DAY, jobs::poll);
			PlannedTime.run(DAY, jobs::poll);
			assertThat(jobs.polls()).hasValue(2);
			assertThat(TestPostgres.locks()).isEmpty();
		});
	}

	@Test
	void runsAreNotRecordedAndTheJobRunsWhileAnyPermitIsHeld() {
		this.runner
			.withPropertyValues("advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=permits_")
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				assertThat(jobs.call(() -> LockOutcome.EXECUTED).outcome()).isEqualTo(LockOutcome.EXECUTED);
				jobs.one();
				assertThat(TestPostgres.query("SELECT key FROM permits_run")).containsExactly("one");
				assertThat(
						TestPostgres.query("SELECT key FROM permits_job WHERE recorded OR last_started_at IS NOT NULL"))
					.containsExactly("one");
				assertThat(state()).isEqualTo("idle");
				try (ForeignSession worker = ForeignSession.holding(KEY.permit(2))) {
					assertThat(worker.tryLock(KEY)).isTrue();
					assertThat(state()).isEqualTo("running");
					assertThat(worker.unlock(KEY)).isTrue();
					assertThat(state()).as("of any permit").isEqualTo("running");
				}
				assertThat(state()).isEqualTo("idle");
			});
		for (String table : new String[] { "job", "run", "completion", "instance", "pause" }) {
			TestPostgres.execute("DROP TABLE IF EXISTS permits_" + table + " CASCADE");
		}
		TestPostgres.execute("DROP SEQUENCE IF EXISTS permits_fencing_token");
	}

	@Test
	void lineOfTheStartSaysHowManyRunAtATime(CapturedOutput output) {
		this.runner.run(LockContextRunner
			.started(() -> assertThat(output).contains("; partner: 2 at a time", "; one: one at a time")));
	}

	private static String state() {
		return TestPostgres.query("SELECT state FROM permits_job_state WHERE key = 'partner'").get(0);
	}

	private static LockOutcome elsewhere(Supplier<LockResult<LockOutcome>> call) {
		LockResult<LockOutcome> result = CompletableFuture.supplyAsync(call).join();
		LockOutcome inner = result.value();
		return (inner != null) ? inner : result.outcome();
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final AtomicInteger polls = new AtomicInteger();

		AtomicInteger polls() {
			return this.polls;
		}

		@SingleRunner(key = "partner", permits = 2, scope = LockScope.SESSION)
		LockResult<LockOutcome> call(Supplier<LockOutcome> work) {
			return LockResult.executed(work.get());
		}

		@Scheduled(fixedRate = 86_400_000, initialDelay = 86_400_000)
		@SingleRunner(key = "poll", permits = 3)
		void poll() {
			this.polls.incrementAndGet();
		}

		@SingleRunner("one")
		void one() {
		}

	}

}
