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

package io.github.advisorylock.jdbc.server;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;
import org.postgresql.PGProperty;
import org.postgresql.core.BaseConnection;

import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * What only PostgreSQL's own driver can tell of a connection. The driver need not be
 * there.
 *
 * @since 0.1.0
 */
public final class PgDriver {

	/**
	 * Fetches all rows of an answer at once, whatever {@code defaultRowFetchSize} says.
	 * Otherwise the driver names the portal of a query, and the server keeps its snapshot
	 * until the transaction ends.
	 */
	public static final int ALL_ROWS = 0;

	/**
	 * The SQL state of a connection that is not there any more.
	 */
	public static final String CONNECTION_DOES_NOT_EXIST = "08003";

	/**
	 * The SQL state of each statement in a transaction that can only be rolled back.
	 */
	public static final String IN_FAILED_TRANSACTION = "25P02";

	/**
	 * The SQL state of a connection that can't be opened.
	 */
	private static final String UNABLE_TO_CONNECT = "08001";

	private static final boolean PRESENT = ClassUtils.isPresent("org.postgresql.PGConnection",
			PgDriver.class.getClassLoader());

	private PgDriver() {
	}

	/**
	 * Return whether the connection is gone: class 08, an administrator's command or a
	 * timeout for idle sessions.
	 * @param ex the failure of a statement
	 * @return whether it is gone
	 */
	public static boolean endsConnection(SQLException ex) {
		String state = ex.getSQLState();
		return state == null || state.startsWith("08") || state.startsWith("57P") || state.equals("25P03")
				|| state.equals("25P04");
	}

	/**
	 * Return the failure to open a connection as an SQLException, with the state of the
	 * one that has caused it, if any, and without secrets.
	 */
	static SQLException connectionFailure(RuntimeException failure) {
		String message = StringUtils.hasText(failure.getMessage()) ? failure.getMessage() : failure.toString();
		String state = UNABLE_TO_CONNECT;
		for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException ex && ex.getSQLState() != null) {
				state = ex.getSQLState();
			}
		}
		String redacted = JdbcUrl.redact(message);
		return new SQLException(redacted, state, redacted.equals(message) ? failure : null);
	}

	/**
	 * Return whether a driver is PostgreSQL's, can make sense of a URL, and can create
	 * what is ours: with a driver of the web server's own it could not.
	 * @param driver the driver
	 * @param url the URL of the database
	 * @return whether it can do all of it
	 */
	public static boolean understands(Driver driver, String url) {
		return PRESENT && driver instanceof org.postgresql.Driver
				&& org.postgresql.Driver.parseURL(url, new Properties()) != null
				&& ClassUtils.isVisible(LockSocketFactory.class, driver.getClass().getClassLoader());
	}

	/**
	 * Return what will know the socket of a connection.
	 * @param url the URL of the database
	 * @param properties what else the driver is told
	 * @return what knows the socket
	 */
	public static LockSocket socketFor(String url, Properties properties) {
		Properties told = told(url, properties);
		return new LockSocket(told, PGProperty.SOCKET_FACTORY.getOrDefault(told) == null);
	}

	/**
	 * Open a connection whose socket is known from the beginning. What has to hold is
	 * added to the end of the URL, where it has the last word. Limits that are stricter
	 * than ours are left alone.
	 * @param driver PostgreSQL's driver
	 * @param url the URL of the database
	 * @param properties what else the driver is told
	 * @param socket will know the socket
	 * @param timeoutMillis how long to wait for the connection
	 * @return the connection
	 * @throws SQLException if there is none
	 */
	public static Connection connect(Driver driver, String url, Properties properties, LockSocket socket,
			int timeoutMillis) throws SQLException {
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
	 * @param connection any connection
	 * @return it, or the given one where its driver can't be reached
	 */
	public static Connection unwrap(Connection connection) {
		Connection driver = find(connection);
		return (driver != null) ? driver : connection;
	}

	/**
	 * Return whether the driver can't execute several queries together whose answers have
	 * not the same columns: it asks for all of them in binary ({@code prepareThreshold}
	 * -1), and gives each the formats of all.
	 * @param connection any connection
	 * @return whether it can't
	 */
	public static boolean needsOneByOne(Connection connection) {
		BaseConnection driver = find(connection);
		return driver != null && driver.getPrepareThreshold() < 0;
	}

	/**
	 * Return whether a pooler is in front of a connection: another process answers than
	 * the one that has greeted the driver.
	 * @param connection any connection
	 * @param answeredBy the process that answers
	 * @return whether there is one, as far as the driver tells
	 */
	public static boolean isPooled(Connection connection, int answeredBy) {
		BaseConnection driver = find(connection);
		return driver != null && driver.getBackendPID() != answeredBy;
	}

	/**
	 * Return what other applications have announced, as far as the driver tells.
	 * @param connection any connection
	 * @param waitMillis how long to wait for it
	 * @return what has arrived
	 * @throws SQLException if the connection is gone
	 */
	public static List<PGNotification> notifications(Connection connection, int waitMillis) throws SQLException {
		BaseConnection driver = find(connection);
		PGNotification[] notifications = (driver != null) ? driver.getNotifications(waitMillis) : null;
		return (notifications != null) ? List.of(notifications) : List.of();
	}

	/**
	 * Find the driver's own connection. There is none where another driver, or another
	 * copy of this one in another class loader, has opened the connection, and where a
	 * wrapper does not hand out what it wraps.
	 */
	private static @Nullable BaseConnection find(Connection connection) {
		try {
			return (PRESENT && connection.isWrapperFor(BaseConnection.class)) ? connection.unwrap(BaseConnection.class)
					: null;
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			return null;
		}
	}

	/**
	 * Return what has become of the transaction of a connection. Does not ask the server:
	 * it says so with each answer, which only its own driver hands on.
	 * @param connection any connection
	 * @return its state
	 */
	public static TransactionState transactionState(Connection connection) {
		try {
			if (connection.isClosed()) {
				return TransactionState.NONE;
			}
			BaseConnection driver = (PRESENT && connection instanceof BaseConnection own) ? own : find(connection);
			if (driver == null) {
				return connection.getAutoCommit() ? TransactionState.NONE : TransactionState.UNTOLD;
			}
			return switch (driver.getTransactionState()) {
				case IDLE -> TransactionState.NONE;
				case OPEN -> TransactionState.OPEN;
				case FAILED -> TransactionState.ABORTED;
			};
		}
		catch (SQLException ex) {
			// what is wrong with the connection will be said by the next statement
			return TransactionState.NONE;
		}
	}

	/**
	 * Return whether a transaction goes on, as far as is known without the server.
	 * @param connection any connection
	 * @return whether it may go on
	 */
	public static boolean isTransactionOpen(Connection connection) {
		TransactionState state = transactionState(connection);
		return state == TransactionState.OPEN || state == TransactionState.UNTOLD;
	}

	/**
	 * Return whether a connection has been cut, as far as its own driver knows: a wrapper
	 * is closed, too, when the connection goes back to its pool.
	 * @param connection what {@link #unwrap} has returned
	 * @return whether it has been cut
	 */
	public static boolean isCut(Connection connection) {
		try {
			return PRESENT && connection instanceof BaseConnection && connection.isClosed();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * What a connection is in.
	 */
	public enum TransactionState {

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
		ABORTED,

		/**
		 * A transaction, or none, of a driver that does not tell: only the server knows.
		 */
		UNTOLD

	}

}
