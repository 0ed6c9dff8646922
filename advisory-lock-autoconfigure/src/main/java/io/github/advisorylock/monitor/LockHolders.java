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

package io.github.advisorylock.monitor;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.server.ApplicationName;
import io.github.advisorylock.jdbc.server.ApplicationRole;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Who holds a lock, and what an operator can do about it: have the instance end its run,
 * or say what that is doing. Holders are found by the lock, at the moment of the act,
 * never by a process that somebody names.
 *
 * @since 0.1.0
 */
public class LockHolders {

	/**
	 * The identifier of the prepared transaction that has a lock, as a literal. Its locks
	 * have no process, and among them is the one on its own number.
	 */
	static final String PREPARED = """
			SELECT pg_catalog.quote_literal(p.gid) FROM pg_catalog.pg_locks t
			JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = t.transactionid
			WHERE t.locktype = 'transactionid' AND t.pid IS NULL AND t.granted
			AND t.virtualtransaction = l.virtualtransaction LIMIT 1""";

	private static final String FIND = """
			SELECT l.pid, a.application_name, a.usename, a.xact_start, CASE WHEN l.pid IS NULL THEN (%s) END AS prepared,
			  CASE WHEN NOT coalesce(pg_catalog.pg_has_role(me.usesysid, a.usesysid, 'MEMBER')
			    OR pg_catalog.pg_has_role(a.usesysid, %s, 'MEMBER'), false)
			  THEN pg_catalog.pg_get_userbyid(me.usesysid) END AS stranger
			FROM pg_catalog.pg_locks l
			JOIN ROWS FROM (pg_catalog.unnest(CAST(? AS bigint[])), pg_catalog.unnest(CAST(? AS bigint[])),
			  pg_catalog.unnest(CAST(? AS integer[]))) w (classid, objid, objsubid)
			  ON w.classid = l.classid::bigint AND w.objid = l.objid::bigint AND w.objsubid = l.objsubid
			JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
			CROSS JOIN pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) me
			LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
			WHERE l.locktype = 'advisory' AND l.granted
			ORDER BY l.pid
			"""
		.formatted(PREPARED, ApplicationRole.SET);

	/**
	 * What a process does in its transaction: the last statement of one that is in none
	 * says nothing.
	 */
	private static final String ACTIVITY = """
			SELECT CASE WHEN a.xact_start IS NOT NULL THEN a.query END AS query,
			  CASE WHEN a.xact_start IS NOT NULL THEN a.state END AS state, pg_catalog.pg_blocking_pids(a.pid) AS blocking_pids
			FROM pg_catalog.pg_stat_activity a WHERE a.pid = ?
			""";

	private static final String CLOCK = "SELECT CAST(pg_catalog.floor(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()) * 1000) AS bigint)";

	private static final String NOTIFY = "SELECT pg_catalog.pg_notify(?, ?)";

	private static final long PATIENCE = TimeUnit.SECONDS.toNanos(6);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private static final int LONGEST_NAME = 200;

	private final JdbcOperations jdbc;

