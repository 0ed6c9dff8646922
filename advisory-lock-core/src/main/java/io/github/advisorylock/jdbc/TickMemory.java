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
import java.time.Instant;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

/**
 * What a run is for that a lock remembers, and how. Requests can't have keys with the
 * names of these locks.
 */
sealed interface TickMemory {

	/**
	 * Return what a request is for.
	 * @return the memory, {@code null} if the request is for nothing that a lock
	 * remembers
	 */
	static @Nullable TickMemory of(AdvisoryLockKey key, LockRequest request) {
		Instant tick = request.tick();
		Duration time = request.memory();
		RequestDetail.Interval interval = RequestDetail.Interval.of(request);
		return (interval != null) ? new OfInterval(key, interval)
				: (tick != null && time != null) ? new OfTick(key, tick, time) : null;
	}

	/**
	 * Return the key of the lock of a tick.
	 * @param key the key of the work
	 * @param tick the planned time
	 */
	static AdvisoryLockKey key(AdvisoryLockKey key, Instant tick) {
		return AdvisoryLockKey.of(key.namespace(), "advisory-lock:tick:" + key.name() + "@" + tick);
	}

	/**
	 * Return the key of the lock.
	 */
	AdvisoryLockKey lock();

	/**
	 * Return the outcome of a call while a run is remembered.
	 */
	LockOutcome outcome();

	/**
	 * Return until when a run is remembered that comes to a good end.
	 * @param beginNanos when its work began
	 * @param endNanos when it ended
	 */
	long end(long beginNanos, long endNanos);

	/**
	 * Return whether a run is forgotten as soon as its time is over, and not at the next
	 * look.
	 */
	boolean endsOnTime();

	/**
	 * Return how long a call waits at most for the end of what its own application
	 * remembers.
	 */
	Duration longestWait();

	/**
	 * Alert that a run can't be remembered.
	 */
	void unremembered(String reason);

	/**
	 * A planned time, of which there is one on all instances.
	 */
	record OfTick(AdvisoryLockKey key, Instant tick, Duration time) implements TickMemory {

		@Override
		public AdvisoryLockKey lock() {
			return TickMemory.key(this.key, this.tick);
		}

		@Override
		public LockOutcome outcome() {
			return LockOutcome.ALREADY_RAN;
		}

		@Override
		public long end(long beginNanos, long endNanos) {
			return endNanos + this.time.toNanos();
		}

		@Override
		public boolean endsOnTime() {
			return false;
		}

		@Override
		public Duration longestWait() {
			return Duration.ZERO;
		}

		@Override
		public void unremembered(String reason) {
			LockLog.unremembered(this.key, this.tick, reason);
		}

	}

	/**
	 * The interval of a timer, which each instance has for itself. Each schedule has a
	 * lock of its own, so that the longer of two does not keep the other one from its
	 * runs. Instances may have different lengths for a schedule: that of the instance
	 * that ran says how long the run is remembered.
	 */
	record OfInterval(AdvisoryLockKey key, RequestDetail.Interval interval) implements TickMemory {

		/**
		 * The wait is on the thread of a scheduler, which others may need.
		 */
		private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

		@Override
		public AdvisoryLockKey lock() {
			return AdvisoryLockKey.of(this.key.namespace(),
					"advisory-lock:interval:" + this.key.name() + "@" + this.interval.schedule());
		}

		@Override
		public LockOutcome outcome() {
			return LockOutcome.TOO_SOON;
		}

		@Override
		public long end(long beginNanos, long endNanos) {
			long from = switch (this.interval.counted()) {
				case FROM_BEGIN -> beginNanos;
				case FROM_END -> endNanos;
			};
			return from + this.interval.memory().toNanos();
		}

		@Override
		public boolean endsOnTime() {
			return true;
		}

		@Override
		public Duration longestWait() {
			Duration half = this.interval.length().dividedBy(2);
			return (half.compareTo(LONGEST_WAIT) < 0) ? half : LONGEST_WAIT;
		}

		@Override
		public void unremembered(String reason) {
			LockLog.unremembered(this.key, this.interval, reason);
		}

	}

}
