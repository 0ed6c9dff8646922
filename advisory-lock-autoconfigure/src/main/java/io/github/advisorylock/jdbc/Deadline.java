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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The end of a wait, by the monotonic clock: setting the computer's clock changes
 * nothing.
 */
final class Deadline {

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private final long nanos;

	private final boolean waits;

	private final LockWaits all;

	/**
	 * Create a deadline.
	 * @param waitFor how long to wait from now on
	 * @param all what the wait is one of
	 */
	Deadline(Duration waitFor, LockWaits all) {
		this.all = all;
		this.waits = !waitFor.isZero();
		this.nanos = this.waits ? System.nanoTime() + saturatedNanos(waitFor) : 0;
	}

	static Deadline after(Duration waitFor) {
		return new LockWaits().until(waitFor);
	}

	/**
	 * Try at once, and again until this deadline, with pauses that grow, and vary, so
	 * that those who wait for one thing do not ask at one time.
	 * @return whether an attempt has succeeded; after an interrupt, whose flag stays set,
	 * there is no other
	 */
	boolean poll(BooleanSupplier attempt) {
		boolean done = attempt.getAsBoolean();
		long pause = SHORTEST_PAUSE;
		while (!done && pause(ThreadLocalRandom.current().nextLong(pause / 2, pause))) {
			done = attempt.getAsBoolean();
			pause = Math.min(pause * 2, LONGEST_PAUSE);
		}
		return done;
	}

	/**
	 * Return whether there is anything left of the wait.
	 */
	boolean isAhead() {
		return remainingNanos() > 0;
	}

	/**
	 * Pause the current thread, but not beyond this deadline.
	 * @return {@code false} when the wait is over; after an interrupt, whose flag stays
	 * set, it is
	 */
	boolean pause(long pauseNanos) {
		long remaining = remainingNanos();
		if (remaining <= 0 || Thread.currentThread().isInterrupted()) {
			return false;
		}
		this.all.park(this, Math.min(pauseNanos, remaining));
		return !Thread.currentThread().isInterrupted();
	}

	private long remainingNanos() {
		return (this.waits && !this.all.areOver()) ? Math.max(0, this.nanos - System.nanoTime()) : 0;
	}

	private static long saturatedNanos(Duration duration) {
		// a century is long enough, and does not overflow
		Duration longest = Duration.ofDays(36_500);
		return ((duration.compareTo(longest) < 0) ? duration : longest).toNanos();
	}

}
