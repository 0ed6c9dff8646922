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

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.jdbc.server.FencingTokens;

/**
 * The SQL of runs: all that correctness hangs on. Parameters are named; durations are in
 * microseconds; {@code null} is bound for a tick or an interval that does not matter.
 * <p>
 * Whoever sends {@link #decide} holds the lock of the key, so that the snapshot of that
 * statement has what the last holder committed. That lock may be lost unnoticed
 * afterwards, or the snapshot be older than it. Therefore {@link #begin} and {@link #end}
 * take the row lock of the job first, by an upsert whose guard PostgreSQL evaluates on
 * the latest version of the row (EvalPlanQual; above READ COMMITTED it fails with a
 * serialization error instead): a lower token never overwrites a higher one, and a tick
 * is completed once. All else in the statement hangs on that row.
 */
final class RunStatements {

	/**
	 * In the place of an outcome: the tick is later than the clock of the database.
	 */
	static final String AHEAD = "AHEAD";

	/**
	 * In the place of an outcome: this instance does not know the schedule that holds.
	 */
	static final String RESCHEDULED = "RESCHEDULED";

	/**
	 * In the place of an outcome: an operator has this instance begin no run.
	 */
	static final String DRAINED = "DRAINED";

	/**
	 * Times that are later than the clock of the database by more than a minute decide
	 * nothing; a back-off is twelve minutes at most. A drawn token must be higher than
	 * all that are known of the key: in another cluster, or after an upgrade, the
	 * sequence counts from a lower number, and keys that run once have no row of a job.
	 * Above READ COMMITTED the row of the job is locked until the run has ended: what an
	 * operator changes in it would make the run fail. The outcome has a type of a fixed
	 * length: before a statement with any other column the driver waits once more, to be
	 * sure that the answer is not too long.
	 */
	private static final String DECIDE = """
			WITH decision AS MATERIALIZED (
			  SELECT CAST(CASE
			    WHEN :drainable AND EXISTS ({drained}) THEN 'DRAINED'
			    WHEN (SELECT p.paused_at IS NOT NULL FROM {pause} p WHERE p.namespace = :namespace
			      AND (p.key = :key OR (:pausable AND p.key = '')) ORDER BY p.key DESC LIMIT 1) THEN 'PAUSED'
			    WHEN :backfilled AND NOT EXISTS (SELECT FROM {backfill} b WHERE b.namespace = :namespace AND b.key = :key
			      AND b.instance = :instance AND b.current_tick = CAST(:tick AS timestamptz) AND b.outcome IS NULL) THEN 'PAUSED'
			    WHEN :planned AND (SELECT pg_catalog.max(s.changed_at) FROM {schedule} s WHERE s.namespace = :namespace
			      AND s.key = :key) IS DISTINCT FROM CAST(:scheduleKnown AS timestamptz) THEN 'RESCHEDULED'
			    WHEN CAST(:tick AS timestamptz) > t.latest THEN 'AHEAD'
			    WHEN NOT :backfilled AND j.last_tick BETWEEN CAST(:tick AS timestamptz) AND t.latest THEN 'ALREADY_RAN'
			    WHEN :backfilled AND NOT :again AND (j.last_tick = CAST(:tick AS timestamptz) OR EXISTS (
			      SELECT FROM {run} r WHERE r.namespace = :namespace AND r.key = :key AND r.tick = CAST(:tick AS timestamptz)
			        AND r.outcome = 'EXECUTED')) THEN 'ALREADY_RAN'
			    WHEN :oncePerKey AND EXISTS (SELECT FROM {completion} c WHERE c.namespace = :namespace AND c.key = :key)
			      THEN 'ALREADY_RAN'
			    WHEN :backOff AND j.open_tick = CAST(:tick AS timestamptz) AND (j.given_up OR (j.retry_at > t.now
			      AND j.retry_at <= t.latest + INTERVAL '12 minutes')) THEN 'TOO_SOON'
			    WHEN NOT :backfilled AND j.open_tick = CAST(:tick AS timestamptz) AND j.given_up AND j.cancelled_at >= j.open_tick THEN 'TOO_SOON'
			    WHEN j.last_started_at > t.now - CAST(:minInterval AS bigint) * INTERVAL '1 microsecond'
			      AND j.last_started_at <= t.latest THEN 'TOO_SOON'
			    WHEN j.held_until > t.now AND j.held_since <= t.latest THEN 'TOO_SOON'
			    ELSE 'EXECUTED' END AS name) AS outcome,
			    greatest(CASE WHEN j.last_tick > t.latest AND CAST(:tick AS timestamptz) IS NOT NULL THEN j.last_tick END,
			      CASE WHEN j.last_started_at > t.latest AND CAST(:minInterval AS bigint) IS NOT NULL THEN j.last_started_at END,
			      CASE WHEN j.retry_at > t.latest + INTERVAL '12 minutes' AND :backOff THEN j.retry_at END,
			      CASE WHEN j.held_since > t.latest THEN j.held_since END) AS ignored,
			    CASE WHEN j.open_tick = CAST(:tick AS timestamptz) THEN j.attempts ELSE 0 END AS attempts,
			    CASE WHEN j.open_tick = CAST(:tick AS timestamptz) THEN j.failed_attempts ELSE 0 END AS failed_attempts,
			    j.fencing_token, coalesce(:backfilled AND j.last_tick >= CAST(:tick AS timestamptz), false) AS earlier
			  FROM (SELECT pg_catalog.clock_timestamp() AS now, pg_catalog.clock_timestamp() + INTERVAL '1 minute' AS latest) t
			  LEFT JOIN {job} j ON j.namespace = :namespace AND j.key = :key
			), locked AS MATERIALIZED (
			  SELECT j.key FROM {job} j WHERE :draws AND j.namespace = :namespace AND j.key = :key
			    AND pg_catalog.current_setting('transaction_isolation') <> 'read committed'
			    AND (SELECT d.outcome FROM decision d) = 'EXECUTED'
			  FOR NO KEY UPDATE OF j
			)
			SELECT d.outcome, CASE WHEN :draws AND d.outcome = 'EXECUTED' THEN greatest(d.fencing_token + 1, (
			    SELECT pg_catalog.max(r.fencing_token) + 1 FROM {run} r WHERE r.namespace = :namespace AND r.key = :key),
			    pg_catalog.nextval('{token}') + ("""
			+ FencingTokens.ERA + """
					)) END, pg_catalog.clock_timestamp(), d.attempts + 1, d.ignored, d.failed_attempts, d.earlier,
					(SELECT count(*) FROM locked)
					FROM decision d
					""";

