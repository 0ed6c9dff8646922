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

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;

/**
 * The locks that this application holds or is about to take. Threads of one application
 * exclude each other here, before the database is asked: it would let them all in on the
 * one connection that carries the session locks, and a busy answer costs no query.
 */
final class LocalHolds {

	private final ReentrantLock monitor = new ReentrantLock();

	private final Condition left = this.monitor.newCondition();

	private final Map<AdvisoryLockKey, List<Hold>> holds = new HashMap<>();

	private final int limit;

	private int count;

	/**
	 * Create a registry.
	 * @param limit how many holds there may be at a time
	 */
	LocalHolds(int limit) {
		this.limit = limit;
	}

	/**
	 * Enter a hold, waiting for others of this application to leave.
	 * @return the hold, to be {@linkplain #leave left} in any case, or {@code null} when
	 * it is still impossible at the deadline, or the thread was interrupted
	 */
	@Nullable Hold enter(AdvisoryLockKey key, LockMode mode, LockScope scope, Deadline deadline) {
		this.monitor.lock();
		try {
			while (isBusy(key, mode)) {
				if (!deadline.await(this.left)) {
					return null;
				}
			}
			checkLimit(key);
			Hold hold = new Hold(key, mode, scope);
			this.count++;
			this.holds.computeIfAbsent(key, (absent) -> new ArrayList<>(1)).add(hold);
			return hold;
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Remove a hold whose lock was released, lost, or never taken. May be repeated.
	 */
	void leave(Hold hold) {
		hold.release();
		this.monitor.lock();
		try {
			List<Hold> holdsOfKey = this.holds.get(hold.key());
			if (holdsOfKey != null && holdsOfKey.remove(hold)) {
				this.count--;
				if (holdsOfKey.isEmpty()) {
					this.holds.remove(hold.key());
				}
				this.left.signalAll();
			}
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Return whether another thread's hold stands in the way of this one.
	 */
	boolean isBusyForThisThread(AdvisoryLockKey key, LockMode mode) {
		this.monitor.lock();
		try {
			return isBusy(key, mode) && !isHeldByThisThread(key);
		}
		finally {
			this.monitor.unlock();
		}
	}

	boolean isHeldByThisThread(AdvisoryLockKey key) {
		this.monitor.lock();
		try {
			return this.holds.getOrDefault(key, List.of())
				.stream()
				.anyMatch((hold) -> hold.owner() == Thread.currentThread());
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Return the holds of a scope that have lasted for longer than that. Each is returned
	 * once.
	 */
	List<Hold> takeHeldLonger(LockScope scope, Duration duration) {
		this.monitor.lock();
		try {
			return this.holds.values()
				.stream()
				.flatMap(List::stream)
				.filter((hold) -> hold.scope() == scope && hold.heldFor().compareTo(duration) > 0 && hold.report())
				.toList();
		}
		finally {
			this.monitor.unlock();
		}
	}

	int size() {
		this.monitor.lock();
		try {
			return this.count;
		}
		finally {
			this.monitor.unlock();
		}
	}

	private void checkLimit(AdvisoryLockKey key) {
		if (this.count >= this.limit) {
			throw new CannotAcquireLockException(
					"Failed to acquire advisory lock '" + key + "': this application holds " + this.count
							+ " already, and 'advisory-lock.max-held-locks' keeps it from filling the lock table of "
							+ "the server");
		}
	}

	private boolean isBusy(AdvisoryLockKey key, LockMode mode) {
		List<Hold> holdsOfKey = this.holds.get(key);
		return holdsOfKey != null && (mode == LockMode.EXCLUSIVE || holdsOfKey.get(0).mode() == LockMode.EXCLUSIVE);
	}

}
