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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockMode;
import org.jspecify.annotations.Nullable;

/**
 * The locks that all instances of an application hold in memory.
 */
final class HoldTable {

	private final List<InMemoryHold> holds = new ArrayList<>();

	private final Consumer<? super LockLostEvent> lost;

	private final @Nullable VirtualTime time;

	/**
	 * Create a table.
	 * @param lost is told of each lock that is lost
	 * @param time the time to go by, {@code null} for that of the machine
	 */
	HoldTable(Consumer<? super LockLostEvent> lost, @Nullable VirtualTime time) {
		this.lost = lost;
		this.time = time;
	}

	void lost(LockLostEvent event) {
		this.lost.accept(event);
	}

	/**
	 * Have a thread notice its interrupt.
	 */
	void interrupted(Thread thread) {
		if (this.time != null) {
			this.time.wake(thread);
		}
	}

	/**
	 * Take a lock, waiting for it if need be.
	 * @param nanos how long to wait at most
	 * @return whether it was taken; an interrupt ends the wait, and its flag stays set
	 */
	boolean enter(InMemoryHold hold, long nanos) {
		if (this.time != null) {
			return await(this.time, hold, Duration.ofNanos(nanos), (other) -> true) && this.holds.add(hold);
		}
		try {
			return enterUntil(hold, System.nanoTime() + nanos);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private synchronized boolean enterUntil(InMemoryHold hold, long end) throws InterruptedException {
		while (!takeFree(hold, (other) -> true)) {
			long left = end - System.nanoTime();
			if (left <= 0) {
				return false;
			}
			TimeUnit.NANOSECONDS.timedWait(this, left);
		}
		return this.holds.add(hold);
	}

	/**
	 * Wait in virtual time until no other hold of the same instance excludes a hold.
	 * @return whether none does
	 */
	boolean awaitOwn(InMemoryHold hold, Duration wait) {
		return this.time == null || await(this.time, hold, wait, hold::isOf);
	}

	/**
	 * Return how many locks the instance of a hold has.
	 */
	synchronized long count(InMemoryHold hold) {
		return this.holds.stream().filter(hold::isOf).count();
	}

	private boolean await(VirtualTime time, InMemoryHold hold, Duration wait, Predicate<InMemoryHold> others) {
		Instant latest = time.now().plus(wait);
		while (!takeFree(hold, others)) {
			if (!time.now().isBefore(latest)) {
				return false;
			}
			time.awaitRelease(latest, hold.process());
		}
		return true;
	}

	private boolean takeFree(InMemoryHold hold, Predicate<InMemoryHold> others) {
		List<InMemoryHold> those = this.holds.stream().filter(others).toList();
		return IntStream.rangeClosed(1, hold.permits())
			.mapToObj(hold.key()::permit)
			.filter((lock) -> !isExcluded(lock, hold, those))
			.findFirst()
			.map(hold::take)
			.isPresent();
	}

	/**
	 * A lost lock excludes calls of its own instance as long as its run goes on.
	 */
	private static boolean isExcluded(AdvisoryLockKey lock, InMemoryHold hold, List<InMemoryHold> others) {
		return others.stream()
			.filter((other) -> other.lock().equals(lock) && (other.isHeld() || other.isOf(hold)))
			.anyMatch((other) -> hold.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE);
	}

	/**
	 * Note that others can have a lock.
	 */
	synchronized void lost() {
		notifyAll();
		if (this.time != null) {
			this.time.released();
		}
	}

	/**
	 * Give a lock back. May be repeated.
	 */
	synchronized void leave(InMemoryHold hold) {
		if (this.holds.remove(hold)) {
			lost();
		}
	}

	/**
	 * Return whether a lock is held, of a key with several permits that of one of them.
	 */
	boolean isHeld(AdvisoryLockKey lock) {
		return all().stream().anyMatch((hold) -> hold.lock().equals(lock));
	}

	/**
	 * Return who holds a key, whichever of its permits each has.
	 */
	List<InMemoryHold> holds(AdvisoryLockKey key) {
		return all().stream().filter((hold) -> hold.key().equals(key)).toList();
	}

	synchronized List<InMemoryHold> all() {
		return this.holds.stream().filter(InMemoryHold::isHeld).toList();
	}

}
