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
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Ends what templates do at shutdown, in phases of which each is one of these.
 *
 * @since 0.1.0
 */
public final class LockLifecycle implements SmartLifecycle {

	private static final int BEGIN = Integer.MAX_VALUE;

	private static final int END = Integer.MIN_VALUE;

	private final int phase;

	private final Collection<PostgresAdvisoryLockTemplate> templates;

	private final @Nullable Time time;

	private final ReentrantLock changing = new ReentrantLock();

	private volatile boolean running;

	private LockLifecycle(int phase, Collection<PostgresAdvisoryLockTemplate> templates, @Nullable Time time) {
		this.phase = phase;
		this.templates = templates;
		this.time = time;
	}

	/**
	 * Return what notes when a shutdown begins.
	 * @param time the time of the shutdown
	 * @return what is stopped before all else
	 */
	public static LockLifecycle ofTime(Time time) {
		return new LockLifecycle(BEGIN, List.of(), time);
	}

	/**
	 * Return what lets no call wait for a busy lock at shutdown, after requests have had
	 * their time and before schedulers and executors begin to wait for their tasks.
	 * @param templates the templates
	 * @return the first phase
	 */
	public static LockLifecycle ofWaits(Collection<PostgresAdvisoryLockTemplate> templates) {
		return new LockLifecycle(ExecutorConfigurationSupport.DEFAULT_PHASE + 1024, templates, null);
	}

	/**
	 * Return what gives runs that are under way at shutdown the time to end that earlier
	 * phases have left, after everything that starts runs was stopped and before
	 * connections are closed. Closes the connections of session locks when they have
	 * ended.
	 * @param templates the templates
	 * @param time the time of the shutdown
	 * @return the last phase to stop
	 */
	public static LockLifecycle ofRuns(Collection<PostgresAdvisoryLockTemplate> templates, Time time) {
		return new LockLifecycle(END, templates, time);
	}

	private static void whenIdle(Collection<PostgresAdvisoryLockTemplate> templates, Runnable callback) {
		AtomicInteger busy = new AtomicInteger(templates.size());
		templates.forEach((template) -> template.whenIdle(() -> {
			if (busy.decrementAndGet() == 0) {
				callback.run();
			}
		}));
	}

	@Override
	public void start() {
		this.changing.lock();
		try {
			this.running = true;
			if (this.time != null && this.phase == BEGIN) {
				this.time.begun = null;
			}
			this.templates.forEach((this.phase == END) ? PostgresAdvisoryLockTemplate::resume
					: PostgresAdvisoryLockTemplate::resumeWaiting);
		}
		finally {
			this.changing.unlock();
		}
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	@Override
	public void stop(Runnable callback) {
		this.running = false;
		Runnable ended = () -> {
			end();
			callback.run();
		};
		if (this.time != null && this.phase == END) {
			whenIdle(this.templates, this.time.limit(ended));
			return;
		}
		if (this.time != null) {
			this.time.begun = this.time.ticker.nanoTime();
		}
		this.templates.forEach(PostgresAdvisoryLockTemplate::stopWaiting);
		ended.run();
	}

	/**
	 * The last run may have ended so late that everything was started again.
	 */
	private void end() {
		this.changing.lock();
		try {
			if (!this.running && this.phase == END) {
				this.templates.forEach(PostgresAdvisoryLockTemplate::suspend);
			}
		}
		finally {
			this.changing.unlock();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return this.phase;
	}

	/**
	 * The time that work has to end at shutdown, from the begin of the shutdown: phases
	 * that wait for work one after the other share it.
	 */
	public static final class Time {

		private final Duration length;

		private final LockScheduler scheduler;

		private final LockScheduler.Ticker ticker;

		private volatile @Nullable Long begun;

		/**
		 * Create a time that has not begun.
		 * @param length how long it is
		 * @param threads has the clock, and the workers
		 */
		public Time(Duration length, LockScheduler.Threads threads) {
			this.length = length;
			this.ticker = threads.ticker();
			this.scheduler = LockScheduler.atOnce(threads);
		}

		/**
		 * Have something done once: when it is run, or when the time is over.
		 * @param action what to do; may wait
		 * @return what does it
		 */
		public Runnable limit(Runnable action) {
			Long begun = this.begun;
			long passed = (begun != null) ? this.ticker.nanoTime() - begun : 0;
			FutureTask<Boolean> once = new FutureTask<>(action, true);
			Future<?> end = this.scheduler.after(this.length.minusNanos(passed),
					new SafeTask("Failed to end a phase of the shutdown", once));
			return () -> {
				end.cancel(false);
				once.run();
			};
		}

	}

}
