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

package io.github.advisorylock.jdbc;

/**
 * The SQL that looks at locks and runs, and changes nothing. Any role may ask it; what a
 * role may not see of others is {@code null}.
 */
final class PostgresMonitoringStatements {

	/**
	 * All advisory locks of the server, and time and database in any case. The text of a
	 * statement that may not be seen is a notice in PostgreSQL, not {@code null}.
	 */
	static final String LOCKS = """
			SELECT n.now, n.here, d.datname, l.classid::bigint AS classid, l.objid::bigint AS objid, l.objsubid,
			  l.mode, l.granted, l.pid, l.waitstart, a.application_name, a.usename, a.client_addr, a.client_port, a.state,
			  a.xact_start, CASE WHEN a.backend_start IS NOT NULL THEN a.query END AS query,
			  CASE WHEN NOT l.granted THEN pg_catalog.pg_blocking_pids(l.pid) END AS blocking_pids
			FROM (SELECT pg_catalog.clock_timestamp() AS now, pg_catalog.current_database() AS here) n
			LEFT JOIN pg_catalog.pg_locks l ON l.locktype = 'advisory'
			LEFT JOIN pg_catalog.pg_database d ON d.oid = l.database
			LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
			ORDER BY d.datname, classid, objid, l.objsubid, l.granted DESC, l.waitstart, l.pid
			""";

	private final PostgresLedgerStatements ledger;

	PostgresMonitoringStatements(PostgresLedgerStatements ledger) {
		this.ledger = ledger;
	}

	/**
	 * All jobs with their last run, and the first letters of the outcomes of the last
	 * ones, {@code R} for one that is not over. Binds how many outcomes.
	 */
	String jobs() {
		return this.ledger
			.name("""
					SELECT j.namespace, j.key, j.first_seen_at, j.last_tick, j.last_started_at, j.last_finished_at,
					  j.last_outcome, j.paused_at, j.paused_by, coalesce(r.fencing_token, j.fencing_token) AS fencing_token,
					  r.id, r.tick, r.scope, r.instance, r.started_at, r.finished_at, r.outcome, r.error, h.outcomes
					FROM {job} j
					LEFT JOIN LATERAL (
					  SELECT o.* FROM {run} o WHERE o.namespace = j.namespace AND o.key = j.key
					  ORDER BY o.fencing_token DESC LIMIT 1) r ON true
					LEFT JOIN LATERAL (
					  SELECT pg_catalog.string_agg(coalesce(pg_catalog.left(l.outcome, 1), 'R'), '' ORDER BY l.fencing_token)
					    AS outcomes
					  FROM (SELECT o.outcome, o.fencing_token FROM {run} o WHERE o.namespace = j.namespace AND o.key = j.key
					    ORDER BY o.fencing_token DESC LIMIT ?) l) h ON true
					ORDER BY j.namespace, j.key
					""");
	}

	/**
	 * When which instance ran some jobs: the last runs of each, those within one slot of
	 * time taken together. Binds an array of namespaces and one of keys; how far to look
	 * back in microseconds; how many runs of each; the length of a slot in seconds.
	 */
	String periods() {
		return this.ledger
			.name("""
					SELECT n.namespace, n.key, p.* FROM ROWS FROM
					  (pg_catalog.unnest(CAST(? AS text[])), pg_catalog.unnest(CAST(? AS text[])))
					  WITH ORDINALITY n (namespace, key, position)
					CROSS JOIN LATERAL (
					  SELECT r.instance, pg_catalog.min(r.started_at) AS started_at,
					    pg_catalog.max(coalesce(r.finished_at, pg_catalog.clock_timestamp())) AS finished_at, count(*) AS runs,
					    count(*) FILTER (WHERE r.outcome <> 'EXECUTED') AS failures
					  FROM (SELECT o.instance, o.started_at, o.finished_at, o.outcome FROM {run} o
					    WHERE o.namespace = n.namespace AND o.key = n.key AND o.started_at
					      > pg_catalog.clock_timestamp() - CAST(? AS bigint) * INTERVAL '1 microsecond'
					    ORDER BY o.fencing_token DESC LIMIT ?) r
					  GROUP BY r.instance, pg_catalog.date_bin(? * INTERVAL '1 second', r.started_at, TIMESTAMPTZ 'epoch')) p
					ORDER BY n.position, p.started_at
					""");
	}

}
