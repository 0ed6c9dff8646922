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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import io.github.advisorylock.support.TwoPhaseLockOperations.End;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What is part of a transaction and is told how that ends: a run, or the hold that it has
 * its lock by. A rollback to a savepoint that is older undoes it.
 */
abstract class TransactionPart implements TransactionSynchronization {

	final Hold hold;

	/**
	 * A savepoint that its owner has let go can't be rolled back to.
	 */
	private final Set<Object> youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>(0));

	TransactionPart(Hold hold) {
		this.hold = hold;
	}

	@Override
	public final void savepoint(Object savepoint) {
		this.youngerSavepoints.add(savepoint);
	}

	@Override
	public final void savepointRollback(Object savepoint) {
		if (!this.youngerSavepoints.contains(savepoint)) {
			undo();
		}
	}

	/**
	 * Note that this is undone, while the transaction goes on.
	 */
	abstract void undo();

	/**
	 * How one run ends that is part of a transaction. Decided here, once, when that
	 * transaction is over: by what it did, not by what the work threw. All others are
	 * told.
	 */
	static final class OfRun extends TransactionPart {

		/**
		 * The record of a run in a transaction that goes on after it, {@code null} if
		 * there is none, or who began the transaction looks after it.
		 */
		private final @Nullable RunRecord record;

		private final List<Consumer<End>> listeners = new ArrayList<>(1);

		private boolean ended;

		private @Nullable Throwable failure;

		private boolean settled;

		private boolean committing;

		private boolean undone;

		private @Nullable End decision;

		private OfRun(Hold hold, @Nullable RunRecord record) {
			super(hold);
			this.record = record;
		}

		/**
		 * Begin a run.
		 * @return its end, {@code null} if it is part of no transaction
		 */
		static @Nullable OfRun begin(Hold hold, RunRecord.Boundary boundary, @Nullable RunRecord record) {
			return switch (boundary) {
				case NONE -> null;
				case OWN_TRANSACTION -> new OfRun(hold, null);
				case CALLERS_TRANSACTION -> {
					OfRun end = new OfRun(hold, record);
					end.register();
					yield end;
				}
			};
		}

		/**
		 * Listen to the end of the current transaction, if it tells.
		 */
		void register() {
			if (TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization(this);
			}
		}

		/**
		 * Write what earlier runs under a hold have left to the commit of the current
		 * transaction: the next one is to find it.
		 */
		static void settle(Hold hold) {
			for (TransactionSynchronization synchronization : TransactionSynchronizationManager.getSynchronizations()) {
				if (synchronization instanceof OfRun end && end.hold == hold) {
					end.settle();
				}
			}
		}

		/**
		 * Note that the work has ended, by a failure if there is one. A savepoint of the
		 * work itself is older than what is written of it.
		 */
		void ended(@Nullable Throwable failure) {
			this.ended = true;
			this.failure = failure;
			super.youngerSavepoints.clear();
		}

		boolean isEnded() {
			return this.ended;
		}

		/**
		 * Return whether it is known that the work is not done.
		 */
		boolean isUndone() {
			return this.decision == End.ROLLED_BACK || isFailure();
		}

		/**
		 * What the transactions of a run did which has a lock of scope SESSION is not
		 * known.
		 */
		private boolean isFailure() {
			return this.failure != null && this.hold.scope() == LockScope.SESSION;
		}

		/**
		 * Tell somebody of the end, at once if it is decided.
		 */
		void tell(Consumer<End> listener) {
			if (this.decision != null) {
				listener.accept(this.decision);
			}
			else {
				this.listeners.add(listener);
			}
		}

		/**
		 * Decide by what the transaction did, unless that is done.
		 */
		void decide(boolean committed) {
			if (this.decision == null) {
				End decided = committed ? End.COMMITTED : End.ROLLED_BACK;
				this.decision = decided;
				for (Consumer<End> listener : this.listeners) {
					listener.accept(decided);
				}
			}
		}

		@Override
		void undo() {
			if (!this.undone) {
				failWhileHeld();
				this.undone = true;
			}
		}

		/**
		 * What is committed is done, whatever the work threw.
		 */
		@Override
		public void beforeCommit(boolean readOnly) {
			this.committing = true;
			settle();
		}

		private void settle() {
			RunRecord record = this.record;
			Throwable failure = this.failure;
			if (record != null && failure != null && !isFailure() && !this.undone && !this.settled) {
				this.settled = true;
				DeferredInterrupt.during(() -> record.completeFailed(failure));
			}
		}

		@Override
		public void beforeCompletion() {
			if (this.failure != null && (!this.committing || isFailure())) {
				failWhileHeld();
			}
		}

		/**
		 * The lock may be free before {@link #afterCompletion} is called.
		 */
		private void failWhileHeld() {
			if (this.record != null && this.failure != null && !this.settled && !this.undone) {
				this.record.failWhileHeld(this.failure);
			}
		}

		@Override
		public void afterCompletion(int status) {
			boolean done = status == STATUS_COMMITTED && this.ended && !this.undone && !isFailure();
			if (!done && this.record != null) {
				this.record.fail((this.failure != null) ? this.failure
						: new UnexpectedRollbackException(this.undone ? "Rolled back to a savepoint before the run"
								: "The transaction that the run was part of was not committed"));
			}
			decide(done);
		}

	}

}
