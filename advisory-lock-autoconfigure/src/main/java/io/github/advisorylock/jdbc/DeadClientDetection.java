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

	private DeadClientDetection() {
	}

	static void enable(Connection connection, String applicationName, LockSessionSettings settings)
			throws SQLException {
		DeadClientSettings detection = DeadClientSettings.within(settings.deadClientTimeout());
		try (PreparedStatement statement = connection.prepareStatement(PostgresAdvisoryLockFunctions.PREPARE_SESSION)) {
			statement.setString(1, applicationName);
			statement.setString(2, Long.toString(settings.answerTimeoutMillis()));
			statement.setString(3, Long.toString(detection.idle()));
			statement.setString(4, Long.toString(detection.interval()));
			statement.setString(5, Integer.toString(detection.probes()));
			statement.setString(6, Long.toString(detection.userTimeoutMillis()));
			statement.execute();
		}
		checkWhileExecuting(connection, detection);
	}

	/**
	 * Not every platform of the server can do this.
	 */
	private static void checkWhileExecuting(Connection connection, DeadClientSettings detection) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement(PostgresAdvisoryLockFunctions.CHECK_CLIENT_WHILE_EXECUTING)) {
			statement.setString(1, Long.toString(detection.checkIntervalMillis()));
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
