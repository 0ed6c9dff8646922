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

import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

/**
 * Writes what operators want of jobs, and owns the SQL of that. Pauses have a table of
 * their own, which no run writes; rows of jobs that a run has locked are left out
 * ({@code SKIP LOCKED}): an operator waits for nobody.
 */
record OperatorRepository(LedgerConnections connections, LedgerTables tables) {

	/**
	 * Pause a job, or what was run without having a job. One that is paused stays as it
	 * is.
	 * @return {@code false} if there is no job and no run of that name
	 */
	boolean pause(JobName name, String by, @Nullable String reason) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, name, """
				WITH known AS MATERIALIZED (
				  SELECT j.namespace, j.key FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
				    AND j.recorded AND j.template IS DISTINCT FROM j.key
				  UNION SELECT r.namespace, r.key FROM {run} r WHERE r.namespace = :namespace AND r.key = :key
				), listed AS (
				  INSERT INTO {job} (namespace, key) SELECT k.namespace, k.key FROM known k WHERE NOT EXISTS (
				    SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key) ON CONFLICT DO NOTHING
				)
				INSERT INTO {pause} AS p (namespace, key, paused_at, paused_by, reason)
				SELECT k.namespace, k.key, pg_catalog.clock_timestamp(), :by, :reason FROM known k
				ON CONFLICT (namespace, key) DO UPDATE SET paused_at = coalesce(p.paused_at, excluded.paused_at),
				  paused_by = CASE WHEN p.paused_at IS NULL THEN excluded.paused_by ELSE p.paused_by END,
				  reason = CASE WHEN p.paused_at IS NULL THEN excluded.reason ELSE p.reason END
				""")
			.param("by", this.connections.text().of(by))
			.param("reason", this.connections.storable(reason), Types.VARCHAR)
			.update()) == 1;
	}

	/**
	 * End the pause of a job, also while all jobs of its namespace are paused.
	 * @return {@code false} if there is no job of that name
	 */
	boolean resume(JobName name) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, name, """
				WITH paused AS MATERIALIZED (
				  SELECT p.key FROM {pause} p WHERE p.namespace = :namespace AND p.key IN (:key, '')
				), unlocked AS MATERIALIZED (
				  SELECT j.namespace, j.key FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
				    AND EXISTS (SELECT FROM paused) FOR NO KEY UPDATE SKIP LOCKED
				), told AS (
				  UPDATE {job} j SET resumed_at = pg_catalog.clock_timestamp() FROM unlocked u
				  WHERE j.namespace = u.namespace AND j.key = u.key
				), ended AS (
				  DELETE FROM {pause} p WHERE p.namespace = :namespace AND p.key = :key
				    AND NOT EXISTS (SELECT FROM paused a WHERE a.key = '')
				), excepted AS (
				  INSERT INTO {pause} (namespace, key) SELECT :namespace, :key FROM paused a WHERE a.key = ''
				  ON CONFLICT (namespace, key) DO UPDATE SET paused_at = NULL, paused_by = NULL, reason = NULL
				)
				SELECT EXISTS (SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key)
				""").query(Boolean.class).single());
	}

	/**
	 * Pause all jobs of a namespace, those too that come later and those that were
	 * resumed one by one.
	 * @return how many there are
	 */
	int pauseAll(String namespace, String by, @Nullable String reason) {
		return this.connections.apartBriefly((apart) -> this.tables
			.statement(apart, new JobName(namespace, ""),
					"""
							WITH excepted AS (
							  DELETE FROM {pause} p WHERE p.namespace = :namespace AND p.key <> :key AND p.paused_at IS NULL
							), paused AS (
							  INSERT INTO {pause} (namespace, key, paused_at, paused_by, reason)
							  VALUES (:namespace, :key, pg_catalog.clock_timestamp(), :by, :reason)
							  ON CONFLICT (namespace, key) DO UPDATE SET paused_at = excluded.paused_at, paused_by = excluded.paused_by,
							    reason = excluded.reason
							)
							SELECT count(*) FROM {job} j WHERE j.namespace = :namespace AND j.template IS NULL AND j.recorded
							""")
			.param("by", this.connections.text().of(by))
			.param("reason", this.connections.storable(reason), Types.VARCHAR)
			.query(Integer.class)
			.single());
	}

	/**
	 * End the pause of all jobs of a namespace; pauses of single jobs stay.
	 * @return how many it held for, empty if there was none
	 */
	Optional<Integer> resumeAll(String namespace) {
		return this.connections.apartBriefly((apart) -> this.tables
			.statement(apart, new JobName(namespace, ""),
					"""
							WITH ended AS (
							  DELETE FROM {pause} p WHERE p.namespace = :namespace AND (p.key = :key OR p.paused_at IS NULL) RETURNING p.key
							), unlocked AS MATERIALIZED (
							  SELECT j.namespace, j.key FROM {job} j WHERE j.namespace = :namespace AND j.template IS NULL AND j.recorded
							    AND EXISTS (SELECT FROM {pause} a WHERE a.namespace = :namespace AND a.key = :key)
							    AND NOT EXISTS (SELECT FROM {pause} p WHERE p.namespace = j.namespace AND p.key = j.key)
							  FOR NO KEY UPDATE OF j SKIP LOCKED
							), told AS (
							  UPDATE {job} j SET resumed_at = pg_catalog.clock_timestamp() FROM unlocked u
							  WHERE j.namespace = u.namespace AND j.key = u.key
							)
							SELECT count(*) FROM {job} j WHERE j.namespace = :namespace AND j.template IS NULL AND j.recorded
							  AND NOT EXISTS (SELECT FROM {pause} p WHERE p.namespace = j.namespace AND p.key = j.key)
							HAVING EXISTS (SELECT FROM ended e WHERE e.key = :key)
							""")
			.query(Integer.class)
			.optional());
	}

	/**
	 * Have the instance of a name that has begun last, if it lives, begin no run, or
	 * begin runs again.
	 * @param name its namespace and name
	 * @param by who wants that, {@code null} to have it begin runs again
	 * @return {@code false} if no instance of that name lives
	 */
	boolean drain(JobName name, @Nullable String by) {
		return this.connections.apartBriefly((apart) -> this.tables
			.statement(apart, name,
					"""
							WITH latest AS (
							  SELECT o.born_at FROM {instance} o WHERE o.namespace = :namespace AND o.instance = :key AND o.stopped_at IS NULL
							    AND (o.seen_at > pg_catalog.clock_timestamp() - INTERVAL '35 seconds' OR EXISTS (
							      SELECT FROM pg_catalog.pg_stat_activity a
							      WHERE a.datname = pg_catalog.current_database() AND a.application_name LIKE 'al:%@%'
							        AND pg_catalog.split_part(a.application_name, '@', -1)
							          = pg_catalog.right(pg_catalog.regexp_replace(o.instance, '[^ -~]', '?', 'g'), 28)))
							  ORDER BY o.started_at DESC LIMIT 1
							)
							UPDATE {instance} i SET drained_by = CASE WHEN i.drained_at IS NOT NULL AND :by IS NOT NULL THEN i.drained_by
							    ELSE :by END,
							  drained_at = CASE WHEN :by IS NOT NULL THEN coalesce(i.drained_at, pg_catalog.clock_timestamp()) END
							FROM latest l WHERE i.namespace = :namespace AND i.instance = :key AND i.born_at = l.born_at
							"""
						.replace(":by", "CAST(:by AS text)"))
			.param("by", this.connections.storable(by), Types.VARCHAR)
			.update()) == 1;
	}

	/**
	 * End the wait of the open tick of a job, also where it would not be tried again.
	 * @param meant the tick that is meant, {@code null} for whichever is open
	 * @return the tick, or empty if there is no such one, or the job runs or is paused
	 */
	Optional<Instant> retry(JobName name, @Nullable Instant meant) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, name, """
				WITH unlocked AS MATERIALIZED (
				  SELECT j.namespace, j.key FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
				    AND j.open_tick = coalesce(CAST(:meant AS timestamptz), j.open_tick) AND NOT EXISTS (
				      SELECT FROM {jobs} p WHERE p.namespace = :namespace AND p.key = :key AND p.paused_at IS NOT NULL)
				  FOR NO KEY UPDATE OF j SKIP LOCKED
				)
				UPDATE {job} j SET retry_at = NULL, given_up = false, cancelled_at = NULL FROM unlocked u
				WHERE j.namespace = u.namespace AND j.key = u.key
				RETURNING j.open_tick
				""")
			.param("meant", (meant != null) ? meant.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.query((row, number) -> LedgerTables.required(row, "open_tick"))
			.optional());
	}

	/**
	 * Return the schedules that operators have chosen, of all jobs or of one.
	 * @param name the job, {@code null} for all
	 * @param inside whether a transaction may be asked that goes on, which may see what
	 * was long before
	 */
	Map<JobName, CronTicks.Changes> changes(@Nullable JobName name, boolean inside) {
		Function<NamedParameterJdbcOperations, Map<JobName, CronTicks.Changes>> read = (jdbc) -> changes(jdbc, name);
		return inside ? this.connections.reading(read) : this.connections.apart(read);
	}

	private Map<JobName, CronTicks.Changes> changes(NamedParameterJdbcOperations jdbc, @Nullable JobName name) {
		Map<JobName, List<CronTicks.Change>> found = new HashMap<>();
		this.tables.statement(jdbc, """
				SELECT s.namespace, s.key, s.expression, s.zone, s.effective_at, s.changed_at FROM {schedule} s
				WHERE CAST(:key AS text) IS NULL OR (s.namespace = :namespace AND s.key = :key)
				ORDER BY s.effective_at
				""")
			.param("namespace", (name != null) ? name.namespace() : null, Types.VARCHAR)
			.param("key", (name != null) ? name.key() : null, Types.VARCHAR)
			.query((RowCallbackHandler) (row) -> found
				.computeIfAbsent(new JobName(row.getString("namespace"), row.getString("key")),
						(added) -> new ArrayList<>())
				.add(CronTicks.Change.of(LedgerTables.required(row, "effective_at"),
						LedgerTables.required(row, "changed_at"), row.getString("expression"), row.getString("zone"))));
		return found.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (one) -> new CronTicks.Changes(one.getValue())));
	}

	/**
	 * Return what the code says of the schedule of a job, with the time of the database.
	 * @return the schedule, empty if there is no job of that name
	 */
	Optional<InCode> inCode(JobName name) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, name, """
				SELECT j.recorded AND j.template IS DISTINCT FROM j.key AS recorded, s.count, s.one ->> 'type' AS type,
				  s.one ->> 'expression' AS expression, s.one ->> 'zone' AS zone, s.one ->> 'interval' AS interval,
				  pg_catalog.clock_timestamp() AS clock
				FROM {job} j CROSS JOIN LATERAL (
				  SELECT pg_catalog.jsonb_array_length(a.all_of) AS count, a.all_of -> 0 AS one
				  FROM (SELECT CAST(coalesce(j.schedules, '[]') AS jsonb) AS all_of) a) s
				WHERE j.namespace = :namespace AND j.key = :key
				""")
			.query((row, number) -> new InCode(row.getBoolean("recorded"), row.getInt("count"), row.getString("type"),
					row.getString("expression"), row.getString("zone"), row.getString("interval"),
					LedgerTables.required(row, "clock")))
			.optional());
	}

	/**
	 * Give a job another schedule, in the place of one that does not hold yet. One
	 * operator after the other, as what is known of the last change must be known of all
	 * before.
	 * @return from when on it holds
	 */
	Instant reschedule(JobName name, @Nullable String expression, @Nullable String zone, String by,
			@Nullable String reason) {
		return this.connections.inTransaction((jdbc) -> {
			jdbc.getJdbcOperations().execute(LedgerConnections.HURRY);
			jdbc.getJdbcOperations().execute(this.tables.in("LOCK TABLE {schedule} IN SHARE ROW EXCLUSIVE MODE"));
			this.tables.statement(jdbc, name, """
					DELETE FROM {schedule} s WHERE s.namespace = :namespace AND s.key = :key
					  AND (s.effective_at > pg_catalog.clock_timestamp() OR s.effective_at < (
					    SELECT o.effective_at FROM {schedule} o WHERE o.namespace = :namespace AND o.key = :key
					    ORDER BY o.effective_at DESC OFFSET 50 LIMIT 1))
					""").update();
			return this.tables
				.statement(jdbc, name,
						"""
								INSERT INTO {schedule} AS s (namespace, key, expression, zone, effective_at, changed_at, changed_by, reason,
								  schedules)
								SELECT :namespace, :key, :expression, :zone,
								  pg_catalog.date_trunc('second', pg_catalog.clock_timestamp() + INTERVAL '31 seconds'),
								  greatest(pg_catalog.clock_timestamp(), (SELECT pg_catalog.max(o.changed_at) + INTERVAL '1 microsecond'
								    FROM {schedule} o WHERE o.namespace = :namespace AND o.key = :key)), :by, :reason,
								  (SELECT j.schedules FROM {job} j WHERE j.namespace = :namespace AND j.key = :key)
								RETURNING s.effective_at, pg_catalog.pg_notify('advisory_lock_cancel', 'schedule')
								""")
				.param("expression", expression, Types.VARCHAR)
				.param("zone", zone, Types.VARCHAR)
				.param("by", this.connections.text().of(by))
				.param("reason", this.connections.storable(reason), Types.VARCHAR)
				.query((row, number) -> LedgerTables.required(row, "effective_at"))
				.single();
		});
	}

	/**
	 * Write when a job is called next, unless a run is at it, which does.
	 */
	void planned(JobName name, @Nullable Instant next) {
		this.connections.apart((apart) -> this.tables.statement(apart, name, """
				WITH unlocked AS MATERIALIZED (
				  SELECT j.namespace, j.key FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
				  FOR NO KEY UPDATE SKIP LOCKED
				)
				UPDATE {job} j SET next_at = CAST(:next AS timestamptz) FROM unlocked u
				WHERE j.namespace = u.namespace AND j.key = u.key
				""")
			.param("next", (next != null) ? next.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.update());
	}

	/**
	 * Forget a job and its runs, unless the last of these is not over. A run that begins
	 * meanwhile changes the row of its job, which then is looked at again.
	 * @return {@code false} if there is no job of that name whose runs are all over
	 */
	boolean forget(JobName name) {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, name, """
				WITH forgotten AS (
				  DELETE FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
				    AND coalesce(j.last_started_at, '-infinity') <= coalesce(j.last_finished_at, '-infinity')
				  RETURNING j.namespace, j.key
				), runs AS (
				  DELETE FROM {run} r USING forgotten f WHERE r.namespace = f.namespace AND r.key = f.key
				), paused AS (
				  DELETE FROM {pause} p USING forgotten f WHERE p.namespace = f.namespace AND p.key = f.key
				), rescheduled AS (
				  DELETE FROM {schedule} s USING forgotten f WHERE s.namespace = f.namespace AND s.key = f.key
				), backfilled AS (
				  DELETE FROM {backfill} b USING forgotten f WHERE b.namespace = f.namespace AND b.key = f.key
				)
				SELECT count(*) FROM forgotten
				""").query(Integer.class).single()) == 1;
	}

	/**
	 * Keep a key from others for a time, or only look where that is zero: whoever asks
	 * has its lock.
	 * @param lock the entry of its lock in the table of locks
	 * @param own what was answered before for the same lock
	 * @param remember for how long after that the row is of use
	 * @return until when, which is now where nothing was to be kept, or {@code null} if
	 * somebody else has kept it
	 */
	@Nullable Instant keep(JobName name, String lock, Duration time, @Nullable Instant own, Duration remember) {
		return this.connections.apartBriefly((apart) -> this.tables
			.statement(apart, name,
					"""
							WITH others AS MATERIALIZED (
							  SELECT FROM {job} j WHERE j.namespace = :namespace AND j.key = :key
							    AND j.held_until > pg_catalog.clock_timestamp()
							    AND j.held_since <= pg_catalog.clock_timestamp() + INTERVAL '1 minute'
							    AND j.held_until IS DISTINCT FROM CAST(:own AS timestamptz)
							), kept AS (
							  INSERT INTO {job} AS j (namespace, key, lock, held_since, held_until, remember_until)
							  SELECT :namespace, :key, :lock, pg_catalog.clock_timestamp(),
							    pg_catalog.clock_timestamp() + CAST(:time AS bigint) * INTERVAL '1 microsecond',
							    pg_catalog.clock_timestamp() + CAST(:remember AS bigint) * INTERVAL '1 microsecond'
							  WHERE :wanted AND NOT EXISTS (SELECT FROM others)
							  ON CONFLICT (namespace, key) DO UPDATE SET held_since = excluded.held_since, held_until = excluded.held_until,
							    remember_until = CASE WHEN j.remember_until IS NOT NULL THEN greatest(j.remember_until, excluded.remember_until) END
							  WHERE j.held_until IS NULL OR j.held_until <= pg_catalog.clock_timestamp()
							    OR j.held_since > pg_catalog.clock_timestamp() + INTERVAL '1 minute'
							    OR j.held_until = CAST(:own AS timestamptz)
							  RETURNING j.held_until
							)
							SELECT CASE WHEN EXISTS (SELECT FROM others) THEN NULL WHEN :wanted THEN (SELECT k.held_until FROM kept k)
							  ELSE pg_catalog.clock_timestamp() END AS held_until
							""")
			.param("lock", lock)
			.param("time", LedgerSettings.micros(time))
			.param("remember", LedgerSettings.micros(time.plus(remember)))
			.param("wanted", own != null || !time.isZero())
			.param("own", (own != null) ? own.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.query((row, number) -> Optional.ofNullable(LedgerTables.instant(row, "held_until")))
			.single()
			.orElse(null));
	}

	/**
	 * What the code says of the schedule of a job.
	 *
	 * @param recorded whether its runs are recorded
	 * @param count how many schedules it has
	 * @param type {@code cron}, {@code fixedRate} or {@code fixedDelay}
	 * @param expression its cron expression
	 * @param zone the zone of that
	 * @param interval its interval
	 * @param clock the time of the database
	 */
	record InCode(boolean recorded, int count, @Nullable String type, @Nullable String expression,
			@Nullable String zone, @Nullable String interval, Instant clock) {

		@Nullable CronTicks ticks() {
			return (this.expression != null && this.zone != null) ? new CronTicks(this.expression, ZoneId.of(this.zone))
					: null;
		}

	}

}
