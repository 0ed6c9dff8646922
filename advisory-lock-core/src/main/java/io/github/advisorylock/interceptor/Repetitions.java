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

package io.github.advisorylock.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;

/**
 * Tells the schedules of a task from each other, by a number that they have on all
 * instances, whatever their intervals are there: each has the first one that no other
 * has. A schedule that is made anew, with its bean, comes after it was cancelled.
 */
final class Repetitions {

	/**
	 * What a lambda or an object without a text of its own prints differs from instance
	 * to instance behind the name of its class.
	 */
	private static final Pattern OF_THIS_INSTANCE = Pattern.compile("(\\$\\$Lambda.*|@\\p{XDigit}+)$");

	private final Map<String, List<@Nullable ScheduledFuture<?>>> byTask = new HashMap<>();

	synchronized @Nullable ScheduledFuture<?> add(Runnable task, Duration period, Counted counted,
			Function<RepeatedTask, @Nullable ScheduledFuture<?>> schedule) {
		String name = name(task);
		List<@Nullable ScheduledFuture<?>> others = this.byTask.computeIfAbsent(name, (added) -> new ArrayList<>());
		int number = 0;
		while (number < others.size() && isLive(others.get(number))) {
			number++;
		}
		RequestDetail.Interval interval = new RequestDetail.Interval(period, counted, String.valueOf(number));
		ScheduledFuture<?> future = schedule.apply(new RepeatedTask(task, interval, name));
		if (number < others.size()) {
			others.set(number, future);
		}
		else {
			others.add(future);
		}
		return future;
	}

	static String name(Runnable task) {
		return OF_THIS_INSTANCE.matcher(task.toString()).replaceFirst("");
	}

	private static boolean isLive(@Nullable ScheduledFuture<?> future) {
		return future != null && !future.isCancelled();
	}

	/**
	 * A task that knows how often it is called.
	 */
	static final class RepeatedTask extends CarryingTask {

		private final RequestDetail.Interval interval;

		private final String name;

		private @Nullable Changing changing;

		private RepeatedTask(Runnable task, RequestDetail.Interval interval, String name) {
			super(task);
			this.interval = interval;
			this.name = name;
		}

		/**
		 * Have the task follow changes of its interval.
		 */
		ScheduledFuture<?> changing(ScheduledTicks schedule, ScheduledFuture<?> future, TaskScheduler scheduler,
				Instant start) {
			Changing changing = new Changing(this, schedule, future, scheduler, start);
			this.changing = changing;
			if (!schedule.changes().all().isEmpty()) {
				changing.changed();
			}
			return changing.call;
		}

		@Override
		public void run() {
			Changing changing = this.changing;
			if (changing == null) {
				PlannedTime.run(this.interval, this.name, task());
				return;
			}
			RequestDetail.Interval holding = changing.begin();
			try {
				PlannedTime.run(holding, this.name, task());
			}
			finally {
				changing.end();
			}
		}

	}

	/**
	 * Plans the calls of a task with an interval one by one, once that was changed.
	 */
	private static final class Changing {

		private final RepeatedTask task;

		private final ScheduledTicks schedule;

		private final TaskScheduler scheduler;

		private final ReplannedCall call;

		/**
		 * What the call that waits, or is under way, was planned for.
		 */
		private Instant planned;

		/**
		 * What the next time is counted from.
		 */
		private Instant last;

		private boolean running;

		private boolean oneByOne;

		private Changing(RepeatedTask task, ScheduledTicks schedule, ScheduledFuture<?> future, TaskScheduler scheduler,
				Instant start) {
			this.task = task;
			this.schedule = schedule;
			this.scheduler = scheduler;
			this.planned = start;
			this.last = start.minus(task.interval.length());
			this.call = new ReplannedCall(future, schedule, (call) -> changed());
		}

		private synchronized void changed() {
			this.oneByOne = true;
			if (!this.running) {
				plan();
			}
		}

		private synchronized RequestDetail.Interval begin() {
			this.running = true;
			Instant now = this.scheduler.getClock().instant();
			this.last = this.oneByOne ? this.planned : now;
			CronTicks.Change holding = this.schedule.changes().at(this.last);
			return (holding != null) ? holding.intervalOf(this.task.interval) : this.task.interval;
		}

		private synchronized void end() {
			this.running = false;
			if (this.task.interval.counted() == Counted.FROM_END) {
				this.last = this.scheduler.getClock().instant();
			}
			if (this.oneByOne) {
				plan();
			}
		}

		/**
		 * A scheduler that is shut down takes no more.
		 */
		private void plan() {
			Instant now = this.scheduler.getClock().instant();
			Instant next = this.schedule.changes().next(this.last, this.task.interval.length());
			this.planned = next.isBefore(now) ? now : next;
			try {
				this.call.replace(() -> this.scheduler.schedule(this.task, this.planned));
			}
			catch (TaskRejectedException ex) {
				this.call.cancel(false);
			}
		}

	}

}
