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

import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * What is handed over when its time has come. Where no thread can be had for it, that is
 * tried again: what recurs would else never do so again.
 */
final class PlannedTask extends FutureTask<@Nullable Void> {

	private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final ScheduledExecutorService timer;

	private final Executor executor;

	private volatile @Nullable Future<?> wait;

	@SuppressWarnings("NullAway") // has no result
	PlannedTask(ScheduledExecutorService timer, Executor executor, Runnable task) {
		super(task, null);
		this.timer = timer;
		this.executor = executor;
	}

	void await(long nanos) {
		this.wait = this.timer.schedule(this::handOver, nanos, TimeUnit.NANOSECONDS);
	}

	private void handOver() {
		try {
			this.executor.execute(this);
		}
		catch (Throwable ex) {
			await(RETRY_NANOS);
		}
	}

	@Override
	protected void done() {
		Future<?> wait = this.wait;
		if (isCancelled() && wait != null) {
			wait.cancel(false);
		}
	}

}
