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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * One lock that is held in memory, or is about to be.
 */
final class InMemoryHold implements HeldLock {

	private final HoldTable table;

	private final AdvisoryLockKey key;

	private final LockMode mode;

	private final Object instance;

	private final Thread owner = Thread.currentThread();

	private final List<Runnable> lostActions = new ArrayList<>();

	private State state = State.ACTIVE;

	private @Nullable Thread runner;

	private boolean interrupted;

	/**
	 * Is complete when there is nothing left to be lost.
	 */
	private final CompletableFuture<Void> end = new CompletableFuture<>();

	/**
	 * Create a hold.
	 * @param table what it is to be entered in
	 * @param instance whose it is
	 */
	InMemoryHold(HoldTable table, AdvisoryLockKey key, LockMode mode, Object instance) {
		this.table = table;
		this.key = key;
		this.mode = mode;
		this.instance = instance;
	}

	@Override
	public AdvisoryLockKey key() {
		return this.key;
	}

	LockMode mode() {
		return this.mode;
	}

	Object instance() {
		return this.instance;
	}

	Thread owner() {
		return this.owner;
	}

	@Override
	public synchronized boolean isHeld() {
		return this.state == State.ACTIVE;
	}

	synchronized boolean isLost() {
		return this.state == State.LOST;
	}

	synchronized void release() {
		if (this.state == State.ACTIVE) {
			this.state = State.RELEASED;
			this.end.complete(null);
		}
	}

	/**
	 * Lose the lock after a time, unless it is given back before. Work that goes on keeps
	 * others out until it ends.
	 */
	void limit(Duration time) {
		this.end.orTimeout(time.toNanos(), TimeUnit.NANOSECONDS).exceptionally((ex) -> {
			boolean running = isRunning();
			if (end(LockLostEvent.Reason.MAX_RUN) && !running) {
				this.table.leave(this);
			}
			return null;
		});
	}

	private synchronized boolean isRunning() {
		return this.runner != null;
	}

	/**
	 * Make sure that work which asks for the given mode may run under this hold.
	 */
	void checkCovers(LockMode requested) {
		Assert.state(requested == LockMode.SHARED || this.mode == LockMode.EXCLUSIVE,
				() -> "Failed to acquire advisory lock '" + this.key
						+ "' exclusively: the current run holds it shared, and a shared lock can't be upgraded");
	}

	void checkNotLost() {
		if (isLost()) {
			throw new LockLostException(this.key);
		}
	}

	synchronized void beginRun() {
		this.runner = Thread.currentThread();
	}

	/**
	 * Note that the run is over. Our interrupt must not hit what the thread does next.
	 */
	synchronized void endRun(boolean tookInterrupt) {
		this.runner = null;
		if (this.interrupted && !tookInterrupt) {
			Thread.interrupted();
		}
	}

	/**
	 * Lose the lock: others can have it, the run is interrupted, and who asked to be told
	 * is told.
	 */
	void lose() {
		if (end(LockLostEvent.Reason.GONE)) {
			this.end.complete(null);
			this.table.leave(this);
		}
	}

	/**
	 * Tell of the loss.
	 * @param reason why
	 * @return whether the lock was held until now
	 */
	private boolean end(LockLostEvent.Reason reason) {
		List<Runnable> actions;
		synchronized (this) {
			if (this.state != State.ACTIVE) {
				return false;
			}
			this.state = State.LOST;
			actions = List.copyOf(this.lostActions);
			if (this.runner != null) {
				this.interrupted = true;
				this.runner.interrupt();
			}
		}
		this.table.lost(new LockLostEvent(this.key, reason));
		actions.forEach(Runnable::run);
		return true;
	}

	@Override
	public void onLost(Runnable action) {
		synchronized (this) {
			if (this.state == State.ACTIVE) {
				this.lostActions.add(action);
				return;
			}
		}
		if (isLost()) {
			action.run();
		}
	}

	@Override
	public void close() {
		this.table.leave(this);
	}

	@Override
	public String toString() {
		return this.key + " (" + this.mode + ", taken by thread '" + this.owner.getName() + "')";
	}

	private enum State {

		ACTIVE, RELEASED, LOST

	}

}
