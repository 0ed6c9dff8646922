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

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.scheduling.SchedulingAwareRunnable;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.PeriodicTrigger;

/**
 * Has the time that a trigger planned, or the interval of a timer, travel with the call.
 * Stands before whatever scheduler {@code @Scheduled} methods and the tasks of a
 * {@link SchedulingConfigurer} use.
 *
 * @since 0.1.0
 */
public final class PlannedTimeScheduler implements TaskScheduler {

	private final TaskScheduler scheduler;

	private final Consumer<String> planned;

	private final Repetitions repetitions;

	private PlannedTimeScheduler(TaskScheduler scheduler, Consumer<String> planned, Repetitions repetitions) {
		this.scheduler = scheduler;
		this.planned = planned;
		this.repetitions = repetitions;
	}

	/**
	 * Return what puts such a scheduler before the one that a registrar has. Has to be
	 * asked before all others, for what they schedule themselves, and once more after all
	 * others, for the scheduler that they choose.
	 * @param planned is told what a task prints that is given to the scheduler
	 * @return the configurer
	 */
	public static SchedulingConfigurer configurer(Consumer<String> planned) {
		Repetitions repetitions = new Repetitions();
		return (registrar) -> {
			TaskScheduler scheduler = registrar.getScheduler();
			if (scheduler != null && !(scheduler instanceof PlannedTimeScheduler)) {
				registrar.setTaskScheduler(new PlannedTimeScheduler(scheduler, planned, repetitions));
			}
		};
	}

	/**
	 * A period is counted from the start of each instance, so that no two of them plan
	 * the same times.
	 */
	private <T extends @Nullable ScheduledFuture<?>> T repeat(Runnable task, Duration period, Counted counted,
			Function<Runnable, T> schedule) {
		return (task instanceof CarryingTask || period.isZero() || period.isNegative()) ? schedule.apply(task)
				: this.repetitions.add(task, period, counted, schedule);
	}

	@Override
	public Clock getClock() {
		return this.scheduler.getClock();
	}

