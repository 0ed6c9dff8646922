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

/**
 * The SQL of what is read about jobs, their runs and instances, and of what instances say
 * of themselves and their jobs. Parameters are named; durations are in microseconds.
 */
final class JobStatements {

	/**
	 * Jobs with their pause. That of the key {@code ''} is for all jobs of a namespace,
	 * whenever they come, but for keys that were made from arguments, and for those that
	 * have a row of their own: without a time, it says that the job was resumed since.
	 */
	static final String JOBS = """
			(SELECT o.*, CASE WHEN p.key IS NULL THEN a.paused_at ELSE p.paused_at END AS paused_at,
			  CASE WHEN p.key IS NULL THEN a.paused_by ELSE p.paused_by END AS paused_by,
			  CASE WHEN p.key IS NULL THEN a.reason ELSE p.reason END AS paused_reason,
			  p.key IS NULL AND a.key IS NOT NULL AS paused_all
			FROM {job} o LEFT JOIN {pause} p ON p.namespace = o.namespace AND p.key = o.key
			LEFT JOIN {pause} a ON a.namespace = o.namespace AND a.key = '' AND o.template IS NULL AND o.recorded)""";

	/**
	 * What is known of some jobs {@code n}: their row, their state, and the run that is
	 * about, which is the last one of its key: {@code LIMIT} has PostgreSQL look that up
	 * in an index for each job, rather than read all runs. A key that has no row of its
	 * own, as one that runs once has not, is told from its last run and its completion.
	 */
	private static final String DESCRIBE = """
			SELECT n.namespace, n.key, coalesce(j.first_seen_at, r.started_at, c.completed_at) AS first_seen_at, j.last_tick,
			  coalesce(j.last_started_at, r.started_at) AS last_started_at,
			  coalesce(j.last_finished_at, r.finished_at) AS last_finished_at,
			  coalesce(j.last_outcome, r.outcome) AS last_outcome, j.paused_at, j.paused_by, j.paused_reason,
			  coalesce(j.paused_all, false) AS paused_all, j.resumed_at, j.open_tick, j.attempts, j.given_up, j.failures, j.retry_at,
			  j.next_at, r.fencing_token, r.id, r.key AS run_key, r.tick, r.attempt, r.scope, r.instance, r.started_at,
			  r.finished_at, r.outcome, r.error, r.error_class, r.trace_id, NULL AS stack_trace, NULL AS hang_stack,
			  j.method, j.scope AS job_scope, j.schedules, j.catch_up, j.key IS NOT NULL AS registered, h.effective_at,
			  h.expression AS chosen, h.zone AS chosen_zone, h.changed_at, h.changed_by, h.reason AS changed_reason,
			  h.schedules IS DISTINCT FROM j.schedules AS differs,
			  coalesce(pg_catalog.array_length(pg_catalog.string_to_array(j.lock, ','), 1), 1) AS permits,
			  coalesce(j.recorded, true) AS recorded, coalesce(j.template = j.key, false) AS of_keys, c.completed_at,
			  s.state, CASE WHEN s.key IS NOT NULL THEN s.problem WHEN r.failed AND r.outcome <> 'CANCELLED' THEN r.outcome END AS problem
			FROM ({some}) n
			LEFT JOIN {jobs} j ON j.namespace = n.namespace AND j.key = n.key
			LEFT JOIN {job_state} s ON s.namespace = n.namespace AND s.key = n.key
			LEFT JOIN {completion} c ON c.namespace = n.namespace AND c.key = n.key
			LEFT JOIN LATERAL (SELECT l.* FROM {run} l WHERE l.namespace = n.namespace AND l.key = coalesce(s.run_key, n.key)
			  ORDER BY l.fencing_token DESC LIMIT 1) r ON true
			LEFT JOIN LATERAL (SELECT l.* FROM {schedule} l WHERE l.namespace = n.namespace AND l.key = n.key
			  ORDER BY l.effective_at DESC LIMIT 1) h ON h.expression IS NOT NULL OR h.effective_at > pg_catalog.clock_timestamp()
			WHERE j.key IS NOT NULL OR r.id IS NOT NULL OR c.key IS NOT NULL
			ORDER BY n.namespace, n.key
			""";

