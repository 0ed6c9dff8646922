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
import java.util.function.Consumer;

import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Passes on what other applications announce on a channel, in the order in which they
 * did, on whichever thread uses the connection: who is told must be quick. Needs more of
 * the driver than JDBC.
 *
 * @param channel the channel
 * @param connected is told that a new connection begins to listen: what was announced
 * before is not known
 * @param heard is told what an application has announced
 */
record SessionListener(String channel, Runnable connected, Consumer<String> heard) {

	/**
	 * Without a wait the driver looks once in a second only where it can't see whether
	 * something has arrived, as through TLS.
	 */
	private static final int WAIT_MILLIS = 1;

	/**
	 * Have the server pass on what is announced.
	 */
	void connect(Connection connection) throws SQLException {
		this.connected.run();
		try (Statement statement = connection.createStatement()) {
			statement.execute("LISTEN " + this.channel);
		}
	}

	/**
	 * Pass on what has arrived.
	 */
	void receive(Connection connection) throws SQLException {
		PGNotification[] notifications = connection.unwrap(PGConnection.class).getNotifications(WAIT_MILLIS);
		if (notifications != null) {
			for (PGNotification notification : notifications) {
				if (this.channel.equals(notification.getName())) {
					this.heard.accept(notification.getParameter());
				}
			}
		}
	}

}
