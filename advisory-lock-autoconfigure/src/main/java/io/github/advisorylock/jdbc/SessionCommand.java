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
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * One statement for the {@link LockSession}, and its answer: a class for each verb. A
 * command belongs to the thread that submits it, and in between to the flight that
 * carries it.
 */
public abstract sealed class SessionCommand {

	private boolean answered;

	private @Nullable Throwable failure;

	/**
	 * Return what the server is asked.
	 */
	String sql() {
		return PostgresAdvisoryLockFunctions.HEARTBEAT;
	}

	/**
	 * Bind the parameters of the statement.
	 * @return the index of the next parameter
	 */
	int bind(PreparedStatement statement, int index) throws SQLException {
		return index;
	}

	/**
	 * Read the answer, and note on the connection what it means for what that carries.
	 */
	final void read(ResultSet answer, SessionConnection connection) throws SQLException {
		answer.next();
		readRow(answer, connection);
		answer();
	}

	void readRow(ResultSet row, SessionConnection connection) throws SQLException {
	}

	/**
	 * Return whether the server has to be asked. What it need not be asked is answered
	 * here.
	 * @param connection the connection, {@code null} when none is open
	 */
	boolean needsServer(@Nullable SessionConnection connection) {
		if (connection == null) {
			answer();
		}
		return connection != null;
	}