	LockHolders(JdbcOperations jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Return who holds a lock of this database.
	 * @param number the lock
	 * @param namespace the namespace of its key
	 * @return its holders, of which there are several only where it is shared
	 */
	public List<Holder> find(LockNumber number, String namespace) {
		return find(List.of(number), namespace);
	}

	/**
	 * Return who holds some locks of this database.
	 * @param numbers the locks, such as the permits of a key
	 * @param namespace the namespace of their key
	 * @return their holders, once for each lock that they hold
	 */
	public List<Holder> find(Collection<LockNumber> numbers, String namespace) {
		return this.jdbc.query(FIND, (statement) -> LockNumber.bind(statement, numbers),
				(row, index) -> read(row, namespace));
	}

	/**
	 * Return what a server process does in its transaction, and whom it waits for.
	 * @param process the process
	 * @return what it does, or empty if it has gone
	 */
	public Optional<Activity> activity(int process) {
		return this.jdbc.query(ACTIVITY, (row, index) -> activity(row), process).stream().findFirst();
	}

	static List<Integer> blockedBy(ResultSet row) throws SQLException {
		Array pids = row.getArray("blocking_pids");
		return (pids != null) ? Arrays.asList((Integer[]) pids.getArray()) : List.of();
	}

	private static Activity activity(ResultSet row) throws SQLException {
		return new Activity(row.getString("state"), row.getString("query"), blockedBy(row));
	}

	/**
	 * Tell all instances that there is a question in the ledger.
	 */
	public void wake() {
		say(LockSession.QUESTION);
	}

	/**
	 * Say something to all instances, which may not hear it.
	 * @param text what to say
	 */
	public void say(String text) {
		this.jdbc.query(NOTIFY, (row) -> {
		}, LockSession.CANCEL_CHANNEL, text);
	}

	private static Holder read(ResultSet row, String namespace) throws SQLException {
		Integer pid = row.getObject("pid", Integer.class);
		ApplicationName name = ApplicationName.parse(row.getString("application_name"));
		boolean isSession = name != null && name.isSession(namespace);
		OffsetDateTime begin = isSession ? null : row.getObject("xact_start", OffsetDateTime.class);
		return new Holder(pid, row.getString("application_name"), row.getString("usename"), row.getString("prepared"),
				row.getString("stranger"), (begin != null) ? begin.toInstant() : null);
	}

	/**
	 * Return the time of the database. An operator's look at what is to be cancelled
	 * comes after it.
	 * @return the time
	 */
	public Instant time() {
		return Instant.ofEpochMilli(Objects.requireNonNull(this.jdbc.queryForObject(CLOCK, Long.class)));
	}

	/**
	 * Tell all instances that the run of a lock is to end, again and again until it has,
	 * and some seconds at most. The instance that has it leaves a run alone that has
	 * begun since it was looked at.
	 * @param number the lock
	 * @param lookedAt when the run was under way, by the database's clock
	 * @param run its fencing token, {@code null} if that does not matter
	 * @param user who wants that
	 * @param goesOn whether it is still under way
	 * @return whether it has ended
	 */
	public boolean cancel(LockNumber number, Instant lookedAt, @Nullable Long run, String user,
			BooleanSupplier goesOn) {
		long begin = System.nanoTime();
		String act = number.entry() + " " + lookedAt.toEpochMilli() + ((run != null) ? " run=" + run : "") + " "
				+ user.substring(0, Math.min(user.length(), LONGEST_NAME));
		while (System.nanoTime() - begin < PATIENCE && !Thread.currentThread().isInterrupted()) {
			say(act);
			for (int i = 0; i < 4; i++) {
				LockSupport.parkNanos(this, PAUSE);
				if (!goesOn.getAsBoolean()) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * What a server process does in its transaction. What the role of this application
	 * may not see is {@code null}.
	 *
	 * @param state what its connection is doing
	 * @param query its statement, the last one if it executes none
	 * @param waitsFor the processes it waits for
	 */
	public record Activity(@Nullable String state, @Nullable String query, List<Integer> waitsFor) {

	}

	/**
	 * Who holds a lock.
	 *
	 * @param pid the process id of the server process, {@code null} for a prepared
	 * transaction
	 * @param application the name of its connection
	 * @param role the role that is logged in
	 * @param prepared the identifier of a prepared transaction, as a literal of SQL
	 * @param stranger the login of this instance, if the holder is not seen to share a
	 * role with it, and may not believe what it says
	 * @param transactionStart since when it is in a transaction, {@code null} if it is
	 * not, or this role may not see it, or it is a lock session: such a one is while it
	 * executes a statement of its own
	 */
	public record Holder(@Nullable Integer pid, @Nullable String application, @Nullable String role,
			@Nullable String prepared, @Nullable String stranger, @Nullable Instant transactionStart) {

		/**
		 * Return the instance of an application with this library.
		 * @return the instance, {@code null} if the holder is somebody else
		 */
		public @Nullable String instance() {
			ApplicationName name = ApplicationName.parse(this.application);
			return (name != null) ? name.instance() : null;
		}

	}

}
