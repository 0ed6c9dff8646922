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

import java.util.OptionalLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockContextHolder;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Work of one thread under a {@link Hold}, and what that work sees of it. Knows the run
 * it is nested in.
 */
final class LockRun implements LockContext {

	private final Object application;

	private final Hold hold;

	private final @Nullable RunRecord record;

	private final RunRecord.Boundary boundary;

	private final TransactionCoverage coverage;

	private @Nullable LockContext enclosing;

	/**
	 * Create a run.
	 * @param application what tells the runs of one application context from another's
	 * @param hold the lock that guards the run
	 * @param record what the ledger keeps of it, {@code null} for nothing
	 * @param boundary the transaction that it is part of
	 * @param coverage knows the transaction that the run is in
	 */
	LockRun(Object application, Hold hold, @Nullable RunRecord record, RunRecord.Boundary boundary,
			TransactionCoverage coverage) {
		this.application = application;
		this.hold = hold;
		this.record = record;
		this.boundary = boundary;
		this.coverage = coverage;
	}

	/**
	 * Create a run that is part of this one.
	 * @throws LockLostException if the lock of this one is lost
	 */
	LockRun nested() throws LockLostException {
		checkNotLost();
		return new LockRun(this.application, this.hold, this.record, this.boundary, this.coverage);
	}

	/**
	 * Find the run under a key that the current thread is in.
	 */
	static @Nullable LockRun find(Object application, AdvisoryLockKey key) {
		LockContext context = LockContext.current().orElse(null);
		while (context instanceof LockRun run) {
			if (run.application == application && run.hold.key().equals(key)) {
				return run;
			}
			context = run.enclosing;
		}
		return null;
	}

	/**
	 * Run an action unless the ledger is against it.
	 */
	<T extends @Nullable Object, X extends Exception> LockResult<T> runRecorded(LockCallback<T, X> action) throws X {
		LockOutcome outcome = (this.record != null) ? this.record.begin(this.boundary) : LockOutcome.EXECUTED;
		if (outcome != LockOutcome.EXECUTED) {
			return LockResult.skipped(outcome, key());
		}
		T result = runInterruptibly(action);
		this.coverage.checkNotAborted(key());
		checkNotLost();
		if (this.record != null) {
			complete(this.record);
		}
		return LockResult.executed(result);
	}

	private void complete(RunRecord record) {
		if (scope() == LockScope.SESSION) {
			this.hold.confirm();
		}
		record.complete();
	}

	/**
	 * Return what a run in a transaction of its caller is part of: nothing, where that
	 * transaction can't have its record and the lock does not live in it.
	 */
	static RunRecord.Boundary callersBoundary(Hold hold, @Nullable RunRecord record, TransactionCoverage coverage) {
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		if (hold.scope() == LockScope.SESSION && (readOnly || !coverage.isCovered())) {
			return RunRecord.Boundary.NONE;
		}
		checkWritable(hold.key(), true, record);
		return RunRecord.Boundary.CALLERS_TRANSACTION;
	}

	static void checkWritable(AdvisoryLockKey key, boolean joins, @Nullable RunRecord record) {
		if (record != null && joins && TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw new IllegalTransactionStateException("Failed to record a run of advisory lock '" + key
					+ "' in the current transaction: that transaction is read-only");
		}
	}

	private <T extends @Nullable Object, X extends Exception> T runInterruptibly(LockCallback<T, X> action) throws X {
		this.hold.beginRun();
		boolean tookInterrupt = false;
		try {
			return run(action);
		}
		catch (Throwable ex) {
			tookInterrupt = ex instanceof InterruptedException;
			throw ex;
		}
		finally {
			this.hold.endRun(tookInterrupt);
		}
	}

	/**
	 * As {@link #runRecorded}, and record a failure at once: what surrounds the run goes
	 * on after it.
	 */
	<T extends @Nullable Object, X extends Exception> LockResult<T> runOrRecordFailure(LockCallback<T, X> action)
			throws X {
		try {
			return runRecorded(action);
		}
		catch (Throwable ex) {
			if (ex instanceof LockLostException) {
				this.hold.tellLoss();
			}
			if (this.record != null) {
				this.record.fail(ex);
			}
			throw ex;
		}
	}

	<T extends @Nullable Object, X extends Exception> T run(LockCallback<T, X> action) throws X {
		this.enclosing = LockContextHolder.bind(this);
		try {
			return action.doWithLock(this);
		}
		finally {
			LockContextHolder.bind(this.enclosing);
		}
	}

	Hold hold() {
		return this.hold;
	}

	@Override
	public AdvisoryLockKey key() {
		return this.hold.key();
	}

	@Override
	public LockScope scope() {
		return this.hold.scope();
	}

	@Override
	public boolean isHeld() {
		return this.hold.isActive();
	}

	@Override
	public void checkHeld() throws LockLostException {
		checkNotLost();
		this.hold.confirm();
	}

	/**
	 * Work whose lock was lost on the way has not come to a good end.
	 */
	private void checkNotLost() {
		if (!isHeld()) {
			throw new LockLostException(key());
		}
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.record != null) ? this.record.fencingToken() : OptionalLong.empty();
	}

}
