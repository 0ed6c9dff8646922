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

package io.github.advisorylock.jdbc.thread;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The end of a wait, by the monotonic clock: setting the computer's clock changes
 * nothing.
 *
 * @since 0.1.0
 */
public final class Deadline {

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private final long nanos;

	private final Waits all;

	private Deadline(Duration waitFor, Waits all) {
		this.all = all;
		this.nanos = all.ticker.nanoTime() + saturatedNanos(waitFor);
	}

	/**
	 * Try again until this deadline, with pauses that grow, and vary, so that those who
	 * wait for one thing do not ask at one time. After an interrupt, whose flag stays
	 * set, there is no other attempt.
	 * @param <T> the type of an answer
	 * @param undecided what an attempt answers that is to be repeated
	 * @param attempt the attempt
	 * @return the last answer
	 */
	public <T> T pollWhile(T undecided, Supplier<T> attempt) {
		T answer = undecided;
		long begun = this.all.ticker.nanoTime();
		long pause = SHORTEST_PAUSE;
		while (answer.equals(undecided) && pause(this.all.ticker.random(pause / 2, pause))) {
			answer = attempt.get();
			pause = longestPause(this.all.ticker.nanoTime() - begun);
		}
		return answer;
	}

	/**
	 * Return how long the next pause of a wait may be: what comes on top of a wait is
	 * small beside it, and who waits for long asks seldom.
	 * @param waitedNanos how long that is already
	 */
	static long longestPause(long waitedNanos) {
		return Math.min(Math.max(waitedNanos / 4, SHORTEST_PAUSE), LONGEST_PAUSE);
	}

	/**
	 * Return whether there is anything left of the wait.
	 * @return whether it may go on
	 */
	public boolean isAhead() {
		return remainingNanos() > 0;
	}

	/**
	 * Pause the current thread, but not beyond this deadline.
	 * @param pauseNanos for how long
	 * @return {@code false} when the wait is over; after an interrupt, whose flag stays
	 * set, it is
	 */
	public boolean pause(long pauseNanos) {
		long remaining = remainingNanos();
		if (remaining <= 0 || Thread.currentThread().isInterrupted()) {
			return false;
		}
		this.all.park(this, Math.min(pauseNanos, remaining));
		return !Thread.currentThread().isInterrupted();
	}

	private long remainingNanos() {
		return !this.all.over ? Math.max(0, this.nanos - this.all.ticker.nanoTime()) : 0;
	}

	private static long saturatedNanos(Duration duration) {
		// a century is long enough, and does not overflow
		Duration longest = Duration.ofDays(36_500);
		return ((duration.compareTo(longest) < 0) ? duration : longest).toNanos();
	}

	/**
	 * The waits of an application, which end all together when it stops.
	 */
	public static final class Waits {

		private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

		private final LockScheduler.Ticker ticker;

		private volatile boolean over;

		/**
		 * Create what has all waits of an application.
		 * @param ticker the clock
		 */
		public Waits(LockScheduler.Ticker ticker) {
			this.ticker = ticker;
		}

		/**
		 * Return the end of a wait that begins now.
		 * @param waitFor how long it may be
		 * @return the end, {@code null} where there is nothing to wait for
		 */
		public @Nullable Deadline until(Duration waitFor) {
			return waitFor.isZero() ? null : new Deadline(waitFor, this);
		}

		/**
		 * Park the current thread unless no wait is allowed.
		 */
		private void park(Object blocker, long nanos) {
			this.waiting.add(Thread.currentThread());
			try {
				if (!this.over) {
					this.ticker.park(blocker, nanos);
				}
			}
			finally {
				this.waiting.remove(Thread.currentThread());
			}
		}

		/**
		 * End all waits, and those to come as soon as they begin.
		 */
		public void end() {
			this.over = true;
			this.waiting.forEach(LockSupport::unpark);
		}

		/**
		 * Let waits begin again.
		 */
		public void allow() {
			this.over = false;
		}

	}

}
