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

package io.github.advisorylock.doctor;

import java.time.Duration;
import java.util.Collection;

import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;

import org.springframework.context.SmartLifecycle;

/**
 * Warns of locks that this instance holds for long, in either scope, once each, while it
 * does. Asks no database.
 *
 * @since 0.1.0
 */
public final class LongHoldWatcher implements SmartLifecycle {

	private static final Duration SHORTEST_PERIOD = Duration.ofMillis(100);

	private static final Duration LONGEST_PERIOD = Duration.ofMinutes(1);

	private final Collection<PostgresAdvisoryLockTemplate> templates;

	private final Duration tooLong;

	private final LockScheduler watch;

	private volatile boolean running;

	/**
	 * Create a watch.
	 * @param templates know what is held
	 * @param tooLong how long is long, zero to not watch
	 * @param threads has the timer
	 */
	public LongHoldWatcher(Collection<PostgresAdvisoryLockTemplate> templates, Duration tooLong,
			LockScheduler.Threads threads) {
		this.templates = templates;
		this.tooLong = tooLong;
		this.watch = LockScheduler.onTimer(threads);
	}

	@Override
	public synchronized void start() {
		this.running = true;
		if (!this.tooLong.isZero()) {
			this.watch.every(period(), period(), new SafeTask("Failed to look for long-holds, will try again",
					() -> this.templates.forEach((template) -> template.reportLongHolds(this.tooLong))));
		}
	}

	@Override
	public synchronized void stop() {
		this.running = false;
		this.watch.stop();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	private Duration period() {
		Duration period = this.tooLong.dividedBy(10);
		return (period.compareTo(SHORTEST_PERIOD) < 0) ? SHORTEST_PERIOD
				: (period.compareTo(LONGEST_PERIOD) > 0) ? LONGEST_PERIOD : period;
	}

}
