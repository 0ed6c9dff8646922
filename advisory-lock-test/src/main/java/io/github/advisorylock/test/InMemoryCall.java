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
import java.util.function.IntConsumer;

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

import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * One call on its way, as on PostgreSQL: admitted outside its transaction, executed
 * inside, once.
 */
final class InMemoryCall implements TwoPhaseLockOperations.Admission, LockContext {

	private static final TransactionDefinition OWN = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final InMemoryLockOperations operations;

	private final HoldTable table;

	private final LockRequest request;

	private final AdvisoryLockKey key;

	private final LockScope scope;

	private LockOutcome outcome = LockOutcome.EXECUTED;

	private @Nullable InMemoryHold hold;

	private boolean entered;

	private InMemoryLedger.@Nullable Run run;

	InMemoryCall(InMemoryLockOperations operations, LockRequest request) {
		this.operations = operations;
		this.table = operations.locks().table();
		this.request = request;
		this.key = operations.locks().key(request);
		this.scope = (request.scope() != null) ? request.scope() : LockScope.TRANSACTION;
		Assert.isTrue(request.mode() == LockMode.EXCLUSIVE || (!request.isRecorded() && request.memory() == null),
				() -> "'request' must not ask for mode SHARED: runs of advisory lock '" + this.key
						+ "' can be recorded only one after the other");
	}

	/**
	 * Take the lock, unless the current thread has it already: what that means is found
	 * out in its transaction.
	 */
	InMemoryCall admit() {
		if (this.table.isHeldByThisThread(this.key, this.operations)) {
			return this;
		}
		boolean mayForesee = this.request.tick() != null && !isInTransaction();
		this.outcome = mayForesee ? decide() : LockOutcome.EXECUTED;
		if (this.outcome == LockOutcome.EXECUTED) {
			enter();
			this.entered = this.hold != null;
		}
		return this;
	}

	private @Nullable InMemoryHold enter() {
		InMemoryHold candidate = new InMemoryHold(this.table, this.key, this.request.mode(), this.operations);
		if (this.table.enter(candidate, this.operations.wait(this.request))) {
			this.hold = candidate;
			return candidate;
		}
		this.outcome = LockOutcome.BUSY;
		return null;
	}

	private LockOutcome decide() {
		return this.operations.locks().ledger().decide(this.key, this.request);
	}

