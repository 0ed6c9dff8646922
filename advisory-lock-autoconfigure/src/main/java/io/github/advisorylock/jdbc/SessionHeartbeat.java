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
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * The heartbeat of a {@link LockSession}: a thread that starts when there is something to
 * watch.
 */
final class SessionHeartbeat implements AutoCloseable {

	private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1,
			new DaemonThreads("advisory-lock-heartbeat"));

	private final long period;

	private final Runnable beat;

	private final AtomicBoolean waiting = new AtomicBoolean();

	private @Nullable Future<?> beating;

	SessionHeartbeat(Duration period, Runnable beat) {
		this.period = period.toMillis();
		this.beat = new GuardedTask("A heartbeat of the session locks failed", beat);
	}

	synchronized void start() {
		if (this.beating == null && !this.executor.isShutdown()) {
			this.beating = this.executor.scheduleWithFixedDelay(this.beat, this.period, this.period,
					TimeUnit.MILLISECONDS);
		}
	}

	/**
	 * Do something soon, unless the same is waiting to be done.
	 */
	void once(Runnable task) {
		if (!this.executor.isShutdown() && this.waiting.compareAndSet(false, true)) {
			this.executor.execute(new GuardedTask("A task for the session locks failed", () -> {
				this.waiting.set(false);
				task.run();
			}));
		}
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
