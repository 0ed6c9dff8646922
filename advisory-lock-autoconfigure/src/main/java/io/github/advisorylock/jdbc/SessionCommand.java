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

	private final Thread caller = Thread.currentThread();

	private volatile Progress progress = Progress.WAITING;

	private boolean answer;

	private @Nullable Exception failure;

	private SessionCommand(Kind kind, @Nullable Hold hold) {
		this.kind = kind;
		this.hold = hold;
	}

	static SessionCommand acquire(Hold hold) {
		return new SessionCommand(Kind.ACQUIRE, hold);
	}

	static SessionCommand release(Hold hold) {
		return new SessionCommand(Kind.RELEASE, hold);
	}

	static SessionCommand heartbeat() {
		return new SessionCommand(Kind.HEARTBEAT, null);
	}

	static SessionCommand close() {
		return new SessionCommand(Kind.CLOSE, null);
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
			case HEARTBEAT, CLOSE -> PostgresAdvisoryLockFunctions.HEARTBEAT;
		};
	}

	int bind(PreparedStatement statement, int index) throws SQLException {
		return (this.hold != null) ? PostgresAdvisoryLockFunctions.bindKey(statement, index, this.hold.key()) : index;
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

	@Nullable Exception failure() {
		return this.failure;
	}

	boolean isRelease() {
		return this.kind == Kind.RELEASE;
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

		ACQUIRE, RELEASE, HEARTBEAT, CLOSE

	}

	private enum Progress {

		WAITING, LEADING, DONE

	}

}
