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
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.support.RequestDetail;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * A call that a scheduler makes, with what it was planned for: a time, as the clock may
 * have been set meanwhile, and does not decide; or the interval of a timer.
 * <p>
 * The plan belongs to the scheduled call from its begin to its end, on its thread and on
 * those that {@code @Async} hands work to. Each guarded method that is called meanwhile
 * has it, however deep, until a run for its key has come to a good end. Inside a run that
 * has the plan, calls have none.
 *
 * @since 0.1.0
 */
public final class PlannedTime {

	/**
	 * A lock remembers each key, and the lock table of a server is no place for thousands
	 * of them.
	 */
	static final int MOST_KEYS = 100;

	private static final ThreadLocal<@Nullable PlannedTime> CURRENT = new ThreadLocal<>();

	private static final String CARRIED = PlannedTime.class.getName();

	private final Plan plan;

	/**
	 * The keys that have had the plan, and in which part of the call a run has come to a
	 * good end.
	 */
	private final Map<AdvisoryLockKey, Optional<PlannedTime>> keys;

	private final AtomicBoolean guarded;

	private PlannedTime(Plan plan, Map<AdvisoryLockKey, Optional<PlannedTime>> keys, AtomicBoolean guarded) {
		this.plan = plan;
		this.keys = keys;
		this.guarded = guarded;
	}

	/**
	 * Make a call that was planned.
	 * @param planned the time that it was planned for
	 * @param call makes the call, on the current thread
	 */
	public static void run(Instant planned, Runnable call) {
		run(planned, Clock.systemUTC(), call);
	}

	/**
	 * Make a call that was planned.
	 * @param planned the time that it was planned for
	 * @param clock tells when it begins
	 * @param call makes the call, on the current thread
	 */
	public static void run(Instant planned, Clock clock, Runnable call) {
		run(planned, clock, null, call);
	}

	/**
	 * Make a call that was planned.
	 * @param planned the time that it was planned for
	 * @param clock tells when it begins
	 * @param ticks what else is planned, {@code null} if that is not known
	 * @param call makes the call, on the current thread
	 * @return whether it has called a method that has one run for the plan
	 */
	static boolean run(Instant planned, Clock clock, @Nullable CronTicks ticks, Runnable call) {
		return run(new Plan.At(planned, clock.instant(), ticks), call);
	}

	/**
	 * Make a call for a tick that an operator wants to be run, however long ago it was.
	 * @param tick the tick
	 * @param again whether also if it was run
	 * @param call makes the call, on the current thread
	 */
	public static void backfill(Instant tick, boolean again, Runnable call) {
		run(new Plan.Backfill(tick, again), call);
	}

	/**
	 * Make a call that is made again and again.
	 * @param interval how often
	 * @param call makes the call, on the current thread
	 */
	public static void run(RequestDetail.Interval interval, Runnable call) {
		run(interval, "", call);
	}

	/**
	 * Make a call that is made again and again.
	 * @param interval how often, and which of the task's schedules says so
	 * @param task names the task alike on all instances
	 * @param call makes the call, on the current thread
	 */
	static void run(RequestDetail.Interval interval, String task, Runnable call) {
		run(new Plan.Every(interval, task), call);
	}

	private static boolean run(Plan plan, Runnable call) {
		PlannedTime planned = new PlannedTime(plan, new HashMap<>(), new AtomicBoolean());
		PlannedTime before = bind(planned);
		try {
			call.run();
		}
		finally {
			bind(before);
		}
		return planned.guarded.get();
	}

	/**
	 * Begin a part of the scheduled call that the current thread is in, which is done
	 * wherever its turn is: a key that has had its run in another part has had it.
	 * @return ends the part
	 */
	public static Runnable part() {
		PlannedTime whole = current();
		bind((whole != null) ? new PlannedTime(whole.plan, whole.keys, whole.guarded) : null);
		return () -> bind(whole);
	}

	/**
	 * Return what has the scheduled call go along with a call that advice hands over to
	 * another thread.
	 * @return the interceptor for both sides of that advice
	 */
	public static MethodInterceptor carrier() {
		return (invocation) -> {
			ProxyMethodInvocation call = (ProxyMethodInvocation) invocation;
			if (!(call.getUserAttribute(CARRIED) instanceof PlannedTime carried)) {
				call.setUserAttribute(CARRIED, current());
				return invocation.proceed();
			}
			PlannedTime before = bind(carried);
			try {
				return invocation.proceed();
			}
			finally {
				bind(before);
			}
		};
	}

