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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last backfill of each job, and owns the SQL of that. Nobody but the instance
 * that makes it writes its row while it is under way, but who ends it. A run of it begins
 * only while it is.
 */
record BackfillRepository(LedgerConnections connections, LedgerTables tables, Supplier<String> instance) {

	/**
	 * A backfill that has not been heard of for that long is over, unless its job runs,
	 * or its own run has only just ended: its instance is gone.
	 */
	private static final String UNDER_WAY = """
			(b.outcome IS NULL AND (b.seen_at > pg_catalog.clock_timestamp() - INTERVAL '10 seconds' OR EXISTS (
			  SELECT FROM {job_state} s WHERE s.namespace = b.namespace AND s.key = b.key AND s.state = 'running') OR EXISTS (
			  SELECT FROM {run} r WHERE r.namespace = b.namespace AND r.key = b.key AND r.tick = b.current_tick
			    AND r.finished_at > pg_catalog.clock_timestamp() - INTERVAL '10 seconds')))""";

	static final String BEGIN = """
			INSERT INTO {backfill} AS b (namespace, key, from_at, to_at, ticks, instance, started_by)
			SELECT :namespace, :key, CAST(:from AS timestamptz), CAST(:to AS timestamptz), :ticks, :instance, :by
			WHERE NOT EXISTS (SELECT FROM {jobs} p
			  WHERE p.namespace = :namespace AND p.key = :key AND p.paused_at IS NOT NULL)
			ON CONFLICT (namespace, key) DO UPDATE SET from_at = excluded.from_at, to_at = excluded.to_at,
			  ticks = excluded.ticks, done = 0, skipped = 0, current_tick = NULL, instance = excluded.instance,
			  started_by = excluded.started_by, started_at = excluded.started_at, seen_at = excluded.seen_at,
			  outcome = NULL, error_class = NULL, error = NULL
			WHERE NOT""" + UNDER_WAY + " RETURNING b.started_at";

	static final String TELL = """
			UPDATE {backfill} b SET done = :done, skipped = :skipped, current_tick = CAST(:tick AS timestamptz),
			  seen_at = pg_catalog.clock_timestamp(), outcome = :outcome, error_class = :errorClass, error = :error
			WHERE b.namespace = :namespace AND b.key = :key
			  AND b.started_at = CAST(:startedAt AS timestamptz) AND b.outcome IS NULL
			""";

	/**
	 * Begin a backfill.
	 * @return when it began, empty if the job is paused, or another one of it is under
	 * way
	 */
	Optional<Instant> begin(JobName job, Instant from, Instant to, int ticks, String by) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, job, BEGIN)
			.param("from", from.atOffset(ZoneOffset.UTC))
			.param("to", to.atOffset(ZoneOffset.UTC))
			.param("ticks", ticks)
			.param("instance", this.instance.get())
			.param("by", this.connections.text().of(by))
			.query((row, number) -> LedgerTables.required(row, "started_at"))
			.optional());
	}

	/**
	 * Tell how far a backfill is.
	 * @param startedAt when it began
	 * @param outcome how it has ended, {@code null} if it has not
	 * @return {@code false} if it is over, as somebody else says
	 */
	boolean tell(JobName job, Instant startedAt, int done, int skipped, @Nullable Instant tick,
			@Nullable String outcome, LedgerRun.@Nullable Failure failure) {
		return this.connections.apart((apart) -> this.tables.statement(apart, job, TELL)
			.param("done", done)
			.param("skipped", skipped)
			.param("tick", (tick != null) ? tick.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.param("outcome", outcome, Types.VARCHAR)
			.param("errorClass", this.connections.storable((failure != null) ? failure.type() : null), Types.VARCHAR)
			.param("error", this.connections.storable((failure != null) ? failure.text() : null), Types.VARCHAR)
			.param("startedAt", startedAt.atOffset(ZoneOffset.UTC))
			.update()) == 1;
	}

	/**
	 * End a backfill before its next run.
	 * @return {@code false} if none of the job is under way
	 */
	boolean cancel(JobName job) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, job, """
				UPDATE {backfill} b SET outcome = 'CANCELLED', seen_at = pg_catalog.clock_timestamp()
				WHERE b.namespace = :namespace AND b.key = :key AND""" + UNDER_WAY).update()) == 1;
	}

	/**
	 * Return the last backfill of a job.
	 */
	Optional<LedgerJob.Backfill> find(JobName job) {
		return this.connections.readingBriefly((reading) -> this.tables
			.statement(reading, job,
					"SELECT b.*, CASE WHEN b.outcome IS NULL AND NOT " + UNDER_WAY
							+ " THEN 'ABANDONED' ELSE b.outcome END AS ended FROM {backfill} b "
							+ "WHERE b.namespace = :namespace AND b.key = :key")
			.query(BackfillRepository::state)
			.optional());
	}

	private static LedgerJob.Backfill state(ResultSet row, int number) throws SQLException {
		return new LedgerJob.Backfill(LedgerTables.required(row, "from_at"), LedgerTables.required(row, "to_at"),
				row.getInt("done"), row.getInt("ticks"), row.getInt("skipped"),
				LedgerTables.instant(row, "current_tick"), row.getString("instance"), row.getString("started_by"),
				LedgerTables.required(row, "started_at"), row.getString("ended"), row.getString("error_class"),
				row.getString("error"));
	}

}
