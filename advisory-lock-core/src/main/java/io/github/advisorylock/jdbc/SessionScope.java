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
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Locks that live in the lock session, on a connection of their own, until they are
 * released. Work in a caller's transaction keeps its lock until that has completed.
 */
final class SessionScope {

	private static final Log logger = LogFactory.getLog(SessionScope.class);

	private final LockResources resources;

	private final HoldRegistry holds;

	private final LockSession session;

	private @Nullable Cleaner cleaner;

	/**
	 * Create a scope.
	 * @param resources what its calls have in common with those of the other scope
	 * @param session carries the locks
	 */
	SessionScope(LockResources resources, LockSession session) {
		this.resources = resources;
		this.holds = resources.holds();
		this.session = session;
	}

	LockCall call(AdvisoryLockKey key, @Nullable Deadline deadline, LockRequest request) {
		return new Call(key, deadline, request);
	}

	/**
	 * Take a lock for a holder who closes it.
	 * @param request how, and for how long at most
	 * @return the lock, {@code null} when it is busy
	 */
	@Nullable HeldLock tryAcquire(AdvisoryLockKey key, @Nullable Deadline deadline, LockRequest request) {
		Hold hold = hold(key, request, this.holds::leave);
		if (this.resources.mayNotBegin() || !this.holds.enter(hold, key, deadline) || !acquire(hold, deadline)) {
			return null;
		}
		HeldLock held = null;
		try {
			held = this.resources.mayNotBegin() ? null : handOver(hold, request.maxRun());
			return held;
		}
		finally {
			if (held == null) {
				release(hold);
			}
		}
	}

	private Hold hold(AdvisoryLockKey key, LockRequest request, Consumer<Hold> whenLost) {
		return new Hold.InSession(key, request.mode(), request.permits(), this.resources.ticker(),
				this.session::confirm, this.session::sideConnection, whenLost);
	}

	/**
	 * Fails where the operating system has no thread for the timer or the cleaner.
	 */
	private HeldLock handOver(Hold hold, @Nullable Duration maxRun) {
		hold.handOver();
		Future<?> limit = (maxRun != null) ? this.session.losses.limit(hold, maxRun) : null;
		return new HeldSessionLock(hold, (limit != null) ? (held) -> {
			limit.cancel(false);
			release(held);
		} : this::release, this.holds::leave, cleaner());
	}

	private synchronized Cleaner cleaner() {
		if (this.cleaner == null) {
			this.cleaner = Cleaner.create();
		}
		return this.cleaner;
	}

	/**
	 * Take a lock, polling for it until the deadline. A wait in the server's queue would
	 * occupy the connection that the other locks need, and its timeout may come back
	 * although the lock was granted.
	 * @param hold what was entered; left if the lock is not taken
	 * @return whether it was taken
	 */
	private boolean acquire(Hold hold, @Nullable Deadline deadline) {
		boolean acquired = false;
		try {
			acquired = tryLock(hold) || (deadline != null && deadline.pollWhile(false, () -> tryLock(hold)));
		}
		finally {
			if (!acquired) {
				this.holds.leave(hold);
			}
		}
		if (acquired) {
			hold.acquired();
		}
		return acquired;
	}

	private boolean tryLock(Hold hold) {
		return (hold.permits > 1) ? this.resources.permits()
			.askInTurn(hold, this.session.settings.longestAnswer(), (permits) -> this.session.tryPermits(hold, permits))
				: this.session.tryLock(hold);
	}

