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

package io.github.advisorylock.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * What an application would write without the library, in its shortest form.
 */
final class PlainJdbc {

	static final String TRY_TRANSACTION_LOCK = "SELECT pg_catalog.pg_try_advisory_xact_lock(?)";

	static final String TRY_SESSION_LOCK = "SELECT pg_catalog.pg_try_advisory_lock(?)";

	static final String SESSION_UNLOCK = "SELECT pg_catalog.pg_advisory_unlock(?)";

	private static final String LOOK = "SELECT EXISTS (SELECT FROM advisory_lock_benchmark_done WHERE id = ?)";

	private static final String INSERT = "INSERT INTO advisory_lock_benchmark_done VALUES (?)";

	private PlainJdbc() {
	}

	static boolean runInTransaction(DataSource dataSource, long key) throws SQLException {
		return inTransaction(dataSource, key, (connection) -> true);
	}

	private static boolean inTransaction(DataSource dataSource, long key, Work work) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			boolean done;
			try (PreparedStatement statement = connection.prepareStatement(TRY_TRANSACTION_LOCK)) {
				done = ask(statement, key) && work.run(connection);
			}
			connection.commit();
			return done;
		}
	}

	/**
	 * Take the lock, look, and write that it is done, in a transaction, as a ledger does.
	 */
	static boolean recordInTransaction(DataSource dataSource, long key, long id) throws SQLException {
		return inTransaction(dataSource, key, (connection) -> {
			boolean done = look(connection, id);
			try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
				insert.setLong(1, id);
				insert.executeUpdate();
			}
			return !done;
		});
	}

	/**
	 * Take the lock, find that it was done, and read what came of it.
	 */
	static boolean readInTransaction(DataSource dataSource, long key, long id) throws SQLException {
		return inTransaction(dataSource, key, (connection) -> {
			boolean done = look(connection, id);
			return look(connection, id) && done;
		});
	}

	static boolean isRecorded(DataSource dataSource, long id) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return look(connection, id);
		}
	}

	private static boolean look(Connection connection, long id) throws SQLException {
		try (PreparedStatement look = connection.prepareStatement(LOOK)) {
			return ask(look, id);
		}
	}

	static boolean ask(PreparedStatement statement, long key) throws SQLException {
		statement.setLong(1, key);
		statement.execute();
		try (ResultSet answer = statement.getResultSet()) {
			answer.next();
			return answer.getBoolean(1);
		}
	}

	/**
	 * What is done under the lock.
	 */
	private interface Work {

		boolean run(Connection connection) throws SQLException;

	}

}
