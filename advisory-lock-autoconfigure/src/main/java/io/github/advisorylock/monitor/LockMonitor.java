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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.server.ApplicationName;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * Looks at the advisory locks of the server for operators, and changes nothing. Any role
 * may do so; what it may not see of others is {@code null}.
 *
 * @since 0.1.0
 */
public class LockMonitor {

	/**
	 * Advisory locks of the server, and time and database in any case. The text of a
	 * statement that may not be seen is a notice in PostgreSQL, not {@code null}. Binds
	 * the numbers of the locks, as arrays of each part, and how many holders and waiters.
	 */
	private static final String LOCKS = """
			SELECT n.now, n.here, d.datname, l.classid::bigint AS classid, l.objid::bigint AS objid, l.objsubid,
			  l.mode, l.granted, l.pid, l.waitstart, CASE WHEN l.pid IS NULL AND l.granted THEN 'prepared transaction '
			    || coalesce((""" + LockHolders.PREPARED
			+ """
					    ), '') ELSE a.application_name END AS application_name, a.usename, a.client_addr, a.client_port, a.state,
					  a.xact_start, CASE WHEN a.backend_start IS NOT NULL THEN a.query END AS query,
					  CASE WHEN NOT l.granted THEN pg_catalog.pg_blocking_pids(l.pid) END AS blocking_pids
					FROM (SELECT pg_catalog.clock_timestamp() AS now, pg_catalog.current_database() AS here) n
					LEFT JOIN (
					  SELECT o.* FROM pg_catalog.pg_locks o
					  JOIN ROWS FROM (pg_catalog.unnest(CAST(? AS bigint[])), pg_catalog.unnest(CAST(? AS bigint[])),
					    pg_catalog.unnest(CAST(? AS integer[]))) w (classid, objid, objsubid)
					    ON w.classid = o.classid::bigint AND w.objid = o.objid::bigint AND w.objsubid = o.objsubid
					  WHERE o.locktype = 'advisory'
					  ORDER BY o.granted DESC, o.classid::bigint, o.objid::bigint LIMIT ?) l ON true
					LEFT JOIN pg_catalog.pg_database d ON d.oid = l.database
					LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
					ORDER BY d.datname, classid, objid, l.objsubid, l.granted DESC, l.waitstart, l.pid
					""";

	/**
	 * The time there.
	 */
	static final String CLOCK = "SELECT pg_catalog.clock_timestamp()";

	private static final int MOST_ENTRIES = 1000;

	private final JdbcOperations jdbc;

	/**
	 * Create a monitor.
	 * @param dataSource the DataSource that has the locks
	 */
	public LockMonitor(DataSource dataSource) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		this.jdbc = new MonitorStatements(dataSource);
	}

	/**
	 * Return what to tell of a database that could not be asked.
	 * @param failure the failure
	 * @return what is wrong, in one line and without secrets
	 */
	public static String explain(DataAccessException failure) {
		return (failure instanceof UnsupportedDatabaseException) ? String.valueOf(failure.getMessage())
				: "The database of the advisory locks can't be asked ("
						+ JdbcUrl.redact(String.valueOf(failure.getMostSpecificCause().getMessage())) + ")";
	}

	/**
	 * Return as soon as the server answers.
	 */
	public void ping() {
		this.jdbc.execute(CLOCK);
	}

	/**
	 * Return advisory locks of the server, a thousand holders and waiters at most.
	 * @param wanted the numbers of the locks
	 * @return the locks of the moment
	 */
	public LockActivity locks(Collection<LockNumber> wanted) {
		LockActivity locks = this.jdbc.execute(LOCKS, (PreparedStatement statement) -> {
			int next = LockNumber.bind(statement, new LinkedHashSet<>(wanted));
			statement.setInt(next, MOST_ENTRIES);
			Instant before = Instant.now();
			return readLocks(statement.executeQuery(), before, Instant.now());
		});
		Assert.state(locks != null, "'locks' must not be null");
		return locks;
	}

	/**
	 * Return what knows holders of locks, and what can be done about them.
	 * @return the holders
	 */
	public LockHolders holders() {
		return new LockHolders(this.jdbc);
	}

	private static LockActivity readLocks(ResultSet rows, Instant before, Instant after) throws SQLException {
		rows.next();
		Instant time = required(rows, "now");
		String database = rows.getString("here");
		List<LockActivity.Entry> entries = new ArrayList<>();
		do {
			if (rows.getString("mode") != null) {
				entries.add(readEntry(rows));
			}
		}
		while (rows.next());
		return new LockActivity(time, DatabaseClock.certainSkew(before, time, after),
				List.of(Duration.between(after, time), Duration.between(before, time)), database, List.copyOf(entries));
	}

	private static LockActivity.Entry readEntry(ResultSet row) throws SQLException {
		LockNumber number = new LockNumber((int) row.getLong("classid"), (int) row.getLong("objid"),
				row.getInt("objsubid"));
		String application = row.getString("application_name");
		return new LockActivity.Entry(row.getString("datname"), number, "ShareLock".equals(row.getString("mode")),
				row.getBoolean("granted"), row.getInt("pid"), instant(row, "waitstart"), LockHolders.blockedBy(row),
				ApplicationName.parse(application), application, row.getString("usename"), client(row),
				row.getString("state"), instant(row, "xact_start"), row.getString("query"));
	}

	private static @Nullable String client(ResultSet row) throws SQLException {
		String address = row.getString("client_addr");
		return (address != null) ? address + ":" + row.getInt("client_port") : null;
	}

	private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
		return (time != null) ? time.toInstant() : null;
	}

	private static Instant required(ResultSet row, String column) throws SQLException {
		Instant time = instant(row, column);
		Assert.state(time != null, () -> "'" + column + "' must not be null");
		return time;
	}

}