	/**
	 * A run of the job that is open did not come to its end: its instance is gone, or it
	 * would hold the lock. The commit of a start is not waited for: it matters to the
	 * living only, and a crash of the server ends the lock as well. An interval is to
	 * hold after that, too.
	 */
	private static final String BEGIN = """
			WITH job AS (
			  INSERT INTO {job} AS j (namespace, key, last_started_at, fencing_token, template, lock, open_tick, attempts,
			    failed_attempts, remember_until)
			  SELECT :namespace, :key, pg_catalog.clock_timestamp(), CAST(:token AS bigint), :template, :lock,
			    CAST(:tick AS timestamptz), CASE WHEN CAST(:tick AS timestamptz) IS NULL THEN 0 ELSE CAST(:attempt AS integer) END,
			    CASE WHEN CAST(:tick AS timestamptz) IS NULL THEN 0 ELSE CAST(:failedAttempts AS integer) END,
			    CASE WHEN :remembered THEN pg_catalog.date_trunc('hour', pg_catalog.clock_timestamp() + INTERVAL '1 hour'
			      + CAST(:rememberJob AS bigint) * INTERVAL '1 microsecond') END
			  WHERE :keepsJob
			  ON CONFLICT (namespace, key) DO UPDATE SET
			    last_started_at = excluded.last_started_at, fencing_token = excluded.fencing_token, lock = excluded.lock,
			    last_outcome = CASE WHEN j.last_started_at > coalesce(j.last_finished_at, '-infinity') THEN 'ABANDONED'
			      ELSE j.last_outcome END,
			    failures = CASE WHEN j.last_started_at > coalesce(j.last_finished_at, '-infinity') THEN j.failures + 1
			      ELSE j.failures END,
			    last_finished_at = CASE WHEN j.last_started_at > coalesce(j.last_finished_at, '-infinity')
			      THEN excluded.last_started_at - INTERVAL '1 microsecond' WHEN j.last_finished_at IS NOT NULL
			      THEN least(j.last_finished_at, excluded.last_started_at - INTERVAL '1 microsecond') END,
			    open_tick = CASE WHEN excluded.open_tick >= coalesce(j.open_tick, '-infinity') THEN excluded.open_tick
			      ELSE j.open_tick END,
			    attempts = CASE WHEN excluded.open_tick >= coalesce(j.open_tick, '-infinity') THEN excluded.attempts
			      ELSE j.attempts END,
			    failed_attempts = CASE WHEN excluded.open_tick >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.failed_attempts ELSE j.failed_attempts END,
			    given_up = j.given_up AND NOT coalesce(excluded.open_tick >= coalesce(j.open_tick, '-infinity'), false),
			    retry_at = CASE WHEN excluded.open_tick >= coalesce(j.open_tick, '-infinity') THEN NULL ELSE j.retry_at END,
			    remember_until = CASE WHEN j.remember_until IS NOT NULL AND excluded.remember_until IS NOT NULL
			      THEN greatest(j.remember_until, excluded.remember_until) END
			  WHERE coalesce(j.fencing_token < excluded.fencing_token, true) AND coalesce(j.last_tick < excluded.open_tick
			    OR j.last_tick > pg_catalog.clock_timestamp() + INTERVAL '1 minute', true)
			  RETURNING j.last_started_at
			), abandoned AS (
			  UPDATE {run} r SET finished_at = pg_catalog.clock_timestamp(), outcome = 'ABANDONED'
			  WHERE r.namespace = :namespace AND r.key = :key AND r.finished_at IS NULL AND r.fencing_token = (
			    SELECT pg_catalog.max(p.fencing_token) FROM {run} p WHERE p.namespace = :namespace AND p.key = :key
			      AND p.fencing_token < CAST(:token AS bigint))
			    AND (NOT :keepsJob OR EXISTS (SELECT FROM job))
			), started AS (
			  INSERT INTO {run} (namespace, key, tick, attempt, scope, instance, fencing_token, started_at, keep_until, template, lock)
			  SELECT :namespace, :key, CAST(:ofTick AS timestamptz), CAST(:attempt AS integer), :scope, :instance,
			    CAST(:token AS bigint), coalesce((SELECT j.last_started_at FROM job j), pg_catalog.clock_timestamp()),
			    pg_catalog.date_trunc('minute', pg_catalog.clock_timestamp() + INTERVAL '1 minute'
			      + CAST(:keepRuns AS bigint) * INTERVAL '1 microsecond'), :template, :lock
			  WHERE CASE WHEN :keepsJob THEN EXISTS (SELECT FROM job) ELSE NOT EXISTS (SELECT FROM {run} r
			    WHERE r.namespace = :namespace AND r.key = :key AND r.fencing_token > CAST(:token AS bigint)) END
			  RETURNING started_at
			)
			SELECT s.started_at, CASE WHEN CAST(:minInterval AS bigint) IS NULL
			  THEN pg_catalog.set_config('synchronous_commit', 'off', true) IS NOT NULL END
			FROM (SELECT 1) one LEFT JOIN started s ON true
			""";

