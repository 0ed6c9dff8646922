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

import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * One call on its way: admitted outside its transaction, executed inside, once. What its
 * work can know about its lock is known here.
 */
abstract class LockCall implements TwoPhaseLockOperations.Admission, LockContext {

	private final Ground ground;

	private final AdvisoryLockKey key;

	private final LockRequest request;

	private final LockScope scope;

	private final @Nullable Deadline deadline;

	private LockOutcome outcome = LockOutcome.EXECUTED;

	private @Nullable RunRecord record;

	private @Nullable Hold hold;

	private boolean entered;

	private @Nullable LockContext enclosing;

	LockCall(Ground ground, AdvisoryLockKey key, LockRequest request, LockScope scope) {
		this.ground = ground;
		this.key = key;
		this.request = request;
		this.scope = scope;
		this.deadline = ground.deadline(request);
	}

	/**
	 * Wait for others of this application, then ask the ledger. A call of a thread that
	 * has the lock already is admitted without: what that means is found out in its
	 * transaction.
	 */
	final LockCall admit() {
		this.hold = this.ground.holds.enterUnlessHeld(this.key, this.request.mode(), this.scope, this.deadline);
		this.entered = this.hold != null;
		if (!this.entered) {
			this.outcome = this.ground.holds.isHeldByThisThread(this.key) ? LockOutcome.EXECUTED : LockOutcome.BUSY;
			return this;
		}
		if (this.request.isRecorded()) {
			foresee();
		}
		return this;
	}

	private void foresee() {
		boolean foreseen = false;
		try {
			this.record = this.ground.record(this.key, this.scope, this.request);
			if (!TransactionSynchronizationManager.isActualTransactionActive()) {
				this.outcome = this.record.foresee();
			}
			foreseen = true;
		}
		finally {
			if (!foreseen || this.outcome != LockOutcome.EXECUTED) {
				close();
			}
		}
	}

