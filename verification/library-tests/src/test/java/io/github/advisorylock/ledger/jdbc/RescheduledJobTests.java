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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link JobSchedules}, from outside: operators write another schedule, and
 * what runs is read from the tables.
 */
class RescheduledJobTests {

	private static final String NEVER = "0 0 4 29 2 *";

	private static final String EACH_SECOND = "* * * * * *";

	private static final Queue<String> skips = new ConcurrentLinkedQueue<>();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=rescheduled_")
		.withUserConfiguration(Jobs.class);

	@BeforeEach
	@AfterEach
	void forget() {
		TestPostgres.execute("DO $$ BEGIN IF to_regclass('rescheduled_job') IS NOT NULL THEN "
				+ "DELETE FROM rescheduled_job; DELETE FROM rescheduled_run; DELETE FROM rescheduled_schedule; END IF; END $$");
		skips.clear();
	}

	/**
	 * The instance is told nothing: as one that was stopped meanwhile, or whose
	 * notification got lost.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "tick", "tick-in-session", "auto" })
	void instanceThatLearnsLateRunsNoTickOfTheOldSchedule(String key) {
		this.runner.withPropertyValues("cron=" + EACH_SECOND, "on=" + key).run(LockContextRunner.started(() -> {
			Awaitility.await().until(() -> count(key, "TRUE") > 0);
			Instant from = reschedule(key, NEVER, 1);
			awaitTicksFrom(from);
			assertThat(count(key, "tick >= '" + from + "'")).isZero();
			assertThat(count(key, "tick = '" + from.minusSeconds(1) + "'")).isOne();
			assertThat(skips).contains(key + " " + LockOutcome.TOO_SOON);
		}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "tick", "tick-in-session", "auto" })
	@Tag("gate")
	void instanceThatLearnsLateOfAWithdrawalRunsNoTickOfWhatWasWithdrawn(String key) {
		this.runner.withPropertyValues("cron=" + NEVER).run((context) -> {
			PostgresAdvisoryLockLedger ledger = context.getBean(PostgresAdvisoryLockLedger.class);
			ledger.check();
			Instant from = reschedule(key, EACH_SECOND, 2);
			ledger.rescheduled();
			TestPostgres.execute("UPDATE rescheduled_schedule SET expression = NULL, zone = NULL, "
					+ "effective_at = effective_at + INTERVAL '30 s', changed_at = clock_timestamp()");
			skips.clear();
			awaitTicksFrom(from);
			assertThat(count(key, "TRUE")).isZero();
			assertThat(skips).contains(key + " " + LockOutcome.TOO_SOON);
		});
	}

	@Test
	@Tag("gate")
	void tickThatWasRefusedIsNotMadeUpFor() {
		this.runner.withPropertyValues("cron=" + EACH_SECOND).run(LockContextRunner.started(() -> {
			Awaitility.await().until(() -> count("caught-up", "TRUE") > 0);
			skips.clear();
			awaitTicksFrom(reschedule("caught-up", NEVER, 1));
			Awaitility.await()
				.during(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(skips).containsOnlyOnce("caught-up " + LockOutcome.TOO_SOON));
		}));
	}

	@Test
	void callOfAnIntervalThatWasTakenBackIsRefused() {
		this.runner.withPropertyValues("rate=PT12H").run((context) -> {
			TestPostgres.execute("INSERT INTO rescheduled_schedule (namespace, key, expression, effective_at) "
					+ "VALUES ('test', 'rate', 'PT0.5S', clock_timestamp())");
			context.getBean(PostgresAdvisoryLockLedger.class).rescheduled();
			Awaitility.await().until(() -> count("rate", "TRUE") > 2);
			skips.clear();
			TestPostgres.execute("INSERT INTO rescheduled_schedule (namespace, key, effective_at) "
					+ "VALUES ('test', 'rate', clock_timestamp())");
			Awaitility.await().until(() -> skips.contains("rate " + LockOutcome.TOO_SOON));
			assertThat(count("rate",
					"started_at > (SELECT max(effective_at) FROM rescheduled_schedule WHERE key = 'rate')"))
				.isZero();
		});
	}

	@Tag("gate")
	@ParameterizedTest
	@ValueSource(strings = { "tick", "tick-in-session", "auto" })
	void newScheduleHoldsFromItsTimeOn(String key) {
		this.runner.withPropertyValues("cron=" + NEVER, "on=" + key).run((context) -> {
			context.getBean(PostgresAdvisoryLockLedger.class).check();
			Instant from = reschedule(key, EACH_SECOND, 2);
			context.getBean(PostgresAdvisoryLockLedger.class).rescheduled();
			Awaitility.await().until(() -> count(key, "tick >= '" + from.plusSeconds(1) + "'") > 0);
			assertThat(count(key, "tick < '" + from + "'")).isZero();
			assertThat(count(key, "tick IN ('" + from + "', '" + from.plusSeconds(1) + "')")).isEqualTo(2);
		});
	}

	@Test
	void intervalHoldsFromItsTimeOn() {
		this.runner.withPropertyValues("rate=PT12H", "on=rate").run((context) -> {
			Awaitility.await().until(() -> count("rate", "TRUE") == 1);
			Instant from = Instant.parse(
					TestPostgres
						.query("INSERT INTO rescheduled_schedule (namespace, key, expression, "
								+ "effective_at) VALUES ('test', 'rate', 'PT0.2S', clock_timestamp()) RETURNING "
								+ "to_char(effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
						.get(0));
			context.getBean(PostgresAdvisoryLockLedger.class).rescheduled();
			Awaitility.await().until(() -> count("rate", "started_at >= '" + from + "'") > 3);
			TestPostgres.execute("INSERT INTO rescheduled_schedule (namespace, key, effective_at) "
					+ "VALUES ('test', 'rate', clock_timestamp())");
			context.getBean(PostgresAdvisoryLockLedger.class).rescheduled();
			int before = count("rate", "TRUE");
			Awaitility.await().during(Duration.ofSeconds(1)).until(() -> count("rate", "TRUE") <= before + 1);
		});
	}

	@Test
	void operatorGivesAnotherScheduleAndTakesItBack() {
		this.runner.withPropertyValues("cron=" + NEVER, "on=tick").run((context) -> {
			PostgresAdvisoryLockLedger ledger = context.getBean(PostgresAdvisoryLockLedger.class);
			Instant from = ledger.reschedule("tick", EACH_SECOND, null, "alice", "why not");
			assertThat(Duration.between(Instant.now(), from)).isBetween(Duration.ofSeconds(25), Duration.ofSeconds(35));
			assertThat(
					TestPostgres.query("SELECT expression || zone || changed_by || reason FROM rescheduled_schedule"))
				.containsExactly(EACH_SECOND + "UTC" + "alice" + "why not");
			assertThat(ledger.job("tick").orElseThrow().nextAt()).isEqualTo(from);
			ledger.reschedule("tick", null, null, "bob", null);
			assertThat(TestPostgres.query("SELECT coalesce(expression, '-') FROM rescheduled_schedule"))
				.containsExactly("-");
			assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> ledger.reschedule("tick", "PT10M", null, "bob", null))
				.withMessageContaining("'interval' is for 'fixedRate' and 'fixedDelay'");
			assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> ledger.reschedule("tick", EACH_SECOND, "Mars", "bob", null))
				.withMessageContaining("'zone' is no time zone: 'Mars'");
		});
	}

	private static void awaitTicksFrom(Instant from) {
		Awaitility.await()
			.until(() -> TestPostgres
				.query("SELECT clock_timestamp() > '" + from + "'::timestamptz + INTERVAL '1500 ms'")
				.equals(List.of("t")));
	}

	private static int count(String key, String where) {
		return Integer.parseInt(TestPostgres
			.query("SELECT count(*) FROM rescheduled_run WHERE key = '" + key + "' AND outcome = 'EXECUTED' AND "
					+ where)
			.get(0));
	}

	private static Instant reschedule(String key, String cron, int seconds) {
		return Instant.parse(TestPostgres.query("INSERT INTO rescheduled_schedule (namespace, key, expression, zone, "
				+ "effective_at) VALUES ('test', '" + key + "', '" + cron
				+ "', 'UTC', date_trunc('second', clock_timestamp() + INTERVAL '" + seconds + " s')) RETURNING "
				+ "to_char(effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
			.get(0));
	}

	@Configuration
	@EnableScheduling
	static class Jobs {

		@SingleRunner(key = "tick", once = Once.PER_TICK)
		@Scheduled(cron = "${cron:-}", zone = "UTC")
		void tick() {
		}

		@SingleRunner(key = "tick-in-session", once = Once.PER_TICK, scope = LockScope.SESSION)
		@Scheduled(cron = "${cron:-}", zone = "UTC")
		void tickInSession() {
		}

		@SingleRunner(key = "caught-up", once = Once.PER_TICK, catchUp = "1h")
		@Scheduled(cron = "${cron:-}", zone = "UTC")
		void caughtUp() {
		}

		@SingleRunner(key = "auto", minInterval = "1ms")
		@Scheduled(cron = "${cron:-}", zone = "UTC")
		void auto() {
		}

		@SingleRunner(key = "rate", minInterval = "1ms")
		@Scheduled(fixedRateString = "${rate:PT12H}")
		void rate() {
		}

		@EventListener
		void skipped(SingleRunnerSkippedEvent event) {
			skips.add(event.key().name() + " " + event.outcome());
		}

	}

}
