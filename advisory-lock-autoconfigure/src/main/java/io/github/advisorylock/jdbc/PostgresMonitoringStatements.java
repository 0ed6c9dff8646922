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
 * The SQL that looks at runs, and changes nothing. Any role may ask it; what a role may
 * not see of others is {@code null}.
 */
final class PostgresMonitoringStatements {

	/**
	 * What is listed on its own. The index has the same words.
	 */
	private static final String ALONE = "(j.template IS NULL OR j.paused_at IS NOT NULL)";

	private final PostgresLedgerStatements ledger;

	PostgresMonitoringStatements(PostgresLedgerStatements ledger) {
		this.ledger = ledger;
	}

	/**
	 * Some jobs with their last run, and the first letters of the outcomes of the last
	 * ones, {@code R} for one that is not over. Binds an array of namespaces and one of
	 * keys, and how many outcomes.
	 */
	String histories() {
		return this.ledger
			.name("""
					SELECT j.namespace, j.key, j.first_seen_at, j.last_tick, j.last_started_at, j.last_finished_at,
					  j.last_outcome, j.paused_at, j.paused_by, coalesce(h.tokens[1], j.fencing_token) AS fencing_token,
					  r.id, r.tick, r.scope, r.instance, r.started_at, r.finished_at, r.outcome, r.error, r.error_class, h.outcomes
					FROM ROWS FROM
					  (pg_catalog.unnest(CAST(? AS text[])), pg_catalog.unnest(CAST(? AS text[]))) n (namespace, key)
					JOIN {job} j ON j.namespace = n.namespace AND j.key = n.key
					LEFT JOIN LATERAL (
					  SELECT pg_catalog.string_agg(coalesce(pg_catalog.left(l.outcome, 1), 'R'), '' ORDER BY l.fencing_token)
					    AS outcomes, pg_catalog.array_agg(l.fencing_token ORDER BY l.fencing_token DESC) AS tokens
					  FROM (SELECT o.outcome, o.fencing_token FROM {run} o WHERE o.namespace = n.namespace AND o.key = n.key
					    ORDER BY o.fencing_token DESC LIMIT ?) l) h ON true
					LEFT JOIN {run} r ON r.namespace = n.namespace AND r.key = n.key AND r.fencing_token = h.tokens[1]
					""");
	}

	/**
	 * A page of the jobs that are listed on their own, but for those of the methods of
	 * this instance, how many there are, and how many of them are asked for. Looks at no
	 * more than some of them. Binds an array of the names that are left out, how many to
	 * look at; what the name must contain, and the state, {@code all} for any; the size
	 * of a page and how many rows to leave out.
	 */
	String alone() {
		return this.ledger.name("""
				WITH seen AS MATERIALIZED (
				  SELECT j.* FROM {job} j WHERE\s""" + ALONE
				+ """
						 AND j.namespace || '/' || j.key <> ALL (CAST(? AS text[]))
						  ORDER BY j.namespace, j.key LIMIT ?
						), wanted AS MATERIALIZED (
						  SELECT s.namespace, s.key FROM seen s, (SELECT CAST(? AS text) AS name, CAST(? AS text) AS state) w
						  WHERE pg_catalog.strpos(pg_catalog.lower(s.namespace || '/' || s.key), pg_catalog.lower(w.name)) > 0
						    AND CASE w.state WHEN 'all' THEN true WHEN 'paused' THEN s.paused_at IS NOT NULL
						      WHEN 'problem' THEN s.paused_at IS NOT NULL OR s.last_outcome <> 'EXECUTED'
						      WHEN 'running' THEN s.last_started_at > coalesce(s.last_finished_at, '-infinity')
						      ELSE s.paused_at IS NULL AND coalesce(s.last_started_at <= s.last_finished_at, true) END
						)
						SELECT (SELECT count(*) FROM seen) AS seen, (SELECT count(*) FROM wanted) AS total, p.namespace, p.key FROM (SELECT 1) one
						LEFT JOIN (SELECT w.* FROM wanted w ORDER BY w.namespace, w.key LIMIT ? OFFSET ?) p ON true
						""");
	}

	/**
	 * What keys with arguments were made from. Skips from each to the next in the index.
	 * Binds how many.
	 */
	String templates() {
		return this.ledger.name("""
				WITH RECURSIVE t AS (
				  (SELECT j.namespace, j.template FROM {job} j WHERE j.template IS NOT NULL
				    ORDER BY j.namespace, j.template LIMIT 1)
				  UNION ALL SELECT n.* FROM t CROSS JOIN LATERAL (
				    SELECT j.namespace, j.template FROM {job} j
				    WHERE j.template IS NOT NULL AND (j.namespace, j.template) > (t.namespace, t.template)
				    ORDER BY j.namespace, j.template LIMIT 1) n
				)
				SELECT t.namespace, t.template AS key FROM t LIMIT ?
				""");
	}

	/**
	 * The number and the latest of the keys of some templates. Binds an array of
	 * namespaces and one of templates; how many keys to count, and how many to show.
	 */
	String keys() {
		return this.ledger.name("""
				SELECT n.position, c.count, k.* FROM ROWS FROM
				  (pg_catalog.unnest(CAST(? AS text[])), pg_catalog.unnest(CAST(? AS text[])))
				  WITH ORDINALITY n (namespace, template, position)
				CROSS JOIN LATERAL (SELECT count(*) AS count FROM (
				  SELECT FROM {job} j WHERE j.namespace = n.namespace AND j.template = n.template LIMIT ?) o) c
				CROSS JOIN LATERAL (SELECT j.* FROM {job} j WHERE j.namespace = n.namespace AND j.template = n.template
				  ORDER BY j.first_seen_at DESC LIMIT ?) k
				ORDER BY n.position, k.first_seen_at DESC
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
