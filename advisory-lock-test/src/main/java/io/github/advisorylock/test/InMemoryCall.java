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

import java.time.Duration;
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

	private final @Nullable FleetInstance instance;

	private final Instant askedAt;

	private InMemoryJob.@Nullable Attempt attempt;

	InMemoryCall(InMemoryLockOperations operations, LockRequest request) {
		this.operations = operations;
		this.answers = operations.locks().answers();
		this.instance = operations.instance();
		this.request = request;
		this.key = operations.locks().key(request);
		this.scope = InMemoryLockOperations.scope(request);
		Assert.isTrue(
				request.mode() == LockMode.EXCLUSIVE || (!RequestDetail.isRecorded(request) && request.memory() == null
						&& RequestDetail.Interval.of(request) == null),
				() -> "'request' must not ask for mode SHARED: runs of advisory lock '" + this.key
						+ "' can be recorded only one after the other");
		this.askedAt = (this.instance != null) ? this.instance.asks(this.key) : Instant.EPOCH;
		this.outcome = (this.instance != null && !isPartOfOther() && !operations.awaitOwn(this.key, request))
				? LockOutcome.BUSY
				: this.answers.checkKnown(this.key, request) ? LockOutcome.EXECUTED : LockOutcome.TOO_SOON;
	}

	/**
	 * Return whether the current thread or transaction has the lock already.
	 */
	private boolean isPartOfOther() {
		return this.operations.findRunning(this.key) != null
				|| InMemoryHold.findInTransaction(this.operations, this.key) != null;
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
			this.hold = enclosing.hold;
			return callUnder(enclosing.hold, action);
		}
		if (RequestDetail.isRecorded(this.request)) {
			this.operations.checkRecorded(this.key);
		}
		if (this.instance != null) {
			this.instance.sleep(this.answers.untilEndOfInterval(this.key, this.request, this.operations));
		}
		boolean outside = !this.operations.transactions().isIn(this.request);
		boolean known = this.answers.remembers(this.key, this.request, this.operations);
		boolean first = looksFirst(outside);
		if (first && !known) {
			this.operations.locks().checkDatabase(this.key);
		}
		if ((first || known) && !mayRun()) {
			return null;
		}
		PlatformTransactionManager manager = (outside && this.scope == LockScope.TRANSACTION)
				? this.operations.transactions().beginner(this.request) : null;
		return (manager != null) ? executeInTransaction(manager, action) : executeLocked(action);
	}

	/**
	 * Return whether to decide before the lock, too: the ledger looks there unless this
	 * instance has run the last tick.
	 */
	private boolean looksFirst(boolean outside) {
		return outside && this.request.tick() != null
				&& (!RequestDetail.isRecorded(this.request) || this.operations.looksFirst(this.key));
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
		Duration waited = (this.instance != null) ? Duration.between(this.askedAt, this.instance.fleet().now())
				: Duration.ZERO;
		InMemoryHold own = this.operations.enter(this.key, this.request, waited);
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
		if (this.request.tick() != null) {
			this.operations.noteTick(this.key);
		}
		T result;
		boolean written = this.scope == LockScope.SESSION && !InMemoryHold.isInTransaction();
		InMemoryJob.Attempt begun = this.answers.begin(this.key, this.request, written);
		this.attempt = begun;
		Timeline.Run run = (this.instance != null) ? this.instance.begin(this) : null;
		this.hold = current;
		current.beginRun();
		try {
			result = lasting(current, action);
			current.checkNotLost();
			complete(current, begun, Optional.ofNullable(this.request.detail(RequestDetail.KeptResult.class))
				.map((kept) -> kept.format().apply(result)), Timeline.End.DONE, run);
		}
		catch (VirtualTime.Vanished ex) {
			throw ex;
		}
		catch (Throwable ex) {
			failed(current, begun, run);
			throw ex;
		}
		finally {
			current.endRun();
			if (this.instance != null) {
				this.instance.endRun();
			}
		}
		return result;
	}

	/**
	 * Have the work last in virtual time: what it throws is thrown at its end.
	 */
	private <T extends @Nullable Object, X extends Exception> T lasting(InMemoryHold current, LockCallback<T, X> action)
			throws X {
		T result;
		boolean reached;
		try {
			result = callUnder(current, action);
		}
		finally {
			reached = this.instance == null || this.instance.last(this, current);
		}
		if (!reached) {
			current.checkNotLost();
			throw new IllegalStateException(
					"The run of '" + this.key.name() + "' was interrupted, as " + this.instance + " is stopped");
		}
		return result;
	}

	/**
	 * Note that the run is done, as far as its transaction is not rolled back.
	 */
	private void complete(InMemoryHold current, InMemoryJob.Attempt begun, Optional<String> kept, Timeline.End how,
			Timeline.@Nullable Run run) {
		Runnable undo = this.answers.complete(this.key, this.request, kept, begun, this.operations);
		if (undo == null && how == Timeline.End.DONE) {
			throw new LockLostException(this.key);
		}
		if (run != null) {
			run.end(how);
		}
		current.onRollback(() -> {
			if (undo != null) {
				undo.run();
			}
			fail(current, begun, run);
		});
	}

	/**
	 * A run that has failed is done if its transaction is committed nevertheless.
	 */
	private void failed(InMemoryHold current, InMemoryJob.Attempt begun, Timeline.@Nullable Run run) {
		if (this.scope == LockScope.TRANSACTION && InMemoryHold.isInTransaction() && current.isHeld()) {
			complete(current, begun, Optional.empty(), Timeline.End.FAILED, run);
		}
		else {
			fail(current, begun, run);
		}
	}

	private void fail(InMemoryHold current, InMemoryJob.Attempt begun, Timeline.@Nullable Run run) {
		InMemoryJob.BadEnd end = current.isRevoked() ? InMemoryJob.BadEnd.REVOKED
				: (this.instance != null && !this.instance.isLive()) ? InMemoryJob.BadEnd.STOPPING
						: current.isLost() ? InMemoryJob.BadEnd.LOST : InMemoryJob.BadEnd.FAILED;
		if (this.instance == null || !this.instance.fleet().isDatabaseDown()) {
			this.answers.fail(this.key, this.request, begun, end);
		}
		if (run != null) {
			run.end((end != InMemoryJob.BadEnd.STOPPING) ? Timeline.End.FAILED : Timeline.End.ABANDONED);
		}
	}

	private <T extends @Nullable Object, X extends Exception> T callUnder(InMemoryHold current,
			LockCallback<T, X> action) throws X {
		current.checkCovers(this.request.mode());
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

	LockRequest request() {
		return this.request;
	}

	InMemoryLockOperations operations() {
		return this.operations;
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
		if (!RequestDetail.isRecorded(this.request)) {
			return OptionalLong.empty();
		}
		if (this.instance == null || this.attempt == null) {
			throw InMemoryAnswers.refusal(this.key, "fencing tokens", "");
		}
		return OptionalLong.of(this.attempt.token());
	}

	@Override
	public Optional<Instant> tick() {
		return Optional.ofNullable(this.request.tick());
	}

	@Override
	public int attempt() {
		return (this.instance != null && this.attempt != null && RequestDetail.isRecorded(this.request))
				? this.attempt.number() : 1;
	}

}
