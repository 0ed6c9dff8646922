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
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.util.Assert;

/**
 * Forgets, in batches, what whoever wrote it has not promised to remember any longer, and
 * owns the SQL of that. Each batch is one statement in a transaction of its own, which
 * waits for nobody for more than a second.
 * <p>
 * What was chosen is deleted by its primary key, as a {@code ctid} is unique in one
 * partition only, unless somebody has promised more meanwhile. Each statement answers how
 * many rows it had, and the position of the last one, where the next goes on: index
 * entries of dead rows need not be passed again.
 */
record LedgerPurge(LedgerConnections connections, LedgerTables tables) {

	/**
	 * The lock of whoever makes the tables.
	 */
	static final long LOCK = AdvisoryLockKey.of(PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY).value();

	/**
	 * How many rows a batch has.
	 */
	static final int BATCH = 1000;

	private static final String ANSWER = "SELECT count(*), pg_catalog.max(o.position) FROM old o";

	/**
	 * Take a round for a while, unless somebody has had one lately, whatever its
	 * application. A round is a key that is completed and remembered until the next one,
	 * so asking costs a look into an index.
	 * @param period until when nobody else gets one
	 */
	boolean claimRound(Duration period) {
		Map<String, Object> parameters = Map.of("round", PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY, "period",
				LedgerSettings.micros(period));
		return patiently((jdbc) -> jdbc.update(
				this.tables
					.in("""
							WITH earlier AS (
							  DELETE FROM {completion} c WHERE c.namespace = '' AND c.key = :round
							    AND NOT c.remember_until BETWEEN pg_catalog.clock_timestamp()
							      AND pg_catalog.clock_timestamp() + INTERVAL '1 minute' + CAST(:period AS bigint) * INTERVAL '1 microsecond' RETURNING 1
							)
							INSERT INTO {completion} (namespace, key, remember_until)
							SELECT '', :round, pg_catalog.clock_timestamp() + CAST(:period AS bigint) * INTERVAL '1 microsecond'
							WHERE (SELECT count(*) FROM earlier) = 1
							  OR NOT EXISTS (SELECT FROM {completion} c WHERE c.namespace = '' AND c.key = :round)
							ON CONFLICT DO NOTHING
							"""),
				parameters) == 1);
	}

	/**
	 * Give up runs whose lock nobody has, with their jobs: the last ones of jobs that are
	 * no keys with arguments, and those among the latest 10,000 runs. No index knows what
	 * is open, as each end of a run would have to change it. Waits for no row: whoever
	 * has locked one writes about the job anyway.
	 */
	Work lostRuns() {
		return new Work(
				"""
						WITH recent AS MATERIALIZED (
						  SELECT r.namespace, r.key, r.fencing_token, r.finished_at FROM {run} r ORDER BY r.keep_until DESC LIMIT 10000
						), lost AS MATERIALIZED (
						  SELECT r.namespace, r.key, r.fencing_token, r.id FROM {run} r WHERE r.finished_at IS NULL AND r.id > :after
						    AND (r.namespace, r.key, r.fencing_token) IN (
						      SELECT l.namespace, l.key, l.fencing_token FROM recent l WHERE l.finished_at IS NULL
						      UNION ALL SELECT j.namespace, j.key, j.fencing_token FROM {job} j
						        WHERE j.template IS NULL AND j.last_started_at > coalesce(j.last_finished_at, '-infinity'))
						    AND NOT r.started_at BETWEEN pg_catalog.statement_timestamp() - INTERVAL '1 minute'
						      AND pg_catalog.clock_timestamp() + INTERVAL '1 minute'
						    AND r.lock IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_locks l
						      WHERE l.locktype = 'advisory' AND l.granted
						        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
						        AND pg_catalog.concat_ws(':', l.classid, l.objid, l.objsubid) = r.lock)
						  ORDER BY r.id LIMIT :batch FOR UPDATE OF r SKIP LOCKED
						), job AS MATERIALIZED (
						  SELECT j.namespace, j.key FROM lost o JOIN {job} j
						    ON j.namespace = o.namespace AND j.key = o.key AND j.fencing_token = o.fencing_token
						  FOR NO KEY UPDATE OF j SKIP LOCKED
						), old AS (
						  UPDATE {run} r SET finished_at = pg_catalog.clock_timestamp(), outcome = 'ABANDONED' FROM lost o
						  WHERE r.namespace = o.namespace AND r.key = o.key AND r.fencing_token = o.fencing_token
						    AND (EXISTS (SELECT FROM job j WHERE j.namespace = o.namespace AND j.key = o.key)
						      OR NOT EXISTS (SELECT FROM {job} j
						        WHERE j.namespace = o.namespace AND j.key = o.key AND j.fencing_token = o.fencing_token))
						  RETURNING r.namespace, r.key, r.fencing_token, r.finished_at, r.outcome, r.id AS position
						), recorded AS (
						  UPDATE {job} j SET last_finished_at = o.finished_at, last_outcome = o.outcome, failures = j.failures + 1 FROM old o
						  WHERE j.namespace = o.namespace AND j.key = o.key AND j.fencing_token = o.fencing_token
						)
						""",
				Map.of(), 0L);
	}