	/**
	 * The jobs that are listed on their own, and those of keys with arguments that are
	 * paused. Where there are very many, not all are told.
	 */
	static final String LISTED = DESCRIBE.replace("{some}",
			"""
					SELECT * FROM (SELECT o.namespace, o.key FROM {job} o WHERE o.template IS NULL OR o.template = o.key
					  ORDER BY o.namespace, o.key LIMIT :most) alone
					UNION ALL SELECT o.namespace, o.key FROM {pause} p JOIN {job} o ON o.namespace = p.namespace AND o.key = p.key
					  WHERE p.paused_at IS NOT NULL AND o.template <> o.key""");

	static final String DESCRIBED = DESCRIBE.replace("{some}",
			"SELECT CAST(:namespace AS text) AS namespace, CAST(:key AS text) AS key");

	/**
	 * The jobs that are overdue, and those whose last tick is yet to come.
	 */
	static final String LATE = """
			SELECT j.namespace, j.key, s.overdue_tick, j.last_tick, pg_catalog.clock_timestamp() AS clock,
			  coalesce(j.last_tick > pg_catalog.clock_timestamp() + INTERVAL '1 minute', false) AS ahead
			FROM {job} j JOIN {job_state} s ON s.namespace = j.namespace AND s.key = j.key
			WHERE s.overdue_tick IS NOT NULL OR j.last_tick > pg_catalog.clock_timestamp() + INTERVAL '1 minute'
			""";

	/**
	 * The latest keys of a template whose last run has failed within a day, and how many
	 * such keys are among its latest failures.
	 */
	static final String FAILURES = """
			SELECT l.*, count(*) OVER () AS count FROM (
			  SELECT r.* FROM {run} r WHERE r.namespace = :namespace AND r.template = :key
			    AND r.failed AND r.outcome <> 'CANCELLED' ORDER BY r.id DESC LIMIT :mostFailures) l
			WHERE l.started_at > pg_catalog.clock_timestamp() - INTERVAL '1 day' AND NOT EXISTS (
			  SELECT FROM {run} e WHERE e.namespace = l.namespace AND e.key = l.key AND e.fencing_token > l.fencing_token)
			ORDER BY l.id DESC LIMIT :latest
			""";

	/**
	 * Since when all jobs of a namespace are paused, by whom and why.
	 */
	static final String PAUSE_OF_ALL = """
			SELECT a.paused_at AS at, a.paused_by AS who, a.reason AS why FROM {pause} a
			WHERE a.namespace = :namespace AND a.key = ''
			""";

