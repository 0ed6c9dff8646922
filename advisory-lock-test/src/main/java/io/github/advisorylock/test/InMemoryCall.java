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

package io.github.advisorylock.test;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.LockContextBinding;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.util.Assert;

/**
 * One call, which is executed once.
 */
final class InMemoryCall implements TwoPhaseLockOperations.Admission, LockContext {

	private final InMemoryLockOperations operations;

	private final InMemoryAnswers answers;

	private final LockRequest request;

	private final AdvisoryLockKey key;

	private final LockScope scope;

	private LockOutcome outcome;

	private @Nullable InMemoryHold hold;

	InMemoryCall(InMemoryLockOperations operations, LockRequest request) {
		this.operations = operations;
		this.answers = operations.locks().answers();
		this.request = request;
		this.key = operations.locks().key(request);
		this.scope = InMemoryLockOperations.scope(request);
		Assert.isTrue(
				request.mode() == LockMode.EXCLUSIVE || (!RequestDetail.isRecorded(request) && request.memory() == null
						&& RequestDetail.Interval.of(request) == null),
				() -> "'request' must not ask for mode SHARED: runs of advisory lock '" + this.key
						+ "' can be recorded only one after the other");
		this.outcome = this.answers.checkKnown(this.key, request) ? LockOutcome.EXECUTED : LockOutcome.TOO_SOON;
	}

	@Override
	public LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public @Nullable String keptResult() {
		return this.answers.keptResult(this.key);
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action) throws X {
		if (this.outcome != LockOutcome.EXECUTED) {
			return null;
		}
		InMemoryCall enclosing = this.operations.findRunning(this.key);
		if (enclosing != null && enclosing.hold != null) {
			enclosing.checkHeld();
			return callUnder(enclosing.hold, action);
		}
		boolean outside = !InMemoryHold.isInTransaction();
		if (outside && this.request.tick() != null && !mayRun()) {
			return null;
		}
		PlatformTransactionManager manager = (outside && this.scope == LockScope.TRANSACTION)
				? this.operations.transactionManager() : null;
		return (manager != null) ? executeInTransaction(manager, action) : executeLocked(action);
	}

	private boolean mayRun() {
		this.outcome = this.answers.decide(this.key, this.request);
		return this.outcome == LockOutcome.EXECUTED;
	}

	private <T extends @Nullable Object, X extends Exception> @Nullable T executeInTransaction(
			PlatformTransactionManager manager, LockCallback<T, X> action) throws X {
		TransactionStatus transaction = manager.getTransaction(TransactionDefinition.withDefaults());
		try {
			T result = executeLocked(action);
			manager.commit(transaction);
			return result;
		}
		catch (Throwable ex) {
			if (!transaction.isCompleted()) {
				manager.rollback(transaction);
			}
			throw ex;
		}
	}

	/**
	 * Run under the lock that the current transaction has, or under one that is kept
	 * until the transaction completes, if there is one, and else until the run ends.
	 */
	private <T extends @Nullable Object, X extends Exception> @Nullable T executeLocked(LockCallback<T, X> action)
			throws X {
		InMemoryHold joined = InMemoryHold.findInTransaction(this.operations, this.key);
		if (joined != null) {
			return runUnder(joined, action);
		}
		InMemoryHold own = this.operations.enter(this.key, this.request);
		if (own == null) {
			this.outcome = LockOutcome.BUSY;
			return null;
		}
		if (own.joinTransaction()) {
			return runUnder(own, action);
		}
		try (own) {
			return runUnder(own, action);
		}
	}

	private <T extends @Nullable Object, X extends Exception> @Nullable T runUnder(InMemoryHold current,
			LockCallback<T, X> action) throws X {
		if (!mayRun()) {
			return null;
		}
		T result;
		long begin = System.nanoTime();
		current.beginRun();
		try {
			result = callUnder(current, action);
		}
		catch (Throwable ex) {
			if (this.scope == LockScope.TRANSACTION && InMemoryHold.isInTransaction()) {
				// done, if that transaction is committed nevertheless
				complete(current, Optional.empty(), begin);
			}
			throw ex;
		}
		finally {
			current.endRun();
		}
		current.checkNotLost();
		complete(current, Optional.ofNullable(this.request.detail(RequestDetail.KeptResult.class))
			.map((kept) -> kept.format().apply(result)), begin);
		return result;
	}

	private void complete(InMemoryHold current, Optional<String> kept, long begin) {
		this.answers.complete(this.key, this.request, kept, begin);
		current.onRollback(() -> this.answers.undo(this.key, this.request));
	}

	private <T extends @Nullable Object, X extends Exception> T callUnder(InMemoryHold current,
			LockCallback<T, X> action) throws X {
		current.checkCovers(this.request.mode());
		this.hold = current;
		LockContext enclosing = LockContextBinding.bind(this);
		this.operations.running().push(this);
		try {
			return action.doWithLock(this);
		}
		finally {
			this.operations.running().pop();
			LockContextBinding.bind(enclosing);
		}
	}

	@Override
	public void close() {
	}

	@Override
	public AdvisoryLockKey key() {
		return this.key;
	}

	@Override
	public LockScope scope() {
		return this.scope;
	}

	@Override
	public boolean isHeld() {
		return this.hold != null && this.hold.isHeld();
	}

	@Override
	public void checkHeld() throws LockLostException {
		if (!isHeld()) {
			throw new LockLostException(this.key);
		}
	}

	@Override
	public OptionalLong fencingToken() {
		if (RequestDetail.isRecorded(this.request)) {
			throw InMemoryAnswers.refusal(this.key, "fencing tokens", "");
		}
		return OptionalLong.empty();
	}

	@Override
	public Optional<Instant> tick() {
		return Optional.ofNullable(this.request.tick());
	}

	@Override
	public int attempt() {
		return 1;
	}

}
