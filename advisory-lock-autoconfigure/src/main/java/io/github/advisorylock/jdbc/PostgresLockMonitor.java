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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import io.github.advisorylock.LedgerJob;
import io.github.advisorylock.LedgerRun;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * Looks at runs for operators, and changes nothing. The runs can be looked at once the
 * ledger is in use.
 *
 * @since 0.1.0
 */
public class PostgresLockMonitor {

	private static final int MOST_RUNS_OF_PERIODS = 1000;

	private static final int MOST_TEMPLATES = 1000;

	private static final int MOST_KEYS = 10_000;

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
	 * Return some jobs of the ledger, without their runs.
	 * @param names the names of the jobs
	 * @return those that there are
	 */
	public List<LedgerJob> jobs(Collection<JobName> names) {
		return query(this.ledger.jobsNamed(), names, (statement, next) -> {
		}, LedgerRows::job);
	}

	/**
	 * Return some jobs of the ledger with their last runs.
	 * @param names the names of the jobs
	 * @param outcomes of how many runs the outcomes are wanted
	 * @return those that there are
	 */
	public List<JobHistory> histories(Collection<JobName> names, int outcomes) {
		return query(this.statements.histories(), names, (statement, next) -> statement.setInt(next, outcomes),
				(row) -> {
					LedgerRun lastRun = (row.getString("instance") != null) ? LedgerRows.run(row) : null;
					String letters = row.getString("outcomes");
					return new JobHistory(LedgerRows.job(row), lastRun, (letters != null) ? letters : "");
				});
	}

	/**
	 * Return some of the jobs that only the ledger knows, and that are listed on their
	 * own: those of keys which depend on no arguments, and those that are paused. Of more
	 * than 10,000, the others can be found by their names only.
	 * @param known the names of jobs that are known otherwise
	 * @param text what their names must contain
	 * @param state their state: {@code running}, {@code paused}, {@code idle},
	 * {@code problem}, or {@code all}
	 * @param offset how many to leave out
	 * @param limit how many at most
	 * @return their names
	 */
	public JobNamesPage alone(Collection<JobName> known, String text, String state, int offset, int limit) {
		JobNamesPage page = this.jdbc.execute(this.statements.alone(), (PreparedStatement statement) -> {
			Object[] names = known.stream().map((name) -> name.namespace() + "/" + name.key()).toArray();
			statement.setArray(1, statement.getConnection().createArrayOf("text", names));
			statement.setInt(2, MOST_KEYS);
			statement.setString(3, text);
			statement.setString(4, state);
			statement.setInt(5, limit);
			statement.setInt(6, offset);
			return readPage(statement.executeQuery());
		});
		return (page != null) ? page : JobNamesPage.NONE;
	}

	/**
	 * Return what the keys with arguments were made from, a thousand at most.
	 * @return the templates, each in the place of a key
	 */
	public List<JobName> templates() {
		return this.jdbc.query(this.statements.templates(),
				(row, number) -> new JobName(row.getString("namespace"), row.getString("key")), MOST_TEMPLATES);
	}

	/**
	 * Return how many keys were made from templates, and the latest few of them.
	 * @param templates the templates, each in the place of a key
	 * @param latest how many keys of each
	 * @return the keys of those that have any
	 */
	public List<KeysOfTemplate> keys(List<JobName> templates, int latest) {
		Map<JobName, KeysOfTemplate> keys = new LinkedHashMap<>();
		query(this.statements.keys(), templates, (statement, next) -> {
			statement.setInt(next, MOST_KEYS);
			statement.setInt(next + 1, latest);
		}, (row) -> {
			JobName template = templates.get(row.getInt("position") - 1);
			int count = row.getInt("count");
			return keys.computeIfAbsent(template, (name) -> new KeysOfTemplate(name, count, new ArrayList<>()))
				.latest()
				.add(LedgerRows.job(row));
		});
		return List.copyOf(keys.values());
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

	private <T> List<T> query(String sql, Collection<JobName> names, Binder binder, Reader<T> reader) {
		if (names.isEmpty()) {
			return List.of();
		}
		List<T> result = this.jdbc.execute(sql, (PreparedStatement statement) -> {
			binder.bind(statement, JobName.bind(statement, names));
			ResultSet rows = statement.executeQuery();
			List<T> read = new ArrayList<>();
			while (rows.next()) {
				read.add(reader.read(rows));
			}
			return read;
		});
		return (result != null) ? result : List.of();
	}

	private static JobNamesPage readPage(ResultSet rows) throws SQLException {
		int seen = 0;
		int total = 0;
		List<JobName> names = new ArrayList<>();
		while (rows.next()) {
			seen = rows.getInt("seen");
			total = rows.getInt("total");
			if (rows.getString("key") != null) {
				names.add(new JobName(rows.getString("namespace"), rows.getString("key")));
			}
		}
		return new JobNamesPage(seen, total, names);
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

	/**
	 * Binds the parameters that follow those of names.
	 */
	@FunctionalInterface
	private interface Binder {

		void bind(PreparedStatement statement, int next) throws SQLException;

	}

	/**
	 * Reads a row.
	 */
	@FunctionalInterface
	private interface Reader<T> {

		T read(ResultSet row) throws SQLException;

	}

}
