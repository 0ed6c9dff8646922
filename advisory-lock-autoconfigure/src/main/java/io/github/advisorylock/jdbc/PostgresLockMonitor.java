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

import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.LedgerRun;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * Looks at locks and runs for operators, and changes nothing. The runs can be looked at
 * once the ledger is in use.
 *
 * @since 0.1.0
 */
public class PostgresLockMonitor {

	private static final int MOST_RUNS_OF_PERIODS = 1000;

	private final JdbcOperations jdbc;

	private final PostgresLedgerStatements ledger;

	private final PostgresMonitoringStatements statements;

	/**
	 * Create a monitor.
	 * @param dataSource the DataSource that has the locks
	 * @param tablePrefix what the names of the ledger's tables begin with
	 */
	public PostgresLockMonitor(DataSource dataSource, String tablePrefix) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		this.jdbc = new JdbcTemplate(PostgresAdvisoryLockTemplate.unwrap(dataSource));
		this.ledger = new PostgresLedgerStatements(tablePrefix);
		this.statements = new PostgresMonitoringStatements(this.ledger);
	}

	/**
	 * Return all advisory locks of the server.
	 * @return the locks of the moment
	 */
	public LockActivity locks() {
		Instant before = Instant.now();
		LockActivity locks = this.jdbc.query(PostgresMonitoringStatements.LOCKS,
				(ResultSet rows) -> readLocks(rows, before));
		Assert.state(locks != null, "'locks' must not be null");
		return locks;
	}

	/**
	 * Return all jobs of the ledger.
	 * @param outcomes of how many runs the outcomes are wanted
	 * @return the jobs, in the order of namespace and key
	 */
	public List<JobHistory> jobs(int outcomes) {
		return this.jdbc.query(this.statements.jobs(), (row, number) -> {
			LedgerRun lastRun = (row.getString("instance") != null) ? LedgerRows.run(row) : null;
			String letters = row.getString("outcomes");
			return new JobHistory(LedgerRows.job(row), lastRun, (letters != null) ? letters : "");
		}, outcomes);
	}

	/**
	 * Return the last runs of a key.
	 * @param namespace the namespace of the key
	 * @param key its name
	 * @param limit how many runs at most
	 * @return the runs, latest first
	 */
	public List<LedgerRun> runs(String namespace, String key, int limit) {
		return this.jdbc.query(this.ledger.runs(), (row, number) -> LedgerRows.run(row), namespace, key, limit);
	}

	/**
	 * Return when which instance ran some jobs, of each the last thousand runs at most.
	 * @param jobs the jobs
	 * @param lookBack how far to look back
	 * @param slot runs of an instance that start within one slot of this length are told
	 * as one period
	 * @return the periods, in the order of the jobs and of their start
	 */
	public List<RunPeriod> periods(List<JobName> jobs, Duration lookBack, Duration slot) {
		List<RunPeriod> periods = this.jdbc.execute(this.statements.periods(), (PreparedStatement statement) -> {
			int next = JobName.bind(statement, jobs);
			statement.setLong(next++, Micros.of(lookBack));
			statement.setInt(next++, MOST_RUNS_OF_PERIODS);
			statement.setLong(next, Math.max(1, slot.toSeconds()));
			return readPeriods(statement.executeQuery());
		});
		return (periods != null) ? periods : List.of();
	}

	private static List<RunPeriod> readPeriods(ResultSet rows) throws SQLException {
		List<RunPeriod> periods = new ArrayList<>();
		while (rows.next()) {
			periods.add(new RunPeriod(rows.getString("namespace"), rows.getString("key"), rows.getString("instance"),
					LedgerRows.required(rows, "started_at"), LedgerRows.required(rows, "finished_at"),
					rows.getInt("runs"), rows.getInt("failures")));
		}
		return periods;
	}

	private static LockActivity readLocks(ResultSet rows, Instant before) throws SQLException {
		Instant middle = before.plus(Duration.between(before, Instant.now()).dividedBy(2));
		rows.next();
		Instant time = LedgerRows.required(rows, "now");
		String database = rows.getString("here");
		List<LockActivity.Entry> entries = new ArrayList<>();
		do {
			if (rows.getString("mode") != null) {
				entries.add(readEntry(rows));
			}
		}
		while (rows.next());
		return new LockActivity(time, Duration.between(middle, time), database, List.copyOf(entries));
	}

	private static LockActivity.Entry readEntry(ResultSet row) throws SQLException {
		LockNumber number = new LockNumber((int) row.getLong("classid"), (int) row.getLong("objid"),
				row.getInt("objsubid"));
		String application = row.getString("application_name");
		return new LockActivity.Entry(row.getString("datname"), number, "ShareLock".equals(row.getString("mode")),
				row.getBoolean("granted"), row.getInt("pid"), LedgerRows.instant(row, "waitstart"), blockedBy(row),
				HolderName.parse(application), application, row.getString("usename"), client(row),
				row.getString("state"), LedgerRows.instant(row, "xact_start"), row.getString("query"));
	}

	private static @Nullable String client(ResultSet row) throws SQLException {
		String address = row.getString("client_addr");
		return (address != null) ? address + ":" + row.getInt("client_port") : null;
	}

	private static List<Integer> blockedBy(ResultSet row) throws SQLException {
		Array pids = row.getArray("blocking_pids");
		return (pids != null) ? Arrays.asList((Integer[]) pids.getArray()) : List.of();
	}

}
