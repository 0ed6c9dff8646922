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

package io.github.advisorylock.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

/**
 * Calls the tasks of one instance in virtual time, as the scheduler of Spring Boot calls
 * them: on so many threads, so that a task which lasts keeps others waiting.
 */
final class VirtualTaskScheduler implements TaskScheduler {

	private static final Log logger = LogFactory.getLog(VirtualTaskScheduler.class);

	private final VirtualTime time;

	private final FleetInstance instance;

	private final Deque<Task> due = new ArrayDeque<>();

	/**
	 * Those whose stack trace was logged: in an outage of a day there are thousands.
	 */
	private final Set<Class<?>> failures = new HashSet<>();

	private int threads = 1;

	private int running;

	/**
	 * Create a scheduler.
	 * @param instance whose it is, and whose clock it has
	 */
	VirtualTaskScheduler(VirtualTime time, FleetInstance instance) {
		this.time = time;
		this.instance = instance;
	}

	void setThreads(int threads) {
		this.threads = threads;
	}

	/**
	 * Return whether any task is being called.
	 */
	boolean isRunning() {
		return this.running > 0;
	}

	@Override
	public Clock getClock() {
		return this.instance.clock();
	}

	@Override
	public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
		SimpleTriggerContext context = new SimpleTriggerContext(getClock());
		Task triggered = new Task(task) {

			private @Nullable Instant planned;

			@Override
			@Nullable Instant next(@Nullable Instant began, @Nullable Instant ended) {
				if (began != null && ended != null) {
					context.update(this.planned, began.plus(VirtualTaskScheduler.this.instance.skew()),
							ended.plus(VirtualTaskScheduler.this.instance.skew()));
				}
				this.planned = trigger.nextExecution(context);
				return (this.planned != null) ? byTrueTime(this.planned) : null;
			}

		};
		return triggered.planned(null, null) ? triggered : null;
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
		return repeat(task, startTime, null, false);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
		return repeat(task, startTime, period, false);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
		return scheduleAtFixedRate(task, getClock().instant(), period);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
		return repeat(task, startTime, delay, true);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
		return scheduleWithFixedDelay(task, getClock().instant(), delay);
	}

	private Task repeat(Runnable task, Instant start, @Nullable Duration period, boolean fromEnd) {
		Task repeated = new Task(task) {

			private @Nullable Instant planned;

			@Override
			@Nullable Instant next(@Nullable Instant began, @Nullable Instant ended) {
				Instant last = fromEnd ? ended : this.planned;
				this.planned = (last != null) ? ((period != null) ? last.plus(period) : null) : byTrueTime(start);
				return this.planned;
			}

		};
		repeated.planned(null, null);
		return repeated;
	}

	/**
	 * Return when a time comes that the clock of this instance is to show.
	 */
	private Instant byTrueTime(Instant shown) {
		return shown.minus(this.instance.skew());
	}

	private void begin(Task task) {
		if (this.running >= this.threads) {
			this.due.add(task);
			return;
		}
		this.running++;
		Instant began = this.time.now();
		call(task::call);
		this.running--;
		if (!this.instance.hasEnded()) {
			task.planned(began, this.time.now());
			Task next = this.due.poll();
			if (next != null) {
				this.time.at(this.time.now(), this.instance, () -> begin(next));
			}
		}
		this.instance.taskEnded();
	}

	/**
	 * Have something done without waiting for it, as soon as time passes.
	 */
	void execute(Runnable task) {
		this.instance.asks();
		this.time.at(this.time.now(), this.instance, () -> call(task));
	}

	private void call(Runnable task) {
		try {
			task.run();
		}
		catch (VirtualTime.Vanished ex) {
			throw ex;
		}
		catch (Throwable ex) {
			boolean first = this.failures.add(ex.getClass());
			logger.error("A task of " + this.instance + " failed" + (first ? "" : ": " + ex), first ? ex : null);
		}
	}

	/**
	 * A task, each call of which plans the next.
	 */
	private abstract class Task implements ScheduledFuture<Object> {

		private final Runnable task;

		private VirtualTime.@Nullable Event call;

		private boolean cancelled;

		private Task(Runnable task) {
			this.task = task;
		}

		abstract @Nullable Instant next(@Nullable Instant began, @Nullable Instant ended);

		private void call() {
			if (!this.cancelled && VirtualTaskScheduler.this.instance.mayBegin()) {
				VirtualTaskScheduler.this.instance.call(this.task);
			}
		}

		/**
		 * Plan the next call.
		 * @return whether there is one
		 */
		final boolean planned(@Nullable Instant began, @Nullable Instant ended) {
			Instant next = (this.cancelled || VirtualTaskScheduler.this.instance.number() == Fleet.TEST) ? null
					: next(began, ended);
			this.call = (next != null)
					? VirtualTaskScheduler.this.time.at(next, VirtualTaskScheduler.this.instance, () -> begin(this))
					: null;
			return next != null;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			boolean first = !this.cancelled;
			this.cancelled = true;
			if (this.call != null) {
				VirtualTaskScheduler.this.time.cancel(this.call);
			}
			return first;
		}

		@Override
		public boolean isCancelled() {
			return this.cancelled;
		}

		@Override
		public boolean isDone() {
			return this.cancelled || this.call == null;
		}

		@Override
		public @Nullable Object get() {
			return null;
		}

		@Override
		public @Nullable Object get(long timeout, TimeUnit unit) {
			return null;
		}

		@Override
		public long getDelay(TimeUnit unit) {
			Instant at = (this.call != null) ? this.call.at() : VirtualTaskScheduler.this.time.now();
			return unit.convert(Duration.between(VirtualTaskScheduler.this.time.now(), at));
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

	}

}