	/**
	 * Add jobs that are not there yet, and keep those that are until somebody forgets
	 * them. Of those that are there, what they are is told anew where that has changed,
	 * and what is planned next where that has, or is not known since a pause has ended;
	 * but for rows that a run has locked. A row that says all this already is not locked.
	 * A call that is planned for the past was planned by a clock that is behind.
	 */
	static final String REGISTER = """
			WITH wanted AS MATERIALIZED (
			  SELECT DISTINCT ON (n.namespace, n.key) n.namespace, n.key, nullif(n.method, '') AS method,
			    nullif(n.scope, '') AS scope, nullif(n.schedules, '') AS schedules, nullif(n.once, '') AS once,
			    nullif(n.min_interval, -1) AS min_interval, nullif(n.catch_up, -1) AS catch_up, nullif(n.lock, '') AS lock,
			    nullif(n.period, -1) AS period, nullif(n.template, '') AS template, n.recorded,
			    CASE WHEN CAST(nullif(n.next, '') AS timestamptz) > pg_catalog.clock_timestamp()
			      THEN CAST(n.next AS timestamptz) END AS next_at
			  FROM ROWS FROM (pg_catalog.unnest(CAST(:namespaces AS text[])),
			    pg_catalog.unnest(CAST(:keys AS text[])), pg_catalog.unnest(CAST(:methods AS text[])),
			    pg_catalog.unnest(CAST(:scopes AS text[])), pg_catalog.unnest(CAST(:schedules AS text[])),
			    pg_catalog.unnest(CAST(:onces AS text[])), pg_catalog.unnest(CAST(:intervals AS bigint[])),
			    pg_catalog.unnest(CAST(:windows AS bigint[])), pg_catalog.unnest(CAST(:locks AS text[])),
			    pg_catalog.unnest(CAST(:periods AS bigint[])), pg_catalog.unnest(CAST(:templates AS text[])),
			    pg_catalog.unnest(CAST(:recorded AS boolean[])), pg_catalog.unnest(CAST(:next AS text[])))
			    n (namespace, key, method, scope, schedules, once, min_interval, catch_up, lock, period, template, recorded, next)
			  ORDER BY n.namespace, n.key, n.recorded DESC, nullif(n.method, '')
			), stale AS MATERIALIZED (
			  SELECT w.*, CASE WHEN j.schedules IS NOT DISTINCT FROM w.schedules AND coalesce(j.next_at > j.resumed_at, true)
			    THEN coalesce(j.next_at, w.next_at) ELSE w.next_at END AS planned
			  FROM {job} j JOIN wanted w ON w.namespace = j.namespace AND w.key = j.key
			  WHERE j.remember_until IS NULL AND w.method IS NOT NULL
			    AND ((j.method, j.scope, j.schedules, j.once, j.min_interval, j.catch_up, j.lock, j.period, j.template, j.recorded)
			      IS DISTINCT FROM (w.method, w.scope, w.schedules, w.once, w.min_interval, w.catch_up, w.lock, w.period,
			        w.template, w.recorded)
			      OR (w.next_at IS NOT NULL AND coalesce(j.next_at <= j.resumed_at, j.next_at IS NULL)))
			  FOR NO KEY UPDATE OF j SKIP LOCKED
			), told AS (
			  UPDATE {job} j SET method = s.method, scope = s.scope, schedules = s.schedules, once = s.once,
			    min_interval = s.min_interval, catch_up = s.catch_up, lock = s.lock, period = s.period, template = s.template,
			    recorded = s.recorded, next_at = s.planned
			  FROM stale s WHERE j.namespace = s.namespace AND j.key = s.key
			)
			INSERT INTO {job} AS o (namespace, key, method, scope, schedules, once, min_interval, catch_up, lock, period, template,
			  recorded, next_at)
			SELECT w.namespace, w.key, w.method, w.scope, w.schedules, w.once, w.min_interval, w.catch_up, w.lock, w.period,
			  w.template, w.recorded, w.next_at
			FROM wanted w
			WHERE NOT EXISTS (SELECT FROM {job} j
			  WHERE j.namespace = w.namespace AND j.key = w.key AND j.remember_until IS NULL)
			ON CONFLICT (namespace, key) DO UPDATE SET remember_until = NULL, method = excluded.method,
			  scope = excluded.scope, schedules = excluded.schedules, once = excluded.once,
			  min_interval = excluded.min_interval, catch_up = excluded.catch_up, lock = excluded.lock, period = excluded.period,
			  template = excluded.template, recorded = excluded.recorded, next_at = excluded.next_at
			  WHERE o.remember_until IS NOT NULL
			""";

	/**
	 * The latest runs of the keys that were made from a template. No index has those that
	 * were executed, as that would make each of them dearer: they are looked for among
	 * the latest runs of the ledger.
	 */
	static final String RUNS_OF_TEMPLATE = """
			SELECT r.* FROM (
			  (SELECT f.* FROM {run} f WHERE f.namespace = :namespace AND f.template = :key AND f.failed
			    ORDER BY f.id DESC LIMIT :limit)
			  UNION ALL SELECT l.* FROM (SELECT o.* FROM {run} o ORDER BY o.keep_until DESC LIMIT :recent) l
			    WHERE l.namespace = :namespace AND l.template = :key AND NOT l.failed) r
			ORDER BY r.fencing_token DESC LIMIT :limit
			""";

