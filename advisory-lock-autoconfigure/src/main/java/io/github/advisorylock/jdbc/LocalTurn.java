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

import java.util.Optional;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import org.jspecify.annotations.Nullable;

/**
 * The turn of one call among those of its application, taken before the call begins the
 * transaction that its lock belongs to: whoever waits for a lock of his own application
 * needs no connection for that.
 *
 * @since 0.1.0
 */
public final class LocalTurn implements AdvisoryLockOperations {

	private final PostgresAdvisoryLockTemplate template;

	private final LockOutcome outcome;

	private final Deadline deadline;

	private @Nullable Hold hold;

	LocalTurn(PostgresAdvisoryLockTemplate template, LockOutcome outcome, Deadline deadline, @Nullable Hold hold) {
		this.template = template;
		this.outcome = outcome;
		this.deadline = deadline;
		this.hold = hold;
	}

	/**
	 * Return what can be known about the call by now.
	 * @return {@link LockOutcome#EXECUTED} if it may go on, else why it is to be skipped
	 */
	public LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		return this.template.execute(request, this, action);
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return this.template.tryAcquire(request);
	}

	/**
	 * End the turn if it was not used, for the others that wait.
	 */
	public void end() {
		Hold unused = take();
		if (unused != null) {
			this.template.leave(unused);
		}
	}

	/**
	 * Use the turn, which can be done once.
	 * @return the hold that was entered, if one was
	 */
	@Nullable Hold take() {
		Hold taken = this.hold;
		this.hold = null;
		return taken;
	}

	/**
	 * Return the end of the wait that began with this turn.
	 */
	Deadline deadline() {
		return this.deadline;
	}

}
