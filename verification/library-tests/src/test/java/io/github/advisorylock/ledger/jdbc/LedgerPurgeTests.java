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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what {@link LedgerPurge} keeps, forgets and gives up.
 */
@Tag("gate")
class LedgerPurgeTests extends AbstractLedgerTests {

	private static final String ROUND = "advisory-lock:ledger-housekeeping";

	private boolean registers;

	@Override
	LedgerSettings settings() {
		return new LedgerSettings(PREFIX, true, Duration.ofDays(30), 3, Duration.ofDays(7));
	}

	@Override
	List<JobFinder.LedgerMethod> ledgerMethods() {
		return this.registers
				? List.of(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "registered"), null, null, null),
						new JobFinder.LedgerMethod(new JobName(NAMESPACE, "registered"), null, null, null))
				: List.of();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyIsRememberedForAsLongAsItsRowSays(LockScope scope) {
		LockRequest request = request(scope).oncePerKey();
		execute(request);
		remember("completion", "1 minute");
		TestPostgres.execute("UPDATE ledger_tests_completion SET completed_at = now() - interval '10 years'");
		purge();
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		remember("completion", "-1 second");
		purge();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_completion")).isEmpty();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runsAreForgottenAsTheirRowsSayButOpenOnesAreNot() {
		insertRuns("old", 1, "-1 second", "EXECUTED");
		insertRuns("open", 1, "-1 second", null);
		insertRuns("kept", 1, "1 minute", "FAILED");
		TestPostgres.execute("UPDATE ledger_tests_run SET started_at = now() - interval '10 years'");
		purge();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_run ORDER BY key")).containsExactly("kept", "open");
	}

	@Test
	void openRunsStandInNobodysWay() {
		insertRuns("open", 1200, "-1 hour", null);
		insertRuns("old", 1200, "-1 minute", "EXECUTED");
		purge();
		assertThat(TestPostgres.query("SELECT DISTINCT key FROM ledger_tests_run")).containsExactly("open");
		assertThat(TestPostgres.query("SELECT count(*) FROM ledger_tests_run")).containsExactly("1200");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void historyOfKeyThatWasRunIsCutAndThoseOfOthersAreNot(LockScope scope) {
		insertRuns("elsewhere", 5, "1 day", "EXECUTED");
		insertRuns("job", 1, "1 day", null);
		insertRuns("job", 2000, "1 day", "EXECUTED");
		IntStream.range(0, 2).forEach((i) -> execute(request(scope).oncePerTick(TICK.plusSeconds(i))));
		List<String> newest = TestPostgres
			.query("SELECT id FROM ledger_tests_run WHERE key = 'job' ORDER BY fencing_token DESC LIMIT 3");
		purge();
		assertThat(TestPostgres.query("SELECT id FROM ledger_tests_run WHERE key = 'job' AND outcome IS NOT NULL "
				+ "ORDER BY fencing_token DESC"))
			.isEqualTo(newest);
		assertThat(outcomes().stream().filter("OPEN"::equals)).hasSize(1);
		assertThat(TestPostgres.query("SELECT id FROM ledger_tests_run WHERE key = 'elsewhere'")).hasSize(5);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void historyOfKeyThatAlwaysFailsIsCut(LockScope scope) {
		for (int i = 0; i < 5; i++) {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.template.execute(request(scope).oncePerKey(), (lock) -> {
					throw new IllegalStateException("expected");
				}))
				.withMessage("expected");
		}
		purge();
		assertThat(outcomes()).containsExactly("FAILED", "FAILED", "FAILED");
	}

	@Test
	void allBatchesOfBacklogAreForgottenInOneRound() {
		TestPostgres.execute("INSERT INTO ledger_tests_completion SELECT 'tests', 'event-' || n, now(), "
				+ "now() - interval '1 hour' FROM generate_series(1, 3700) n");
		insertRuns("old", 2500, "-1 hour", "EXECUTED");
		purge();
		assertThat(rows()).isZero();
	}

	@Test
	void jobsAreForgottenAsTheirRowsSayWhoeverWroteThem() {
		String old = "', now() - interval '10 years', now() - interval '10 years', now() - interval '9 years', ";
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, first_seen_at, last_started_at, "
				+ "last_finished_at, remember_until) VALUES ('tests', 'kept" + old + "NULL), ('tests', 'until" + old
				+ "now() + interval '1 minute'), ('other', 'until" + old
				+ "now() + interval '1 minute'), ('tests', 'paused" + old + "now() - interval '1 day'), ('other', 'over"
				+ old + "now() - interval '1 day')");
		TestPostgres
			.execute("INSERT INTO ledger_tests_pause (namespace, key, paused_at) VALUES ('tests', 'paused', now())");
		purge();
		assertThat(TestPostgres.query("SELECT namespace || '/' || key FROM ledger_tests_job ORDER BY 1"))
			.containsExactly("other/until", "tests/kept", "tests/paused", "tests/until");
	}

	/**
	 * A job that is forgotten before its interval is over would run again in it.
	 */
	@ParameterizedTest
	@CsvSource({ "SESSION, 1, 7", "SESSION, 30, 30", "TRANSACTION, 1, 7", "TRANSACTION, 30, 30" })
	void jobIsRememberedForItsIntervalOrForThatOfKeysIfLonger(LockScope scope, int interval, String remembered) {
		execute(request(scope).minInterval(Duration.ofDays(interval)));
		assertThat(daysToRemember()).containsExactly(remembered);
	}

	/**
	 * Another application, or an earlier version, may have another interval for a key.
	 */
	@ParameterizedTest
	@CsvSource({ "SESSION, 30, 10, 30", "SESSION, 10, 30, 30", "TRANSACTION, 30, 10, 30", "TRANSACTION, 10, 30, 30" })
	void whatWasPromisedOfJobIsNotTakenBack(LockScope scope, int first, int second, String remembered) {
		execute(request(scope).minInterval(Duration.ofDays(first)));
		TestPostgres.execute("UPDATE ledger_tests_job SET last_started_at = now() - interval '100 days'");
		assertThat(execute(request(scope).minInterval(Duration.ofDays(second)))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(daysToRemember()).containsExactly(remembered);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void jobThatIsKeptForGoodStaysSoWhoeverRunsIt(LockScope scope) {
		insertJob("job", "remember_until", "NULL");
		assertThat(execute(request(scope).minInterval(Duration.ofDays(1)))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.query("SELECT remember_until IS NULL FROM ledger_tests_job")).containsExactly("t");
	}

	@Test
	void keyThatIsKeptForAMomentIsRememberedAsLongAsBefore() {
		insertJob("job", "remember_until", "now() + interval '30 days'");
		assertThat(this.ledger.keep(KEY, Duration.ofNanos(1000), null)).isNotNull();
		assertThat(daysToRemember()).containsExactly("30");
		TestPostgres.execute("UPDATE ledger_tests_job SET remember_until = now() + interval '1 day'");
		assertThat(this.ledger.keep(KEY, Duration.ofNanos(1000), null)).isNotNull();
		assertThat(daysToRemember()).containsExactly("7");
	}

	private static List<String> daysToRemember() {
		return TestPostgres
			.query("SELECT round(extract(epoch FROM remember_until - now()) / 86400) FROM ledger_tests_job");
	}

	@Test
	void jobOfOpenRunStays() {
		insertOpenRun("job", "NULL", "1 day");
		remember("job", "-1 day");
		purge();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_job")).containsExactly("job");
	}

	@Test
	void jobThatSomebodyHasLockedIsLeftToTheNextRound() throws SQLException {
		insertJob("locked", "remember_until", "now() - interval '1 day'");
		insertJob("free", "remember_until", "now() - interval '1 day'");
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SELECT FROM ledger_tests_job WHERE key = 'locked' FOR NO KEY UPDATE");
			purge();
			assertThat(TestPostgres.query("SELECT key FROM ledger_tests_job")).containsExactly("locked");
			other.rollback();
		}
		purge();
		assertThat(rows()).isZero();
	}

	@Test
	void registeredJobIsKeptForGood() {
		insertJob("registered", "remember_until", "now() - interval '1 day'");
		this.registers = true;
		this.ledger.prepare();
		purge();
		assertThat(TestPostgres.query("SELECT remember_until IS NULL FROM ledger_tests_job")).containsExactly("t");
	}

	@Test
	void registeringWaitsForNoRun() throws SQLException {
		this.registers = true;
		this.ledger.prepare();
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SELECT FROM ledger_tests_job FOR UPDATE");
			CompletableFuture<Void> registering = CompletableFuture.runAsync(this.ledger::prepare);
			assertThat(registering).succeedsWithin(Patience.TIME);
			other.rollback();
		}
	}

	@Test
	void openRunWhoseLockNobodyHasIsAbandonedWithItsJob() {
		insertOpenRun("lost", lockOf("lost"), "61 seconds");
		purge();
		assertThat(outcomes()).containsExactly("ABANDONED");
		assertThat(TestPostgres
			.query("SELECT last_outcome FROM ledger_tests_job WHERE last_finished_at > now() - interval '1 minute'"))
			.containsExactly("ABANDONED");
	}

	@Test
	void openRunsThatMayStillGoOnAreLeft() {
		insertOpenRun("held", lockOf("held"), "1 day");
		insertOpenRun("unknown", "NULL", "1 day");
		insertOpenRun("young", lockOf("young"), "10 seconds");
		try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of("held"))) {
			purge();
		}
		assertThat(outcomes()).containsExactly("OPEN", "OPEN", "OPEN");
		assertThat(TestPostgres.query("SELECT DISTINCT last_outcome FROM ledger_tests_job")).containsExactly("FAILED");
	}

	@Test
	void jobOfLaterRunIsNotThatOfTheAbandonedOne() {
		insertOpenRun("lost", lockOf("lost"), "1 day");
		TestPostgres.execute("UPDATE ledger_tests_job SET fencing_token = fencing_token + 1");
		purge();
		assertThat(outcomes()).containsExactly("ABANDONED");
		assertThat(TestPostgres.query("SELECT last_outcome FROM ledger_tests_job")).containsExactly("FAILED");
	}

	@Test
	void roundOfTheFutureKeepsNobodyFromOne() {
		insertRuns("old", 1, "-1 second", "EXECUTED");
		TestPostgres.execute("INSERT INTO ledger_tests_completion (namespace, key, remember_until) VALUES ('', '"
				+ ROUND + "', now() + interval '1 hour')");
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		assertThat(outcomes()).isEmpty();
	}

	@Test
	void nobodyElseHasRoundSoonAfterOne() {
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		insertRuns("old", 1, "-1 second", "EXECUTED");
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		assertThat(outcomes()).hasSize(1);
		TestPostgres.execute("UPDATE ledger_tests_completion SET remember_until = now() WHERE key = '" + ROUND + "'");
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		assertThat(outcomes()).isEmpty();
		assertThat(TestPostgres.query("SELECT namespace || key FROM ledger_tests_completion "
				+ "WHERE remember_until BETWEEN now() + interval '8 minutes' AND now() + interval '10 minutes'"))
			.containsExactly(ROUND);
	}

	/**
	 * Have a round, whoever had the last one.
	 */
	private void purge() {
		String forget = "DELETE FROM ledger_tests_completion WHERE key = '" + ROUND + "'";
		TestPostgres.execute(forget);
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		TestPostgres.execute(forget);
	}

	private static void remember(String table, String time) {
		TestPostgres.execute("UPDATE " + PREFIX + table + " SET remember_until = now() + interval '" + time + "'");
	}

	private static String lockOf(String key) {
		AdvisoryLockKey lock = AdvisoryLockKey.of(key);
		return "'" + Integer.toUnsignedString(lock.classId()) + ":" + Integer.toUnsignedString(lock.objectId()) + ":1'";
	}

	private static void insertOpenRun(String key, String lock, String age) {
		insertRuns(key, 1, "1 day", null);
		TestPostgres.execute("UPDATE ledger_tests_run SET lock = " + lock + ", started_at = now() - interval '" + age
				+ "' WHERE key = '" + key + "'");
		insertJob(key, "fencing_token", "(SELECT fencing_token FROM ledger_tests_run WHERE key = '" + key + "')");
	}

	private static void insertJob(String key, String column, String value) {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, last_started_at, last_finished_at, "
				+ "last_outcome, " + column + ") VALUES ('tests', '" + key
				+ "', now() - interval '10 years', now() - interval '9 years', 'FAILED', " + value + ")");
	}

	private static void insertRuns(String key, int count, String kept, String outcome) {
		String end = (outcome != null) ? "now(), '" + outcome + "'" : "NULL, NULL";
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "keep_until, finished_at, outcome) SELECT 'tests', '" + key
					+ "', 'SESSION', 'host:1', nextval('ledger_tests_fencing_token'), now() - interval '1 hour', "
					+ "now() + interval '" + kept + "', " + end + " FROM generate_series(1, " + count + ")");
	}

}
