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

import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * The commands of a {@link LockSession} for the locks of ticks.
 */
final class TickCommand {

	private TickCommand() {
	}

	/**
	 * Takes the lock of a tick exclusively, or tells why not.
	 */
	static final class Acquire extends SessionCommand.Acquire {

		private final boolean needed;

		private LockOutcome outcome = LockOutcome.BUSY;

		/**
		 * Create a command.
		 * @param needed whether the run fails without the lock
		 */
		Acquire(Hold hold, boolean needed) {
			super(hold, PostgresAdvisoryLockFunctions.tryTick(hold.key()));
			this.needed = needed;
		}

		LockOutcome outcome() {
			return this.outcome;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.outcome = switch (row.getInt(1)) {
				case 0 -> LockOutcome.BUSY;
				case 1 -> LockOutcome.EXECUTED;
				default -> LockOutcome.ALREADY_RAN;
			};
			note(this.outcome == LockOutcome.EXECUTED, connection);
		}

		@Override
		boolean isOptional() {
			return !this.needed;
		}

	}

	/**
	 * Turns an exclusive lock of a tick into a shared one.
	 */
	static final class Share extends SessionCommand.Ask {

		private final Hold exclusive;

		private final Hold shared;

		private boolean done;

		Share(Hold exclusive, Hold shared) {
			super(exclusive, PostgresAdvisoryLockFunctions.shareTick(exclusive.key()));
			this.exclusive = exclusive;
			this.shared = shared;
		}

		/**
		 * Return whether that is done; the exclusive lock is still held if it is active.
		 */
		boolean isDone() {
			return this.done;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.done = row.getBoolean(1);
			if (this.done) {
				this.exclusive.release();
				connection.remove(this.exclusive);
				connection.add(this.shared);
			}
		}

		@Override
		boolean isOptional() {
			return true;
		}

		@Override
		List<Hold> holds() {
			return List.of(this.exclusive, this.shared);
		}

		/**
		 * The lock is taken again later.
		 */
		@Override
		void undone(SQLException failure) {
			this.done = false;
			this.exclusive.release();
			fail(failure);
		}

	}

	/**
	 * Releases locks of ticks, as far as they are held.
	 */
	static final class Release extends SessionCommand {

		private final List<Hold> holds;

		Release(List<Hold> holds) {
			super(PostgresAdvisoryLockFunctions.sessionUnlock(holds.stream()
				.map((hold) -> PostgresAdvisoryLockFunctions.lock(hold.key(), hold.mode()))
				.toList()));
			this.holds = holds;
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && this.holds.stream().anyMatch(connection::carries);
			if (!carried) {
				answer();
			}
			return carried;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) {
			this.holds.forEach(Hold::release);
			this.holds.forEach(connection::remove);
		}

		@Override
		boolean outlivesConnection() {
			return false;
		}

		@Override
		boolean isOptional() {
			return true;
		}

		@Override
		List<Hold> holds() {
			return this.holds;
		}

		@Override
		void undone(SQLException failure) {
			this.holds.forEach(Hold::release);
			answer();
		}

	}

}
