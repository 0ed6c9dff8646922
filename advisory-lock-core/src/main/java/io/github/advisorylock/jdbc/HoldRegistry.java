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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.LockThread;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;

/**
 * The locks that this application holds or is about to take. Threads of one application
 * exclude each other here, before the database is asked: it would let them all in on the
 * one connection that carries the session locks, and a busy answer costs no query. Where
 * a key has several permits, as many are let in.
 * <p>
 * Those who wait for a key get it in the order in which they came, so that a shared
 * holder does not overtake an exclusive one that waits. Who does not wait is in nobody's
 * way: a try that fails leaves no trace.
 */
final class HoldRegistry {

	private final Map<AdvisoryLockKey, HoldsOfKey> keys = new HashMap<>();

	private final int limit;

	private int count;

	private final Queue<IdleAction> whenIdle = new ConcurrentLinkedQueue<>();

	/**
	 * Create a registry.
	 * @param limit how many holds there may be at a time
	 */
	HoldRegistry(int limit) {
		this.limit = limit;
	}

	/**
	 * Enter a hold, waiting for others of this application to leave.
	 * @param key the key of the hold
	 * @param deadline the end of the wait, {@code null} to not wait
	 * @return whether it was entered, and is to be {@linkplain #leave left} in any case;
	 * {@code false} when it is still impossible at the deadline, or the thread was
	 * interrupted
	 */
	boolean enter(Hold hold, AdvisoryLockKey key, @Nullable Deadline deadline) {
		return enter(new Waiter(hold, deadline), key, false);
	}

	/**
	 * As {@link #enter}, unless the current thread has entered another hold on the key
	 * already: what that means is for others to know.
	 * @return whether it was entered, {@code false} also where the current thread
	 * {@linkplain #isHeldByThisThread has another}
	 */
	boolean enterUnlessHeld(Hold hold, AdvisoryLockKey key, @Nullable Deadline deadline) {
		return enter(new Waiter(hold, deadline), key, true);
	}

	private boolean enter(Waiter waiter, AdvisoryLockKey key, boolean unlessHeld) {
		arrive(waiter, key, unlessHeld);
		while (waiter.place == Place.QUEUE && waiter.pause()) {
			// until it is let in
		}
		if (waiter.place == Place.QUEUE) {
			giveUp(waiter);
		}
		if (waiter.place == Place.NONE) {
			throw new CannotAcquireLockException("Failed to acquire advisory lock '" + key
					+ "': this application holds " + this.limit
					+ " already, and 'advisory-lock.max-held-locks' keeps it from filling the lock table of the server");
		}
		return waiter.place == Place.INSIDE;
	}

	private synchronized void arrive(Waiter waiter, AdvisoryLockKey key, boolean unlessHeld) {
		HoldsOfKey first = new HoldsOfKey();
		HoldsOfKey known = this.keys.putIfAbsent(key, first);
		if (known == null && this.count < this.limit) {
			this.count++;
			first.inside.add(waiter.hold);
			waiter.place = Place.INSIDE;
		}
		else {
			arrive(waiter, (known != null) ? known : first, unlessHeld);
		}
	}

	private void arrive(Waiter waiter, HoldsOfKey holds, boolean unlessHeld) {
		if (unlessHeld && holds.isHeldByThisThread()) {
			return;
		}
		if (holds.isBusy(waiter.hold)) {
			waiter.queue(holds);
		}
		else {
			letIn(waiter, holds);
			removeIfEmpty(waiter.hold.key(), holds);
		}
	}

	private synchronized void giveUp(Waiter waiter) {
		HoldsOfKey holds = this.keys.get(waiter.hold.key());
		if (waiter.place == Place.QUEUE && holds != null) {
			waiter.place = Place.ELSEWHERE;
			holds.queue.remove(waiter);
			letNextIn(waiter.hold.key(), holds);
		}
	}

	/**
	 * Remove a hold whose lock was released, lost, or never taken. May be repeated.
	 */
	void leave(Hold hold) {
		hold.release();
		AdvisoryLockKey key = hold.key();
		synchronized (this) {
			HoldsOfKey holds = this.keys.get(key);
			if (holds != null && holds.inside.remove(hold)) {
				this.count--;
				letNextIn(key, holds);
			}
		}
		if (!this.whenIdle.isEmpty()) {
			runIfIdle();
		}
	}

	private void letNextIn(AdvisoryLockKey key, HoldsOfKey holds) {
		Waiter next = holds.queue.peek();
		while (next != null && holds.lets(next.hold)) {
			holds.queue.remove();
			letIn(next, holds);
			LockSupport.unpark(next.thread);
			next = holds.queue.peek();
		}
		removeIfEmpty(key, holds);
	}

	private void removeIfEmpty(AdvisoryLockKey key, HoldsOfKey holds) {
		if (holds.inside.isEmpty() && holds.queue.isEmpty()) {
			this.keys.remove(key);
		}
	}

	private void letIn(Waiter waiter, HoldsOfKey holds) {
		if (this.count >= this.limit) {
			waiter.place = Place.NONE;
			return;
		}
		this.count++;
		holds.inside.add(waiter.hold);
		waiter.place = Place.INSIDE;
	}

	synchronized boolean isHeldByThisThread(AdvisoryLockKey key) {
		HoldsOfKey holds = this.keys.get(key);
		return holds != null && holds.isHeldByThisThread();
	}

