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
import java.util.Collections;
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
	 * Return the locks that this takes or releases.
	 */
	List<Hold> holds() {
		return List.of();
	}

	/**
	 * Note that this failed, or a command that was sent with it, although the connection
	 * did not: the server has none of the locks of this.
	 */
	void undone(SQLException failure) {
		takeBack();
		fail(failure);
	}

	/**
	 * Fail unless there is an answer, because the connection is in an unknown state and
	 * about to be destroyed. Locks that were granted go with it, before anybody had them.
	 */
	final void abandon(SessionConnection connection, Throwable failure) {
		if (takesLocks()) {
			holds().forEach(connection::remove);
			takeBack();
			fail(failure);
		}
		failUnanswered(failure);
	}

	/**
	 * Forget that locks were granted.
	 */
	void takeBack() {
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

		@Override
		List<Hold> holds() {
			return List.of(this.hold);
		}

		@Override
		void takeBack() {
			this.granted = false;
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

		@Override
		void takeBack() {
			super.takeBack();
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
			if (!row.getBoolean(1)) {
				throw new SessionConnection.UnfitException(
						"it did not hold advisory lock '" + this.hold.key() + "' that it was to release");
			}
			connection.remove(this.hold);
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
		List<Hold> holds() {
			return List.of(this.hold);
		}

		@Override
		void undone(SQLException failure) {
			answer();
		}

	}

	/**
	 * Takes several locks as far as they are free, by a statement of somebody else's that
	 * says something of the others.
	 */
	static final class AcquireSome extends SessionCommand {

		private final List<Hold> candidates;

		/**
		 * What was said of each candidate, {@code null} if it was granted.
		 */
		private final List<@Nullable String> answers;

		AcquireSome(List<Hold> candidates, PostgresAdvisoryLockFunctions.Call call) {
			super(call);
			this.candidates = candidates;
			this.answers = new ArrayList<>(Collections.nCopies(candidates.size(), ""));
		}

		List<@Nullable String> answers() {
			return this.answers;
		}

		@Override
		boolean takesLocks() {
			return true;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			for (int i = 0; i < this.candidates.size(); i++) {
				String answer = row.getString(i + 1);
				this.answers.set(i, answer);
				if (answer == null) {
					connection.add(this.candidates.get(i));
				}
			}
		}

		@Override
		List<Hold> holds() {
			return this.candidates;
		}

		@Override
		void takeBack() {
			Collections.fill(this.answers, "");
		}

	}

	/**
	 * Asks for a number.
	 */
	static class Ask extends SessionCommand {

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
		void undone(SQLException failure) {
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

		FindLeft(LockSessionSettings settings, long members) {
			super(PostgresAdvisoryLockFunctions.findLeft(settings.heartbeat().multipliedBy(2).toMillis(), members));
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
	 * Asks which of some locks is the last one that is held: its place, from 1 on, 0
	 * where none is. Nothing of this connection, and so any may ask.
	 */
	static final class FindLastHeld extends Ask {

		/**
		 * Create a command.
		 * @param entries the locks, as the lock table has them
		 */
		FindLastHeld(List<String> entries) {
			super(null, PostgresAdvisoryLockFunctions.findLastHeld(entries));
		}

		@Override
		boolean isOptional() {
			return true;
		}

	}

}
