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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockMode;

/**
 * The locks that are held, by whatever instance, and those who wait for them: first come,
 * first served, so that readers who overlap do not keep a writer out.
 */
final class HoldTable {

	private final ReentrantLock monitor = new ReentrantLock();

	private final Condition changed = this.monitor.newCondition();

	private final Map<AdvisoryLockKey, List<InMemoryHold>> inside = new HashMap<>();

	private final Map<AdvisoryLockKey, Deque<InMemoryHold>> queues = new HashMap<>();

	private final Consumer<LockLostEvent> lost;

	/**
	 * Create a table.
	 * @param lost is told of each lock that is lost
	 */
	HoldTable(Consumer<LockLostEvent> lost) {
		this.lost = lost;
	}

	void lost(LockLostEvent event) {
		this.lost.accept(event);
	}

	/**
	 * Take a lock, waiting for it if need be.
	 * @param nanos how long to wait at most
	 * @return whether it was taken; after an interrupt, whose flag stays set, it is not
	 * waited for any more
	 */
	boolean enter(InMemoryHold hold, long nanos) {
		this.monitor.lock();
		try {
			Deque<InMemoryHold> queue = this.queues.computeIfAbsent(hold.key(), (key) -> new ArrayDeque<>());
			boolean next = queue.isEmpty() || isHeldByThisThread(hold.key(), hold.instance());
			boolean entered = (next && lets(hold)) || awaitTurn(hold, queue, nanos);
			if (entered) {
				this.inside.computeIfAbsent(hold.key(), (key) -> new ArrayList<>()).add(hold);
			}
			if (queue.isEmpty()) {
				this.queues.remove(hold.key(), queue);
			}
			return entered;
		}
		finally {
			this.monitor.unlock();
		}
	}

	private boolean awaitTurn(InMemoryHold hold, Deque<InMemoryHold> queue, long nanos) {
		long left = nanos;
		queue.add(hold);
		try {
			while (queue.peek() != hold || !lets(hold)) {
				if (left <= 0) {
					return false;
				}
				left = this.changed.awaitNanos(left);
			}
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			queue.remove(hold);
			this.changed.signalAll();
		}
	}

	private boolean lets(InMemoryHold hold) {
		return (hold.mode() == LockMode.EXCLUSIVE) ? holds(hold.key()).isEmpty()
				: holds(hold.key()).stream().allMatch((other) -> other.mode() == LockMode.SHARED);
	}

	/**
	 * Give a lock back. May be repeated.
	 */
	void leave(InMemoryHold hold) {
		hold.release();
		this.monitor.lock();
		try {
			List<InMemoryHold> holds = this.inside.get(hold.key());
			if (holds != null && holds.remove(hold)) {
				if (holds.isEmpty()) {
					this.inside.remove(hold.key());
				}
				this.changed.signalAll();
			}
		}
		finally {
			this.monitor.unlock();
		}
	}

	boolean isHeldByThisThread(AdvisoryLockKey key, Object instance) {
		return holds(key).stream()
			.anyMatch((hold) -> hold.instance() == instance && hold.owner() == Thread.currentThread());
	}

	/**
	 * Return who holds a key.
	 */
	List<InMemoryHold> holds(AdvisoryLockKey key) {
		this.monitor.lock();
		try {
			return List.copyOf(this.inside.getOrDefault(key, List.of()));
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Return all that is held.
	 */
	List<InMemoryHold> all() {
		this.monitor.lock();
		try {
			return this.inside.values().stream().flatMap(List::stream).toList();
		}
		finally {
			this.monitor.unlock();
		}
	}

}
