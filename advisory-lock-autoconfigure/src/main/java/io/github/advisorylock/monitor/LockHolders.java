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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.jdbc.ApplicationName;
import io.github.advisorylock.jdbc.LockSession;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Who holds a lock, and what an operator can do about it: have the instance end its run,
 * or end the server process that has the lock. Holders are found by the lock, at the
 * moment of the act, never by a process that somebody names.
 *
 * @since 0.1.0
 */
public class LockHolders {

	/**
	 * The role whose members may end the processes of all but superusers.
	 */
	public static final String ROLE_THAT_MAY = "pg_signal_backend";

	/**
	 * The identifier of the prepared transaction that has a lock, as a literal. Its locks
	 * have no process, and among them is the one on its own number.
	 */
	static final String PREPARED = """
			SELECT pg_catalog.quote_literal(p.gid) FROM pg_catalog.pg_locks t
			JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = t.transactionid
			WHERE t.locktype = 'transactionid' AND t.pid IS NULL AND t.granted
			AND t.virtualtransaction = l.virtualtransaction LIMIT 1""";

	/**
	 * A role may end the processes of those whose privileges it has, and with
	 * {@code pg_signal_backend} all but those of superusers.
	 */
	private static final String FIND = """
			SELECT l.pid, a.application_name, a.usename, current_user AS me,
			  CASE WHEN h.rolsuper AND NOT m.rolsuper THEN 'SUPERUSER'
			    WHEN a.usesysid IS NOT NULL AND (pg_catalog.pg_has_role(a.usesysid, 'USAGE')
			      OR pg_catalog.pg_has_role('pg_signal_backend', 'USAGE')) THEN 'YES' ELSE 'GRANT' END AS may,
			  (SELECT count(*) FROM pg_catalog.pg_locks o WHERE o.locktype = 'advisory' AND o.granted
			    AND o.pid = l.pid) - 1 AS others,
			  CASE WHEN l.pid IS NULL THEN (""" + PREPARED + """
			  ) END AS prepared
			FROM pg_catalog.pg_locks l
			JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
			LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
			LEFT JOIN pg_catalog.pg_roles h ON h.oid = a.usesysid
			LEFT JOIN pg_catalog.pg_roles m ON m.rolname = current_user
			WHERE l.locktype = 'advisory' AND l.granted
			AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = ?
			ORDER BY l.pid
			""";

	/**
	 * A process may have another lock, or its number belong to another one, since it was
	 * found.
	 */
	private static final String FREE = """
			SELECT count(*) FILTER (WHERE pg_catalog.pg_terminate_backend(f.pid, ?)) FROM (
			  SELECT l.pid FROM pg_catalog.pg_locks l
			  JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = pg_catalog.current_database()
			  JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
			  WHERE l.locktype = 'advisory' AND l.granted
			  AND l.classid::bigint = ? AND l.objid::bigint = ? AND l.objsubid = ?
			  AND l.pid = ? AND a.application_name = ? AND (SELECT count(*) FROM pg_catalog.pg_locks o
			    WHERE o.locktype = 'advisory' AND o.granted AND o.pid = l.pid) - 1 <= ? OFFSET 0) f
			""";

	private static final String CLOCK = "SELECT CAST(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()) * 1000 AS bigint)";

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
	 * @return its holders, of which there are several only where it is shared
	 */
	public List<Holder> find(LockNumber number) {
		return this.jdbc.query(FIND, (row, index) -> read(row), Integer.toUnsignedLong(number.classId()),
				Integer.toUnsignedLong(number.objectId()), number.subId());
	}

	private static Holder read(ResultSet row) throws SQLException {
		int pid = row.getInt("pid");
		return new Holder(row.wasNull() ? null : pid, row.getString("application_name"), row.getString("usename"),
				row.getString("me"), Right.valueOf(row.getString("may")), row.getInt("others"),
				row.getString("prepared"));
	}

	/**
	 * Tell all instances that the run of a lock is to end, again and again until the
	 * holder has let it go, and some seconds at most. What has taken the lock after the
	 * first time is left alone.
	 * @param number the lock
	 * @param holder who holds it
	 * @param user who wants that
	 * @return whether the holder has let it go
	 */
	public boolean cancel(LockNumber number, Holder holder, String user) {
		long begin = System.nanoTime();
		String act = number.entry() + " " + this.jdbc.queryForObject(CLOCK, Long.class);
		String name = user.substring(0, Math.min(user.length(), LONGEST_NAME));
		while (System.nanoTime() - begin < PATIENCE && !Thread.currentThread().isInterrupted()) {
			this.jdbc.query(NOTIFY, (row) -> {
			}, LockSession.CANCEL_CHANNEL, act + " " + name);
			for (int i = 0; i < 4; i++) {
				LockSupport.parkNanos(this, PAUSE);
				if (find(number).stream().noneMatch((one) -> one.isSame(holder))) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * End the server process that holds a lock, if it still does.
	 * @param number the lock
	 * @param holder who was found to hold it
	 * @param others how many other locks of the same process may be free then, too
	 * @return whether the process has ended
	 */
	public boolean free(LockNumber number, Holder holder, int others) {
		Long freed = this.jdbc.queryForObject(FREE, Long.class, TimeUnit.NANOSECONDS.toMillis(PATIENCE),
				Integer.toUnsignedLong(number.classId()), Integer.toUnsignedLong(number.objectId()), number.subId(),
				holder.pid(), holder.application(), others);
		return freed != null && freed > 0;
	}

	/**
	 * Who holds a lock.
	 *
	 * @param pid the process id of the server process, {@code null} for a prepared
	 * transaction
	 * @param application the name of its connection
	 * @param role the role that is logged in
	 * @param me the role that asks
	 * @param right whether that one may end the process
	 * @param others how many other advisory locks the process holds
	 * @param prepared the identifier of a prepared transaction, as a literal of SQL
	 */
	public record Holder(@Nullable Integer pid, @Nullable String application, @Nullable String role, String me,
			Right right, int others, @Nullable String prepared) {

		/**
		 * Return the instance of an application with this library.
		 * @return the instance, {@code null} if the holder is somebody else
		 */
		public @Nullable String instance() {
			ApplicationName name = ApplicationName.parse(this.application);
			return (name != null) ? name.instance() : null;
		}

		private boolean isSame(Holder other) {
			return this.pid != null && this.pid.equals(other.pid);
		}

	}

	/**
	 * Whether a role may end the server process of another one.
	 */
	public enum Right {

		/**
		 * It may.
		 */
		YES,

		/**
		 * It lacks a privilege.
		 */
		GRANT,

		/**
		 * The other one is a superuser.
		 */
		SUPERUSER

	}

}
