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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.util.StringUtils;

/**
 * One statement for the {@link LockSession}, and its answer: a class for each verb. A
 * command belongs to the thread that submits it, and in between to that of the session.
 */
abstract class SessionCommand implements SessionConnection.Query {

	private final String sql;

	private final List<Object> parameters;

	private boolean answered;

	private @Nullable Throwable failure;

	SessionCommand(PostgresAdvisoryLockFunctions.Call call) {
		this.sql = call.sql();
		this.parameters = call.parameters();
	}

	@Override
	public final String sql() {
		return this.sql;
	}

	@Override
	public final int bind(PreparedStatement statement, int next) throws SQLException {
		int index = next;
		for (Object parameter : this.parameters) {
			statement.setObject(index++, parameter);
		}
		return index;
	}

	@Override
	public final void read(ResultSet answer, SessionConnection connection) throws SQLException {
		readRow(answer, connection);
		this.answered = true;
		this.failure = null;
	}

	/**
	 * Read the answer, and note on the connection what it means for what that carries.
	 */
	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
	}

	/**
	 * Return whether the server has to be asked. What it need not be asked is answered
	 * here.
	 * @param connection the connection, {@code null} when none is open
	 */
	boolean needsServer(@Nullable SessionConnection connection) {
		return true;
	}

	/**
	 * Find out what became of this command, or one that was sent with it, which failed
	 * although the connection did not: the server may have obeyed before the failure.
	 * @throws SQLException if that can't be told
	 */
	void settle(SessionConnection connection, SQLException failure) throws SQLException {
		fail(failure);
	}

	/**
	 * Fail unless there is an answer, because the connection is in an unknown state and
	 * about to be destroyed.
	 */
	void abandon(SessionConnection connection, Throwable failure) {
		failUnanswered(failure);
	}

	/**
	 * Fail unless there is an answer.
	 */
	final void failUnanswered(Throwable failure) {
		if (!this.answered) {
			fail(failure);
		}
	}

	/**
	 * Return whether this can be sent again when the connection was lost.
	 */
	boolean outlivesConnection() {
		return true;
	}

	/**
	 * Return whether this may take locks.
	 */
	boolean takesLocks() {
		return false;
	}

	/**
	 * Return whether nobody goes without a lock when this can't be asked.
	 */
	boolean isOptional() {
		return false;
	}

	final void answer() {
		this.answered = true;
		this.failure = null;
	}

	final void fail(Throwable failure) {
		this.answered = false;
		this.failure = failure;
	}

	/**
	 * Return why there is no answer.
	 */
	final @Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Make sure that there is an answer.
	 * @throws DataAccessResourceFailureException if there is none
	 */
	final void checkAnswered() {
		if (this.failure != null) {
			throw new DataAccessResourceFailureException("Failed to ask the server on the connection of session locks",
					this.failure);
		}
	}

	/**
	 * Takes a lock.
	 */
	static class Acquire extends SessionCommand {

		private final Hold hold;

		private boolean granted;

		Acquire(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.trySessionLock(hold.lock(), hold.mode()));
		}

		Acquire(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(call);
			this.hold = hold;
		}

		final Hold hold() {
			return this.hold;
		}

		final boolean isGranted() {
			return this.granted;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			note(row.getBoolean(1), connection);
		}

		final void note(boolean granted, SessionConnection connection) {
			this.granted = granted;
			if (granted) {
				connection.add(this.hold);
			}
		}

		@Override
		boolean takesLocks() {
			return true;
		}

		@Override
		boolean isOptional() {
			return this.hold instanceof Hold.OfTick;
		}

		/**
		 * Taking a shared lock once more than needed does no harm while another holder is
		 * there.
		 */
		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			if (connection.sharesKey(this.hold)) {
				// the answer may have been read before the failure
				connection.remove(this.hold);
				connection.mayHoldTooOften(this.hold);
				fail(failure);
			}
			else if (connection.isHeld(this.hold)) {
				this.granted = true;
				connection.add(this.hold);
				answer();
			}
			else {
				fail(failure);
			}
		}

		/**
		 * A lock that was granted goes with the connection, before anybody had it.
		 */
		@Override
		void abandon(SessionConnection connection, Throwable failure) {
			if (this.granted) {
				this.granted = false;
				connection.remove(this.hold);
				fail(failure);
			}
			super.abandon(connection, failure);
		}

	}

	/**
	 * Takes the first permit of a key that is free, in one statement.
	 */
	static final class AcquirePermit extends Acquire {

		private final List<AdvisoryLockKey> permits;

		/**
		 * Create a command.
		 * @param permits the permits to ask for, in this order, none of which this
		 * session has: it would be granted once more
		 */
		AcquirePermit(Hold hold, List<AdvisoryLockKey> permits) {
			super(hold, PostgresAdvisoryLockFunctions.trySessionPermits(permits));
			this.permits = permits;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			int granted = row.getInt(1);
			hold().take((granted > 0) ? this.permits.get(granted - 1) : null);
			note(granted > 0, connection);
		}

		/**
		 * What this session has of the permits was granted by this command.
		 */
		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			for (AdvisoryLockKey permit : this.permits) {
				hold().take(permit);
				if (connection.isHeld(hold())) {
					note(true, connection);
					answer();
					return;
				}
			}
			hold().take(null);
			fail(failure);
		}

		@Override
		void abandon(SessionConnection connection, Throwable failure) {
			super.abandon(connection, failure);
			hold().take(null);
		}

	}

	/**
	 * Releases a lock, by a statement that may do something else with it.
	 */
	static final class Release extends SessionCommand {

		private final Hold hold;

		Release(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.sessionUnlock(hold.lock(), hold.mode()));
		}

		Release(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(call);
			this.hold = hold;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			if (row.getBoolean(1)) {
				connection.remove(this.hold);
			}
			else {
				connection.doubt("it did not hold advisory lock '" + this.hold.key() + "' that it was to release");
			}
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && connection.carries(this.hold);
			if (!carried) {
				answer();
			}
			return carried;
		}

		@Override
		boolean outlivesConnection() {
			return false;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			if (connection.sharesKey(this.hold)) {
				connection.mayHoldTooOften(this.hold);
			}
			else if (connection.isHeld(this.hold)) {
				connection.doubt("it could not release advisory lock '" + this.hold.key() + "'");
				fail(failure);
				return;
			}
			connection.remove(this.hold);
			answer();
		}

	}

	/**
	 * Asks which locks of transactions are held no more by the processes that took them.
	 * Nothing of this connection, and so any may ask.
	 */
	static final class FindMissing extends SessionCommand {

		private final Map<String, Hold> holds;

		private final List<Hold> missing = new ArrayList<>();

		FindMissing(List<Hold> holds) {
			this(entries(holds));
		}

		private FindMissing(Map<String, Hold> holds) {
			super(PostgresAdvisoryLockFunctions.findMissing(holds.keySet()));
			this.holds = holds;
		}

		private static Map<String, Hold> entries(List<Hold> holds) {
			Map<String, Hold> entries = new LinkedHashMap<>();
			for (Hold hold : holds) {
				if (hold.backend() != 0) {
					entries.put(PostgresAdvisoryLockFunctions.entry(hold.backend(), hold.lock()), hold);
				}
			}
			return entries;
		}

		List<Hold> missing() {
			return this.missing;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			for (String entry : StringUtils.commaDelimitedListToStringArray(row.getString(1))) {
				this.missing.add(Objects.requireNonNull(this.holds.get(entry)));
			}
		}

		@Override
		boolean isOptional() {
			return true;
		}

	}

	/**
	 * Asks which processes of a pooler have kept locks of sessions.
	 */
	static final class FindLeft extends SessionCommand {

		private @Nullable String processes;

		FindLeft(LockSessionSettings settings) {
			super(PostgresAdvisoryLockFunctions.findLeft(settings.heartbeat().multipliedBy(2).toMillis()));
		}

		@Nullable String processes() {
			return this.processes;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.processes = row.getString(1);
		}

		@Override
		boolean outlivesConnection() {
			return false;
		}

		@Override
		boolean isOptional() {
			return true;
		}

	}

	/**
	 * Asks which of some locks is the last one that is held. Nothing of this connection,
	 * and so any may ask.
	 */
	static final class FindLastHeld extends SessionCommand {

		private int place;

		/**
		 * Create a command.
		 * @param entries the locks, as the lock table has them
		 */
		FindLastHeld(List<String> entries) {
			super(PostgresAdvisoryLockFunctions.findLastHeld(entries));
		}

		/**
		 * Return the place of the lock, from 1 on, 0 where none is held.
		 */
		int place() {
			return this.place;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.place = row.getInt(1);
		}

		@Override
		boolean isOptional() {
			return true;
		}

	}

}