	/**
	 * Of a tick that failed, the next attempt waits for 30 s, doubled each time, but for
	 * no more than ten minutes, and a bit longer by chance, unless the tick is given up.
	 * One that was abandoned did not fail, and does not wait. A run that has failed and
	 * is committed is done: its tick or key is used up, and it counts neither for nor
	 * against the job. An attempt of an earlier tick than the one that is open says
	 * nothing of that. Times in an index are rounded, so that they change seldom, and the
	 * update is a HOT one. The row of a job that is to be kept stays so, and what was
	 * promised is not taken back.
	 */
	private static final String END = """
			WITH e AS MATERIALIZED (
			  SELECT CAST(:outcome AS text) = 'EXECUTED' OR :committed AS executed,
			    CAST(:outcome AS text) = 'FAILED' AND NOT :givenUp AND NOT :committed AS waits,
			    CAST(:outcome AS text) = 'CANCELLED' AS cancelled,
			    CAST(:tick AS timestamptz) AS tick,
			    CAST(:attempt AS integer) AS attempt, CAST(:token AS bigint) AS token, n.started_at, greatest(n.now, n.started_at) AS now
			  FROM (SELECT pg_catalog.clock_timestamp() AS now, CAST(:startedAt AS timestamptz) AS started_at) n
			  WHERE NOT EXISTS (SELECT FROM {run} r WHERE r.namespace = :namespace AND r.key = :key
			    AND r.fencing_token = CAST(:token AS bigint) AND r.finished_at IS NOT NULL)
			), job AS (
			  INSERT INTO {job} AS j (namespace, key, last_tick, last_started_at, last_finished_at, last_outcome, fencing_token,
			    template, lock, failures, next_at, open_tick, attempts, failed_attempts, given_up, cancelled_at, retry_at,
			    remember_until)
			  SELECT :namespace, :key, CASE WHEN e.executed THEN e.tick END, e.started_at, e.now, :outcome, e.token, :template,
			    :lock, CASE WHEN e.executed OR e.cancelled THEN 0 ELSE 1 END, CAST(:nextAt AS timestamptz),
			    CASE WHEN NOT e.executed THEN e.tick END, CASE WHEN e.executed OR e.tick IS NULL THEN 0 ELSE e.attempt END,
			    CASE WHEN e.executed OR e.tick IS NULL THEN 0 ELSE CAST(:failedAttempts AS integer) END,
			    NOT e.executed AND e.tick IS NOT NULL AND :givenUp,
			    CASE WHEN e.cancelled AND e.tick IS NOT NULL THEN e.now END,
			    CASE WHEN e.waits AND e.tick IS NOT NULL THEN e.now + INTERVAL '1 second'
			      * least(30 * pg_catalog.power(2, least(e.attempt - 1, 5)), 600) * (1 + 0.2 * pg_catalog.random()) END,
			    CASE WHEN :remembered THEN pg_catalog.date_trunc('hour', e.now + INTERVAL '1 hour'
			      + CAST(:rememberJob AS bigint) * INTERVAL '1 microsecond') END
			  FROM e WHERE :keepsJob
			  ON CONFLICT (namespace, key) DO UPDATE SET
			    last_tick = coalesce(excluded.last_tick, j.last_tick), last_started_at = excluded.last_started_at,
			    last_finished_at = excluded.last_finished_at, last_outcome = excluded.last_outcome,
			    fencing_token = excluded.fencing_token, lock = excluded.lock,
			    failures = CASE excluded.last_outcome WHEN 'EXECUTED' THEN 0 ELSE j.failures + excluded.failures END, recorded = true,
			    next_at = coalesce(excluded.next_at, j.next_at),
			    open_tick = CASE WHEN coalesce(excluded.last_tick, excluded.open_tick) >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.open_tick ELSE j.open_tick END,
			    attempts = CASE WHEN coalesce(excluded.last_tick, excluded.open_tick) >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.attempts ELSE j.attempts END,
			    failed_attempts = CASE WHEN coalesce(excluded.last_tick, excluded.open_tick) >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.failed_attempts ELSE j.failed_attempts END,
			    given_up = CASE WHEN coalesce(excluded.last_tick, excluded.open_tick) >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.given_up ELSE j.given_up END,
			    cancelled_at = coalesce(excluded.cancelled_at, j.cancelled_at),
			    retry_at = CASE WHEN coalesce(excluded.last_tick, excluded.open_tick) >= coalesce(j.open_tick, '-infinity')
			      THEN excluded.retry_at ELSE j.retry_at END,
			    remember_until = CASE WHEN j.remember_until IS NOT NULL AND excluded.remember_until IS NOT NULL
			      THEN greatest(j.remember_until, excluded.remember_until) END
			  WHERE (coalesce(j.fencing_token < excluded.fencing_token, true) OR (j.fencing_token = excluded.fencing_token
			      AND j.last_started_at > coalesce(j.last_finished_at, '-infinity')))
			    AND coalesce(j.last_tick < excluded.last_tick
			      OR j.last_tick > pg_catalog.clock_timestamp() + INTERVAL '1 minute', true)
			  RETURNING 1
			), completed AS (
			  INSERT INTO {completion} (namespace, key, result, remember_until)
			  SELECT :namespace, :key, CAST(:result AS text), pg_catalog.date_trunc('minute', e.now + INTERVAL '1 minute'
			    + CAST(:rememberKeys AS bigint) * INTERVAL '1 microsecond')
			  FROM e WHERE :oncePerKey AND e.executed AND (NOT :keepsJob OR EXISTS (SELECT FROM job))
			  ON CONFLICT DO NOTHING RETURNING 1
			), abandoned AS (
			  UPDATE {run} r SET finished_at = pg_catalog.clock_timestamp(), outcome = 'ABANDONED'
			  WHERE r.namespace = :namespace AND r.key = :key AND r.finished_at IS NULL AND r.fencing_token = (
			    SELECT pg_catalog.max(p.fencing_token) FROM {run} p WHERE p.namespace = :namespace AND p.key = :key
			      AND p.fencing_token < CAST(:token AS bigint)) AND (NOT :keepsJob OR EXISTS (SELECT FROM job))
			), ended AS (
			  INSERT INTO {run} AS r (namespace, key, tick, attempt, scope, instance, fencing_token, started_at, finished_at,
			    outcome, error_class, error, stack_trace, hang_stack, trace_id, keep_until, template)
			  SELECT :namespace, :key, CAST(:ofTick AS timestamptz), e.attempt, :scope, :instance, e.token, e.started_at, e.now, :outcome, :errorClass,
			    :error, :stackTrace, :hangStack, :traceId, pg_catalog.date_trunc('minute', e.started_at + INTERVAL '1 minute'
			      + CAST(:keepRuns AS bigint) * INTERVAL '1 microsecond'), :template
			  FROM e WHERE NOT e.executed OR ((NOT :keepsJob OR EXISTS (SELECT FROM job))
			    AND (NOT :oncePerKey OR EXISTS (SELECT FROM completed)))
			  ON CONFLICT (namespace, key, fencing_token) DO UPDATE SET finished_at = excluded.finished_at,
			    outcome = excluded.outcome, error_class = excluded.error_class, error = excluded.error,
			    stack_trace = excluded.stack_trace, hang_stack = coalesce(excluded.hang_stack, r.hang_stack),
			    trace_id = excluded.trace_id
			  WHERE r.finished_at IS NULL RETURNING 1
			)
			SELECT count(*) FROM ended
			""";