	/**
	 * Release a lock, unless another thread does or did, or it is lost.
	 * @throws LockLostException if it turns out that the lock was not held any more
	 */
	private void release(Hold hold) throws LockLostException {
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

	private void releaseOrThrowIfLost(Hold hold) throws LockLostException {
		release(hold);
		if (hold.isLost()) {
			this.holds.leave(hold);
			throw hold.lostException();
		}
	}

	/**
	 * A failure of the release is added to that of the work.
	 */
	private void releaseAfter(Throwable failure, Hold hold) {
		try {
			releaseOrThrowIfLost(hold);
		}
		catch (RuntimeException | Error ex) {
			if (!(ex instanceof LockLostException && (failure instanceof LockLostException || hold.loss() != null))) {
				failure.addSuppressed(ex);
			}
		}
	}

	/**
	 * The transaction has completed: no exception reaches its caller any more.
	 */
	private void releaseAfterTransaction(Hold hold) {
		try {
			releaseOrThrowIfLost(hold);
		}
		catch (RuntimeException ex) {
			logger.warn("Advisory lock '" + hold.key() + "' was lost before its transaction completed", ex);
		}
	}

	/**
	 * A call whose lock lives in the lock session.
	 */
	private final class Call extends LockCall {

		private Call(AdvisoryLockKey key, @Nullable Deadline deadline, LockRequest request) {
			super(SessionScope.this.resources, key, LockScope.SESSION, deadline, request);
		}

		@Override
		Hold newHold() {
			return hold(this.key, this.request, (hold) -> {
			});
		}

		/**
		 * The session had the lock of the tick before that of the key.
		 */
		@Override
		boolean isKept(AdvisoryLockKey tick) {
			return false;
		}

		@Override
		<T extends @Nullable Object, X extends Exception> @Nullable T executeAlone(Hold hold, LockCallback<T, X> action)
				throws X {
			if (!acquire(hold, this.deadline)) {
				this.outcome = LockOutcome.BUSY;
				return null;
			}
			TransactionCoverage coverage = SessionScope.this.resources.coverage();
			if (coverage.isInTransaction()) {
				RunRecord.Boundary boundary = boundary();
				boolean part = boundary != RunRecord.Boundary.NONE;
				HoldSynchronization.register(hold, part ? this.tickLock : null, coverage,
						SessionScope.this::releaseAfterTransaction);
				T result = isTickStillDue() ? runInTransaction(hold, boundary, action) : null;
				if (!part && this.outcome == LockOutcome.EXECUTED) {
					tick(TickLocks.Tick::keep);
				}
				return result;
			}
			T result;
			try {
				if (!isTickStillDue()) {
					release(hold);
					return null;
				}
				result = run(hold, RunRecord.Boundary.NONE, action);
			}
			catch (Throwable ex) {
				failed(hold, ex);
				releaseAfter(ex, hold);
				throw ex;
			}
			tick(TickLocks.Tick::keep);
			releaseOrThrowIfLost(hold);
			tick(TickLocks.Tick::awaitKept);
			return result;
		}

	}

	/**
	 * A lock that its holder closes.
	 */
	private static final class HeldSessionLock implements HeldLock {

		private final Hold hold;

		private final End end;

		private final Cleaner.Cleanable cleanable;

		private final Consumer<Hold> leave;

		private HeldSessionLock(Hold hold, Consumer<Hold> release, Consumer<Hold> leave, Cleaner cleaner) {
			this.hold = hold;
			this.end = new End(hold, release);
			this.cleanable = cleaner.register(this, this.end);
			this.leave = leave;
			isHeld();
		}

		@Override
		public AdvisoryLockKey key() {
			return this.hold.key();
		}

		/**
		 * A caller that learns of the loss can take the lock again: the clean-up of many
		 * locks that are lost at once may not have come to this one.
		 */
		@Override
		public boolean isHeld() {
			boolean held = this.hold.isActive();
			if (!held && this.hold.isLost()) {
				this.leave.accept(this.hold);
			}
			return held;
		}

		@Override
		public void onLost(Runnable action) {
			this.hold.onLost(action);
		}

		@Override
		public void close() {
			try {
				this.end.closed = true;
				this.cleanable.clean();
			}
			finally {
				Reference.reachabilityFence(this);
			}
		}

		/**
		 * Runs once, when the lock is closed or was forgotten. Knows nothing of the
		 * object that its holder has: that would never be forgotten.
		 */
		private static final class End implements Runnable {

			private final Hold hold;

			private final Consumer<Hold> release;

			private volatile boolean closed;

			private End(Hold hold, Consumer<Hold> release) {
				this.hold = hold;
				this.release = release;
			}

			@Override
			public void run() {
				if (!this.closed && this.hold.isActive()) {
					LockLog.unclosed(this.hold.key());
				}
				try {
					this.release.accept(this.hold);
				}
				catch (LockLostException ex) {
					// told already, as when anybody else notices
					logger.debug("Advisory lock '" + this.hold.key() + "' was lost before it was closed");
				}
			}

		}

	}

}
