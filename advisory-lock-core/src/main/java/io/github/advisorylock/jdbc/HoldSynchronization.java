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

import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Ties a {@link Hold} to the end of the transaction that the current thread is in.
 */
final class HoldSynchronization extends TransactionPart {

	private final TickLocks.@Nullable Tick tick;

	private final TransactionCoverage coverage;

	private final Consumer<Hold> release;

	private boolean over;

	private HoldSynchronization(Hold hold, TickLocks.@Nullable Tick tick, TransactionCoverage coverage,
			Consumer<Hold> release) {
		super(hold);
		this.tick = tick;
		this.coverage = coverage;
		this.release = release;
	}

	/**
	 * Release a hold when the current transaction has completed, however that ends, or at
	 * once if it can't be tied to that. A transaction whose lock is lost can't be
	 * committed.
	 */
	static void register(Hold hold, TickLocks.@Nullable Tick tick, TransactionCoverage coverage,
			Consumer<Hold> release) {
		try {
			TransactionSynchronizationManager
				.registerSynchronization(new HoldSynchronization(hold, tick, coverage, release));
		}
		catch (Throwable ex) {
			release.accept(hold);
			throw ex;
		}
	}

	/**
	 * Find the hold on a key that ends with the current transaction; not one of a
	 * transaction that is suspended.
	 */
	static @Nullable Hold findInCurrentTransaction(AdvisoryLockKey key, HoldRegistry holds) {
		if (!TransactionSynchronizationManager.isSynchronizationActive() || !holds.isHeldByThisThread(key)) {
			return null;
		}
		return TransactionSynchronizationManager.getSynchronizations()
			.stream()
			.filter(HoldSynchronization.class::isInstance)
			.map((synchronization) -> ((HoldSynchronization) synchronization).hold)
			.filter((hold) -> hold.isActive() && hold.key().equals(key))
			.findFirst()
			.orElse(null);
	}

	/**
	 * PostgreSQL frees a transaction's lock in a rollback to a savepoint that is older
	 * than the lock.
	 */
	@Override
	void undo() {
		if (this.hold.scope() == LockScope.TRANSACTION) {
			this.hold.markLost();
			giveTickBack();
			end();
		}
	}

	/**
	 * The first to know of the end, so that work after the commit finds the lock free.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		if (this.over) {
			return;
		}
		try {
			confirm();
		}
		finally {
			DeferredInterrupt.atEndOfTransaction();
		}
	}

	private void confirm() {
		this.coverage.checkNotAborted(this.hold);
		if (!this.hold.isLossThrown()) {
			this.hold.checkActive();
			if (this.hold.scope() == LockScope.SESSION) {
				this.hold.confirm();
			}
		}
		if (this.tick != null) {
			this.tick.keep();
		}
	}

	@Override
	public void beforeCompletion() {
		if (this.hold.scope() == LockScope.TRANSACTION) {
			this.hold.beginCompletion();
		}
	}

	@Override
	public void afterCommit() {
		if (this.tick != null) {
			this.tick.awaitKept();
		}
		end();
	}

	@Override
	public void afterCompletion(int status) {
		if (status != STATUS_COMMITTED) {
			giveTickBack();
		}
		end();
	}

	private void giveTickBack() {
		if (this.tick != null) {
			this.tick.giveBackUnlessCancelled(this.hold);
		}
	}

	private void end() {
		if (!this.over) {
			this.over = true;
			this.release.accept(this.hold);
		}
	}

}
