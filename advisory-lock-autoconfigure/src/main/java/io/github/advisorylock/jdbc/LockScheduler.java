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
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * One daemon thread for work that recurs, or that nobody is to wait for: it comes with
 * the first task, does one after the other, and goes ten seconds after the last. Who must
 * not wait behind somebody else's work has a scheduler of its own, as the heartbeat has.
 * <p>
 * Spring's task schedulers stop with the phase of their beans; these are needed until the
 * last run has ended.
 *
 * @since 0.1.0
 */
public final class LockScheduler implements Executor, AutoCloseable {

	private static final long KEEP_ALIVE_SECONDS = 10;

	private final ThreadFactory threads;

	private @Nullable ScheduledThreadPoolExecutor executor;

	private @Nullable Future<?> recurring;

	private boolean closed;

	/**
	 * Create a scheduler without a thread.
	 * @param name the name of its thread
	 */
	public LockScheduler(String name) {
		this.threads = threads(name);
	}

	/**
	 * Make daemon threads. They inherit nothing of the thread that happens to need them
	 * first.
	 * @param name the name of the threads
	 * @return what makes them
	 */
	public static ThreadFactory threads(String name) {
		return (task) -> {
			Thread thread = new Thread(null, task, name, 0, false);
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Do something soon.
	 * @param task what to do
	 * @throws RejectedExecutionException if this is closed
	 */
	@Override
	public void execute(Runnable task) {
		executor().execute(task);
	}

	/**
	 * Do something now and then. Does nothing where something recurs already, or this is
	 * closed.
	 * @param delay how long to wait for the first time
	 * @param period how long to wait after each time
	 * @param task what to do
	 */
	public synchronized void every(Duration delay, Duration period, GuardedTask task) {
		if (this.recurring == null && !this.closed) {
			this.recurring = executor().scheduleWithFixedDelay(task, delay.toNanos(), period.toNanos(),
					TimeUnit.NANOSECONDS);
		}
	}

	private synchronized ScheduledThreadPoolExecutor executor() {
		if (this.closed) {
			throw new RejectedExecutionException("The application is shutting down");
		}
		ScheduledThreadPoolExecutor current = this.executor;
		if (current == null) {
			current = new ScheduledThreadPoolExecutor(1, this.threads);
			current.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
			current.allowCoreThreadTimeOut(true);
			this.executor = current;
		}
		return current;
	}

	/**
	 * End what recurs, by an interrupt if it is under way, and the thread when it has
	 * done what else there is. It comes again with the next task.
	 */
	public synchronized void stop() {
		if (this.recurring != null) {
			this.recurring.cancel(true);
			this.recurring = null;
		}
		if (this.executor != null) {
			this.executor.shutdown();
			this.executor = null;
		}
	}

	/**
	 * As {@link #stop()}, for good.
	 */
	@Override
	public synchronized void close() {
		this.closed = true;
		stop();
	}

}
