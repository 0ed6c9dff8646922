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

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ScheduledFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.PeriodicTrigger;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.scheduling.support.SimpleTriggerContext;

/**
 * Has the time that a trigger planned, or the interval of a timer, travel with the call.
 * Stands before whatever scheduler {@code @Scheduled} methods and the tasks of a
 * {@link SchedulingConfigurer} use.
 *
 * @since 0.1.0
 */
public final class PlannedTimeScheduler implements TaskScheduler {

	private static final Log logger = LogFactory.getLog(PlannedTimeScheduler.class);

	private final TaskScheduler scheduler;

	private final BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> planned;

	private final Repetitions repetitions;

	private final Turns turns;

	private PlannedTimeScheduler(TaskScheduler scheduler,
			BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> planned, Repetitions repetitions,
			Turns turns) {
		this.scheduler = scheduler;
		this.planned = planned;
		this.repetitions = repetitions;
		this.turns = turns;
	}

	/**
	 * Return what puts such a scheduler before the one that a registrar has. Has to be
	 * asked before all others, for what they schedule themselves, and once more after all
	 * others, for the scheduler that they choose.
	 * @param planned is told each method that is given to the scheduler, with the class
	 * of its bean, and knows how it runs
	 * @param spread tells how calls for ticks are spread over the members, {@code null}
	 * while these are not known; asked for each plan
	 * @return the configurer
	 */
	public static SchedulingConfigurer configurer(BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> planned,
			Supplier<? extends @Nullable Spread> spread) {
		Repetitions repetitions = new Repetitions();
		Turns turns = new Turns(spread);
		return (registrar) -> {
			TaskScheduler scheduler = registrar.getScheduler();
			if (scheduler != null && !(scheduler instanceof PlannedTimeScheduler)) {
				registrar.setTaskScheduler(new PlannedTimeScheduler(scheduler, planned, repetitions, turns));
			}
		};
	}

	/**
	 * A period is counted from the start of each instance, so that no two of them plan
	 * the same times.
	 */
	private @Nullable ScheduledFuture<?> repeat(Runnable task, Instant start, Duration period, Counted counted,
			Function<Runnable, @Nullable ScheduledFuture<?>> schedule) {
		if (task instanceof CarryingTask || period.isZero() || period.isNegative()) {
			return schedule.apply(task);
		}
		ScheduledTicks changing = changing(task);
		return this.repetitions.add(task, period, counted, (repeated) -> {
			ScheduledFuture<?> future = schedule.apply(repeated);
			return (changing == null || future == null) ? future
					: repeated.changing(changing, future, this.scheduler, start);
		});
	}

	/**
	 * Return what operators may change of a task: the ledger knows its method.
	 */
	private @Nullable ScheduledTicks changing(Runnable task) {
		SingleRunnerOperation operation = (unwrap(task) instanceof ScheduledMethodRunnable call)
				? this.planned.apply(call.getMethod(), AopProxyUtils.ultimateTargetClass(call.getTarget())) : null;
		return (operation != null && operation.ledger().recorded() && operation.fixedKey() != null)
				? operation.schedule() : null;
	}

	/**
	 * Return the task that Spring has wrapped, perhaps twice. It can't be asked for, and
	 * its text is the same for all beans that inherit a method, or implement it behind a
	 * proxy. Where another Spring wraps it otherwise, that is said when it is scheduled.
	 */
	private static Object unwrap(Object task) {
		DirectFieldAccessor fields = new DirectFieldAccessor(task);
		Object wrapped = fields.isReadableProperty("runnable") ? fields.getPropertyValue("runnable") : null;
		if (wrapped == null && !(task instanceof ScheduledMethodRunnable)
				&& task.getClass().getName().matches("org\\.springframework\\.scheduling\\.(config|support)\\..+")) {
			logger.warn("Failed to find the method that '" + task + "' calls: it is in no field 'runnable' of "
					+ task.getClass().getName()
					+ "; if operators give its job another schedule, this instance does not call it by that");
		}
		return (wrapped != null) ? unwrap(wrapped) : task;
	}

	@Override
	public Clock getClock() {
		return this.scheduler.getClock();
	}

