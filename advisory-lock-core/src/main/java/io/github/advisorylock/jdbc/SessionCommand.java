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
import java.util.List;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.server.PgDriver;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

/**
 * One statement for the {@link LockSession}, and its answer: a class for each verb. A
 * command belongs to the thread that submits it, and in between to that of the session.
 */
abstract class SessionCommand implements SessionConnection.Query {

	private final PostgresAdvisoryLockFunctions.Call call;

	private final List<Hold> holds;

	private final Set<Trait> traits;

	private boolean answered;

	private @Nullable Throwable failure;

	/**
	 * Create a command.
	 * @param holds the locks that it takes or releases
	 */
	SessionCommand(PostgresAdvisoryLockFunctions.Call call, List<Hold> holds, Trait... traits) {
		this.call = call;
		this.holds = holds;
		this.traits = Set.copyOf(List.of(traits));
	}

	@Override
	public final String sql() {
		return this.call.sql();
	}

	@Override
	public final int bind(PreparedStatement statement, int next) throws SQLException {
		int index = next;
		for (Object parameter : this.call.parameters()) {
			statement.setObject(index++, parameter);
		}
		return index;
	}

	@Override
	public final void read(ResultSet answer, SessionConnection connection) throws SQLException {
		readRow(answer, connection);
		answer();
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
	final List<Hold> holds() {
		return this.holds;
	}

	final boolean is(Trait trait) {
		return this.traits.contains(trait);
	}

	/**
	 * Return the first of the locks.
	 */
	final Hold hold() {
		return this.holds.get(0);
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
		if (is(Trait.TAKES_LOCKS)) {
			this.holds.forEach(connection::remove);
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
	 * Throw what went wrong here, rather than on the server.
	 */
	final void rethrow() {
		if (this.failure instanceof RuntimeException ex) {
			throw ex;
		}
		if (this.failure instanceof Error error) {
			throw error;
		}
	}

	/**
	 * What a command is like.
	 */
	enum Trait {

		/**
		 * May take locks, which go when it fails.
		 */
		TAKES_LOCKS,

		/**
		 * Nobody goes without a lock when this can't be asked.
		 */
		OPTIONAL,

		/**
		 * Can't be sent again when the connection was lost.
		 */
		ONCE

	}

	/**
	 * Takes a lock.
	 */
	static class Acquire extends SessionCommand {

		private boolean granted;

		Acquire(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.trySessionLock(hold.lock(), hold.mode),
					hold instanceof Hold.OfTick);
		}

		Acquire(Hold hold, PostgresAdvisoryLockFunctions.Call call, boolean optional) {
			super(call, List.of(hold), Trait.TAKES_LOCKS, optional ? Trait.OPTIONAL : Trait.TAKES_LOCKS);
		}

		/**
		 * Make sure that the server was asked for the lock.
		 * @throws DataAccessException if it was not
		 */
		final void checkAsked() {
			Throwable failure = failure();
			if (failure != null) {
				String task = "Failed to acquire advisory lock '" + hold().key() + "'";
				DataAccessException translated = (failure instanceof SQLException ex)
						? new SQLExceptionSubclassTranslator().translate(task, null, ex) : null;
				throw (translated != null) ? translated : new DataAccessResourceFailureException(task, failure);
			}
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
				connection.add(hold());
			}
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
			super(hold, PostgresAdvisoryLockFunctions.trySessionPermits(permits), false);
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
	 * Takes the lock of a tick exclusively, or tells why not.
	 */
	static final class AcquireTick extends Acquire {

		private static final List<LockOutcome> ANSWERS = List.of(LockOutcome.BUSY, LockOutcome.EXECUTED,
				LockOutcome.ALREADY_RAN);

		private LockOutcome outcome = LockOutcome.BUSY;

		/**
		 * Create a command.
		 * @param needed whether the run fails without the lock
		 */
		AcquireTick(Hold hold, boolean needed) {
			super(hold, PostgresAdvisoryLockFunctions.tryTick(hold.key()), !needed);
		}

		LockOutcome outcome() {
			return this.outcome;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.outcome = ANSWERS.get(row.getInt(1));
			note(this.outcome == LockOutcome.EXECUTED, connection);
		}

	}

	/**
	 * Takes several locks as far as they are free, by a statement of somebody else's that
	 * says something of the others.
	 */
	static final class AcquireSome extends SessionCommand {

		/**
		 * What was said of each candidate, {@code null} if it was granted.
		 */
		private final List<@Nullable String> answers;

		AcquireSome(List<Hold> candidates, PostgresAdvisoryLockFunctions.Call call) {
			super(call, candidates, Trait.TAKES_LOCKS);
			this.answers = new ArrayList<>(Collections.nCopies(candidates.size(), ""));
		}

		List<@Nullable String> answers() {
			return this.answers;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			for (int i = 0; i < this.answers.size(); i++) {
				String answer = row.getString(i + 1);
				this.answers.set(i, answer);
				if (answer == null) {
					connection.add(holds().get(i));
				}
			}
		}

		@Override
		void takeBack() {
			Collections.fill(this.answers, "");
		}

	}

	/**
	 * Releases a lock, by a statement that may do something else with it.
	 */
	static class Release extends SessionCommand {

		Release(Hold hold) {
			this(hold, PostgresAdvisoryLockFunctions.sessionUnlock(hold.lock(), hold.mode));
		}

		Release(Hold hold, PostgresAdvisoryLockFunctions.Call call) {
			super(call, List.of(hold), Trait.ONCE);
		}

		private Release(List<Hold> holds, PostgresAdvisoryLockFunctions.Call call) {
			super(call, holds, Trait.ONCE, Trait.OPTIONAL);
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			if (!row.getBoolean(1)) {
				throw new SessionConnection.UnfitException(
						"it did not hold advisory lock '" + hold().key() + "' that it was to release");
			}
			connection.remove(hold());
		}

		@Override
		final boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = connection != null && holds().stream().anyMatch(connection::carries);
			if (!carried) {
				answer();
			}
			return carried;
		}

		@Override
		void undone(SQLException failure) {
			answer();
		}

	}

	/**
	 * Releases locks of ticks, as far as they are held.
	 */
	static final class ReleaseTicks extends Release {

		ReleaseTicks(List<Hold> holds) {
			super(holds, PostgresAdvisoryLockFunctions.sessionUnlock(
					holds.stream().map((hold) -> PostgresAdvisoryLockFunctions.lock(hold.key(), hold.mode)).toList()));
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) {
			holds().forEach(Hold::release);
			holds().forEach(connection::remove);
		}

		@Override
		void undone(SQLException failure) {
			holds().forEach(Hold::release);
			answer();
		}

	}

	/**
	 * Asks for a text or a number.
	 */
	static class Ask extends SessionCommand {

		private final @Nullable Hold needed;

		private @Nullable String text;

		/**
		 * Create a command.
		 * @param needed the hold whose lock must be held, {@code null} if none must: then
		 * it asks for nothing of this connection, and so any may ask
		 */
		Ask(@Nullable Hold needed, PostgresAdvisoryLockFunctions.Call call, Trait... traits) {
			this(needed, call, List.of(), traits);
		}

		private Ask(@Nullable Hold needed, PostgresAdvisoryLockFunctions.Call call, List<Hold> holds, Trait... traits) {
			super(call, holds, traits);
			this.needed = needed;
		}

		final @Nullable String text() {
			return this.text;
		}

		final long number() {
			return (this.text != null) ? Long.parseLong(this.text) : 0;
		}

		@Override
		void readRow(ResultSet row, SessionConnection connection) throws SQLException {
			this.text = row.getString(1);
		}

		@Override
		final boolean needsServer(@Nullable SessionConnection connection) {
			boolean carried = this.needed == null || (connection != null && connection.carries(this.needed));
			if (!carried) {
				fail(new SQLException("The lock is not held any more", PgDriver.CONNECTION_DOES_NOT_EXIST));
			}
			return carried;
		}

	}

	/**
	 * Asks for nothing: any answer shows that the connection, and with it what it
	 * carries, is still there.
	 */
	static final class Nothing extends Ask {

		Nothing(@Nullable Hold needed) {
			super(needed, new PostgresAdvisoryLockFunctions.Call(PostgresAdvisoryLockFunctions.HEARTBEAT, List.of()),
					Trait.ONCE);
		}

		@Override
		void undone(SQLException failure) {
			answer();
		}

	}

	/**
	 * Turns an exclusive lock of a tick into a shared one.
	 */
	static final class ShareTick extends Ask {

		private boolean done;

		ShareTick(Hold exclusive, Hold shared) {
			super(exclusive, PostgresAdvisoryLockFunctions.shareTick(exclusive.key()), List.of(exclusive, shared),
					Trait.OPTIONAL, Trait.ONCE);
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
				hold().release();
				connection.remove(hold());
				connection.add(holds().get(1));
			}
		}

		/**
		 * The lock is taken again later.
		 */
		@Override
		void undone(SQLException failure) {
			this.done = false;
			hold().release();
			fail(failure);
		}

	}

}
