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
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * One statement for the {@link LockSession}, and its answer. Waits for the thread that
 * takes it along, or takes others along itself.
 */
final class SessionCommand {

	private final Kind kind;

	private final @Nullable Hold hold;

	private final @Nullable String message;

	private final Thread caller = Thread.currentThread();

	private volatile Progress progress = Progress.WAITING;

	private boolean answer;

	private long number;

	private @Nullable Exception failure;

	private SessionCommand(Kind kind, @Nullable Hold hold, @Nullable String message) {
		this.kind = kind;
		this.hold = hold;
		this.message = message;
	}

	static SessionCommand acquire(Hold hold) {
		return new SessionCommand(Kind.ACQUIRE, hold, null);
	}

	static SessionCommand release(Hold hold) {
		return new SessionCommand(Kind.RELEASE, hold, null);
	}

	/**
	 * Ask whether a lock is still held.
	 */
	static SessionCommand confirm(Hold hold) {
		return new SessionCommand(Kind.CONFIRM, hold, null);
	}

	/**
	 * Release a lock and say so to other applications.
	 */
	static SessionCommand resign(Hold hold, String message) {
		return new SessionCommand(Kind.RESIGN, hold, message);
	}

	/**
	 * Say something to other applications, while a lock is held.
	 */
	static SessionCommand announce(Hold hold, String message) {
		return new SessionCommand(Kind.ANNOUNCE, hold, message);
	}

	/**
	 * Look for what others have said, without asking the server.
	 */
	static SessionCommand poll() {
		return new SessionCommand(Kind.POLL, null, null);
	}

	static SessionCommand heartbeat() {
		return new SessionCommand(Kind.HEARTBEAT, null, null);
	}

	static SessionCommand close() {
		return new SessionCommand(Kind.CLOSE, null, null);
	}

	Kind kind() {
		return this.kind;
	}

	Hold hold() {
		if (this.hold == null) {
			throw new IllegalStateException("A " + this.kind + " command is for no lock");
		}
		return this.hold;
	}

	String sql() {
		return switch (this.kind) {
			case ACQUIRE -> PostgresAdvisoryLockFunctions.trySessionLock(hold().key(), hold().mode());
			case RELEASE -> PostgresAdvisoryLockFunctions.sessionUnlock(hold().key(), hold().mode());
			case RESIGN -> PostgresAdvisoryLockFunctions.resign(hold().key());
			case ANNOUNCE -> PostgresAdvisoryLockFunctions.ANNOUNCE;
			case CONFIRM, HEARTBEAT, POLL, CLOSE -> PostgresAdvisoryLockFunctions.HEARTBEAT;
		};
	}

	int bind(PreparedStatement statement, int index) throws SQLException {
		int next = index;
		if (this.hold != null && this.kind != Kind.ANNOUNCE && this.kind != Kind.CONFIRM) {
			next = PostgresAdvisoryLockFunctions.bindKey(statement, next, this.hold.key());
		}
		if (this.message != null) {
			statement.setString(next++, PostgresAdvisoryLockFunctions.CHANNEL);
			statement.setString(next++, this.message);
		}
		return next;
	}

	void readAnswer(ResultSet row) throws SQLException {
		if (this.kind == Kind.ANNOUNCE) {
			this.number = row.getLong(1);
		}
		answer(this.kind == Kind.ANNOUNCE || row.getBoolean(1));
	}

	void answer(boolean answer) {
		this.answer = answer;
		this.failure = null;
	}

	void fail(Exception failure) {
		this.failure = failure;
	}

	/**
	 * Return the answer of the server, which means nothing after a failure.
	 */
	boolean answer() {
		return this.answer;
	}

	/**
	 * Return the number that the server answered to an announcement.
	 */
	long number() {
		return this.number;
	}

	@Nullable Exception failure() {
		return this.failure;
	}

	boolean isRelease() {
		return this.kind == Kind.RELEASE || this.kind == Kind.RESIGN;
	}

	/**
	 * Return whether this means nothing on a connection that does not carry its lock.
	 */
	boolean needsHold() {
		return isRelease() || this.kind == Kind.CONFIRM || this.kind == Kind.ANNOUNCE;
	}

	/**
	 * Wait until this command was taken along, or has to take others along.
	 * @return {@code true} in the second case
	 */
	boolean awaitTurn() {
		boolean interrupted = false;
		while (this.progress == Progress.WAITING) {
			LockSupport.park(this);
			interrupted |= Thread.interrupted();
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return this.progress == Progress.LEADING;
	}

	void lead() {
		this.progress = Progress.LEADING;
		LockSupport.unpark(this.caller);
	}

	void finish() {
		this.progress = Progress.DONE;
		LockSupport.unpark(this.caller);
	}

	/**
	 * What a command does.
	 */
	enum Kind {

		ACQUIRE, CONFIRM, RELEASE, RESIGN, ANNOUNCE, POLL, HEARTBEAT, CLOSE

	}

	private enum Progress {

		WAITING, LEADING, DONE

	}

}
