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

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OverdueJobWatcher}.
 */
class OverdueJobWatcherTests {

	private static final Instant NOW = Instant.now();

	private static final Instant TICK = NOW.minus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.SECONDS);

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always", "cron=" + dailyAt(TICK),
				"advisory-lock.ledger.table-prefix=overdue_tests.ledger_");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS overdue_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA overdue_tests");
	}

	@Test
	void overdueJobIsWarnedOfOnceForEachTick() {
		this.runner.run((context) -> {
			seenBefore("3 days");
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				look(context, NOW);
				look(context, NOW.plus(2, ChronoUnit.HOURS));
				assertThat(log.messages())
					.containsExactly("Job 'test/nightly' is overdue: no instance has completed its " + "tick of " + TICK
							+ ", nor any before");
				assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.alert", "overdue")
					.containsEntry("advisory_lock.key", "nightly")
					.containsEntry("advisory_lock.namespace", "test")
					.containsEntry("advisory_lock.tick", TICK.toString());
				TestPostgres.execute("UPDATE overdue_tests.ledger_job SET next_at = next_at + interval '1 minute'");
				look(context, NOW.plus(1, ChronoUnit.DAYS));
				assertThat(log.messages()).hasSize(2);
			}
		});
	}

	@Test
	void jobThatCatchesUpIsWarnedOfAgainWhenItIsOverdueAgain() {
		this.runner.run((context) -> {
			seenBefore("3 days");
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				look(context, NOW);
				TestPostgres.execute("UPDATE overdue_tests.ledger_job SET last_tick = '" + TICK + "'");
				look(context, NOW);
				assertThat(log.messages()).hasSize(1);
				TestPostgres.execute("UPDATE overdue_tests.ledger_job SET last_tick = '" + TICK
						+ "'::timestamptz - interval '1 day'");
				look(context, NOW);
				assertThat(log.messages()).hasSize(2);
				assertThat(log.messages().get(1))
					.endsWith("the last one was that of " + TICK.minus(1, ChronoUnit.DAYS));
				assertThat(LogRecorder.fields(log.events().get(1))).containsEntry("advisory_lock.last_tick",
						TICK.minus(1, ChronoUnit.DAYS).toString());
			}
		});
	}

	@Test
	void jobThatRunsOnAnyInstanceIsNotOverdue() {
		this.runner.run((context) -> {
			seenBefore("3 days");
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "nightly"))) {
					look(context, NOW);
				}
				assertThat(log.messages()).isEmpty();
				look(context, NOW);
				assertThat(log.messages()).hasSize(1);
			}
		});
	}

	@Test
	void lastTickThatIsYetToComeIsWarnedOfOnce() {
		this.runner.run((context) -> {
			TestPostgres.execute("UPDATE overdue_tests.ledger_job SET last_tick = '2099-01-01Z'");
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				look(context, NOW);
				look(context, NOW);
				assertThat(log.messages()).singleElement()
					.asString()
					.startsWith("Job 'test/nightly' has completed its tick of 2099-01-01T00:00:00Z");
				assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.alert", "future-tick");
			}
		});
	}

	@Test
	void pausedJobAndJobThatIsNewAreNotOverdue() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				look(context, NOW);
				seenBefore("3 days");
				context.getBean(AdvisoryLockLedger.class).pause("nightly", "op");
				look(context, NOW);
				assertThat(log.messages()).isEmpty();
				context.getBean(AdvisoryLockLedger.class).resume("nightly", "op");
				look(context, NOW);
				assertThat(log.messages()).isEmpty();
				assertThat(TestPostgres
					.query("SELECT next_at > now() FROM overdue_tests.ledger_job WHERE key = 'nightly'"))
					.as("what is planned next is known again after a pause")
					.containsExactly("t");
				TestPostgres.execute("UPDATE overdue_tests.ledger_job SET next_at = '" + TICK
						+ "', resumed_at = resumed_at - interval '2 days'");
				look(context, NOW);
				assertThat(log.messages()).hasSize(1);
			}
		});
	}

	@Test
	void jobsAreLookedAtEachMinuteUntilTheApplicationEnds() {
		SettableTicker ticker = new SettableTicker();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			ticker.in(this.runner).run(LockContextRunner.started(() -> {
				seenBefore("3 days");
				ticker.advance(Duration.ofMinutes(1));
				assertThat(log.messages()).hasSize(1);
			}));
			ticker.advance(Duration.ofDays(2));
			assertThat(log.messages()).hasSize(1);
		}
	}

	@Test
	void jobsWithoutTicksAreNotLookedAt() {
		SettableTicker ticker = new SettableTicker();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			ticker.in(this.runner.withPropertyValues("cron=-")).run(LockContextRunner.started(() -> {
				ticker.advance(Duration.ofMinutes(2));
				assertThat(log.messages()).isEmpty();
			}));
		}
	}

	private static void look(ApplicationContext context, Instant now) {
		context.getBean(LedgerLifecycle.class).overdueJobs().look(now);
	}

	private static void seenBefore(String age) {
		TestPostgres.execute("UPDATE overdue_tests.ledger_job SET first_seen_at = first_seen_at - interval '" + age
				+ "', next_at = '" + TICK + "' WHERE key = 'nightly'");
	}

	private static String dailyAt(Instant tick) {
		ZonedDateTime time = tick.atZone(ZoneId.of("Asia/Tokyo"));
		return time.getSecond() + " " + time.getMinute() + " " + time.getHour() + " * * *";
	}

	static class Jobs {

		@Scheduled(cron = "${cron}", zone = "Asia/Tokyo")
		@SingleRunner(key = "nightly", once = Once.PER_TICK)
		void nightly() {
		}

		@SingleRunner(key = "unscheduled", minInterval = "1h")
		void unscheduled() {
		}

	}

}
