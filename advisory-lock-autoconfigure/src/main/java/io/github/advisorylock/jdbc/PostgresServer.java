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

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Tells whether a connection leads to a server whose advisory locks mean something.
 */
final class PostgresServer {

	private PostgresServer() {
	}

	/**
	 * Refuse a server that is no PostgreSQL, or a standby: its locks are local to it, and
	 * the primary grants the same ones.
	 */
	static void check(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		if (!"PostgreSQL".equals(product)) {
			throw new UnsupportedDatabaseException("it is '" + product + "', and advisory locks need PostgreSQL");
		}
		try (Statement statement = connection.createStatement();
				ResultSet server = statement.executeQuery(PostgresAdvisoryLockFunctions.DESCRIBE_SERVER)) {
			server.next();
			if (server.getBoolean(2)) {
				throw standby();
			}
		}
	}

	static UnsupportedDatabaseException standby() {
		return new UnsupportedDatabaseException(
				"it is a standby, which grants the same locks as its primary; connect to the primary");
	}

}
