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

	/**
	 * What frees the snapshot of the first statement, in the same flight.
	 */
	private static final String RELEASE_SNAPSHOT = "; SET LOCAL benchmarks.snapshot = 'released'";

	private PlainJdbc() {
	}

	static boolean runInTransaction(DataSource dataSource, long key) throws SQLException {
		return runInTransaction(dataSource, TRY_TRANSACTION_LOCK, key);
	}

	static boolean runInTransactionWithoutSnapshot(DataSource dataSource, long key) throws SQLException {
		return runInTransaction(dataSource, TRY_TRANSACTION_LOCK + RELEASE_SNAPSHOT, key);
	}

	private static boolean runInTransaction(DataSource dataSource, String sql, long key) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			boolean acquired;
			try (PreparedStatement statement = connection.prepareStatement(sql)) {
				acquired = ask(statement, key);
			}
			connection.commit();
			return acquired;
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

}
