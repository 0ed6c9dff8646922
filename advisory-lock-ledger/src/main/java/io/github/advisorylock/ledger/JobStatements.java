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

package io.github.advisorylock.ledger;

/**
 * The SQL of what is read about jobs, their runs and instances, and of what instances say
 * of themselves and their jobs. Parameters are named; durations are in microseconds, jobs
 * an array of {@code namespaces} and one of {@code keys}.
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
			LEFT JOIN {pause} a ON a.namespace = o.namespace AND a.key = '' AND o.template IS NULL)""";

	/**
	 * The latest failures of keys that were made from a template {@code o}, of those keys
	 * that have not run since.
	 */
	private static final String FAILED = """
			SELECT l.* FROM (
			  SELECT r.* FROM {run} r WHERE r.namespace = o.namespace AND r.template = o.key
			    AND r.failed ORDER BY r.id DESC LIMIT :mostFailures) l
			WHERE l.started_at > pg_catalog.clock_timestamp() - INTERVAL '1 day' AND NOT EXISTS (
			  SELECT FROM {run} e WHERE e.namespace = l.namespace AND e.key = l.key AND e.fencing_token > l.fencing_token)
			""";

	/**
	 * The names of jobs that are listed on their own, and what keys with arguments were
	 * made from, those too of which only failed runs are left: skips from each to the
	 * next in an index. Where there are very many, not all are told.
	 */
	static final String NAMES = """
			WITH RECURSIVE of_jobs AS (
			  (SELECT j.namespace, j.template FROM {job} j WHERE j.template IS NOT NULL
			    ORDER BY j.namespace, j.template LIMIT 1)
			  UNION ALL SELECT n.* FROM of_jobs t CROSS JOIN LATERAL (
			    SELECT j.namespace, j.template FROM {job} j
			    WHERE j.template IS NOT NULL AND (j.namespace, j.template) > (t.namespace, t.template)
			    ORDER BY j.namespace, j.template LIMIT 1) n
			), of_failures AS (
			  (SELECT r.namespace, r.template FROM {run} r WHERE r.template IS NOT NULL AND r.failed
			    ORDER BY r.namespace, r.template LIMIT 1)
			  UNION ALL SELECT n.* FROM of_failures f CROSS JOIN LATERAL (
			    SELECT r.namespace, r.template FROM {run} r WHERE r.template IS NOT NULL AND r.failed
			      AND (r.namespace, r.template) > (f.namespace, f.template)
			    ORDER BY r.namespace, r.template LIMIT 1) n
			)
			(SELECT j.namespace, j.key FROM {job} j WHERE j.template IS NULL ORDER BY 1, 2 LIMIT :most)
			UNION (SELECT p.namespace, p.key FROM {pause} p JOIN {job} j ON j.namespace = p.namespace AND j.key = p.key
			  WHERE p.paused_at IS NOT NULL AND j.template IS NOT NULL LIMIT :most)
			UNION (SELECT * FROM of_jobs LIMIT :mostTemplates) UNION (SELECT * FROM of_failures LIMIT :mostTemplates)
			ORDER BY 1, 2
			""";

	/**
	 * The latest keys of some templates whose last run has failed within a day, and how
	 * many such keys are among the latest failures.
	 */
	static final String FAILURES = """
			SELECT o.position, f.* FROM ROWS FROM
			  (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[])))
			  WITH ORDINALITY o (namespace, key, position)
			CROSS JOIN LATERAL (
			  SELECT n.*, count(*) OVER () AS count FROM (""" + FAILED + """
			  ) n ORDER BY n.id DESC LIMIT :latest) f
			ORDER BY o.position, f.id DESC
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
	 * but for rows that a run has locked. A row that says all this already is not locked.
	 */
	static final String REGISTER = """
			WITH wanted AS MATERIALIZED (
			  SELECT DISTINCT ON (n.namespace, n.key) n.* FROM ROWS FROM (pg_catalog.unnest(CAST(:namespaces AS text[])),
			    pg_catalog.unnest(CAST(:keys AS text[])), pg_catalog.unnest(CAST(:methods AS text[])),
			    pg_catalog.unnest(CAST(:scopes AS text[])), pg_catalog.unnest(CAST(:schedules AS text[])),
			    pg_catalog.unnest(CAST(:onces AS text[])), pg_catalog.unnest(CAST(:intervals AS bigint[])),
			    pg_catalog.unnest(CAST(:windows AS bigint[])), pg_catalog.unnest(CAST(:locks AS text[])))
			    n (namespace, key, method, scope, schedules, once, min_interval, catch_up, lock)
			  ORDER BY n.namespace, n.key, n.method
			), stale AS MATERIALIZED (
			  SELECT w.* FROM {job} j JOIN wanted w ON w.namespace = j.namespace AND w.key = j.key
			  WHERE j.remember_until IS NULL AND w.method IS NOT NULL
			    AND (j.method, j.scope, j.schedules, j.once, j.min_interval, j.catch_up, j.lock)
			      IS DISTINCT FROM (w.method, w.scope, w.schedules, w.once, w.min_interval, w.catch_up, w.lock)
			  FOR NO KEY UPDATE OF j SKIP LOCKED
			), told AS (
			  UPDATE {job} j SET method = s.method, scope = s.scope, schedules = s.schedules, once = s.once,
			    min_interval = s.min_interval, catch_up = s.catch_up, lock = s.lock
			  FROM stale s WHERE j.namespace = s.namespace AND j.key = s.key
			)
			INSERT INTO {job} AS o (namespace, key, method, scope, schedules, once, min_interval, catch_up, lock)
			SELECT w.namespace, w.key, w.method, w.scope, w.schedules, w.once, w.min_interval, w.catch_up, w.lock
			FROM wanted w
			WHERE NOT EXISTS (SELECT FROM {job} j
			  WHERE j.namespace = w.namespace AND j.key = w.key AND j.remember_until IS NULL)
			ON CONFLICT (namespace, key) DO UPDATE SET remember_until = NULL, method = excluded.method,
			  scope = excluded.scope, schedules = excluded.schedules, once = excluded.once,
			  min_interval = excluded.min_interval, catch_up = excluded.catch_up, lock = excluded.lock
			  WHERE o.remember_until IS NOT NULL
			""";

	/**
	 * A page of the runs of a job, or of the keys that were made from a template, and how
	 * many there are. No index has the executed runs of a template, as that would make
	 * each of them dearer: they are looked for among the latest runs of the ledger. A key
	 * of its own is none of a template, and costs nothing of the kind.
	 */
	static final String RUNS_MATCHING = """
			WITH wanted AS MATERIALIZED (
			  SELECT r.* FROM {run} r WHERE r.namespace = :namespace AND r.key = :key
			    AND CAST(:outcome AS text) IN ('all', coalesce(r.outcome, 'RUNNING'))
			  UNION ALL (SELECT r.* FROM {run} r WHERE r.namespace = :namespace AND r.template = :key
			    AND r.failed AND r.key <> :key AND CAST(:outcome AS text) IN ('all', r.outcome)
			    ORDER BY r.id DESC LIMIT :recent)
			  UNION ALL SELECT l.* FROM (SELECT r.* FROM {run} r
			      ORDER BY r.keep_until DESC LIMIT CASE WHEN CAST(:outcome AS text) NOT IN ('all', 'EXECUTED', 'RUNNING')
			          OR EXISTS (SELECT FROM {run} k WHERE k.namespace = :namespace AND k.key = :key)
			          OR EXISTS (SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key)
			        THEN 0 ELSE :recent END) l
			    WHERE l.namespace = :namespace AND l.template = :key AND NOT l.failed
			      AND CAST(:outcome AS text) IN ('all', coalesce(l.outcome, 'RUNNING'))
			)
			SELECT (SELECT count(*) FROM wanted) AS total, p.* FROM (SELECT 1) one LEFT JOIN (
			  SELECT w.id, w.namespace, w.key, w.tick, w.attempt, w.scope, w.instance, w.fencing_token, w.started_at,
			    w.finished_at, w.outcome, w.error, w.error_class, w.trace_id, w.stack_trace, pg_catalog.row_number() OVER (
			      ORDER BY CASE WHEN :longest THEN w.finished_at - w.started_at END DESC NULLS LAST, w.fencing_token DESC)
			      AS position
			  FROM wanted w ORDER BY position LIMIT :limit OFFSET :offset) p ON true
			ORDER BY p.position
			""";

	/**
	 * Say that an instance is there.
	 */
	static final String APPEAR = """
			INSERT INTO {instance} AS i (namespace, instance, born_at, version, library, clock_skew_ms, roles, terms,
			  led_since)
			VALUES (:namespace, :instance, CAST(:born AS timestamptz), :version, :library,
			  CAST(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - CAST(:now AS timestamptz)) * 1000 AS bigint),
			  CAST(:roles AS text[]), CAST(:terms AS bigint[]), CAST(:since AS timestamptz[]))
			ON CONFLICT (namespace, instance, born_at) DO UPDATE SET seen_at = excluded.seen_at, stopped_at = NULL,
			  started_at = CASE WHEN :first THEN excluded.started_at ELSE i.started_at END, version = excluded.version,
			  library = excluded.library, clock_skew_ms = excluded.clock_skew_ms, roles = excluded.roles,
			  terms = excluded.terms, led_since = excluded.led_since
			""";

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
			    WHEN i.seen_at BETWEEN pg_catalog.clock_timestamp() - INTERVAL '150 seconds'
			      AND pg_catalog.clock_timestamp() + INTERVAL '1 minute' OR c.name IS NOT NULL THEN 'ALIVE'
			    ELSE 'VANISHED' END AS state
			  FROM known i LEFT JOIN connected c
			    ON NOT i.replaced AND c.name = pg_catalog.right(pg_catalog.regexp_replace(i.instance, '[^ -~]', '?', 'g'), 28)
			)
			SELECT t.* FROM told t ORDER BY t.state <> 'ALIVE', CASE WHEN t.state <> 'ALIVE' THEN t.seen_at END DESC,
			  t.started_at, t.instance LIMIT :most
			""";

	static final String PAGE_OF_NAMESPACE = """
			SELECT * FROM {jobs} j WHERE j.namespace = :namespace AND j.key > :key ORDER BY j.key LIMIT :limit
			""";

	static final String NAMED = """
			SELECT j.* FROM ROWS FROM
			  (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[]))) n (namespace, key)
			JOIN {jobs} j ON j.namespace = n.namespace AND j.key = n.key
			""";

	static final String ONE = """
			SELECT * FROM {jobs} j WHERE j.namespace = :namespace AND j.key = :key
			""";

	/**
	 * Ask whether there is a job or a run.
	 */
	static final String KNOWS = """
			SELECT EXISTS (SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key)
			  OR EXISTS (SELECT FROM {run} r WHERE r.namespace = :namespace AND r.key = :key)
			""";

	/**
	 * The last runs of a key, the last one that is over with its stack trace.
	 */
	static final String RUNS = """
			SELECT r.id, r.namespace, r.key, r.tick, r.attempt, r.scope, r.instance, r.fencing_token, r.started_at,
			  r.finished_at, r.outcome, r.error, r.error_class, r.trace_id,
			  CASE WHEN r.fencing_token = pg_catalog.max(r.fencing_token) FILTER (WHERE r.finished_at IS NOT NULL) OVER ()
			    THEN r.stack_trace END AS stack_trace
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
	 * Some jobs with their last run, and the first letters of the outcomes of the last
	 * ones, {@code R} for one that is not over. A key that has no row of its own, as one
	 * that runs once has not, is told from its last run and its completion.
	 */
	static final String HISTORIES = """
			SELECT n.namespace, n.key, coalesce(j.first_seen_at, r.started_at, c.completed_at) AS first_seen_at, j.last_tick,
			  coalesce(j.last_started_at, r.started_at) AS last_started_at,
			  coalesce(j.last_finished_at, r.finished_at) AS last_finished_at,
			  coalesce(j.last_outcome, r.outcome) AS last_outcome, j.paused_at, j.paused_by, j.paused_reason,
			  coalesce(j.paused_all, false) AS paused_all, j.resumed_at,
			  j.open_tick, j.attempts, j.retry_at, coalesce(h.tokens[1], j.fencing_token) AS fencing_token,
			  r.id, r.tick, r.attempt, r.scope, r.instance, r.started_at, r.finished_at, r.outcome, r.error, r.error_class,
			  r.trace_id, NULL AS stack_trace, h.outcomes, h.durations,
			  j.method, j.scope AS job_scope, j.schedules, j.once, j.min_interval, j.catch_up, j.lock,
			  j.key IS NOT NULL AS registered, c.completed_at
			FROM ROWS FROM
			  (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[]))) n (namespace, key)
			LEFT JOIN {jobs} j ON j.namespace = n.namespace AND j.key = n.key
			LEFT JOIN {completion} c ON c.namespace = n.namespace AND c.key = n.key
			LEFT JOIN LATERAL (
			  SELECT pg_catalog.string_agg(coalesce(pg_catalog.left(l.outcome, 1), 'R'), '' ORDER BY l.fencing_token)
			    AS outcomes, pg_catalog.array_agg(l.fencing_token ORDER BY l.fencing_token DESC) AS tokens,
			    pg_catalog.array_agg(coalesce(CAST(pg_catalog.date_part('epoch', l.finished_at - l.started_at) * 1000
			      AS bigint), -1) ORDER BY l.fencing_token) AS durations
			  FROM (SELECT o.outcome, o.fencing_token, o.started_at, o.finished_at FROM {run} o
			    WHERE o.namespace = n.namespace AND o.key = n.key ORDER BY o.fencing_token DESC LIMIT :outcomes) l) h ON true
			LEFT JOIN {run} r ON r.namespace = n.namespace AND r.key = n.key AND r.fencing_token = h.tokens[1]
			WHERE j.key IS NOT NULL OR r.id IS NOT NULL OR c.key IS NOT NULL
			""";

	/**
	 * Those of some names that mean something: the jobs among them, else the keys that
	 * have run, else what keys were made from.
	 */
	static final String KNOWN = """
			SELECT k.namespace, k.key FROM (
			  SELECT m.*, pg_catalog.min(m.kind) OVER () AS best FROM (
			    SELECT n.namespace, n.key, CASE
			      WHEN EXISTS (SELECT FROM {job} j WHERE j.namespace = n.namespace AND j.key = n.key) THEN 1
			      WHEN EXISTS (SELECT FROM {run} r WHERE r.namespace = n.namespace AND r.key = n.key) THEN 2
			      WHEN EXISTS (SELECT FROM {completion} c WHERE c.namespace = n.namespace AND c.key = n.key) THEN 2
			      WHEN EXISTS (SELECT FROM {job} j WHERE j.namespace = n.namespace AND j.template = n.key) THEN 3
			      WHEN EXISTS (SELECT FROM {run} r WHERE r.namespace = n.namespace AND r.template = n.key
			        AND r.failed) THEN 3 END AS kind
			    FROM ROWS FROM (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[])))
			      n (namespace, key)) m) k
			WHERE k.kind = k.best
			""";

	/**
	 * The number and the latest of the keys of some templates.
	 */
	static final String KEYS = """
			SELECT n.position, c.count, k.* FROM ROWS FROM
			  (pg_catalog.unnest(CAST(:namespaces AS text[])), pg_catalog.unnest(CAST(:keys AS text[])))
			  WITH ORDINALITY n (namespace, template, position)
			CROSS JOIN LATERAL (SELECT count(*) AS count FROM (
			  SELECT FROM {job} j WHERE j.namespace = n.namespace AND j.template = n.template LIMIT :most) o) c
			CROSS JOIN LATERAL (SELECT j.* FROM {jobs} j
			  WHERE j.namespace = n.namespace AND j.template = n.template ORDER BY j.first_seen_at DESC LIMIT :latest) k
			ORDER BY n.position, k.first_seen_at DESC
			""";

	private JobStatements() {
	}

}
