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

import java.lang.ref.Cleaner;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Locks that live on the {@link LockSession}, around any transaction of the work.
 */
final class SessionScopeStrategy implements LockScopeStrategy {

	private static final Log logger = LogFactory.getLog(SessionScopeStrategy.class);

	private final Object application;

	private final LocalHolds holds;

	private final LockSession session;

	private final TransactionCoverage coverage;

	private @Nullable Cleaner cleaner;

	SessionScopeStrategy(Object application, LocalHolds holds, LockSession session, TransactionCoverage coverage) {
		this.application = application;
		this.holds = holds;
		this.session = session;
		this.coverage = coverage;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(AdvisoryLockKey key, LockMode mode,
			Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X {
		Hold hold = acquire(key, mode, deadline);
		if (hold == null) {
			return LockResult.skipped(LockOutcome.BUSY, key);
		}
		if (this.coverage.isInTransaction()) {
			HoldSynchronization.register(hold, this.coverage, this::releaseAfterTransaction);
			return new LockRun(this.application, hold, record, LockRun.callersBoundary(hold, record, this.coverage),
					this.coverage)
				.runOrRecordFailure(action);
		}
		return runAndRelease(hold, record, action);
	}

	/**
	 * Take a lock, polling for it until the deadline. A wait in the server's queue would
	 * occupy the connection that the other locks need, and its timeout may come back
	 * although the lock was granted.
	 * @return the hold, or {@code null} when somebody else has it
	 */
	@Nullable Hold acquire(AdvisoryLockKey key, LockMode mode, Deadline deadline) {
		Hold hold = this.holds.enter(key, mode, LockScope.SESSION, deadline);
		if (hold == null) {
			return null;
		}
		hold.setConfirmation(() -> this.session.confirm(hold));
		boolean acquired = false;
		try {
			acquired = deadline.poll(() -> this.session.tryLock(hold));
		}
		finally {
			if (!acquired) {
				this.holds.leave(hold);
			}
		}
		if (acquired) {
			hold.acquired();
		}
		return acquired ? hold : null;
	}

	/**
	 * Hand a lock over to a holder who closes it.
	 */
	HeldLock hand(Hold hold) {
		return new SessionHeldLock(hold, this, cleaner());
	}

	private synchronized Cleaner cleaner() {
		if (this.cleaner == null) {
			this.cleaner = Cleaner.create(LockScheduler.threads("advisory-lock-cleaner"));
		}
		return this.cleaner;
	}

	void leave(Hold hold) {
		this.holds.leave(hold);
	}

	/**
	 * Release a lock, unless somebody else does or did, or it is lost.
	 * @throws LockLostException if it turns out that the lock was not held any more
	 */
	void release(Hold hold) throws LockLostException {
		if (!hold.beginRelease()) {
			return;
		}
		try {
			this.session.unlock(hold);
		}
		finally {
			this.holds.leave(hold);
		}
	}

	private <T extends @Nullable Object, X extends Exception> LockResult<T> runAndRelease(Hold hold,
			@Nullable RunRecord record, LockCallback<T, X> action) throws X {
		LockResult<T> result;
		try {
			result = new LockRun(this.application, hold, record, RunRecord.Boundary.NONE, this.coverage)
				.runOrRecordFailure(action);
		}
		catch (Throwable ex) {
			try {
				releaseOrThrowIfLost(hold);
			}
			catch (LockLostException failure) {
				addIfNotSaid(ex, failure);
			}
			catch (RuntimeException | Error failure) {
				ex.addSuppressed(failure);
			}
			throw ex;
		}
		releaseOrThrowIfLost(hold);
		return result;
	}

	private static void addIfNotSaid(Throwable failure, LockLostException lost) {
		if (!(failure instanceof LockLostException)) {
			failure.addSuppressed(lost);
		}
	}

	private void releaseOrThrowIfLost(Hold hold) {
		release(hold);
		if (hold.isLost()) {
			leave(hold);
			throw new LockLostException(hold.key());
		}
	}

	/**
	 * The transaction has completed and nobody can be told by an exception any more.
	 */
	private void releaseAfterTransaction(Hold hold) {
		try {
			releaseOrThrowIfLost(hold);
		}
		catch (RuntimeException ex) {
			logger.warn("Advisory lock '" + hold.key() + "' was lost before its transaction completed", ex);
		}
	}

}