	/**
	 * An instance that was there before this one, has its name, and lives: it has said so
	 * since this one began, or a moment ago on a connection that is still open.
	 */
	static final String NAMESAKE = """
			SELECT FROM {instance} o LEFT JOIN {instance} i
			  ON i.namespace = o.namespace AND i.instance = o.instance AND i.born_at = CAST(:born AS timestamptz) AND i.stopped_at IS NULL
			WHERE o.namespace = :namespace AND o.instance = :instance AND o.born_at <> CAST(:born AS timestamptz)
			  AND o.stopped_at IS NULL AND coalesce((o.started_at, o.born_at) < (i.started_at, i.born_at), true)
			  AND (o.seen_at > i.started_at OR (o.seen_at > pg_catalog.clock_timestamp() - INTERVAL '14 seconds'
			    AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
			      WHERE a.pid = o.backend AND a.datname = pg_catalog.current_database())))
			""";

	/**
	 * Give the row of an instance another name.
	 */
	static final String RENAME = """
			UPDATE {instance} i SET instance = :instance
			WHERE i.namespace = :namespace AND i.instance = :before AND i.born_at = CAST(:born AS timestamptz)
			""";

	/**
	 * Say that an instance is there, and be told whether operators have chosen other
	 * schedules. Of the difference of the clocks, the time that the message took explains
	 * as much as its last round trip.
	 */
	static final String APPEAR = "WITH namesake AS MATERIALIZED (" + NAMESAKE
			+ """
					)
					INSERT INTO {instance} AS i (namespace, instance, born_at, version, library, clock_skew_ms, roles, terms,
					  led_since, schedules, backend)
					SELECT :namespace, :instance, CAST(:born AS timestamptz), :version, :library,
					  (SELECT greatest(least(c.skew, 0), c.skew - :took) FROM (SELECT CAST(pg_catalog.date_part('epoch',
					    pg_catalog.clock_timestamp() - CAST(:now AS timestamptz)) * 1000 AS bigint) AS skew) c),
					  CAST(:roles AS text[]), pg_catalog.array_replace(CAST(:terms AS bigint[]), CAST(-1 AS bigint), NULL),
					  CAST(pg_catalog.array_replace(CAST(:since AS text[]), '', NULL) AS timestamptz[]),
					  pg_catalog.jsonb_object(CAST(:keys AS text[]), CAST(:schedules AS text[])), pg_catalog.pg_backend_pid()
					WHERE NOT EXISTS (SELECT FROM namesake)
					ON CONFLICT (namespace, instance, born_at) DO UPDATE SET seen_at = excluded.seen_at, stopped_at = NULL,
					  started_at = CASE WHEN :first THEN excluded.started_at ELSE i.started_at END, version = excluded.version,
					  library = excluded.library, clock_skew_ms = excluded.clock_skew_ms, roles = excluded.roles,
					  terms = excluded.terms, led_since = excluded.led_since, backend = excluded.backend,
					  drained_at = CASE WHEN NOT :first THEN i.drained_at END, drained_by = CASE WHEN NOT :first THEN i.drained_by END,
					  schedules = coalesce(nullif(excluded.schedules, '{}'), i.schedules)
					RETURNING (SELECT pg_catalog.concat_ws(' ', count(*), pg_catalog.max(s.changed_at)) FROM {schedule} s), i.drained_at IS NOT NULL
					""";

	/**
	 * This instance, if an operator has it begin no run.
	 */
	static final String DRAINED = """
			SELECT FROM {instance} i WHERE i.namespace = :home AND i.instance = :instance
			      AND i.born_at = CAST(:born AS timestamptz) AND i.stopped_at IS NULL AND i.drained_at IS NOT NULL""";

	/**
	 * Say that an instance ends in order.
	 */
	static final String LEAVE = """
			UPDATE {instance} i SET stopped_at = pg_catalog.clock_timestamp(), seen_at = pg_catalog.clock_timestamp()
			WHERE i.namespace = :namespace AND i.instance = :instance AND i.born_at = CAST(:born AS timestamptz)
			""";