	private static boolean isInTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	@Override
	public LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action) throws X {
		InMemoryCall around = this.operations.running()
			.stream()
			.filter((call) -> call.key.equals(this.key))
			.findFirst()
			.orElse(null);
		if (around != null) {
			return executeNested(around, action);
		}
		if (this.hold == null) {
			InMemoryHold joined = HoldUntilCompletion.findIn(this.operations, this.key);
			if (joined != null) {
				joined.checkCovers(this.request.mode());
				return executeJoined(joined, action);
			}
		}
		InMemoryHold own = (this.hold != null) ? this.hold : enter();
		this.entered = false;
		return (own != null) ? executeAlone(own, action) : null;
	}

	/**
	 * Run as a part of a run of the same key.
	 */
	private <T extends @Nullable Object, X extends Exception> T executeNested(InMemoryCall around,
			LockCallback<T, X> action) throws X {
		Assert.state(around.hold != null, "'hold' must be set");
		around.hold.checkCovers(this.request.mode());
		around.checkHeld();
		this.hold = around.hold;
		this.run = around.run;
		return callBound(action);
	}

	/**
	 * Run under a lock that lasts until the current transaction has completed.
	 */
	private <T extends @Nullable Object, X extends Exception> @Nullable T executeJoined(InMemoryHold joined,
			LockCallback<T, X> action) throws X {
		this.hold = joined;
		try {
			T result = runUnder(joined, action);
			InMemoryLedger.Run begun = this.run;
			if (begun != null) {
				onCompletion((status) -> {
					if (status != TransactionSynchronization.STATUS_COMMITTED) {
						begun.fail();
					}
				});
			}
			return result;
		}
		catch (Throwable ex) {
			fail();
			throw ex;
		}
	}

	private <T extends @Nullable Object, X extends Exception> @Nullable T executeAlone(InMemoryHold own,
			LockCallback<T, X> action) throws X {
		if (isInTransaction()) {
			TransactionSynchronizationManager.registerSynchronization(new HoldUntilCompletion(own, this.table));
			return executeJoined(own, action);
		}
		try {
			PlatformTransactionManager manager = (this.scope == LockScope.TRANSACTION)
					? this.operations.transactionManager() : null;
			return (manager != null) ? executeInTransaction(own, manager, action) : runUnder(own, action);
		}
		catch (Throwable ex) {
			fail();
			throw ex;
		}
		finally {
			this.table.leave(own);
		}
	}

	private <T extends @Nullable Object, X extends Exception> @Nullable T executeInTransaction(InMemoryHold own,
			PlatformTransactionManager manager, LockCallback<T, X> action) throws X {
		TransactionStatus transaction = manager.getTransaction(OWN);
		try {
			T result = runUnder(own, action);
			manager.commit(transaction);
			return result;
		}
		catch (Throwable ex) {
			rollback(manager, transaction, ex);
			throw ex;
		}
	}

	private static void rollback(PlatformTransactionManager manager, TransactionStatus transaction, Throwable failure) {
		if (!transaction.isCompleted()) {
			try {
				manager.rollback(transaction);
			}
			catch (RuntimeException | Error ex) {
				failure.addSuppressed(ex);
			}
		}
	}

	/**
	 * Run under the lock, unless the ledger is against it.
	 */
	private <T extends @Nullable Object, X extends Exception> @Nullable T runUnder(InMemoryHold current,
			LockCallback<T, X> action) throws X {
		this.outcome = decide();
		if (this.outcome != LockOutcome.EXECUTED) {
			return null;
		}
		this.run = this.operations.locks().ledger().begin(this.key, this.request);
		current.checkNotLost();
		current.beginRun();
		InMemoryLockOperations.limit(current, this.request);
		boolean tookInterrupt = false;
		T result;
		try {
			result = callBound(action);
		}
		catch (Throwable ex) {
			tookInterrupt = ex instanceof InterruptedException;
			throw ex;
		}
		finally {
			current.endRun(tookInterrupt);
		}
		current.checkNotLost();
		this.run.complete();
		return result;
	}

	private <T extends @Nullable Object, X extends Exception> T callBound(LockCallback<T, X> action) throws X {
		LockContext enclosing = LockContext.bind(this);
		this.operations.running().push(this);
		try {
			return action.doWithLock(this);
		}
		finally {
			this.operations.running().pop();
			LockContext.bind(enclosing);
		}
	}

	private void fail() {
		if (this.run != null) {
			this.run.fail();
		}
	}

	private static void onCompletion(IntConsumer action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				action.accept(status);
			}

		});
	}

	@Override
	public void close() {
		if (this.entered && this.hold != null) {
			this.entered = false;
			this.table.leave(this.hold);
		}
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
		return (this.run != null && this.run.isRecorded()) ? OptionalLong.of(this.run.token()) : OptionalLong.empty();
	}

	@Override
	public Optional<Instant> tick() {
		return Optional.ofNullable(this.request.tick());
	}

	@Override
	public int attempt() {
		return (this.run != null) ? this.run.attempt() : 1;
	}

	/**
	 * Keeps a lock until the current transaction has completed.
	 */
	private record HoldUntilCompletion(InMemoryHold hold,
			HoldTable table) implements TransactionSynchronization, Ordered {

		private static @Nullable InMemoryHold findIn(Object instance, AdvisoryLockKey key) {
			if (!TransactionSynchronizationManager.isSynchronizationActive()) {
				return null;
			}
			return TransactionSynchronizationManager.getSynchronizations()
				.stream()
				.filter(HoldUntilCompletion.class::isInstance)
				.map((synchronization) -> ((HoldUntilCompletion) synchronization).hold)
				.filter((hold) -> hold.isHeld() && hold.instance() == instance && hold.key().equals(key))
				.findFirst()
				.orElse(null);
		}

		/**
		 * The first to know of the end, so that work after the commit finds the lock
		 * free.
		 */
		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			this.hold.checkNotLost();
		}

		@Override
		public void afterCommit() {
			this.table.leave(this.hold);
		}

		@Override
		public void afterCompletion(int status) {
			this.table.leave(this.hold);
		}

	}

}
