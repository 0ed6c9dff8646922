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

package io.github.advisorylock.ledger.jdbc;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what the rows of jobs say of their methods, and of when these are called
 * next.
 */
@Tag("gate")
class RegisteredJobTests {

	private static final String CRON = "0 0 3 * * *";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always", "cron=" + CRON,
				"advisory-lock.ledger.table-prefix=registered_tests.ledger_");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS registered_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA registered_tests");
	}

	@Test
	void eachGuardedMethodHasARowRecordedOrNot() {
		this.runner.run((context) -> {
			assertThat(TestPostgres.query("SELECT concat_ws(' ', key, once, recorded, template, next_at > now(), "
					+ "period / 1000000) FROM registered_tests.ledger_job ORDER BY key"))
				.containsExactly("nightly PER_TICK t t 86400", "payment:#{#id} PER_KEY t payment:#{#id}",
						"plain NONE f 3600");
			assertThat(TestPostgres
				.query("SELECT key || ' ' || state FROM registered_tests.ledger_job_state ORDER BY key"))
				.containsExactly("nightly idle", "payment:#{#id} idle", "plain idle");
			assertThat(ledger(context).jobs("test", "", 10)).extracting(LedgerJob::key).containsExactly("nightly");
			assertThat(ledger(context).pauseAll("test", "ann", null)).isOne();
		});
	}

	@Test
	void whoEndsARunSaysWhatIsPlannedNext() {
		this.runner.run((context) -> {
			missed();
			Jobs jobs = context.getBean(Jobs.class);
			jobs.fail(true);
			assertThatIllegalStateException().isThrownBy(jobs::nightly).withMessage("expected");
			assertNextTickIsPlanned();
			missed();
			jobs.fail(false);
			jobs.nightly();
			assertNextTickIsPlanned();
		});
	}

	@Test
	void runByHandSaysNothingOfTicks() {
		this.runner.run((context) -> {
			missed();
			assertThat(ledger(context).runNow("nightly", "ann")).isEqualTo(LockOutcome.EXECUTED);
			assertThat(
					TestPostgres.query("SELECT next_at < now() FROM registered_tests.ledger_job WHERE key = 'nightly'"))
				.containsExactly("t");
		});
	}

	@Test
	void startKeepsTheTickThatWasMissedUnlessTheScheduleHasChanged() {
		this.runner.run(LockContextRunner.started(() -> missed()));
		this.runner.run(LockContextRunner.started(() -> assertThat(state()).isEqualTo("overdue")));
		this.runner.withPropertyValues("cron=0 30 3 * * *").run(LockContextRunner.started(() -> {
			assertThat(state()).isEqualTo("idle");
			assertThat(
					TestPostgres.query("SELECT next_at > now() FROM registered_tests.ledger_job WHERE key = 'nightly'"))
				.containsExactly("t");
		}));
		this.runner.withPropertyValues("cron=-")
			.run(LockContextRunner.started(() -> assertThat(
					TestPostgres.query("SELECT next_at FROM registered_tests.ledger_job WHERE key = 'nightly'"))
				.containsExactly((String) null)));
	}

	private static void missed() {
		TestPostgres.execute("UPDATE registered_tests.ledger_job SET next_at = now() - interval '1 hour', "
				+ "first_seen_at = now() - interval '9 days' WHERE key = 'nightly'");
	}

	private static void assertNextTickIsPlanned() {
		Instant next = new CronTicks(CRON, ZoneOffset.UTC).nextAfter(Instant.now());
		assertThat(TestPostgres.query("SELECT extract(epoch FROM next_at)::bigint FROM registered_tests.ledger_job "
				+ "WHERE key = 'nightly'"))
			.containsExactly("" + next.truncatedTo(ChronoUnit.SECONDS).getEpochSecond());
	}

	private static String state() {
		return TestPostgres.query("SELECT state FROM registered_tests.ledger_job_state WHERE key = 'nightly'").get(0);
	}

	private static AdvisoryLockLedger ledger(ApplicationContext context) {
		return context.getBean(AdvisoryLockLedger.class);
	}

	static class Jobs {

		private volatile boolean fails;

		void fail(boolean fails) {
			this.fails = fails;
		}

		@Scheduled(cron = "${cron}", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK)
		void nightly() {
			if (this.fails) {
				throw new IllegalStateException("expected");
			}
		}

		@Scheduled(fixedRate = 3_600_000, initialDelay = 3_600_000)
		@SingleRunner("plain")
		void plain() {
		}

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		void pay(String id) {
		}

	}

}
