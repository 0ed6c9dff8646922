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

package io.github.advisorylock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.io.ClassPathResource;

/**
 * What the work of a fleet leaves in its database.
 */
final class Database {

	private static final Log logger = LogFactory.getLog(Database.class);

	/**
	 * How many tables have the keys that run once, where that is partitioned.
	 */
	static final int PARTITIONS = 3;

	private String url;

	/**
	 * Create the table of the effects.
	 */
	Database(String url) {
		this.url = url;
		execute(RecordedWork.TABLE);
	}

	/**
	 * Ask another server from now on.
	 */
	void moveTo(String url) {
		this.url = url;
	}

	/**
	 * Return the version of the server.
	 */
	String version() {
		return query("SHOW server_version", (row) -> row.getString(1)).get(0);
	}

	/**
	 * Return the process that sends to the standby.
	 */
	String sender() {
		return query("SELECT pid FROM pg_stat_replication", (row) -> row.getString(1)).get(0);
	}

	/**
	 * Run a statement.
	 */
	void execute(String sql) {
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Create the tables of the ledger as they are shipped, and have the keys that run
	 * once in several partitions.
	 */
	void partitionCompletions() {
		try {
			execute(new ClassPathResource("io/github/advisorylock/ledger/R__advisory_lock_ledger.sql")
				.getContentAsString(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		execute("ALTER TABLE advisory_lock_completion RENAME TO whole");
		execute("CREATE TABLE advisory_lock_completion (LIKE whole INCLUDING ALL) PARTITION BY HASH (key)");
		execute("DROP TABLE whole");
		for (int i = 0; i < PARTITIONS; i++) {
			execute("CREATE TABLE advisory_lock_completion_" + i + " PARTITION OF advisory_lock_completion "
					+ "FOR VALUES WITH (MODULUS " + PARTITIONS + ", REMAINDER " + i + ")");
		}
	}

	/**
	 * Return in how many tables the keys lie that run once.
	 */
	int tablesOfCompletions() {
		return query("SELECT DISTINCT tableoid FROM advisory_lock_completion", (row) -> row.getString(1)).size();
	}

	/**
	 * Return the keys that the ledger remembers as completed, each as often as it has
	 * them.
	 */
	List<String> completed() {
		return query("SELECT key FROM advisory_lock_completion WHERE key LIKE '%:%' AND key NOT LIKE 'advisory-lock:%'",
				(row) -> row.getString(1));
	}

	/**
	 * Leave no room for an effect on the pages that a table has, where it can get no
	 * others: else some runs would still find some.
	 */
	void usePagesUp() {
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement()) {
			statement.execute("INSERT INTO effect (job, run, instance) "
					+ "SELECT 'filler', repeat('x', 100), 'none' FROM generate_series(1, 5000)");
			throw new IllegalStateException("The disk is not full");
		}
		catch (SQLException ex) {
			// no space left on device, or the server has given up
			logger.info("The disk is full: " + ex.getMessage());
		}
	}

	/**
	 * Return the effects of all work that is for a tick or a key.
	 */
	List<Effect> effects() {
		return query("SELECT job, tick, run FROM effect WHERE tick IS NOT NULL", (row) -> new Effect(row.getString(1),
				row.getObject(2, OffsetDateTime.class).toInstant(), row.getString(3)));
	}

	/**
	 * Return the names of all runs that have left an effect.
	 */
	Set<String> written() {
		return Set.copyOf(query("SELECT DISTINCT run FROM effect", (row) -> row.getString(1)));
	}

	/**
	 * Return what the ledger counts as executed.
	 */
	List<Execution> recorded() {
		return query(
				"SELECT key, coalesce(tick, to_timestamp(split_part(key, ':', 2)::bigint * " + Fleet.PERIOD.toSeconds()
						+ ")) FROM advisory_lock_run WHERE outcome = 'EXECUTED' AND key LIKE '%:%' ",
				(row) -> new Execution(row.getString(1), row.getObject(2, OffsetDateTime.class).toInstant()));
	}

	/**
	 * Return the keys whose runs the ledger records.
	 */
	Set<String> recordedKeys() {
		return Set.copyOf(query("SELECT DISTINCT key FROM advisory_lock_run", (row) -> row.getString(1)));
	}

	/**
	 * Return which advisory locks there are.
	 */
	List<String> locks() {
		return query(
				"SELECT 'lock ' || classid || '/' || objid || ' of ' || pid FROM pg_locks WHERE locktype = 'advisory'",
				(row) -> row.getString(1));
	}

	/**
	 * Return what should not be there any more when all instances have stopped.
	 */
	List<String> leftovers(boolean openRuns) {
		List<String> leftovers = new ArrayList<>(locks());
		leftovers.addAll(query(
				"SELECT 'connection ' || pid || ' ' || application_name FROM pg_stat_activity "
						+ "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
				(row) -> row.getString(1)));
		if (openRuns) {
			leftovers.addAll(query("SELECT 'run ' || key || ' of ' || instance || ' since ' || started_at "
					+ "FROM advisory_lock_run WHERE finished_at IS NULL", (row) -> row.getString(1)));
		}
		return leftovers;
	}

	private <T> List<T> query(String sql, Row<T> row) {
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			List<T> result = new ArrayList<>();
			while (rows.next()) {
				result.add(row.read(rows));
			}
			return result;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Makes a value of a row.
	 */
	private interface Row<T> {

		T read(ResultSet row) throws SQLException;

	}

}