	@Override
	public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
		this.planned.accept(task.toString());
		if (trigger instanceof PeriodicTrigger periodic) {
			Counted counted = periodic.isFixedRate() ? Counted.FROM_BEGIN : Counted.FROM_END;
			return repeat(task, periodic.getPeriodDuration(), counted,
					(repeated) -> this.scheduler.schedule(repeated, trigger));
		}
		if (task instanceof CarryingTask) {
			return this.scheduler.schedule(task, trigger);
		}
		PlannedTask planned = new PlannedTask(task, trigger, getClock().getZone());
		return this.scheduler.schedule(planned, planned);
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
		return this.scheduler.schedule(task, startTime);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
		return repeat(task, period, Counted.FROM_BEGIN,
				(repeated) -> this.scheduler.scheduleAtFixedRate(repeated, startTime, period));
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
		return repeat(task, period, Counted.FROM_BEGIN,
				(repeated) -> this.scheduler.scheduleAtFixedRate(repeated, period));
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
		return repeat(task, delay, Counted.FROM_END,
				(repeated) -> this.scheduler.scheduleWithFixedDelay(repeated, startTime, delay));
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
		return repeat(task, delay, Counted.FROM_END,
				(repeated) -> this.scheduler.scheduleWithFixedDelay(repeated, delay));
	}

	/**
	 * A task that does not show that it stands before another one.
	 */
	private abstract static class CarryingTask implements SchedulingAwareRunnable {

		private final Runnable task;

		private CarryingTask(Runnable task) {
			this.task = task;
		}

		final Runnable task() {
			return this.task;
		}

		@Override
		public final boolean isLongLived() {
			return this.task instanceof SchedulingAwareRunnable aware && aware.isLongLived();
		}

		@Override
		public final @Nullable String getQualifier() {
			return (this.task instanceof SchedulingAwareRunnable aware) ? aware.getQualifier() : null;
		}

		@Override
		public final String toString() {
			return this.task.toString();
		}

	}

	/**
	 * Tells the schedules of a task from each other, by a number that they have on all
	 * instances, whatever their intervals are there: each has the first one that no other
	 * has. A schedule that is made anew, with its bean, comes after it was cancelled.
	 */
	private static final class Repetitions {

		/**
		 * What a lambda or an object without a text of its own prints differs from
		 * instance to instance behind the name of its class.
		 */
		private static final Pattern OF_THIS_INSTANCE = Pattern.compile("(\\$\\$Lambda.*|@\\p{XDigit}+)$");

		private final Map<String, List<@Nullable ScheduledFuture<?>>> byTask = new HashMap<>();

		private synchronized <T extends @Nullable ScheduledFuture<?>> T add(Runnable task, Duration period,
				Counted counted, Function<Runnable, T> schedule) {
			String name = OF_THIS_INSTANCE.matcher(task.toString()).replaceFirst("");
			List<@Nullable ScheduledFuture<?>> others = this.byTask.computeIfAbsent(name, (added) -> new ArrayList<>());
			int number = 0;
			while (number < others.size() && isLive(others.get(number))) {
				number++;
			}
			RequestDetail.Interval interval = new RequestDetail.Interval(period, counted, String.valueOf(number));
			T future = schedule.apply(new RepeatedTask(task, interval, name));
			if (number < others.size()) {
				others.set(number, future);
			}
			else {
				others.add(future);
			}
			return future;
		}

		private static boolean isLive(@Nullable ScheduledFuture<?> future) {
			return future != null && !future.isCancelled();
		}

	}

	/**
	 * A task that knows how often it is called.
	 */
	private static final class RepeatedTask extends CarryingTask {

		private final RequestDetail.Interval interval;

		private final String name;

		private RepeatedTask(Runnable task, RequestDetail.Interval interval, String name) {
			super(task);
			this.interval = interval;
			this.name = name;
		}

		@Override
		public void run() {
			PlannedTime.run(this.interval, this.name, task());
		}

	}

	/**
	 * A task that knows what its trigger has planned. A scheduler may ask for the next
	 * time before the thread that it has started for this one runs, so both are known
	 * then, and which of them is due is told by a clock that nobody sets. There are as
	 * many calls as plans, so none goes without one, however long a thread was not let
	 * run.
	 */
	private static final class PlannedTask extends CarryingTask implements Trigger {

		/**
		 * A timer may be that much early.
		 */
		private static final long EARLY = Duration.ofMillis(100).toNanos();

		private final Trigger trigger;

		private final @Nullable CronTicks ticks;

		private final Deque<Plan> plans = new ArrayDeque<>(2);

		private @Nullable Instant latest;

		private int takenForOthers;

		private PlannedTask(Runnable task, Trigger trigger, ZoneId defaultZone) {
			super(task);
			this.trigger = trigger;
			this.ticks = (trigger instanceof CronTrigger cron) ? ticks(cron, defaultZone) : null;
		}

		/**
		 * The zone of a trigger can't be asked for. Where it can't be read, either, or
		 * nothing has been planned for years, the ticks are not known.
		 */
		private static @Nullable CronTicks ticks(CronTrigger trigger, ZoneId defaultZone) {
			try {
				Object zone = new DirectFieldAccessor(trigger).getPropertyValue("zoneId");
				return new CronTicks(trigger.getExpression(), (zone instanceof ZoneId set) ? set : defaultZone);
			}
			catch (RuntimeException ex) {
				return null;
			}
		}

		@Override
		public @Nullable Instant nextExecution(TriggerContext context) {
			Instant time = this.trigger.nextExecution(context);
			if (time != null) {
				// First, as a thread that is not let run here must not make it late
				long now = System.nanoTime();
				long delay = Math.max(0, Duration.between(context.getClock().instant(), time).toNanos());
				plan(new Plan(time, now + delay));
			}
			return time;
		}

		private synchronized void plan(Plan plan) {
			this.plans.add(plan);
		}

		@Override
		public void run() {
			Instant time = takeDue();
			if (time != null) {
				PlannedTime.run(time, this.ticks, task());
			}
			else {
				task().run();
			}
		}

		/**
		 * Of several that are due, the last one is, for those too whose calls come after
		 * it was taken. Where none is, whoever calls knows better: the next one.
		 */
		private synchronized @Nullable Instant takeDue() {
			int due = due();
			if (due == 0 && this.takenForOthers > 0) {
				this.takenForOthers--;
				return this.latest;
			}
			this.takenForOthers += Math.max(0, due - 1);
			for (int i = Math.max(1, due); i > 0 && !this.plans.isEmpty(); i--) {
				this.latest = this.plans.remove().time;
			}
			return this.latest;
		}

		private int due() {
			long now = System.nanoTime();
			return (int) this.plans.stream().takeWhile((plan) -> plan.dueNanos - now <= EARLY).count();
		}

	}

	/**
	 * What a trigger has planned.
	 *
	 * @param time the time
	 * @param dueNanos the same by {@link System#nanoTime()}
	 */
	private record Plan(Instant time, long dueNanos) {

	}

}
