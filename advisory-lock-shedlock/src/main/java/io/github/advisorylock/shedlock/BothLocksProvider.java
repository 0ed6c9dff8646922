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
import java.util.Optional;

import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Takes an advisory lock and the lock of another provider: for instances that run beside
 * some which know only one of the two.
 */
class BothLocksProvider implements LockProvider {

	private static final Duration FOREVER = Duration.ofDays(36_500);

	private final LockProvider advisory;

	private final LockProvider other;

	private BothLocksProvider(LockProvider advisory, LockProvider other) {
		this.advisory = advisory;
		this.other = other;
	}

	/**
	 * Create a provider that can extend its locks if the other one can.
	 */
	static LockProvider of(LockProvider advisory, LockProvider other) {
		return (other instanceof ExtensibleLockProvider) ? new Extensible(advisory, other)
				: new BothLocksProvider(advisory, other);
	}

	/**
	 * Take the advisory lock first, which promises nothing for later until the other one
	 * is there, too.
	 */
	@Override
	public final Optional<SimpleLock> lock(LockConfiguration configuration) {
		Duration atMost = atMost(configuration.getLockAtMostFor());
		Optional<SimpleLock> first = this.advisory
			.lock(new LockConfiguration(ClockProvider.now(), configuration.getName(), atMost, Duration.ZERO));
		return first.flatMap((lock) -> add(lock, atMost, configuration));
	}

	/**
	 * Return for how long the advisory lock is held at most. A lock that others keep
	 * alive lasts until it is unlocked.
	 */
	Duration atMost(Duration lockAtMostFor) {
		return FOREVER;
	}

	private Optional<SimpleLock> add(SimpleLock first, Duration atMost, LockConfiguration configuration) {
		Optional<SimpleLock> second = Optional.empty();
		Optional<SimpleLock> both = Optional.empty();
		try {
			second = this.other.lock(configuration);
			if (second.isPresent()) {
				both = promise(first, second.get(), atMost, configuration.getLockAtLeastFor());
			}
		}
		finally {
			if (both.isEmpty()) {
				unlock(first, second);
			}
		}
		return both;
	}

	private static Optional<SimpleLock> promise(SimpleLock first, SimpleLock second, Duration atMost,
			Duration atLeast) {
		Optional<SimpleLock> promised = atLeast.isZero() ? Optional.of(first) : first.extend(atMost, atLeast);
		return promised.map((lock) -> new BothLocks(lock, second));
	}

	private static void unlock(SimpleLock first, Optional<SimpleLock> second) {
		try {
			second.ifPresent(SimpleLock::unlock);
		}
		finally {
			first.unlock();
		}
	}

	/**
	 * One whose locks can be extended, and end with {@code lockAtMostFor}.
	 */
	private static final class Extensible extends BothLocksProvider implements ExtensibleLockProvider {

		private Extensible(LockProvider advisory, LockProvider other) {
			super(advisory, other);
		}

		@Override
		Duration atMost(Duration lockAtMostFor) {
			return lockAtMostFor;
		}

	}

	/**
	 * The advisory lock, which is released last, and the other one.
	 *
	 * @param first the advisory lock
	 * @param second the other one
	 */
	private record BothLocks(SimpleLock first, SimpleLock second) implements SimpleLock {

		@Override
		public void unlock() {
			BothLocksProvider.unlock(this.first, Optional.of(this.second));
		}

		@Override
		public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
			Optional<SimpleLock> second = this.second.extend(lockAtMostFor, lockAtLeastFor);
			Optional<SimpleLock> first = second.isPresent() ? this.first.extend(lockAtMostFor, lockAtLeastFor)
					: Optional.empty();
			if (first.isEmpty()) {
				second.ifPresent(SimpleLock::unlock);
			}
			return first.map((lock) -> new BothLocks(lock, second.get()));
		}

	}

}
