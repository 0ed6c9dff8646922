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
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the view {@code advisory_lock_job_state}, read as psql reads it: the one
 * place where the state of a job is decided.
 */
@Tag("gate")
class JobStateTests extends AbstractLedgerTests {

	private static final String NIGHTLY = "once = 'PER_TICK', first_seen_at = now() - interval '9 days', "
			+ "last_tick = now() - interval '25 hours', last_outcome = 'EXECUTED', ";

	private static final String DUE = "next_at = now() - interval '1 hour'";

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void jobRunsWhileItsLockIsHeldAndIsIdleAfterwards(LockScope scope) {
		execute(scope, TICK);
		assertThat(states()).containsExactly("job idle");
		LockRequest next = request(scope).oncePerTick(TICK.plusSeconds(1));
		assertThat(this.template.execute(next, (lock) -> states() + " " + since()).orElseThrow())
			.isEqualTo("[job running] [t]");
		assertThat(states()).containsExactly("job idle");
	}

	@Test
	void firstRunInScopeSessionIsThereFromItsStartOn() {
		LockRequest first = request(LockScope.SESSION).oncePerTick(TICK);
		assertThat(this.template.execute(first, (lock) -> states()).orElseThrow()).containsExactly("job running");
	}

	@Test
	void lockOfAnyHolderCounts() {
		execute(LockScope.SESSION, TICK);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(states()).containsExactly("job running");
		}
		try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of(NAMESPACE, "other"))) {
			assertThat(states()).containsExactly("job idle");
		}
	}

	@Test
	void jobIsPausedByItselfAndWithAllUntilItIsResumed() {
		execute(LockScope.SESSION, TICK);
		insertJob("other", "attempts = 0");
		this.ledger.pause("job", "ann");
		assertThat(states()).containsExactly("job paused PAUSED", "other idle");
		assertThat(since()).startsWith("t");
		this.ledger.resume("job", "ann");
		this.ledger.pauseAll(NAMESPACE, "ann", null);
		assertThat(states()).containsExactly("job paused PAUSED", "other paused PAUSED");
		this.ledger.resume("job", "ann");
		assertThat(states()).containsExactly("job idle", "other paused PAUSED");
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			this.ledger.pause("job", "ann");
			assertThat(states()).containsExactly("job running PAUSED", "other paused PAUSED");
		}
	}

	@Test
	void pauseOfAllHoldsNeitherKeysWithArgumentsNorWhatIsNotRecorded() {
		insertJob("payment:1", "template = 'payment:#{#id}'");
		insertJob("payment:#{#id}", "template = 'payment:#{#id}'");
		insertJob("plain", "recorded = false");
		assertThat(this.ledger.pauseAll(NAMESPACE, "ann", null)).isZero();
		assertThat(states()).containsExactly("payment:#{#id} idle", "payment:1 idle", "plain idle");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failedRunsAreCountedUntilOneIsExecuted(LockScope scope) {
		for (int failures = 1; failures <= 3; failures++) {
			assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK)).withMessage("expected");
			assertThat(TestPostgres.query("SELECT failures FROM ledger_tests_job")).containsExactly("" + failures);
		}
		assertThat(states()).containsExactly("job failing FAILED");
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(states()).containsExactly("job running");
		}
		execute(scope, TICK);
		assertThat(TestPostgres.query("SELECT failures FROM ledger_tests_job")).containsExactly("0");
		assertThat(states()).containsExactly("job idle");
	}

	@Test
	void runThatWasGivenUpIsAFailureWhoeverNotesIt() {
		insertOpenRun();
		TestPostgres.execute("UPDATE ledger_tests_run SET lock = '1:2:1', started_at = now() - interval '2 minutes'");
		TestPostgres.execute("UPDATE ledger_tests_job SET last_started_at = now() - interval '2 minutes'");
		LedgerPurge purge = this.ledger.purge();
		purge.execute(purge.lostRuns(), 0L);
		assertThat(states()).containsExactly("job failing ABANDONED");
		assertThat(TestPostgres.query("SELECT failures FROM ledger_tests_job")).containsExactly("1");
		insertRowOfOpenRun();
		TestPostgres.execute("UPDATE ledger_tests_job SET last_started_at = clock_timestamp()");
		assertThat(this.template
			.execute(request(LockScope.SESSION).oncePerTick(TICK),
					(lock) -> TestPostgres.query("SELECT failures FROM ledger_tests_job"))
			.orElseThrow()).containsExactly("2");
	}

	@ParameterizedTest
	@CsvSource({ "5 minutes,0,overdue OVERDUE", "4 minutes,0,idle", "34 minutes,1800000000,idle",
			"36 minutes,1800000000,overdue OVERDUE", "2 hours,31556952000000000,idle" })
	void tickThatNobodyCompletesIsOverdueAfterFiveMinutesAndItsInterval(String age, String minInterval, String state) {
		insertJob("job", NIGHTLY + "min_interval = " + minInterval + ", next_at = now() - interval '" + age + "'");
		assertThat(states()).containsExactly("job " + state);
	}

	@ParameterizedTest
	@ValueSource(strings = { "once = 'NONE'", "next_at = NULL", "first_seen_at = now()", "last_tick = now()",
			"resumed_at = now()", "cancelled_at = now()", "next_at = now() + interval '1 day'" })
	void jobIsNotOverdueWithoutATickThatCounts(String columns) {
		insertJob("job", NIGHTLY + DUE);
		assertThat(states()).containsExactly("job overdue OVERDUE");
		update(columns);
		assertThat(states()).containsExactly("job idle");
	}

	@ParameterizedTest
	@ValueSource(strings = { "first_seen_at", "last_tick", "resumed_at", "cancelled_at" })
	void timeThatIsYetToComeDecidesNothing(String column) {
		insertJob("job", NIGHTLY + DUE);
		update(column + " = now() + interval '2 minutes'");
		assertThat(states()).containsExactly("job overdue OVERDUE");
		update(column + " = now() + interval '30 seconds'");
		assertThat(states()).containsExactly("job idle");
	}

	@Test
	void jobThatRunsOrIsPausedIsNotOverdueAndOneThatFailsIsBoth() {
		insertJob("job", NIGHTLY + DUE);
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(states()).containsExactly("job running");
		}
		update("last_outcome = 'FAILED', open_tick = next_at, next_at = now() + interval '1 day'");
		assertThat(states()).containsExactly("job failing FAILED, OVERDUE");
		assertThat(TestPostgres.query(
				"SELECT s.overdue_tick = j.open_tick FROM ledger_tests_job_state s JOIN ledger_tests_job j USING (key)"))
			.containsExactly("t");
		this.ledger.pause("job", "ann");
		assertThat(states()).containsExactly("job paused FAILED, PAUSED");
	}

	@Test
	void jobThatRunsForLongerThanItsPeriodOverruns() {
		insertJob("job", "scope = 'SESSION', period = 60000000, last_started_at = now() - interval '59 seconds'");
		try (ForeignSession other = ForeignSession.holding(KEY)) {
			assertThat(states()).containsExactly("job running");
			update("last_started_at = now() - interval '61 seconds'");
			assertThat(states()).containsExactly("job running OVERRUN");
			update("period = NULL");
			assertThat(states()).containsExactly("job running");
		}
	}

	@Test
	void templateFailsWithAKeyThatWasMadeFromItUntilThatHasRun() {
		insertJob("payment:#{#id}", "template = 'payment:#{#id}'");
		assertThatIllegalStateException().isThrownBy(() -> pay(true)).withMessage("expected");
		assertThat(states()).containsExactly("payment:#{#id} failing FAILED");
		assertThat(TestPostgres.query("SELECT r.error FROM ledger_tests_job_state s JOIN ledger_tests_run r "
				+ "ON r.namespace = s.namespace AND r.key = s.run_key AND r.fencing_token = s.fencing_token"))
			.containsExactly("java.lang.IllegalStateException: expected");
		TestPostgres.execute("UPDATE ledger_tests_run SET started_at = now() + interval '1 hour'");
		assertThat(states()).containsExactly("payment:#{#id} idle");
		TestPostgres.execute("UPDATE ledger_tests_run SET started_at = now()");
		pay(false);
		assertThat(states()).containsExactly("payment:#{#id} idle");
	}

	@Test
	void readingTenThousandJobsScansNoRuns() {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, once, last_outcome, fencing_token, lock) "
				+ "SELECT 'tests', 'job-' || n, 'PER_TICK', 'EXECUTED', n, '1:' || n || ':1' FROM generate_series(1, 10000) n; "
				+ "INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, finished_at, "
				+ "outcome) SELECT 'tests', 'job-' || n, 'SESSION', 'a:1', n, now(), now(), 'EXECUTED' "
				+ "FROM generate_series(1, 10000) n; ANALYZE ledger_tests_job; ANALYZE ledger_tests_run");
		List<String> plan = TestPostgres.query("EXPLAIN ANALYZE SELECT * FROM ledger_tests_job_state");
		assertThat(plan).isNotEmpty().noneMatch((line) -> line.contains("Seq Scan on ledger_tests_run"));
		assertThat(plan.stream().filter((line) -> line.contains("ledger_tests_run"))).isNotEmpty()
			.allMatch((line) -> line.contains("never executed"));
		assertThat(TestPostgres.query("SELECT count(*) FROM ledger_tests_job_state WHERE state = 'idle'"))
			.containsExactly("10000");
	}

	/**
	 * However many locks the server has, and whosever they are.
	 */
	@Test
	void listingJobsDoesNotLookThroughAllLocksForEachOfThem() throws Exception {
		int jobs = 2000;
		int locks = 300;
		TestPostgres
			.execute("INSERT INTO ledger_tests_job (namespace, key, template, lock) SELECT 'tests', 'job-' || n, "
					+ "CASE WHEN n > " + jobs
					+ " THEN 'job-#{#n}' END, '1:' || n || ':1' FROM generate_series(1, 20000) n; "
					+ "ANALYZE ledger_tests_job");
		try (Connection stranger = TestPostgres.open(); Statement statement = stranger.createStatement()) {
			statement.execute("SELECT count(pg_advisory_lock(7, n)) FROM generate_series(1, " + locks + ") n");
			statement.execute("SELECT pg_advisory_lock((1::bigint << 32) + 17)");
			String plan = String.join("\n", TestPostgres.query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "
					+ TABLES.in(JobStatements.LISTED).replace(":most", "10000")));
			List<Double> rows = Pattern.compile("actual rows=([0-9.]+) loops=(\\d+)")
				.matcher(plan)
				.results()
				.map((node) -> Double.parseDouble(node.group(1)) * Integer.parseInt(node.group(2)))
				.toList();
			assertThat(rows).contains((double) jobs).as(plan).allMatch((count) -> count < jobs * locks / 5);
			assertThat(TestPostgres.query("SELECT key FROM ledger_tests_job_state WHERE state = 'running'"))
				.containsExactly("job-17");
		}
	}

	private void pay(boolean broken) {
		LockRequest request = LockRequest.of("payment:1")
			.with(new Recorded("payment:#{#id}"))
			.scope(LockScope.SESSION)
			.oncePerKey();
		this.template.execute(request, (lock) -> {
			if (broken) {
				throw new IllegalStateException("expected");
			}
			return null;
		});
	}

	/**
	 * Return the jobs, each with its state and its problems.
	 */
	private static List<String> states() {
		return TestPostgres
			.query("SELECT concat_ws(' ', key, state, problem) FROM ledger_tests_job_state ORDER BY namespace, key");
	}

	/**
	 * Return whether each job has been in its state for less than a minute.
	 */
	private static List<String> since() {
		return TestPostgres
			.query("SELECT since BETWEEN now() - interval '1 minute' AND clock_timestamp() FROM ledger_tests_job_state "
					+ "ORDER BY namespace, key");
	}

	private static void insertJob(String key, String columns) {
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, lock) VALUES ('tests', '" + key + "', '"
				+ PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of(NAMESPACE, key)) + "'); "
				+ "UPDATE ledger_tests_job SET " + columns + " WHERE key = '" + key + "'");
	}

	private static void update(String columns) {
		TestPostgres.execute("UPDATE ledger_tests_job SET " + columns + " WHERE key = 'job'");
	}

}