	@Override
	public final LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public final <T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action)
			throws X {
		LockCall around = (LockContext.current().orElse(null) instanceof LockCall innermost)
				? innermost.find(this.ground, this.key) : null;
		if (around != null) {
			return executeNested(around, action);
		}
		if (this.hold == null) {
			Hold joined = HoldSynchronization.findInCurrentTransaction(this.key, this.ground.holds);
			if (joined != null) {
				return executeJoined(joined, action);
			}
			this.hold = this.ground.holds.enter(this.key, this.request.mode(), this.scope, this.deadline);
		}
		if (this.hold == null) {
			this.outcome = LockOutcome.BUSY;
			return null;
		}
		this.entered = false;
		return executeAlone(this.hold, action);
	}

	private @Nullable LockCall find(Ground ground, AdvisoryLockKey key) {
		if (this.ground.holds == ground.holds && this.key.equals(key)) {
			return this;
		}
		return (this.enclosing instanceof LockCall next) ? next.find(ground, key) : null;
	}

	/**
	 * Run as a part of a run of the same key.
	 */
	private <T extends @Nullable Object, X extends Exception> T executeNested(LockCall around,
			LockCallback<T, X> action) throws X {
		close();
		Assert.state(around.hold != null, "'hold' must be set");
		around.hold.checkCovers(this.request.mode());
		around.checkNotLost();
		this.hold = around.hold;
		this.record = around.record;
		this.enclosing = LockContext.bind(this);
		try {
			return action.doWithLock(this);
		}
		finally {
			LockContext.bind(this.enclosing);
		}
	}

	/**
	 * Run under a lock that the current transaction has already.
	 */
	private <T extends @Nullable Object, X extends Exception> @Nullable T executeJoined(Hold joined,
			LockCallback<T, X> action) throws X {
		joined.checkCovers(this.request.mode());
		this.hold = joined;
		return runInTransaction(joined, boundary(), action);
	}

	/**
	 * Take the lock, run, and let it go, or see to it that somebody does.
	 * @param hold what was entered for this call, to be left in any case
	 */
	abstract <T extends @Nullable Object, X extends Exception> @Nullable T executeAlone(Hold hold,
			LockCallback<T, X> action) throws X;

	/**
	 * Return what a run in the current transaction of a caller is part of for the ledger.
	 * @throws IllegalTransactionStateException if the run has to be recorded in it, and
	 * can't be
	 */
	final RunRecord.Boundary boundary() {
		if (!this.request.isRecorded()) {
			return RunRecord.Boundary.NONE;
		}
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		if (this.scope == LockScope.SESSION && (readOnly || !this.ground.coverage.isCovered())) {
			return RunRecord.Boundary.NONE;
		}
		if (readOnly) {
			throw new IllegalTransactionStateException("Failed to record a run of advisory lock '" + this.key
					+ "' in the current transaction: that transaction is read-only");
		}
		return RunRecord.Boundary.CALLERS_TRANSACTION;
	}

	/**
	 * Run, and record a failure at once: what surrounds the run goes on after it.
	 */
	final <T extends @Nullable Object, X extends Exception> @Nullable T runInTransaction(Hold hold,
			RunRecord.Boundary boundary, LockCallback<T, X> action) throws X {
		try {
			return run(hold, boundary, action);
		}
		catch (Throwable ex) {
			if (ex instanceof LockLostException) {
				hold.tellLoss();
			}
			fail(ex);
			throw ex;
		}
	}

	/**
	 * Run under the lock, unless the ledger is against it.
	 */
	final <T extends @Nullable Object, X extends Exception> @Nullable T run(Hold hold, RunRecord.Boundary boundary,
			LockCallback<T, X> action) throws X {
		if (this.request.isRecorded()) {
			this.record = (this.record != null) ? this.record : this.ground.record(this.key, this.scope, this.request);
			this.outcome = this.record.begin(boundary);
		}
		if (this.outcome != LockOutcome.EXECUTED) {
			return null;
		}
		T result = runInterruptibly(hold, action);
		this.ground.coverage.checkNotAborted(this.key);
		checkNotLost();
		if (this.record != null) {
			if (hold.scope() == LockScope.SESSION) {
				hold.confirm();
			}
			this.record.complete();
		}
		return result;
	}

	private <T extends @Nullable Object, X extends Exception> T runInterruptibly(Hold hold, LockCallback<T, X> action)
			throws X {
		hold.beginRun();
		boolean tookInterrupt = false;
		this.enclosing = LockContext.bind(this);
		try {
			return action.doWithLock(this);
		}
		catch (Throwable ex) {
			tookInterrupt = ex instanceof InterruptedException;
			throw ex;
		}
		finally {
			LockContext.bind(this.enclosing);
			hold.endRun(tookInterrupt);
		}
	}

	/**
	 * Note that somebody else has the lock.
	 */
	final void busy() {
		this.outcome = LockOutcome.BUSY;
	}

	/**
	 * Have the ledger record a failure, if it records this call.
	 */
	final void fail(Throwable failure) {
		if (this.record != null) {
			this.record.fail(failure);
		}
	}

	final @Nullable Deadline deadline() {
		return this.deadline;
	}

	final LockMode mode() {
		return this.request.mode();
	}

	@Override
	public final void close() {
		if (this.entered && this.hold != null) {
			this.entered = false;
			this.ground.holds.leave(this.hold);
		}
	}

	@Override
	public final AdvisoryLockKey key() {
		return this.key;
	}

	@Override
	public final LockScope scope() {
		return (this.hold != null) ? this.hold.scope() : this.scope;
	}

	@Override
	public final boolean isHeld() {
		return this.hold != null && this.hold.isActive();
	}

	@Override
	public final void checkHeld() throws LockLostException {
		checkNotLost();
		if (this.hold != null) {
			this.hold.confirm();
		}
	}

	/**
	 * Work whose lock was lost on the way has not come to a good end.
	 */
	private void checkNotLost() {
		if (!isHeld()) {
			throw new LockLostException(this.key);
		}
	}

	@Override
	public final OptionalLong fencingToken() {
		return (this.record != null) ? this.record.fencingToken() : OptionalLong.empty();
	}

	/**
	 * What the calls of one application context have in common; tells them from
	 * another's.
	 *
	 * @param holds the locks that it has
	 * @param coverage knows its transactions
	 * @param waits its waits for locks
	 * @param waitFor how long to wait for requests that do not say so
	 * @param ledger records its runs, {@code null} to refuse that
	 */
	record Ground(LocalHolds holds, TransactionCoverage coverage, Deadline.Waits waits, Duration waitFor,
			@Nullable Supplier<? extends RunLedger> ledger) {

		@Nullable Deadline deadline(LockRequest request) {
			Duration requested = request.waitFor();
			Duration wait = (requested != null) ? requested : this.waitFor;
			return wait.isZero() ? null : this.waits.until(wait);
		}

		private RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest request) {
			Assert.isTrue(request.mode() == LockMode.EXCLUSIVE, () -> "'request' must not ask for mode SHARED: runs of "
					+ "advisory lock '" + key + "' can be recorded only one after the other");
			Assert.state(this.ledger != null, () -> "Failed to record a run of advisory lock '" + key
					+ "': there is no ledger; do not set 'advisory-lock.ledger.enabled' to false");
			return this.ledger.get().record(key, scope, request);
		}

	}

}
