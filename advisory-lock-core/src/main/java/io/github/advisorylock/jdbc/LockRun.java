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

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.support.LockContextBinding;
import io.github.advisorylock.support.TwoPhaseLockOperations.End;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What the work of one call can ask about its lock while it runs.
 */
final class LockRun implements LockContext, RunLedger.Traced {

	private final LockResources resources;

	private final Hold hold;

	private final @Nullable RunRecord record;

	private final @Nullable Instant tick;

	private final @Nullable Ending end;

	private @Nullable LockContext enclosing;

	/**
	 * Create a run.
	 * @param resources tells its application context from others
	 * @param hold its lock
	 * @param record its record in the ledger, if it is recorded
	 * @param tick the planned time, if it is for one
	 * @param end its end, if it is part of a transaction
	 */
	LockRun(LockResources resources, Hold hold, @Nullable RunRecord record, @Nullable Instant tick,
			@Nullable Ending end) {
		this.resources = resources;
		this.hold = hold;
		this.record = record;
		this.tick = tick;
		this.end = end;
	}

	/**
	 * Find the run of the same key that the current thread is in, with whatever else is
	 * in between.
	 */
	static @Nullable LockRun findEnclosing(AdvisoryLockKey key, LockResources resources) {
		LockContext context = LockContext.current().orElse(null);
		while (context != null) {
			if (context instanceof LockRun run) {
				if (run.resources.holds() == resources.holds() && run.key().equals(key)) {
					return run;
				}
				context = run.enclosing;
			}
			else {
				context = (context instanceof WorkContext work) ? work.enclosing() : null;
			}
		}
		return null;
	}

	/**
	 * Become the context of the current thread.
	 */
	void bind() {
		this.enclosing = LockContextBinding.bind(this);
	}

	/**
	 * Give the current thread the context back that it had before.
	 */
	void unbind() {
		LockContextBinding.bind(this.enclosing);
	}

	Hold hold() {
		return this.hold;
	}

	@Nullable RunRecord record() {
		return this.record;
	}

	@Nullable Ending end() {
		return this.end;
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
		return this.hold.isHeld();
	}

	@Override
	public void checkHeld() throws LockLostException {
		this.hold.checkHeld();
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.record != null) ? DeferredInterrupt.during(this.record::fencingToken) : OptionalLong.empty();
	}

	@Override
	public Optional<Instant> tick() {
		return Optional.ofNullable(this.tick);
	}

	@Override
	public void traced(String traceId) {
		if (this.record != null) {
			this.record.traced(traceId);
		}
	}

	@Override
	public int attempt() {
		return (this.record != null) ? this.record.attempt() : 1;
	}

	/**
	 * How one run ends that is part of a transaction. Decided here, once, when that
	 * transaction is over: by what it did, not by what the work threw. All others are
	 * told.
	 */
	static final class Ending implements TransactionSynchronization {

		private final Hold hold;

		/**
		 * The record of a run in a transaction that goes on after it, {@code null} if
		 * there is none, or who began the transaction looks after it.
		 */
		private final @Nullable RunRecord record;

		private final List<Consumer<End>> listeners = new ArrayList<>(1);

		private @Nullable Set<Object> youngerSavepoints;

		private boolean ended;

		private @Nullable Throwable failure;

		private boolean settled;

		private boolean committing;

		private boolean undone;

		private @Nullable End decision;

		private Ending(Hold hold, @Nullable RunRecord record) {
			this.hold = hold;
			this.record = record;
		}

		/**
		 * Begin a run.
		 * @return its end, {@code null} if it is part of no transaction
		 */
		static @Nullable Ending begin(Hold hold, RunRecord.Boundary boundary, @Nullable RunRecord record) {
			return switch (boundary) {
				case NONE -> null;
				case OWN_TRANSACTION -> new Ending(hold, null);
				case CALLERS_TRANSACTION -> {
					Ending end = new Ending(hold, record);
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
				if (synchronization instanceof Ending end && end.hold == hold) {
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
			this.youngerSavepoints = null;
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
		 * Decide, unless that is done.
		 */
		void decide(End decision) {
			if (this.decision == null) {
				this.decision = decision;
				this.listeners.forEach((listener) -> listener.accept(decision));
			}
		}

		@Override
		public void savepoint(Object savepoint) {
			if (this.youngerSavepoints == null) {
				this.youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>());
			}
			this.youngerSavepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			boolean younger = this.youngerSavepoints != null && this.youngerSavepoints.contains(savepoint);
			if (!younger && !this.undone) {
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
			if (this.record != null && this.failure != null && !isFailure() && !this.undone && !this.settled) {
				boolean aside = DeferredInterrupt.putAside();
				try {
					this.settled = true;
					this.record.completeFailed(this.failure);
				}
				finally {
					DeferredInterrupt.bringBack(aside);
				}
			}
		}

		@Override
		public void beforeCompletion() {
			if (!this.committing || isFailure()) {
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
			decide(done ? End.COMMITTED : End.ROLLED_BACK);
		}

	}

}
