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
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * One statement for the {@link LockSession}, and its answer: a class for each verb. A
 * command belongs to the thread that submits it, and in between to that of the session.
 */
abstract class SessionCommand implements SessionConnection.Question {

	private static final PostgresAdvisoryLockFunctions.Call NOTHING = new PostgresAdvisoryLockFunctions.Call(
			PostgresAdvisoryLockFunctions.HEARTBEAT, List.of());

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
	public final void read(Statement statement, SessionConnection connection) throws SQLException {
		try (ResultSet answer = statement.getResultSet()) {
			answer.next();
			readRow(answer, connection);
		}
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
	 * Do what has to be done after the answer by who needs no server.
	 */
	void finish() {
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
	 * Asks for a number that has nothing to do with locks.
	 */
	static final class Query extends SessionCommand {

		private long number;

		Query(PostgresAdvisoryLockFunctions.Call call) {
			super(call);
		}

		long number() {
			return this.number;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.number = row.getLong(1);
		}

	}

	/**
	 * Opens the connection, if it is not open.
	 */
	static final class Open extends SessionCommand {

		Open() {
			super(NOTHING);
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			answer();
		}

	}

	/**
	 * Asks for nothing: any answer shows that the connection, and what it carries, is
	 * still there.
	 */
	static final class Heartbeat extends SessionCommand {

		Heartbeat() {
			super(NOTHING);
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return connection != null;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			answer();
		}

	}

	/**
	 * Has the thread of the session do something with the connection, and asks the server
	 * for nothing.
	 */
	static final class Turn extends SessionCommand {

		private final Runnable action;

		Turn(Runnable action) {
			super(NOTHING);
			this.action = action;
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return false;
		}

		@Override
		void finish() {
			this.action.run();
		}

	}

	/**
	 * Takes a lock.
	 */
	static class Acquire extends SessionCommand {

		private final Hold hold;

		private boolean granted;

		Acquire(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.trySessionLock(hold.key(), hold.mode()));
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
			return this.hold.isQuiet();
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
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			for (int i = 0; i < this.candidates.size(); i++) {
				if (this.answers.get(i) != null && connection.isHeld(this.candidates.get(i))) {
					this.answers.set(i, null);
					connection.add(this.candidates.get(i));
				}
			}
			if (this.answers.contains(null)) {
				answer();
			}
			else {
				fail(failure);
			}
		}

		/**
		 * Locks that were granted go with the connection, before anybody had them.
		 */
		@Override
		void abandon(SessionConnection connection, Throwable failure) {
			this.candidates.forEach(connection::remove);
			Collections.fill(this.answers, "");
			fail(failure);
		}

	}

	/**
	 * Is about a lock that is held, and means nothing on a connection that does not carry
	 * it.
	 */
	abstract static class OfHold extends SessionCommand {

		private final Hold hold;

		OfHold(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(call);
			this.hold = hold;
		}

		final Hold hold() {
			return this.hold;
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && connection.carries(this.hold);
			if (!carried) {
				fail(new SQLException("The lock is not held any more", PgDriver.CONNECTION_DOES_NOT_EXIST));
			}
			return carried;
		}

		@Override
		boolean outlivesConnection() {
			return false;
		}

	}

	/**
	 * Asks whether a lock is still held: any answer of the connection that carries it
	 * says so.
	 */
	static final class Confirm extends OfHold {

		Confirm(Hold hold) {
			super(hold, NOTHING);
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			answer();
		}

	}

	/**
	 * Asks for a number while a lock is held.
	 */
	static final class Ask extends OfHold {

		private long number;

		Ask(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(hold, call);
		}

		long number() {
			return this.number;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.number = row.getLong(1);
		}

	}

	/**
	 * Releases a lock, by a statement that may do something else with it.
	 */
	static final class Release extends OfHold {

		Release(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.sessionUnlock(hold.key(), hold.mode()));
		}

		Release(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(hold, call);
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			if (row.getBoolean(1)) {
				connection.remove(hold());
			}
			else {
				connection.doubt("it did not hold advisory lock '" + hold().key() + "' that it was to release");
			}
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && connection.carries(hold());
			if (!carried) {
				answer();
			}
			return carried;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			if (connection.sharesKey(hold())) {
				connection.mayHoldTooOften(hold());
			}
			else if (connection.isHeld(hold())) {
				connection.doubt("it could not release advisory lock '" + hold().key() + "'");
				fail(failure);
				return;
			}
			connection.remove(hold());
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
					entries.put(PostgresAdvisoryLockFunctions.entry(hold.backend(), hold.key()), hold);
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

}
