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

package io.github.advisorylock.testsupport;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Connections of the tests' own to one server, of which those that are not in use are
 * kept: to open one takes a hundred times as long as to ask. Each use has a connection
 * for itself, and finds it as a new one: what the one before has set, locked or prepared
 * is gone.
 */
final class OutsideConnections {

	private static final int VALIDATION_SECONDS = 10;

	private final String url;

	private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();

	OutsideConnections(String url) {
		this.url = url;
	}

	/**
	 * Do something with a connection, on a thread that interrupts do not hurt.
	 */
	<T> T call(Use<T> use) throws Exception {
		return PlatformThread.isCurrent() ? callHere(use) : PlatformThread.call(() -> callHere(use));
	}

	/**
	 * Keeps the connection only if all went well: nobody knows the state of another one.
	 */
	private <T> T callHere(Use<T> use) throws SQLException {
		Connection connection = take();
		boolean kept = false;
		try (Statement statement = connection.createStatement()) {
			T result = use.apply(statement);
			statement.execute("DISCARD ALL");
			kept = true;
			return result;
		}
		finally {
			if (kept) {
				this.idle.push(connection);
			}
			else {
				connection.close();
			}
		}
	}

	/**
	 * A test may have ended those that are kept.
	 */
	private Connection take() throws SQLException {
		for (Connection kept = this.idle.poll(); kept != null; kept = this.idle.poll()) {
			if (kept.isValid(VALIDATION_SECONDS)) {
				return kept;
			}
			kept.close();
		}
		return DriverManager.getConnection(this.url);
	}

	/**
	 * What is done with a statement.
	 *
	 * @param <T> what comes of it
	 */
	interface Use<T> {

		T apply(Statement statement) throws SQLException;

	}

}
