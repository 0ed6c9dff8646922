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

package io.github.advisorylock.ledger;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Reads jobs and their runs for operators, once the ledger is in use. Changes nothing.
 *
 * @since 0.1.0
 */
public class JobRepository {

	private static final int MOST_RUNS_OF_PERIODS = 1000;

	private static final int MOST_TEMPLATES = 1000;

	private static final int MOST_KEYS = 10_000;

	private final JdbcOperations jdbc;

	private final PostgresLedgerStatements statements;

	JobRepository(DataSource dataSource, PostgresLedgerStatements statements) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.statements = statements;
	}

	/**
	 * Return some jobs of the ledger, without their runs.
	 * @param names the names of the jobs
	 * @return those that there are
	 */
	public List<LedgerJob> jobs(Collection<JobName> names) {
		return query(this.statements.jobsNamed(), names, (statement, next) -> {
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
		return this.jdbc.query(this.statements.runs(), (row, number) -> LedgerRows.run(row), namespace, key, limit);
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
	 * A job of the ledger with what became of its last runs.
	 *
	 * @param job the job
	 * @param lastRun its last run, {@code null} if there was none, or it is forgotten
	 * @param outcomes the first letters of the outcomes of its last runs, latest last,
	 * {@code R} for one that is not over
	 */
	public record JobHistory(LedgerJob job, @Nullable LedgerRun lastRun, String outcomes) {

	}

	/**
	 * Some of the jobs that only the ledger knows.
	 *
	 * @param seen how many there are, 10,000 for as many or more
	 * @param total how many of these are asked for
	 * @param names those of the page, in the order of namespace and key
	 */
	public record JobNamesPage(int seen, int total, List<JobName> names) {

		/**
		 * No jobs.
		 */
		public static final JobNamesPage NONE = new JobNamesPage(0, 0, List.of());

	}

	/**
	 * Keys of the ledger that were made from the same template.
	 *
	 * @param name what they were made from, in the place of a key
	 * @param count how many there are, 10,000 for as many or more
	 * @param latest the latest few of them, newest first
	 */
	public record KeysOfTemplate(JobName name, int count, List<LedgerJob> latest) {

	}

	/**
	 * A time in which one instance ran one job.
	 *
	 * @param namespace the namespace of the key
	 * @param key the name of the key
	 * @param instance the instance
	 * @param startedAt when the first of these runs started
	 * @param finishedAt when the last of them ended, now if it has not
	 * @param runs how many there were
	 * @param failures how many of them failed or were abandoned
	 */
	public record RunPeriod(String namespace, String key, String instance, Instant startedAt, Instant finishedAt,
			int runs, int failures) {

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
