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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.jdbc.GuardedTask;
import org.jspecify.annotations.Nullable;

/**
 * Looks after something now and then, on a daemon thread of its own.
 */
final class Watch {

	private final String name;

	private final GuardedTask look;

	private @Nullable ScheduledThreadPoolExecutor executor;

	private @Nullable Future<?> schedule;

	/**
	 * Create a watch that has not begun.
	 * @param name what is watched, for the thread and the log
	 * @param look looks after it
	 */
	Watch(String name, Runnable look) {
		this.name = name;
		this.look = new GuardedTask("Failed to look for " + name + ", will try again", look);
	}

	/**
	 * Begin, with a first look after one period. Does nothing when it has begun.
	 */
	synchronized void start(Duration period) {
		if (this.executor == null) {
			this.executor = new ScheduledThreadPoolExecutor(1, (task) -> {
				Thread thread = new Thread(task, "advisory-lock-watch-" + this.name);
				thread.setDaemon(true);
				return thread;
			});
			this.schedule = this.executor.scheduleWithFixedDelay(this.look, period.toMillis(), period.toMillis(),
					TimeUnit.MILLISECONDS);
		}
	}

	synchronized void stop() {
		if (this.executor != null && this.schedule != null) {
			this.schedule.cancel(true);
			this.executor.shutdown();
			this.executor = null;
		}
	}

}
