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

package io.github.advisorylock.benchmarks;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A connection of its own with two statements that stay prepared: the cheapest way to
 * take and free session locks.
 */
final class PlainSession implements AutoCloseable {

	private final Connection connection;

	private final PreparedStatement tryLock;

	private final PreparedStatement unlock;

	PlainSession(String url) throws SQLException {
		this.connection = DriverManager.getConnection(url);
		this.tryLock = this.connection.prepareStatement(PlainJdbc.TRY_SESSION_LOCK);
		this.unlock = this.connection.prepareStatement(PlainJdbc.SESSION_UNLOCK);
	}

	boolean tryLock(long key) throws SQLException {
		return PlainJdbc.ask(this.tryLock, key);
	}

	boolean unlock(long key) throws SQLException {
		return PlainJdbc.ask(this.unlock, key);
	}

	@Override
	public void close() throws SQLException {
		this.connection.close();
	}

}