	/**
	 * The instances of a namespace, those that live first, then those that ended last.
	 * Connections have the end of the name of their instance in theirs.
	 */
	static final String INSTANCES = """
			WITH connected AS MATERIALIZED (
			  SELECT pg_catalog.split_part(a.application_name, '@', -1) AS name, count(l.locktype) AS locks
			  FROM pg_catalog.pg_stat_activity a LEFT JOIN pg_catalog.pg_locks l
			    ON l.pid = a.pid AND l.locktype = 'advisory' AND l.granted
			  WHERE a.datname = pg_catalog.current_database() AND a.application_name LIKE 'al:%@%' GROUP BY 1
			), known AS (
			  SELECT i.*, EXISTS (SELECT FROM {instance} l WHERE l.namespace = i.namespace AND l.instance = i.instance
			    AND l.born_at <> i.born_at AND l.started_at > i.seen_at) AS replaced
			  FROM {instance} i WHERE i.namespace = :namespace
			), told AS (
			  SELECT i.*, coalesce(c.locks, 0) AS locks, CASE WHEN i.stopped_at IS NOT NULL THEN 'STOPPED'
			    WHEN i.replaced THEN 'VANISHED'
			    WHEN i.seen_at BETWEEN pg_catalog.clock_timestamp() - INTERVAL '35 seconds'
			      AND pg_catalog.clock_timestamp() + INTERVAL '1 minute' OR c.name IS NOT NULL THEN 'ALIVE'
			    ELSE 'VANISHED' END AS state
			  FROM known i LEFT JOIN connected c
			    ON NOT i.replaced AND c.name = pg_catalog.right(pg_catalog.regexp_replace(i.instance, '[^ -~]', '?', 'g'), 28)
			)
			SELECT t.namespace, t.instance, t.state, t.started_at, t.seen_at, t.stopped_at, t.version, t.library,
			  t.clock_skew_ms, t.locks, t.roles, t.terms, t.led_since, t.drained_at, t.drained_by
			FROM told t ORDER BY t.state <> 'ALIVE', CASE WHEN t.state <> 'ALIVE' THEN t.seen_at END DESC,
			  t.started_at, t.instance LIMIT :instances
			""";

	/**
	 * Keys whose schedules differ between instances that are there for longer than a
	 * roll-out takes. Those that have the same schedules are looked at once.
	 */
	static final String DIFFERING = """
			SELECT d.key, d.since, d.instance, d.schedule || ', but ' || d.other_schedule || ' on ' || d.other AS detail
			FROM (
			  SELECT s.key, pg_catalog.max(f.since) AS since, pg_catalog.min(s.value) AS schedule,
			    pg_catalog.max(s.value) AS other_schedule,
			    (pg_catalog.array_agg(f.instance ORDER BY s.value, f.instance))[1] AS instance,
			    (pg_catalog.array_agg(f.instance ORDER BY s.value DESC, f.instance))[1] AS other
			  FROM (
			    SELECT i.schedules, pg_catalog.min(i.instance) AS instance, pg_catalog.min(i.started_at) AS since
			    FROM {instance} i WHERE i.namespace = :namespace AND i.stopped_at IS NULL
			      AND i.started_at < pg_catalog.clock_timestamp() - INTERVAL '10 minutes'
			      AND i.seen_at > pg_catalog.clock_timestamp() - INTERVAL '35 seconds'
			    GROUP BY i.schedules
			  ) f CROSS JOIN LATERAL pg_catalog.jsonb_each_text(f.schedules) s GROUP BY s.key
			) d WHERE d.schedule <> d.other_schedule ORDER BY d.key
			""";

	static final String PAGE_OF_NAMESPACE = """
			SELECT * FROM {jobs} j WHERE j.namespace = :namespace AND j.key > :key AND j.recorded
			  AND j.template IS DISTINCT FROM j.key ORDER BY j.key LIMIT :limit
			""";

	static final String ONE = """
			SELECT * FROM {jobs} j WHERE j.namespace = :namespace AND j.key = :key AND j.recorded
			  AND j.template IS DISTINCT FROM j.key
			""";