	/**
	 * Return the scheduled call that the current thread is in.
	 */
	static @Nullable PlannedTime current() {
		return CURRENT.get();
	}

	/**
	 * Have the current thread be in a scheduled call, or in none.
	 * @return what it was in before
	 */
	static @Nullable PlannedTime bind(@Nullable PlannedTime call) {
		PlannedTime before = CURRENT.get();
		if (call != null) {
			CURRENT.set(call);
		}
		else {
			CURRENT.remove();
		}
		return before;
	}

	/**
	 * Note that a method is called that has one run for this plan, however late that
	 * begins.
	 */
	void guarded() {
		this.guarded.set(true);
	}

	/**
	 * Return what the call was planned for.
	 */
	Plan plan() {
		return this.plan;
	}

	/**
	 * Take the plan for a key that a lock will remember.
	 * @param calls are told if the key can't have it
	 * @return the plan, {@code null} if a run for the key has come to a good end in this
	 * part of the call, or too many keys have had it
	 */
	@Nullable Plan take(AdvisoryLockKey key, UnplannedCalls calls) {
		Optional<PlannedTime> done;
		boolean full;
		synchronized (this.keys) {
			full = this.keys.size() >= MOST_KEYS;
			done = full ? this.keys.get(key) : this.keys.putIfAbsent(key, Optional.empty());
		}
		if (done != null && done.isPresent()) {
			boolean inOtherPart = done.get() != this;
			calls.again(key, inOtherPart);
			return inOtherPart ? this.plan : null;
		}
		if (done == null && full) {
			calls.tooMany();
			return null;
		}
		return this.plan;
	}

	/**
	 * Note whether a run for a key that had the plan is done, as far as is known.
	 */
	void used(AdvisoryLockKey key, boolean done) {
		synchronized (this.keys) {
			this.keys.put(key, done ? Optional.of(this) : Optional.empty());
		}
	}

	/**
	 * What a call is planned for.
	 */
	sealed interface Plan {

		/**
		 * A time.
		 *
		 * @param time the time
		 * @param begin when the call began
		 * @param ticks what else its scheduler plans, {@code null} if that is not known
		 */
		record At(Instant time, Instant begin, @Nullable CronTicks ticks) implements Plan {

			/**
			 * Return the tick of the call. What is known of the schedule may be out of
			 * date, or of another schedule: then the planned time is the tick. All that
			 * the call does is for one tick, however long it takes.
			 * @param known the ticks of the method, {@code null} if it has none
			 */
			Instant tick(@Nullable CronTicks known) {
				Instant tick = (known != null) ? known.ofCallPlannedFor(this.time, this.begin) : null;
				if (tick == null && this.ticks != null) {
					tick = this.ticks.ofCallPlannedFor(this.time, this.time);
				}
				return (tick != null) ? tick : this.time;
			}

			/**
			 * Return whether the call was planned a second time for a tick, as an hour is
			 * there twice.
			 */
			boolean isRepeated(@Nullable CronTicks known) {
				boolean ofMethod = known != null && known.ofCallPlannedFor(this.time, this.time) != null;
				CronTicks planner = ofMethod ? known : this.ticks;
				return planner != null && planner.isRepeated(this.time);
			}

			/**
			 * Return the tick that follows, {@code null} if it is not known.
			 */
			@Nullable Instant next(Instant tick, @Nullable CronTicks known) {
				CronTicks ticks = (known != null && known.latestAt(tick).equals(tick)) ? known : this.ticks;
				return (ticks != null) ? ticks.nextAfter(tick) : null;
			}

		}

		/**
		 * A tick that an operator wants to be run.
		 *
		 * @param tick the tick
		 * @param again whether also if it was run
		 */
		record Backfill(Instant tick, boolean again) implements Plan {

		}

		/**
		 * Once for an interval.
		 *
		 * @param interval the interval
		 * @param task the task that has the schedule
		 */
		record Every(RequestDetail.Interval interval, String task) implements Plan {

			/**
			 * Return the interval as that of a method, whose own schedules need no name.
			 */
			RequestDetail.Interval of(String method) {
				boolean own = this.task.isEmpty() || this.task.endsWith("." + method)
						|| this.task.endsWith("$" + method);
				return own ? this.interval : new RequestDetail.Interval(this.interval.length(), this.interval.counted(),
						this.task + "#" + this.interval.schedule());
			}

		}

	}

}
