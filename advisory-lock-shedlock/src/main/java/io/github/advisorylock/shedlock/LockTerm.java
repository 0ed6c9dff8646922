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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.util.concurrent.Future;

import io.github.advisorylock.HeldLock;
import org.jspecify.annotations.Nullable;

/**
 * The time for which somebody has a lock, however often it is extended. It ends when the
 * lock is unlocked or lost, or with {@code lockAtMostFor}: then the lock is given up.
 */
final class LockTerm {

	private static final Duration LONGEST = Duration.ofDays(36_500);

	private final HeldLock lock;

	private final KeptKeys keptKeys;

	private final TermKeeper keeper;

	private volatile KeptKeys.Promise promise;

	private @Nullable Future<?> alarm;

	private long deadline;

	private boolean over;

	/**
	 * Create a term of a lock that was just taken.
	 * @param promise what is promised for the time after it
	 */
	LockTerm(HeldLock lock, KeptKeys keptKeys, KeptKeys.Promise promise, TermKeeper keeper) {
		this.lock = lock;
		this.keptKeys = keptKeys;
		this.promise = promise;
		this.keeper = keeper;
	}

	/**
	 * Begin.
	 * @param atMost how long the term is at most
	 */
	void begin(Duration atMost) {
		prolong(atMost);
		this.lock.onLost(this::finish);
	}

	/**
	 * Begin anew, now.
	 * @return whether the lock is still held, and nobody else was faster
	 */
	boolean extend(Duration atMost, Duration atLeast) {
		if (!isRunning()) {
			return false;
		}
		if (!atLeast.isZero() || this.promise.made()) {
			KeptKeys.Promise next = this.keptKeys.keep(this.lock.key(), atLeast, this.promise);
			if (next == null) {
				// somebody else has had the lock since
				if (finish()) {
					this.keeper.giveUp(this.lock);
				}
				return false;
			}
			this.promise = next;
		}
		return prolong(atMost);
	}

	private boolean isRunning() {
		expire();
		synchronized (this) {
			return !this.over && this.lock.isHeld();
		}
	}

	private synchronized boolean prolong(Duration atMost) {
		if (this.over) {
			return false;
		}
		Duration time = (atMost.compareTo(LONGEST) < 0) ? atMost : LONGEST;
		this.deadline = System.nanoTime() + time.toNanos();
		if (this.alarm != null) {
			this.alarm.cancel(false);
		}
		this.alarm = this.keeper.schedule(this::expire, time);
		return true;
	}

	/**
	 * End in order.
	 */
	void end() {
		if (finish()) {
			long remaining = this.promise.remaining();
			if (remaining > 0) {
				this.keeper.releaseLater(this.lock, Duration.ofNanos(remaining));
			}
			else {
				this.keeper.release(this.lock);
			}
		}
	}

	private void expire() {
		if (finishIfDue()) {
			this.keeper.giveUp(this.lock);
		}
	}

	private synchronized boolean finishIfDue() {
		return System.nanoTime() - this.deadline >= 0 && finish();
	}

	/**
	 * End, if that has not been done before.
	 * @return whether it has not
	 */
	private synchronized boolean finish() {
		if (this.over) {
			return false;
		}
		this.over = true;
		if (this.alarm != null) {
			this.alarm.cancel(false);
		}
		return true;
	}

}