	/**
	 * Find out what became of this command, whose flight failed although the connection
	 * did not: the server may have obeyed before the failure.
	 * @throws SQLException if that can't be told
	 */
	void settle(SessionConnection connection, SQLException failure) throws SQLException {
		answer();
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
	 * Return why the connection can't be kept after the answer to this command, or the
	 * lack of one.
	 */
	@Nullable String complaint() {
		return null;
	}

	/**
	 * Return whether nobody goes without a lock when this can't be asked.
	 */
	boolean isOptional() {
		return false;
	}

	/**
	 * Return whether this asks for what other applications have said.
	 */
	boolean hears() {
		return false;
	}

	/**
	 * Return whether the connection is to be closed if it carries nothing.
	 */
	boolean retires() {
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

	private static int bindMessage(PreparedStatement statement, int index, String message) throws SQLException {
		statement.setString(index, PostgresAdvisoryLockFunctions.CHANNEL);
		statement.setString(index + 1, message);
		return index + 2;
	}

	/**
	 * Opens the connection, if it is not open.
	 */
	static final class Open extends SessionCommand {

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return true;
		}

	}

	/**
	 * Takes a lock.
	 */
	static final class Acquire extends SessionCommand {

		private final Hold hold;

		private boolean granted;

		Acquire(Hold hold) {
			this.hold = hold;
		}

		boolean isGranted() {
			return this.granted;
		}

		@Override
		String sql() {
			return PostgresAdvisoryLockFunctions.trySessionLock(this.hold.key(), this.hold.mode());
		}

		@Override
		int bind(PreparedStatement statement, int index) throws SQLException {
			return PostgresAdvisoryLockFunctions.bindKey(statement, index, this.hold.key());
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.granted = row.getBoolean(1);
			if (this.granted) {
				connection.add(this.hold);
			}
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return true;
		}

		/**
		 * Taking a shared lock once more than needed does no harm while another holder is
		 * there.
		 */
		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			if (connection.sharesKey(this.hold)) {
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
	 * Takes the locks of several roles, as far as they are free, and looks who holds the
	 * others.
	 */
	public static final class Campaign extends SessionCommand {

		private final Map<Hold, String> holders = new HashMap<>();

		private final Set<Hold> granted = new HashSet<>();

		private final List<Hold> candidates;

		private final String sql;

		/**
		 * Create a command.
		 * @param candidates the holds whose locks to take
		 */
		public Campaign(List<Hold> candidates) {
			this.candidates = candidates;
			this.sql = PostgresAdvisoryLockFunctions.campaign(candidates.stream().map(Hold::key).toList());
		}

		/**
		 * Return whether the lock of a candidate was taken.
		 * @param candidate the candidate
		 * @return whether it was
		 */
		public boolean isGranted(Hold candidate) {
			return this.granted.contains(candidate);
		}

		/**
		 * Return who holds the lock of a candidate, and when that was last heard of,
		 * empty if that is not known.
		 * @param candidate the candidate
		 * @return the process and a time
		 */
		public String holder(Hold candidate) {
			return this.holders.getOrDefault(candidate, "");
		}

		@Override
		String sql() {
			return this.sql;
		}

		@Override
		int bind(PreparedStatement statement, int index) throws SQLException {
			int next = index;
			for (Hold candidate : this.candidates) {
				next = PostgresAdvisoryLockFunctions.bindCandidacy(statement, next, candidate.key());
			}
			return next;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			int column = 1;
			for (Hold candidate : this.candidates) {
				String holder = row.getString(column++);
				if (holder != null) {
					this.holders.put(candidate, holder);
				}
				else {
					grant(candidate, connection);
				}
			}
		}

		private void grant(Hold candidate, SessionConnection connection) {
			this.granted.add(candidate);
			connection.add(candidate);
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return true;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) throws SQLException {
			for (Hold candidate : this.candidates) {
				if (!isGranted(candidate) && connection.isHeld(candidate)) {
					grant(candidate, connection);
				}
			}
			if (this.granted.isEmpty()) {
				fail(failure);
			}
			else {
				answer();
			}
		}

		/**
		 * Locks that were granted go with the connection, before anybody had them.
		 */
		@Override
		void abandon(SessionConnection connection, Throwable failure) {
			this.granted.forEach(connection::remove);
			this.granted.clear();
			fail(failure);
		}

	}

	/**
	 * Asks for nothing: any answer shows that the connection, and what it carries, is
	 * still there.
	 */
	static final class Heartbeat extends SessionCommand {

	}

	/**
	 * Gives the thread that closes the session its turn.
	 */
	static final class Close extends SessionCommand {

	}

	/**
	 * Closes a connection that carries nothing.
	 */
	static final class Retire extends SessionCommand {

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			answer();
			return false;
		}

		@Override
		boolean retires() {
			return true;
		}

	}

	/**
	 * Looks for what others have said, without asking the server.
	 */
	static final class Hear extends SessionCommand {

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			answer();
			return false;
		}

		@Override
		boolean hears() {
			return true;
		}

	}

	/**
	 * Is about a lock that is held, and means nothing on a connection that does not carry
	 * it.
	 */
	abstract static sealed class OfHold extends SessionCommand {

		private final Hold hold;

		private OfHold(Hold hold) {
			this.hold = hold;
		}

		final Hold hold() {
			return this.hold;
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && connection.carries(this.hold);
			if (!carried) {
				fail(new SQLException("The lock is not held any more", SqlState.CONNECTION_DOES_NOT_EXIST));
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
			super(hold);
		}

	}

	/**
	 * Releases a lock, and may tell other applications so.
	 */
	static final class Release extends OfHold {

		private final @Nullable String message;

		private boolean notFound;

		Release(Hold hold) {
			this(hold, null);
		}

		Release(Hold hold, @Nullable String message) {
			super(hold);
			this.message = message;
		}

		@Override
		String sql() {
			return (this.message != null) ? PostgresAdvisoryLockFunctions.resign(hold().key())
					: PostgresAdvisoryLockFunctions.sessionUnlock(hold().key(), hold().mode());
		}

		@Override
		int bind(PreparedStatement statement, int index) throws SQLException {
			int next = PostgresAdvisoryLockFunctions.bindKey(statement, index, hold().key());
			return (this.message != null) ? bindMessage(statement, next, this.message) : next;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.notFound = !row.getBoolean(1);
			if (!this.notFound) {
				connection.remove(hold());
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
				fail(failure);
				return;
			}
			connection.remove(hold());
			answer();
		}

		@Override
		@Nullable String complaint() {
			String lock = "advisory lock '" + hold().key() + "'";
			return this.notFound ? "it did not hold " + lock + " that it was to release"
					: (failure() != null) ? "it could not release " + lock : null;
		}

	}

	/**
	 * Says something to other applications, while a lock is held.
	 */
	static final class Announce extends OfHold {

		private final String message;

		private long number;

		Announce(Hold hold, String message) {
			super(hold);
			this.message = message;
		}

		/**
		 * Return a number that is higher each time, whichever application asks.
		 */
		long number() {
			return this.number;
		}

		@Override
		String sql() {
			return PostgresAdvisoryLockFunctions.ANNOUNCE;
		}

		@Override
		int bind(PreparedStatement statement, int index) throws SQLException {
			return bindMessage(statement, index, this.message);
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.number = row.getLong(1);
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			fail(failure);
		}

	}

	/**
	 * Asks which locks of transactions are held no more by the processes that took them.
	 * Nothing of this connection, and so any may ask.
	 */
	static final class FindMissing extends SessionCommand {

		private final Map<String, Hold> holds = new LinkedHashMap<>();

		private final List<Hold> missing = new ArrayList<>();

		FindMissing(List<Hold> holds) {
			for (Hold hold : holds) {
				if (hold.backend() != 0) {
					this.holds.put(PostgresAdvisoryLockFunctions.entry(hold.backend(), hold.key()), hold);
				}
			}
		}

		List<Hold> missing() {
			return this.missing;
		}

		@Override
		String sql() {
			return PostgresAdvisoryLockFunctions.FIND_MISSING;
		}

		@Override
		int bind(PreparedStatement statement, int index) throws SQLException {
			statement.setString(index, String.join(",", this.holds.keySet()));
			return index + 1;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			for (String entry : StringUtils.commaDelimitedListToStringArray(row.getString(1))) {
				this.missing.add(Objects.requireNonNull(this.holds.get(entry)));
			}
		}

		@Override
		boolean needsServer(@Nullable SessionConnection connection) {
			return true;
		}

		@Override
		boolean isOptional() {
			return true;
		}

		@Override
		void settle(SessionConnection connection, SQLException failure) {
			fail(failure);
		}

	}

}
