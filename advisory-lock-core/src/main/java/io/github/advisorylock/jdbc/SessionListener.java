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
import java.util.function.ObjIntConsumer;

/**
 * Passes on the notifications of a channel, in the order in which they were sent, on the
 * thread of the session: the receiver must be quick. Any role that may connect may send
 * anything. Needs more of the driver than JDBC.
 *
 * @param channel the channel
 * @param connected is run when a new connection begins to listen: what was sent before is
 * not known
 * @param receiver is given each text, and the server process of its sender, which nobody
 * can forge
 */
record SessionListener(String channel, Runnable connected, ObjIntConsumer<String> receiver) {

	/**
	 * Have the server pass on what is sent.
	 */
	void connect(Connection connection) throws SQLException {
		this.connected.run();
		try (Statement statement = connection.createStatement()) {
			statement.execute("LISTEN " + this.channel);
		}
	}

}