	/**
	 * Return the locks of the key of a hold that other holds have.
	 */
	synchronized Set<AdvisoryLockKey> takenByOthers(Hold hold) {
		HoldsOfKey holds = this.keys.get(hold.key());
		return (holds != null) ? holds.inside.stream()
			.filter((other) -> other != hold)
			.flatMap((other) -> Stream.ofNullable(other.taken()))
			.collect(Collectors.toSet()) : Set.of();
	}

	/**
	 * Run an action once no call is under way, at once if none is. Not waited for are
	 * calls of the current thread, of threads that wait for the JVM to exit, and locks
	 * that were handed over to a holder: they would wait for whoever waits for the
	 * action.
	 */
	void whenIdle(Runnable action) {
		this.whenIdle.add(new IdleAction(Thread.currentThread(), action));
		runIfIdle();
	}

	private void runIfIdle() {
		List<Hold> calls = find((hold) -> !hold.isHandedOver() && !LockThread.waitsForExit(hold.owner));
		for (IdleAction idle : List.copyOf(this.whenIdle)) {
			if (calls.stream().allMatch((call) -> call.owner == idle.waiting) && this.whenIdle.remove(idle)) {
				idle.action.run();
			}
		}
	}

	/**
	 * Return the holds that have lasted for longer than that. Each is returned once.
	 */
	List<Hold> takeHeldLonger(Duration duration) {
		return find((hold) -> hold.heldFor().compareTo(duration) > 0 && hold.report());
	}

	/**
	 * Return the holds of a scope that have lasted for longer than that.
	 */
	List<Hold> heldLonger(LockScope scope, Duration duration) {
		return find((hold) -> hold.scope() == scope && hold.heldFor().compareTo(duration) > 0);
	}

	/**
	 * Return the holds of what the server locks for a key.
	 * @param entry the key, as the lock table of the server has it
	 */
	List<Hold> of(String entry) {
		return find((hold) -> PostgresAdvisoryLockFunctions.entry(hold.lock()).equals(entry));
	}

	/**
	 * Return what is done under a key, once for each hold that has the lock or a permit.
	 * @param entry the key, as the lock table of the server has it
	 */
	List<Run.Stack> stacks(String entry) {
		return find((hold) -> PostgresAdvisoryLockFunctions.entry(hold.key()).equals(entry)).stream()
			.filter((hold) -> hold.isHandedOver() || hold.run() != null)
			.map((hold) -> Run.now(hold.run(), hold.backend()))
			.toList();
	}

	/**
	 * Return any hold, or empty if there is none.
	 */
	Optional<Hold> any() {
		return find((hold) -> true).stream().findFirst();
	}

	/**
	 * Return the keys of all holds, each once.
	 */
	synchronized List<AdvisoryLockKey> keys() {
		return this.keys.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().inside.isEmpty())
			.map(Map.Entry::getKey)
			.toList();
	}

	/**
	 * Return whether there is any hold of a scope.
	 */
	boolean has(LockScope scope) {
		return !find((hold) -> hold.scope() == scope).isEmpty();
	}

	private synchronized List<Hold> find(Predicate<Hold> condition) {
		return this.keys.values().stream().flatMap((holds) -> holds.inside.stream()).filter(condition).toList();
	}

	synchronized int size() {
		return this.count;
	}

	/**
	 * What is to be done once no call is under way, and who waits for that.
	 */
	private record IdleAction(Thread waiting, Runnable action) {
	}

	/**
	 * Those who hold a key, and those who wait for it.
	 */
	private static final class HoldsOfKey {

		private final List<Hold> inside = new ArrayList<>(1);

		private final Deque<Waiter> queue = new ArrayDeque<>(0);

		/**
		 * Return whether a newcomer has to wait. A thread that shares the key already
		 * does not wait behind somebody who waits for that thread.
		 */
		private boolean isBusy(Hold newcomer) {
			return !lets(newcomer) || (!this.queue.isEmpty() && !isHeldByThisThread());
		}

		/**
		 * Those inside are all exclusive, or all shared. Of exclusive ones as many are
		 * let in as the newcomer has permits, whether or not they have got one yet.
		 */
		private boolean lets(Hold newcomer) {
			if (this.inside.isEmpty()) {
				return true;
			}
			boolean shared = this.inside.get(0).mode == LockMode.SHARED;
			return (newcomer.mode == LockMode.SHARED) ? shared : !shared && this.inside.size() < newcomer.permits;
		}

		private boolean isHeldByThisThread() {
			return this.inside.stream().anyMatch((hold) -> hold.owner == Thread.currentThread());
		}

	}

	/**
	 * A thread that is to enter its hold, and may wait for that.
	 */
	private static final class Waiter {

		private final Hold hold;

		private final @Nullable Deadline deadline;

		private final Thread thread = Thread.currentThread();

		private volatile Place place = Place.ELSEWHERE;

		private Waiter(Hold hold, @Nullable Deadline deadline) {
			this.hold = hold;
			this.deadline = deadline;
		}

		/**
		 * Others would have to wait behind somebody who does not wait.
		 */
		private void queue(HoldsOfKey holds) {
			if (this.deadline != null) {
				this.place = Place.QUEUE;
				holds.queue.add(this);
			}
		}

		private boolean pause() {
			return this.deadline != null && this.deadline.pause(Long.MAX_VALUE);
		}

	}

	private enum Place {

		/**
		 * Waits.
		 */
		QUEUE,

		/**
		 * Was let in.
		 */
		INSIDE,

		/**
		 * Was next, but the limit is reached.
		 */
		NONE,

		/**
		 * Does not wait, or has another hold.
		 */
		ELSEWHERE

	}

}
