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
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;

import io.github.advisorylock.jdbc.server.ServerJudge;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What stands between a connection and its server.
 */
enum Pooler {

	/**
	 * A pooler that was not seen to change servers, which it does not do in session mode.
	 */
	NO_CHANGE_SEEN,

	/**
	 * A pooler that keeps sessions, and hands on what a client has left in its server
	 * process to the next one, locks as well.
	 */
	NO_RESET,

	/**
	 * A pooler that hands each transaction to a server of its choice.
	 */
	TRANSACTION_MODE,

	/**
	 * A pooler that hands each statement to a server of its choice, and refuses
	 * transactions.
	 */
	STATEMENT_MODE;

	private static final Log logger = LogFactory.getLog(Pooler.class);

	/**
	 * In what PgBouncer refuses transactions with; their SQL state has other causes, too.
	 */
	private static final String REFUSAL = "statement pooling mode";

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
				return (second == null || begins(second)) ? TRANSACTION_MODE : STATEMENT_MODE;
			}
		}
		return NO_CHANGE_SEEN;
	}

	/**
	 * Find out whether a pooler that keeps sessions clears what a client has left, by
	 * leaving something and coming back. Where the next connection reaches another server
	 * process, that is not seen.
	 * @param client one of its connections, which is closed
	 * @param next opens the next one
	 */
	static Pooler after(Connection client, ServerJudge.Opening next) throws SQLException {
		leave(client, "something");
		client.close();
		try (Connection connection = next.open()) {
			try (Statement statement = connection.createStatement();
					ResultSet row = statement.executeQuery(DoctorQueries.LEFT)) {
				row.next();
				if (!"something".equals(row.getString(1))) {
					return NO_CHANGE_SEEN;
				}
			}
			leave(connection, "");
			return NO_RESET;
		}
	}

	private static void leave(Connection connection, String what) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(DoctorQueries.LEAVE)) {
			statement.setString(1, what);
			statement.execute();
		}
	}

	/**
	 * Return whether a connection through a pooler can begin a transaction. One that
	 * can't is closed by the pooler. The driver's own BEGIN is a prepared statement,
	 * which a pooler may not keep.
	 */
	private static boolean begins(Connection connection) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		connection.setAutoCommit(true);
		try (Statement statement = connection.createStatement()) {
			statement.execute("BEGIN");
			statement.execute("ROLLBACK");
		}
		catch (SQLException ex) {
			logger.debug("A transaction could not be begun", ex);
			if (String.valueOf(ex.getMessage()).contains(REFUSAL)) {
				return false;
			}
		}
		connection.setAutoCommit(autoCommit);
		return true;
	}

	/**
	 * Return whether each statement, or transaction, may reach another server process.
	 */
	boolean sharesServers() {
		return this == TRANSACTION_MODE || this == STATEMENT_MODE;
	}

	/**
	 * Return what to call it.
	 */
	String text() {
		return switch (this) {
			case TRANSACTION_MODE -> "pooler in transaction mode";
			case STATEMENT_MODE -> "pooler in statement mode";
			default -> "pooler";
		};
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