	/**
	 * Ask whether there is a job or a run.
	 */
	static final String KNOWS = """
			SELECT EXISTS (SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key)
			  OR EXISTS (SELECT FROM {run} r WHERE r.namespace = :namespace AND r.key = :key)
			""";

	/**
	 * The latest runs of all jobs of a namespace, for each way to end apart, so that an
	 * index has them in their order, however rare they are.
	 */
	static final String LATEST = """
			SELECT r.*, NULL AS stack_trace, NULL AS hang_stack
			FROM pg_catalog.unnest(CAST(:badEnds AS text[])) e (bad_end) CROSS JOIN LATERAL (
			  SELECT r.id, r.namespace, r.key, r.tick, r.attempt, r.scope, r.instance, r.fencing_token, r.started_at,
			    r.finished_at, r.outcome, r.error, r.error_class, r.trace_id
			  FROM {run} r WHERE r.namespace = :namespace AND r.bad_end = e.bad_end
			    AND r.started_at >= coalesce(CAST(:from AS timestamptz), '-infinity')
			    AND r.started_at < coalesce(CAST(:to AS timestamptz), 'infinity')
			    AND (r.finished_at IS NOT NULL OR NOT :ended)
			  ORDER BY r.started_at DESC, r.fencing_token DESC LIMIT :limit
			) r
			ORDER BY r.started_at DESC, r.fencing_token DESC LIMIT :limit
			""";

	/**
	 * As {@link #LATEST}, of one instance, which has an index of its own.
	 */
	static final String LATEST_OF_INSTANCE = LATEST.replace("r.namespace = :namespace",
			"r.namespace = :namespace AND r.instance = :instance");

	/**
	 * The last runs of a key, the last one that is over with its stack traces, and one
	 * that is under way with what it was doing.
	 */
	static final String RUNS = """
			SELECT r.id, r.namespace, r.key, r.tick, r.attempt, r.scope, r.instance, r.fencing_token, r.started_at,
			  r.finished_at, r.outcome, r.error, r.error_class, r.trace_id,
			  CASE WHEN r.fencing_token = pg_catalog.max(r.fencing_token) FILTER (WHERE r.finished_at IS NOT NULL) OVER ()
			    THEN r.stack_trace END AS stack_trace,
			  CASE WHEN r.finished_at IS NULL OR r.fencing_token
			      = pg_catalog.max(r.fencing_token) FILTER (WHERE r.finished_at IS NOT NULL) OVER ()
			    THEN r.hang_stack END AS hang_stack
			FROM (SELECT l.* FROM {run} l WHERE l.namespace = :namespace AND l.key = :key
			  ORDER BY l.fencing_token DESC LIMIT :limit) r
			ORDER BY r.fencing_token DESC
			""";

	/**
	 * Some jobs, in their order, whether their locks are held, and the time. Locks are
	 * read after the rows, or before.
	 */
	static final String OBSERVE = """
			WITH held AS MATERIALIZED (
			  SELECT DISTINCT pg_catalog.concat_ws(':', l.classid, l.objid, l.objsubid) AS lock FROM pg_catalog.pg_locks l
			  JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
			  WHERE l.locktype = 'advisory' AND l.granted
			)
			SELECT j.*, h.lock IS NOT NULL AS held, pg_catalog.clock_timestamp() AS clock
			FROM ROWS FROM
			  (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[])),
			   pg_catalog.unnest(CAST(:locks AS text[]))) WITH ORDINALITY n (namespace, key, lock, position)
			LEFT JOIN {jobs} j ON j.namespace = n.namespace AND j.key = n.key
			LEFT JOIN held h ON h.lock = n.lock
			ORDER BY n.position
			""";

	/**
	 * The latest keys of a template, and how many there are.
	 */
	static final String KEYS = """
			SELECT j.*, (SELECT count(*) FROM (SELECT FROM {job} o WHERE o.namespace = :namespace AND o.template = :key
			  AND o.key <> :key LIMIT :most) c) AS count
			FROM {jobs} j WHERE j.namespace = :namespace AND j.template = :key AND j.key <> :key
			ORDER BY j.first_seen_at DESC LIMIT :latest
			""";

	private JobStatements() {
	}

}
