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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Asks for a number.
 */
sealed class Ask extends SessionCommand permits Ask.Nothing, TickCommand.Share {

	private final @Nullable Hold hold;

	private long number;

	/**
	 * Create a command.
	 * @param hold the hold whose lock must be held, {@code null} if none must
	 */
	Ask(@Nullable Hold hold, PostgresAdvisoryLockFunctions.Call call) {
		super(call);
		this.hold = hold;
	}

	long number() {
		return this.number;
	}

	@Override
	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
		this.number = row.getLong(1);
	}

	@Override
	boolean needsServer(@Nullable SessionConnection connection) {
		boolean carried = this.hold == null || (connection != null && connection.carries(this.hold));
		if (!carried) {
			fail(new SQLException("The lock is not held any more", PgDriver.CONNECTION_DOES_NOT_EXIST));
		}
		return carried;
	}

	@Override
	boolean outlivesConnection() {
		return this.hold == null;
	}

	/**
	 * Asks for nothing: any answer shows that the connection, and with it what it
	 * carries, is still there.
	 */
	static final class Nothing extends Ask {

		private static final PostgresAdvisoryLockFunctions.Call NOTHING = new PostgresAdvisoryLockFunctions.Call(
				PostgresAdvisoryLockFunctions.HEARTBEAT, List.of());

		Nothing(@Nullable Hold hold) {
			super(hold, NOTHING);
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) {
		}

		@Override
		boolean outlivesConnection() {
			return false;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			answer();
		}

	}

}
