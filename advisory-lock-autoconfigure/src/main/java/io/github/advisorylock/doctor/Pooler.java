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

package io.github.advisorylock.doctor;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What stands between a connection and its server.
 */
enum Pooler {

	/**
	 * Nothing that could be seen.
	 */
	NONE,

	/**
	 * A pooler that was not seen to change servers, which it does not do in session mode.
	 */
	NO_CHANGE_SEEN,

	/**
	 * A pooler that hands each transaction to a server of its choice.
	 */
	TRANSACTION_MODE;

	private static final int ROUNDS = 5;

	/**
	 * Find out by the process that answers: another one than greeted the driver means a
	 * pooler, and one that answers two clients at a time means transaction mode, as does
	 * a client that is answered by several. Each statement must be a transaction of its
	 * own.
	 * @param second a second connection of the same kind, open at the same time, or
	 * {@code null} when there can't be one
	 */
	static Pooler between(Connection first, @Nullable Connection second) throws SQLException {
		Set<Integer> firstPids = new HashSet<>();
		Set<Integer> secondPids = new HashSet<>();
		for (int i = 0; i < ROUNDS; i++) {
			firstPids.add(answeredBy(first));
			if (second != null) {
				secondPids.add(answeredBy(second));
			}
			boolean shared = firstPids.stream().anyMatch(secondPids::contains);
			if (shared || firstPids.size() > 1 || secondPids.size() > 1) {
				return TRANSACTION_MODE;
			}
		}
		return NO_CHANGE_SEEN;
	}

	private static int answeredBy(Connection connection) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(DoctorQueries.BACKEND_PID)) {
			row.next();
			return row.getInt(1);
		}
		finally {
			if (!autoCommit) {
				connection.rollback();
			}
		}
	}

}