	@Override
	public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
		if (trigger instanceof PeriodicTrigger periodic) {
			Counted counted = periodic.isFixedRate() ? Counted.FROM_BEGIN : Counted.FROM_END;
			return repeat(task, getClock().instant(), periodic.getPeriodDuration(), counted,
					(repeated) -> this.scheduler.schedule(repeated, trigger));
		}
		if (task instanceof CarryingTask) {
			return this.scheduler.schedule(task, trigger);
		}
		ScheduledTicks changing = changing(task);
		PlannedTask planned = new PlannedTask(task, trigger, getClock(), changing, this.turns);
		ScheduledFuture<?> future = this.scheduler.schedule(planned, planned);
		return (changing == null || future == null || planned.ticks == null) ? future
				: planned.changing(changing, future, this.scheduler);
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
		return this.scheduler.schedule(task, startTime);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
		return Objects.requireNonNull(repeat(task, startTime, period, Counted.FROM_BEGIN,
				(repeated) -> this.scheduler.scheduleAtFixedRate(repeated, startTime, period)));
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
		return scheduleAtFixedRate(task, getClock().instant(), period);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
		return Objects.requireNonNull(repeat(task, startTime, delay, Counted.FROM_END,
				(repeated) -> this.scheduler.scheduleWithFixedDelay(repeated, startTime, delay)));
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
		return scheduleWithFixedDelay(task, getClock().instant(), delay);
	}

	/**
	 * Which of the members goes first for which tick: one after the other, and jobs that
	 * are due together each another one.
	 */
	private static final class Turns {

		private final Supplier<? extends @Nullable Spread> spread;

		/**
		 * The names of tasks by their schedule.
		 */
		private final Map<String, SortedSet<String>> tasks = new ConcurrentHashMap<>();

		/**
		 * When the calls began that are under way.
		 */
		private final Map<PlannedTask, Instant> begun = new ConcurrentHashMap<>();

		private Turns(Supplier<? extends @Nullable Spread> spread) {
			this.spread = spread;
		}

		/**
		 * Return the tasks that are due together with one, which is one of them now.
		 */
		private SortedSet<String> add(String task, @Nullable CronTicks ticks) {
			SortedSet<String> together = this.tasks.computeIfAbsent(String.valueOf(ticks),
					(added) -> new ConcurrentSkipListSet<>());
			together.add(task);
			return together;
		}

		/**
		 * Return by how much a call begins later than at its time. What has been under
		 * way for longer than is left until then is expected to be so then.
		 */
		private Duration delay(PlannedTask task, Instant time, Duration left) {
			Spread spread = task.guarded ? this.spread.get() : null;
			CronTicks ticks = task.ticks();
			Instant next = (spread != null && ticks != null) ? ticks.nextAfter(time) : null;
			if (spread == null || next == null) {
				return Duration.ZERO;
			}
			Instant then = task.clock.instant().minus(left);
			boolean busy = this.begun.values().stream().anyMatch((begin) -> begin.isBefore(then));
			Duration period = Duration.between(time, next);
			long turn = Math.floorDiv(time.toEpochMilli(), Math.max(1, period.toMillis()));
			return spread.delay(turn + task.together.headSet(task.name).size(), period, busy);
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

		private final Turns turns;

		private final Trigger trigger;

		private final Clock clock;

		private final @Nullable CronTicks ticks;

		private final String name;

		private final SortedSet<String> together;

		private final @Nullable ScheduledTicks changing;

		private final Deque<Plan> plans = new ArrayDeque<>(2);

		private @Nullable Instant latest;

		private int takenForOthers;

		/**
		 * By how much the latest plan was later than its tick.
		 */
		private Duration later = Duration.ZERO;

		/**
		 * What the plan that waits follows.
		 */
		private @Nullable Instant base;

		/**
		 * What the schedule was when that plan was made.
		 */
		private CronTicks.@Nullable Changes known;

		/**
		 * Whether what it calls has one run for a tick: what runs everywhere has no
		 * turns.
		 */
		private volatile boolean guarded;

		private PlannedTask(Runnable task, Trigger trigger, Clock clock, @Nullable ScheduledTicks changing,
				Turns turns) {
			super(task);
			this.turns = turns;
			this.trigger = trigger;
			this.changing = changing;
			this.ticks = (trigger instanceof CronTrigger cron) ? ticks(cron, clock.getZone()) : null;
			this.clock = clock;
			this.name = Repetitions.name(task);
			this.together = turns.add(this.name, this.ticks);
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

		/**
		 * Have the task follow changes of its schedule, and one that came when nobody
		 * would have told.
		 */
		private ScheduledFuture<?> changing(ScheduledTicks schedule, ScheduledFuture<?> future,
				TaskScheduler scheduler) {
			Consumer<ReplannedCall> again = (call) -> {
				if (withdraw(schedule.changes())) {
					call.replace(() -> scheduler.schedule(this, this));
				}
			};
			ReplannedCall call = new ReplannedCall(future, schedule, again);
			again.accept(call);
			return call;
		}

		/**
		 * Give up the plan that waits, unless it knows the schedule. What is due is
		 * called, and plans anew after that.
		 */
		private synchronized boolean withdraw(CronTicks.Changes changes) {
			int due = changes.equals(this.known) ? this.plans.size() : due();
			boolean waits = due < this.plans.size();
			while (due < this.plans.size()) {
				this.plans.removeLast();
			}
			return waits;
		}

		private @Nullable CronTicks ticks() {
			return (this.changing != null) ? this.changing.changes().ticks(this.ticks) : this.ticks;
		}

		/**
		 * A call that ends after the next tick, as it began later, leaves out none.
		 */
		private TriggerContext undelayed(TriggerContext context) {
			Instant planned = context.lastScheduledExecution();
			Instant last = context.lastCompletion();
			if (planned == null || last == null) {
				return context;
			}
			SimpleTriggerContext undelayed = new SimpleTriggerContext(context.getClock());
			undelayed.update(planned.minus(this.later), context.lastActualExecution(), last.minus(this.later));
			return undelayed;
		}

		/**
		 * What is planned first after a change follows what the plan that was given up
		 * did. Where clocks go back by half an hour, Spring plans the same time again and
		 * again until it is over.
		 */
		private @Nullable Instant next(TriggerContext context) {
			Instant last = context.lastCompletion();
			Instant planned = context.lastScheduledExecution();
			last = (last != null && planned != null && planned.isAfter(last)) ? planned : last;
			this.base = (last != null) ? last : (this.base != null) ? this.base : context.getClock().instant();
			this.known = (this.changing != null) ? this.changing.changes() : CronTicks.Changes.NONE;
			CronTicks ticks = this.known.ticks(this.ticks);
			Instant next = (ticks == null || this.known.all().isEmpty()) ? this.trigger.nextExecution(context)
					: ticks.nextAfter(this.base);
			return (ticks != null && planned != null && planned.equals(next)) ? ticks.nextAfter(planned) : next;
		}

		/**
		 * No change of the schedule comes between the look at it and the plan.
		 */
		@Override
		public synchronized @Nullable Instant nextExecution(TriggerContext context) {
			Instant time = next(undelayed(context));
			if (time == null) {
				return null;
			}
			// First, as a thread that is not let run here must not make it late
			long now = System.nanoTime();
			Duration left = Duration.between(context.getClock().instant(), time);
			this.later = this.turns.delay(this, time, left);
			this.plans.add(new Plan(time, now + Math.max(0, left.plus(this.later).toNanos())));
			return time.plus(this.later);
		}

		@Override
		public void run() {
			Instant time = takeDue();
			this.turns.begun.put(this, this.clock.instant());
			try {
				if (time != null) {
					this.guarded = PlannedTime.run(time, this.clock, ticks(), task());
				}
				else {
					task().run();
				}
			}
			finally {
				this.turns.begun.remove(this);
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
	 * How calls for ticks are spread over the members of a namespace, whose clocks differ
	 * a little. It decides nothing: locks do.
	 *
	 * @param most by how much a call begins later whose turn it is not
	 * @param members how many members there are
	 * @param place which of them this instance is, from 0 on
	 */
	public record Spread(Duration most, int members, int place) {

		/**
		 * Return by how much a call begins later than at its time.
		 * @param turn counts the ticks of the job: the next member has the next turn
		 * @param period the time to the next tick, of which this is a twentieth at most
		 * @param busy whether this instance has enough to do, so that it is a little
		 * later at its own turn, too
		 * @return the time
		 */
		public Duration delay(long turn, Duration period, boolean busy) {
			boolean first = Math.floorMod(turn, this.members) == this.place;
			if (this.members < 2 || (first && !busy)) {
				return Duration.ZERO;
			}
			Duration longest = period.dividedBy(20);
			Duration later = (this.most.compareTo(longest) < 0) ? this.most : longest;
			return first ? later.dividedBy(5) : later;
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
