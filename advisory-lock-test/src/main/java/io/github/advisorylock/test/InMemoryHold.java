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

import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * A lock that is held in memory, or is about to be. One that has joined a transaction is
 * kept until that has completed.
 */
final class InMemoryHold implements HeldLock, TransactionSynchronization {

	private final HoldTable table;

	private final AdvisoryLockKey key;

	private final LockMode mode;

	private final int permits;

	private final @Nullable InMemoryLockOperations instance;

	private final Thread owner = Thread.currentThread();

	private final List<Runnable> rollbackActions = new ArrayList<>();

	private final List<Runnable> lossActions = new ArrayList<>();

	private AdvisoryLockKey lock;

	private State state = State.HELD;

	private @Nullable Thread runner;

	private boolean joined;

	/**
	 * Create a hold.
	 * @param table what it is to be entered in
	 * @param permits how many may hold the key at a time
	 * @param instance whose it is, {@code null} if of another application
	 */
	InMemoryHold(HoldTable table, AdvisoryLockKey key, LockMode mode, int permits,
			@Nullable InMemoryLockOperations instance) {
		this.table = table;
		this.key = key;
		this.lock = key;
		this.mode = mode;
		this.permits = permits;
		this.instance = instance;
	}

	static boolean isInTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	static @Nullable InMemoryHold findInTransaction(InMemoryLockOperations instance, AdvisoryLockKey key) {
		if (!isInTransaction()) {
			return null;
		}
		return TransactionSynchronizationManager.getSynchronizations()
			.stream()
			.filter(InMemoryHold.class::isInstance)
			.map(InMemoryHold.class::cast)
			.filter((hold) -> hold.isHeld() && hold.instance == instance && hold.key.equals(key))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Keep the lock until the current transaction completes.
	 * @return whether there is a transaction
	 */
	boolean joinTransaction() {
		boolean joined = isInTransaction();
		if (joined) {
			this.joined = true;
			TransactionSynchronizationManager.registerSynchronization(this);
		}
		return joined;
	}

	@Override
	public AdvisoryLockKey key() {
		return this.key;
	}

	/**
	 * Return what is locked for it: the key, or one of its permits.
	 */
	synchronized AdvisoryLockKey lock() {
		return this.lock;
	}

	/**
	 * Note which permit it has.
	 */
	synchronized AdvisoryLockKey take(AdvisoryLockKey permit) {
		this.lock = permit;
		return permit;
	}

	int permits() {
		return this.permits;
	}

	/**
	 * Return which instance of a fleet has it, if it is one of a fleet.
	 */
	@Nullable FleetInstance process() {
		return (this.instance != null) ? this.instance.instance() : null;
	}

	boolean isOf(InMemoryHold other) {
		return this.instance == other.instance;
	}

	/**
	 * Return whether the session for locks has it, and not a transaction.
	 */
	boolean isOfSession() {
		return !this.joined;
	}

	/**
	 * Return whether it was taken away because the run lasted for too long.
	 */
	synchronized boolean isRevoked() {
		return this.state == State.REVOKED;
	}

	/**
	 * Tell the holder to end, as {@code maxRun} does.
	 */
	void revoke() {
		end(State.REVOKED, LockLostEvent.Reason.MAX_RUN);
	}

	LockMode mode() {
		return this.mode;
	}

	@Override
	public synchronized boolean isHeld() {
		return this.state == State.HELD;
	}

	/**
	 * Make sure that work which asks for the given mode may run under this hold.
	 */
	void checkCovers(LockMode requested) {
		Assert.state(requested == LockMode.SHARED || this.mode == LockMode.EXCLUSIVE,
				() -> "Failed to acquire advisory lock '" + this.key
						+ "' exclusively: the current run holds it shared, and a shared lock can't be upgraded");
	}

	synchronized boolean isLost() {
		return this.state == State.LOST || this.state == State.REVOKED;
	}

	synchronized void checkNotLost() {
		if (isLost()) {
			throw new LockLostException(this.key);
		}
	}

	synchronized void beginRun() {
		checkNotLost();
		this.runner = Thread.currentThread();
	}

	/**
	 * Note that the run is over. The interrupt of a loss must not hit what the thread
	 * does next.
	 */
	synchronized void endRun() {
		this.runner = null;
		if (isLost()) {
			Thread.interrupted();
		}
	}

	/**
	 * Lose the lock: others can take it, its run is interrupted, and listeners are told.
	 */
	void lose() {
		end(State.LOST, LockLostEvent.Reason.GONE);
	}

	private void end(State end, LockLostEvent.Reason reason) {
		if (end(end)) {
			this.table.lost();
			LockLostEvent event = new LockLostEvent(this.key, reason);
			FleetInstance process = process();
			if (process != null && process.number() != Fleet.TEST) {
				process.tell(event);
			}
			else {
				this.table.lost(event);
			}
			this.lossActions.forEach(Runnable::run);
		}
	}

	/**
	 * End, if that has not been done before.
	 * @return whether it has not
	 */
	private synchronized boolean end(State end) {
		if (this.state != State.HELD) {
			return false;
		}
		this.state = end;
		if (isLost() && this.runner != null && (this.instance == null || this.instance.interrupts())) {
			this.runner.interrupt();
			this.table.interrupted(this.runner);
		}
		return true;
	}

	@Override
	public void onLost(Runnable action) {
		if (!addLossAction(action)) {
			action.run();
		}
	}

	/**
	 * Add an action, unless it is time for it.
	 */
	private synchronized boolean addLossAction(Runnable action) {
		return !isLost() && this.lossActions.add(action);
	}

	/**
	 * Undo something if the transaction is rolled back that the lock has joined.
	 */
	void onRollback(Runnable action) {
		this.rollbackActions.add(action);
	}

	@Override
	public void close() {
		end(State.RELEASED);
		this.table.leave(this);
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
		checkNotLost();
	}

	@Override
	public void afterCommit() {
		close();
	}

	@Override
	public void afterCompletion(int status) {
		if (status != STATUS_COMMITTED) {
			this.rollbackActions.forEach(Runnable::run);
		}
		close();
	}

	@Override
	public String toString() {
		return this.key + " (" + this.mode + ", taken by thread '" + this.owner.getName() + "')";
	}

	private enum State {

		HELD, RELEASED, LOST, REVOKED

	}

}