	/**
	 * Forget what is older than was promised. A job that somebody has locked is left to
	 * the next round: that transaction may be a long one.
	 */
	List<Work> outdated() {
		return List.of(outdated("completion", List.of("namespace", "key"), "remember_until", "0 days", "", ""),
				outdated("run", List.of("namespace", "key", "fencing_token"), "keep_until", "0 days",
						"AND o.finished_at IS NOT NULL", ""),
				outdated("job", List.of("namespace", "key"), "remember_until", "0 days",
						"""
								AND NOT EXISTS (SELECT FROM {pause} p WHERE p.namespace = o.namespace AND p.key = o.key)
								    AND (SELECT r.finished_at IS NULL FROM {run} r
								      WHERE r.namespace = o.namespace AND r.key = o.key AND r.fencing_token = o.fencing_token) IS NOT TRUE""",
						"FOR UPDATE OF o SKIP LOCKED"),
				outdated("instance", List.of("namespace", "instance", "born_at"), "seen_at", "1 day", "", ""));
	}

	private static Work outdated(String table, List<String> key, String position, String age, String condition,
			String lock) {
		String columns = key.stream().map("o."::concat).collect(Collectors.joining(", "));
		return new Work(
				"""
						WITH old AS MATERIALIZED (
						  SELECT %2$s, o.%3$s AS position FROM {%1$s} o
						  WHERE o.%3$s >= CAST(:after AS timestamptz) AND o.%3$s < pg_catalog.statement_timestamp() - INTERVAL '%4$s' %5$s
						  ORDER BY o.%3$s LIMIT :batch %6$s
						), gone AS (
						  DELETE FROM {%1$s} d USING old o WHERE (%7$s, d.%3$s) = (%2$s, o.position)
						)
						"""
					.formatted(table, columns, position, age, condition, lock, columns.replace("o.", "d.")),
				Map.of(), OffsetDateTime.MIN);
	}

	/**
	 * Cut the history of a key.
	 */
	Work runsOf(JobName name, int kept) {
		return new Work("""
				WITH old AS MATERIALIZED (
				  SELECT o.fencing_token AS position FROM {run} o
				  WHERE o.namespace = :namespace AND o.key = :key AND o.fencing_token > :after AND o.fencing_token <= (
				      SELECT k.fencing_token FROM {run} k WHERE k.namespace = :namespace AND k.key = :key
				      ORDER BY k.fencing_token DESC OFFSET :kept LIMIT 1)
				    AND o.finished_at IS NOT NULL
				  ORDER BY o.fencing_token LIMIT :batch
				), gone AS (
				  DELETE FROM {run} r USING old o
				  WHERE r.namespace = :namespace AND r.key = :key AND r.fencing_token = o.position
				)
				""", Map.of("namespace", name.namespace(), "key", name.key(), "kept", kept), 0L);
	}

	/**
	 * Do one batch.
	 * @param after where to go on
	 */
	Batch execute(Work work, Object after) {
		MapSqlParameterSource parameters = new MapSqlParameterSource(work.parameters()).addValue("after", after)
			.addValue("batch", BATCH);
		Batch batch = patiently((jdbc) -> jdbc.queryForObject(sql(work), parameters, (row, number) -> {
			Object last = row.getObject(2, after.getClass());
			return new Batch(row.getInt(1), (last != null) ? last : after);
		}));
		Assert.state(batch != null, "'batch' must not be null");
		return batch;
	}

	String sql(Work work) {
		return this.tables.in(work.sql() + ANSWER);
	}

	private <R extends @Nullable Object> R patiently(Function<NamedParameterJdbcOperations, R> work) {
		return this.connections.inTransaction((jdbc) -> {
			jdbc.getJdbcOperations().execute(LedgerConnections.HURRY);
			return work.apply(jdbc);
		});
	}

	/**
	 * Something to do in batches.
	 *
	 * @param sql what chooses and changes the rows of one batch
	 * @param parameters those that do not change
	 * @param first where it begins
	 */
	record Work(String sql, Map<String, ?> parameters, Object first) {

	}

	/**
	 * What came of a batch.
	 *
	 * @param rows how many rows it had
	 * @param last where the next batch goes on
	 */
	record Batch(int rows, Object last) {

	}

}
