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
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tells a server to notice within seconds that the client of a session has vanished,
 * instead of the hours that TCP takes by itself, and never to end a session for being
 * quiet.
 *
 * @see <a href=
 * "https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP-SETTINGS">PostgreSQL
 * manual, section "TCP Settings"</a>
 */
final class DeadClientDetection {

	private static final Log logger = LogFactory.getLog(DeadClientDetection.class);

	private static final int PROBES = 3;

	private DeadClientDetection() {
	}

	static void enable(Connection connection, String applicationName, LockSessionSettings settings)
			throws SQLException {
		Duration timeout = settings.deadClientTimeout();
		long seconds = Math.max(PROBES + 1, timeout.toSeconds());
		long interval = Math.max(1, seconds / (2 * PROBES));
		long idle = seconds - PROBES * interval;
		try (PreparedStatement statement = connection.prepareStatement(PostgresAdvisoryLockFunctions.PREPARE_SESSION)) {
			statement.setString(1, applicationName);
			statement.setString(2, Long.toString(settings.answerTimeoutMillis()));
			statement.setString(3, Long.toString(idle));
			statement.setString(4, Long.toString(interval));
			statement.setString(5, Integer.toString(PROBES));
			statement.setString(6, Long.toString(timeout.toMillis()));
			statement.execute();
		}
		checkWhileExecuting(connection, timeout);
	}

	/**
	 * Not every platform of the server can do this.
	 */
	private static void checkWhileExecuting(Connection connection, Duration timeout) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement(PostgresAdvisoryLockFunctions.CHECK_CLIENT_WHILE_EXECUTING)) {
			statement.setString(1, Long.toString(Math.max(1, timeout.toMillis() / 5)));
			statement.execute();
		}
		catch (SQLException ex) {
			if (connection.isClosed() || SqlState.endsConnection(ex)) {
				throw ex;
			}
			logger.debug("The server can't check for a dead client while it executes", ex);
		}
	}

}
