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
import java.sql.Driver;
import java.sql.SQLException;
import java.util.Properties;

import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.core.BaseConnection;

import org.springframework.util.ClassUtils;

/**
 * What only PostgreSQL's own driver can tell of a connection. The driver need not be
 * there.
 */
final class PgDriver {

	/**
	 * The SQL state of a connection that is not there any more.
	 */
	static final String CONNECTION_DOES_NOT_EXIST = "08003";

	private static final boolean PRESENT = ClassUtils.isPresent("org.postgresql.PGConnection",
			PgDriver.class.getClassLoader());

	private PgDriver() {
	}

	/**
	 * Return whether the connection is gone: class 08, an administrator's command or a
	 * timeout for idle sessions.
	 */
	static boolean endsConnection(SQLException ex) {
		String state = ex.getSQLState();
		return state == null || state.startsWith("08") || state.startsWith("57P") || state.equals("25P03")
				|| state.equals("25P04");
	}

	static boolean isOwnerOf(Connection connection) throws SQLException {
		return PRESENT && connection.isWrapperFor(PGConnection.class);
	}

	/**
	 * Return whether a driver is PostgreSQL's, can make sense of a URL, and can create
	 * what is ours: with a driver of the web server's own it could not.
	 */
	static boolean understands(Driver driver, String url) {
		return PRESENT && driver instanceof org.postgresql.Driver
				&& org.postgresql.Driver.parseURL(url, new Properties()) != null
				&& ClassUtils.isVisible(LockSocketFactory.class, driver.getClass().getClassLoader());
	}

	/**
	 * Return what will know the socket of a connection.
	 */
	static LockSocket socketFor(String url, Properties properties) {
		Properties told = told(url, properties);
		return new LockSocket(told, PGProperty.SOCKET_FACTORY.getOrDefault(told) == null);
	}

	/**
	 * Open a connection whose socket is known from the beginning. What has to hold is
	 * added to the end of the URL, where it has the last word. Limits that are stricter
	 * than ours are left alone.
	 */
	static Connection connect(Driver driver, String url, Properties properties, LockSocket socket, int timeoutMillis)
			throws SQLException {
		String token = LockSocketFactory.expect(socket);
		try {
			StringBuilder extended = new StringBuilder(url).append((url.indexOf('?') >= 0) ? '&' : '?');
			append(extended, PGProperty.SOCKET_FACTORY, LockSocketFactory.class.getName());
			append(extended, PGProperty.SOCKET_FACTORY_ARG, token);
			for (PGProperty limit : new PGProperty[] { PGProperty.CONNECT_TIMEOUT, PGProperty.SOCKET_TIMEOUT }) {
				int seconds = limit.getInt(socket.driverProperties());
				int longest = (timeoutMillis + 999) / 1000;
				if (seconds <= 0 || seconds > longest) {
					append(extended, limit, Integer.toString(longest));
				}
			}
			Connection connection = driver.connect(extended.toString(), properties);
			if (connection == null) {
				throw new SQLException("The driver does not understand the URL");
			}
			return connection;
		}
		finally {
			LockSocketFactory.forget(token);
		}
	}

	private static void append(StringBuilder url, PGProperty property, String value) {
		url.append(property.getName()).append('=').append(value).append('&');
	}

	/**
	 * Return what the driver is told by a URL and properties together.
	 */
	private static Properties told(String url, Properties properties) {
		Properties told = org.postgresql.Driver.parseURL(url, properties);
		return (told != null) ? told : properties;
	}

	/**
	 * Return the driver's own connection, past what a pool has put around it.
	 * @return it, or the given one where it is another driver's
	 */
	static Connection unwrap(Connection connection) throws SQLException {
		return isOwnerOf(connection) ? connection.unwrap(BaseConnection.class) : connection;
	}

	/**
	 * Return what has become of the transaction of a connection. Does not ask the server:
	 * it says so with each answer.
	 */
	static TransactionState transactionState(Connection connection) throws SQLException {
		if (connection.isClosed()) {
			return TransactionState.NONE;
		}
		if (!isOwnerOf(connection)) {
			return connection.getAutoCommit() ? TransactionState.NONE : TransactionState.OPEN;
		}
		return switch (connection.unwrap(BaseConnection.class).getTransactionState()) {
			case IDLE -> TransactionState.NONE;
			case OPEN -> TransactionState.OPEN;
			case FAILED -> TransactionState.ABORTED;
		};
	}

	/**
	 * Return whether a transaction goes on, as far as the driver knows.
	 */
	static boolean isTransactionOpen(Connection connection) {
		try {
			return transactionState(connection) == TransactionState.OPEN;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * What a connection is in.
	 */
	enum TransactionState {

		/**
		 * No transaction: none has begun on the server, or it is over, or the connection
		 * is.
		 */
		NONE,

		/**
		 * A transaction that can be committed.
		 */
		OPEN,

		/**
		 * A transaction that can only be rolled back. Its locks are free already.
		 */
		ABORTED

	}

}