	private static final String RESULT = """
			SELECT (SELECT c.result FROM {completion} c WHERE c.namespace = :namespace AND c.key = :key)
			""";

	private static final String HANG = """
			UPDATE {run} r SET hang_stack = :hangStack WHERE r.namespace = :namespace AND r.key = :key
			  AND r.fencing_token = :token AND r.finished_at IS NULL
			""";

	/**
	 * Lets the driver give up the portal of the query before, which keeps a snapshot.
	 */
	private static final String RELEASE = "; SET LOCAL advisory_lock.snapshot = 'released'";

	private static final String SAVEPOINT = "SAVEPOINT advisory_lock_run";

	/**
	 * Writes the start of a run in scope {@code SESSION}. Answers when that was,
	 * {@code null} if its lock was lost.
	 */
	final String begin;

	/**
	 * Writes how a run ended, whether or not its start was written. Answers 0 if somebody
	 * else has ended it, or completed the tick or key.
	 */
	final String end;

	/**
	 * Finds what is kept of the result of a completed key.
	 */
	final String result;

	/**
	 * Writes what a run in scope {@code SESSION} is doing that is not over.
	 */
	final String hang;

	private final String decide;

	private final Map<Kind, Decisions> decisions = new ConcurrentHashMap<>();

	RunStatements(LedgerTables tables) {
		this.decide = tables.in(DECIDE.replace("{drained}", JobStatements.DRAINED));
		this.begin = tables.in(BEGIN);
		this.end = tables.in(END);
		this.result = tables.in(RESULT);
		this.hang = tables.in(HANG);
	}

