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
import java.util.concurrent.atomic.AtomicBoolean;

import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

import org.springframework.util.Assert;

/**
 * What the holder of a lock has of it, until it is unlocked or extended. One that could
 * not be extended can still be unlocked: whoever does that in a finally block is not told
 * of another failure than the first.
 */
final class ProvidedLock implements SimpleLock {

	private final String name;

	private final LockTerm term;

	private final AtomicBoolean used = new AtomicBoolean();

	ProvidedLock(String name, LockTerm term) {
		this.name = name;
		this.term = term;
	}

	/**
	 * Unlock. A lock that was lost, or whose time was over, is no error here: whoever is
	 * concerned has been told.
	 */
	@Override
	public void unlock() {
		use();
		this.term.end();
	}

	@Override
	public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
		use();
		boolean extended = false;
		try {
			LockConfiguration times = new LockConfiguration(ClockProvider.now(), this.name, lockAtMostFor,
					lockAtLeastFor);
			extended = this.term.extend(times.getLockAtMostFor(), times.getLockAtLeastFor());
		}
		finally {
			this.used.set(extended);
		}
		return extended ? Optional.of(new ProvidedLock(this.name, this.term)) : Optional.empty();
	}

	private void use() {
		Assert.state(this.used.compareAndSet(false, true),
				() -> "Lock '" + this.name + "' was unlocked or extended before");
	}

}
