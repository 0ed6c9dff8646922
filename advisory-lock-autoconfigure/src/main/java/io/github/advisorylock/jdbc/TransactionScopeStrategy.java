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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.util.Assert;

/**
 * Locks that live in the transaction of the work: the caller's where there is one, else
 * one that is begun for the run.
 */
final class TransactionScopeStrategy implements LockScopeStrategy {

	/**
	 * Never joins: a manager takes a transaction that is completing for one that can be
	 * joined, and commits what is written in it then even if that fails.
	 */
	private static final TransactionDefinition OWN = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final Object application;

	private final LocalHolds holds;

	private final TransactionLocks locks;

	private final TransactionCoverage coverage;

	private final Runnable whenAcquired;

	private final @Nullable PlatformTransactionManager transactionManager;

	/**
	 * Create a strategy.
	 * @param application what tells the runs of one application context from another's
	 * @param whenAcquired is told of each lock that was taken
	 */
	TransactionScopeStrategy(Object application, LocalHolds holds, TransactionLocks locks, TransactionCoverage coverage,
			Runnable whenAcquired, @Nullable PlatformTransactionManager transactionManager) {
		this.application = application;
		this.holds = holds;
		this.locks = locks;
		this.coverage = coverage;
		this.whenAcquired = whenAcquired;
		this.transactionManager = transactionManager;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(AdvisoryLockKey key, LockMode mode,
			Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X {
		return execute(null, key, mode, deadline, record, action);
	}

	/**
	 * Run an action under a lock, or not at all.
	 * @param entered the hold that was entered for the run before, if one was
	 */
	<T extends @Nullable Object, X extends Exception> LockResult<T> execute(@Nullable Hold entered, AdvisoryLockKey key,
			LockMode mode, Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X {
		boolean joins = this.coverage.isInTransaction();
		checkWritable(key, entered, joins, record);
		Hold hold = (entered != null) ? entered : this.holds.enter(key, mode, LockScope.TRANSACTION, deadline);
		if (hold == null) {
			return LockResult.skipped(LockOutcome.BUSY, key);
		}
		return joins ? runInCallersTransaction(hold, deadline, record, action)
				: runInOwnTransaction(hold, deadline, record, action);
	}

	private void checkWritable(AdvisoryLockKey key, @Nullable Hold entered, boolean joins, @Nullable RunRecord record) {
		try {
			LockRun.checkWritable(key, joins, record);
		}
		catch (RuntimeException | Error ex) {
			if (entered != null) {
				this.holds.leave(entered);
			}
			throw ex;
		}
	}

	/**
	 * The hold stays when this method returns, until the caller's transaction completes.
	 */
	private <T extends @Nullable Object, X extends Exception> LockResult<T> runInCallersTransaction(Hold hold,
			Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X {
		boolean acquired = false;
		try {
			acquired = acquire(hold, deadline);
		}
		finally {
			if (!acquired) {
				this.holds.leave(hold);
			}
		}
		if (!acquired) {
			return LockResult.skipped(LockOutcome.BUSY, hold.key());
		}
		HoldSynchronization.register(hold, this.coverage, this.holds::leave);
		return new LockRun(this.application, hold, record, RunRecord.Boundary.CALLERS_TRANSACTION, this.coverage)
			.runOrRecordFailure(action);
	}

	private <T extends @Nullable Object, X extends Exception> LockResult<T> runInOwnTransaction(Hold hold,
			Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X {
		try {
			PlatformTransactionManager manager = requireTransactionManager(hold.key());
			TransactionStatus transaction = manager.getTransaction(OWN);
			LockResult<T> result = runOrRollback(manager, transaction, hold, deadline, record, action);
			manager.commit(transaction);
			return result;
		}
		catch (Throwable ex) {
			if (record != null) {
				record.fail(ex);
			}
			throw ex;
		}
		finally {
			this.holds.leave(hold);
		}
	}

	private <T extends @Nullable Object, X extends Exception> LockResult<T> runOrRollback(
			PlatformTransactionManager transactionManager, TransactionStatus transaction, Hold hold, Deadline deadline,
			@Nullable RunRecord record, LockCallback<T, X> action) throws X {
		try {
			if (!acquire(hold, deadline)) {
				transaction.setRollbackOnly();
				return LockResult.skipped(LockOutcome.BUSY, hold.key());
			}
			LockResult<T> result = new LockRun(this.application, hold, record, RunRecord.Boundary.OWN_TRANSACTION,
					this.coverage)
				.runRecorded(action);
			if (!hold.beginEnd()) {
				throw new LockLostException(hold.key());
			}
			if (!result.executed()) {
				transaction.setRollbackOnly();
			}
			return result;
		}
		catch (Throwable ex) {
			hold.beginEnd();
			rollback(transactionManager, transaction, ex);
			throw ex;
		}
	}

	private boolean acquire(Hold hold, Deadline deadline) {
		boolean acquired = this.locks.acquire(hold, deadline);
		if (acquired) {
			this.whenAcquired.run();
		}
		return acquired;
	}

	private PlatformTransactionManager requireTransactionManager(AdvisoryLockKey key) {
		Assert.state(this.transactionManager != null, () -> "Failed to begin a transaction for advisory lock '" + key
				+ "': there is no transaction manager for its DataSource");
		return this.transactionManager;
	}

	private void rollback(PlatformTransactionManager transactionManager, TransactionStatus transaction,
			Throwable failure) {
		try {
			transactionManager.rollback(transaction);
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
	}

}