	/**
	 * Return what decides about runs of a kind.
	 */
	Decisions decisions(Kind kind) {
		return this.decisions.computeIfAbsent(kind, (key) -> new Decisions(key.in(this.decide)));
	}

	/**
	 * Undo what was done since the savepoint.
	 */
	static String undo() {
		return "ROLLBACK TO " + SAVEPOINT;
	}

	/**
	 * End a transaction whose manager must not: it would write what has failed.
	 */
	static String commit() {
		return "COMMIT";
	}

	/**
	 * Make durable what the server has counted.
	 */
	static String flush() {
		return "SELECT 1, " + FencingTokens.DURABLE;
	}

	/**
	 * What runs have in common that are asked the same. It stands in the text: PostgreSQL
	 * counts what a parameter may have it read, finds that a plan for these values alone
	 * is cheaper, and would plan for each run, which takes longer than all else.
	 *
	 * @param drainable whether the instance may be told to begin none
	 * @param backfilled whether an operator has asked for the tick
	 * @param planned whether the tick is one of a schedule
	 * @param oncePerKey whether the key is run once
	 */
	record Kind(boolean drainable, boolean backfilled, boolean planned, boolean oncePerKey) {

		private String in(String sql) {
			return sql.replace(":drainable", "" + this.drainable)
				.replace(":backfilled", "" + this.backfilled)
				.replace(":planned", "" + this.planned)
				.replace(":oncePerKey", "" + this.oncePerKey);
		}

	}

	/**
	 * Statements that decide whether a run goes on. They answer the name of an outcome,
	 * the token, the time, the attempt, and a time that was ignored.
	 *
	 * @param look draws no token
	 * @param apart draws one
	 * @param inside does so in the transaction of the work, and leaves no snapshot open
	 * @param beforeSavepoint does likewise, with a savepoint afterwards, which keeps the
	 * lock
	 */
	record Decisions(String look, String apart, String inside, String beforeSavepoint) {

		private Decisions(String sql) {
			this(sql.replace(":draws", "false"), sql.replace(":draws", "true"));
		}

		private Decisions(String look, String draw) {
			this(look, draw, draw + RELEASE, draw + RELEASE + "; " + SAVEPOINT);
		}

	}

}
