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
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;

import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * What the server sends without having been asked. The only class that needs more of the
 * driver than JDBC.
 */
final class ServerMessages {

	/**
	 * Without a wait the driver looks once in a second only where it can't see whether
	 * something has arrived, as through TLS.
	 */
	private static final int WAIT_MILLIS = 1;

	private final PGConnection connection;

	private ServerMessages(PGConnection connection) {
		this.connection = connection;
	}

	static ServerMessages listen(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(PostgresAdvisoryLockFunctions.LISTEN);
			return new ServerMessages(connection.unwrap(PGConnection.class));
		}
	}

	/**
	 * Return what has arrived, in order.
	 */
	List<String> receive() throws SQLException {
		PGNotification[] notifications = this.connection.getNotifications(WAIT_MILLIS);
		return (notifications != null) ? Arrays.stream(notifications)
			.filter((notification) -> PostgresAdvisoryLockFunctions.CHANNEL.equals(notification.getName()))
			.map(PGNotification::getParameter)
			.toList() : List.of();
	}

}
