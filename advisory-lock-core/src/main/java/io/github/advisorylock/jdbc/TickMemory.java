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
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.RequestDetail.Interval;
import org.jspecify.annotations.Nullable;

/**
 * What a run is for that a lock remembers, and how: a planned time, of which there is one
 * on all instances, or the interval of a timer, which each instance has for itself.
 * Requests can't have keys with the names of these locks.
 *
 * @param lock the key of the lock
 * @param outcome the outcome of a call while a run is remembered
 * @param time for how long a run is remembered that comes to a good end
 * @param fromBegin whether that is counted from the begin of its work
 * @param longestWait how long a call waits at most for the end of what its own
 * application remembers
 * @param unremembered alerts that a run can't be remembered, and why
 */
record TickMemory(AdvisoryLockKey lock, LockOutcome outcome, Duration time, boolean fromBegin, Duration longestWait,
		Consumer<String> unremembered) {

	/**
	 * The wait is on the thread of a scheduler, which others may need.
	 */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

	/**
	 * Return what a request is for.
	 * @param key the key of the work
	 * @return the memory, {@code null} if the request is for nothing that a lock
	 * remembers
	 */
	static @Nullable TickMemory of(AdvisoryLockKey key, LockRequest request) {
		Interval interval = Interval.of(request);
		if (interval != null) {
			return of(key, interval);
		}
		Instant tick = request.tick();
		Duration time = request.memory();
		return (tick != null && time != null) ? new TickMemory(key(key, tick), LockOutcome.ALREADY_RAN, time, false,
				Duration.ZERO, (reason) -> LockLog.unremembered(key, tick, reason)) : null;
	}

	/**
	 * Each schedule has a lock of its own, so that the longer of two does not keep the
	 * other one from its runs. Instances may have different lengths for a schedule: that
	 * of the instance that ran says how long the run is remembered.
	 */
	private static TickMemory of(AdvisoryLockKey key, Interval interval) {
		AdvisoryLockKey lock = AdvisoryLockKey.of(key.namespace(),
				"advisory-lock:interval:" + key.name() + "@" + interval.schedule());
		Duration half = interval.length().dividedBy(2);
		return new TickMemory(lock, LockOutcome.TOO_SOON, interval.memory(),
				interval.counted() == Interval.Counted.FROM_BEGIN,
				(half.compareTo(LONGEST_WAIT) < 0) ? half : LONGEST_WAIT,
				(reason) -> LockLog.unremembered(key, interval, reason));
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
	 * Return until when a run is remembered that comes to a good end.
	 * @param beginNanos when its work began
	 * @param endNanos when it ended
	 */
	long end(long beginNanos, long endNanos) {
		return (this.fromBegin ? beginNanos : endNanos) + this.time.toNanos();
	}

	/**
	 * Return whether a run is forgotten as soon as its time is over, as that of an
	 * interval, and not at the next look.
	 */
	boolean endsOnTime() {
		return this.outcome == LockOutcome.TOO_SOON;
	}

}
