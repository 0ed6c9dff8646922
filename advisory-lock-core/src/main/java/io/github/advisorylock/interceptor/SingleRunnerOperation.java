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
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import io.github.advisorylock.support.RequestDetail;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * How one method runs under a lock, with everything resolved that can be before a call.
 *
 * @since 0.1.0
 */
public final class SingleRunnerOperation {

	private static final String NOT_ONCE = ", not once per tick or interval: ";

	final String method;

	private final SkippedValue skippedValue;

	private final String keyTemplate;

	private final Function<@Nullable Object[], AdvisoryLockKey> key;

	final LockScope scope;

	private final int permits;

	private final Duration waitFor;

	private final @Nullable Duration maxRun;

	private final boolean failWhenBusy;

	final boolean paused;

	private final LedgerOperation ledger;

	private final boolean oncePerTick;

	private final @Nullable AutoTicks autoTicks;

	private final @Nullable String notOnce;

	private final ScheduledTicks schedule;

	/**
	 * Whether a scheduler that tells no plan would have each instance run the method.
	 */
	private final boolean mayBeUnplanned;

	private final UnplannedCalls unplannedCalls;

	private final @Nullable String transactionManager;

	final @Nullable AdvisoryLockKey fixedKey;

	private final @Nullable LockRequest fixedRequest;

	private volatile @Nullable Boolean repeated;

	/**
	 * Create an operation.
	 * @param method the method, as it stands in logs and events
	 * @param skippedValue what skipped calls return
	 * @param keyTemplate the text of the key, with its expressions as they are
	 * @param fixedKey the key that every call has, {@code null} when it depends on the
	 * arguments
	 * @param key gives the key for the arguments of a call where it does, or throws an
	 * {@link IllegalArgumentException}
	 * @param scope how long the lock lives
	 * @param permits how many may run at a time
	 * @param waitFor how long to wait for a lock that is busy, zero to not wait
	 * @param maxRun the longest time that a run may take, {@code null} if there is none
	 * @param failWhenBusy whether a busy lock is an exception for the caller
	 * @param paused whether the method does not run at all for now
	 * @param ledger what is asked of the ledger
	 * @param autoTicks what calls of the method's scheduler are run once for even if that
	 * is not asked of the ledger, {@code null} if for nothing
	 * @param transactionManager whose database has the lock, by the name of the bean,
	 * {@code null} for the default one
	 */
	public SingleRunnerOperation(String method, SkippedValue skippedValue, String keyTemplate,
			@Nullable AdvisoryLockKey fixedKey, Function<@Nullable Object[], AdvisoryLockKey> key, LockScope scope,
			int permits, Duration waitFor, @Nullable Duration maxRun, boolean failWhenBusy, boolean paused,
			LedgerOperation ledger, @Nullable AutoTicks autoTicks, @Nullable String transactionManager) {
		Assert.hasText(method, "'method' must not be empty");
		Assert.hasText(keyTemplate, "'keyTemplate' must not be empty");
		Assert.isTrue(!waitFor.isNegative(), "'waitFor' must not be negative");
		this.method = method;
		this.skippedValue = skippedValue;
		this.keyTemplate = keyTemplate;
		this.key = key;
		this.scope = scope;
		this.permits = permits;
		this.waitFor = waitFor;
		this.maxRun = maxRun;
		this.failWhenBusy = failWhenBusy;
		this.paused = paused;
		this.ledger = ledger;
		this.oncePerTick = ledger.oncePerTick();
		this.autoTicks = (autoTicks != null && autoTicks.refused() == null) ? autoTicks : null;
		this.notOnce = (autoTicks != null && autoTicks.refused() != null) ? NOT_ONCE + autoTicks.refused() : null;
		ScheduledTicks schedule = (this.autoTicks != null) ? this.autoTicks.schedule : ledger.schedule();
		this.schedule = (schedule != ScheduledTicks.NONE) ? schedule : ScheduledTicks.of(null);
		this.unplannedCalls = new UnplannedCalls(method, keyTemplate);
		this.mayBeUnplanned = this.autoTicks != null && ledger.minInterval() == null
				&& (!this.autoTicks.longest.isZero() || ledger.recorded() || ledger.oncePerKey());
		this.transactionManager = transactionManager;
		this.fixedKey = fixedKey;
		this.fixedRequest = (this.fixedKey != null) ? request(this.fixedKey, false) : null;
	}

	/**
	 * Return the method.
	 * @return the method, as it stands in logs and events
	 */
	public String method() {
		return this.method;
	}

	/**
	 * Return the text of the key.
	 * @return the text, with its expressions as they are
	 */
	public String keyTemplate() {
		return this.keyTemplate;
	}

	/**
	 * Return the key that every call has.
	 * @return the key, {@code null} when it depends on the arguments
	 */
	public @Nullable AdvisoryLockKey fixedKey() {
		return this.fixedKey;
	}

	/**
	 * Return how long the lock lives.
	 * @return the scope
	 */
	public LockScope scope() {
		return this.scope;
	}

	/**
	 * Return how many may run at a time.
	 * @return the number, 1 for one after the other
	 */
	public int permits() {
		return this.permits;
	}

	/**
	 * Return how long to wait for a lock that is busy.
	 * @return the longest time, zero to not wait
	 */
	public Duration waitFor() {
		return this.waitFor;
	}

	/**
	 * Return the longest time that a run may take.
	 * @return the longest time, {@code null} if there is none
	 */
	public @Nullable Duration maxRun() {
		return this.maxRun;
	}

	/**
	 * Return whether a busy lock is an exception for the caller.
	 * @return {@code false} if the call is skipped in silence
	 */
	public boolean failWhenBusy() {
		return this.failWhenBusy;
	}

	/**
	 * Return whether the method does not run at all for now.
	 * @return {@code true} if the configuration says so
	 */
	public boolean paused() {
		return this.paused;
	}

	/**
	 * Return what is asked of the ledger.
	 * @return what is asked, possibly nothing
	 */
	public LedgerOperation ledger() {
		return this.ledger;
	}

	/**
	 * Return which transaction manager's database has the lock.
	 * @return the name of the bean, {@code null} for the default
	 */
	public @Nullable String transactionManager() {
		return this.transactionManager;
	}

	AdvisoryLockKey key(@Nullable Object[] arguments) {
		return (this.fixedKey != null) ? this.fixedKey : this.key.apply(arguments);
	}

	/**
	 * Take the plan of the scheduled call that a call is made in, if it is run once for
	 * that. What the ledger remembers is never used up.
	 * @param now whether an operator asks for the run
	 * @param scheduled the scheduled call
	 * @return the plan, {@code null} if the call has none
	 */
	PlannedTime.@Nullable Plan takePlan(AdvisoryLockKey key, boolean now, PlannedTime scheduled) {
		if (this.oncePerTick || scheduled.plan() instanceof PlannedTime.Plan.Backfill) {
			return scheduled.plan();
		}
		return (this.autoTicks != null && !now) ? scheduled.take(key, this.unplannedCalls) : null;
	}

	/**
	 * Return whether a call has no tick, as its scheduler plans one again in an hour that
	 * is there twice. What the ledger remembers it decides itself: the tick may have been
	 * missed.
	 * @param scheduled the scheduled call that it is made in
	 */
	boolean isRepeated(PlannedTime scheduled) {
		if (this.oncePerTick || (this.autoTicks != null && this.ledger.recorded())
				|| this.skippedValue == SkippedValue.NONE) {
			return false;
		}
		CronTicks known = (this.autoTicks != null) ? this.autoTicks.schedule.current() : null;
		return scheduled.plan() instanceof PlannedTime.Plan.At at && at.isRepeated(known);
	}

	/**
	 * Return what a call asks for.
	 * @param now whether an operator asks for the run, and no tick matters but the one
	 * that it was planned for, if any
	 * @param scheduled the scheduled call that makes it, {@code null} if none does
	 * @param plan what that has for this call
	 * @param invocation what the advice of the method has of it
	 */
	LockRequest createRequest(AdvisoryLockKey key, boolean now, @Nullable PlannedTime scheduled,
			PlannedTime.@Nullable Plan plan, MethodInvocation invocation) {
		LockRequest request = (this.fixedRequest != null && !now) ? this.fixedRequest : request(key, now);
		if (scheduled == null && !this.oncePerTick) {
			if (this.mayBeUnplanned && !now) {
				this.unplannedCalls
					.look("with 'once' as AUTO every instance that calls it runs it whenever the lock is free");
			}
			return request;
		}
		request = planned(request, now, plan);
		return lockTickIfRepeated(now ? request : ofSchedule(request, scheduled), invocation);
	}

	private LockRequest planned(LockRequest request, boolean now, PlannedTime.@Nullable Plan plan) {
		if (plan instanceof PlannedTime.Plan.Backfill backfill) {
			return request.oncePerTick(backfill.tick()).with(new RequestDetail.Backfill(backfill.again()));
		}
		if (!this.oncePerTick) {
			return (this.autoTicks != null && !now) ? perPlannedTime(request, this.autoTicks, plan) : request;
		}
		CronTicks ticks = this.schedule.current();
		if (plan instanceof PlannedTime.Plan.At at) {
			request = (this.ledger.catchUp() != null)
					? request.with(new RequestDetail.Retries(true, this.ledger.maxRetries())) : request;
			return request.oncePerTick(now ? at.time() : at.tick(ticks));
		}
		if (now) {
			return request;
		}
		if (ticks == null) {
			throw new IllegalStateException(
					"Failed to run once per tick: the schedule of the method is switched off on this instance");
		}
		this.unplannedCalls.look("this instance takes it for the tick that its own clock tells");
		return request.oncePerTick(ticks.ofCallAt(Instant.now()));
	}

	/**
	 * Have a lock keep other instances from a tick between two attempts, where only the
	 * lock of the key would, and other advice may try again. That lock goes with the
	 * transaction of each attempt.
	 */
	private LockRequest lockTickIfRepeated(LockRequest request, MethodInvocation invocation) {
		Boolean repeated = this.repeated;
		Instant tick = request.tick();
		if (Boolean.FALSE.equals(repeated) || tick == null || this.scope == LockScope.SESSION
				|| request.memory() != null || request.detail(RequestDetail.Backfill.class) != null) {
			return request;
		}
		if (repeated == null) {
			repeated = OtherAdvice.mayRepeat(invocation);
			this.repeated = repeated;
		}
		return repeated ? request.rememberTick(tick, AutoTicks.NEXT_UNKNOWN) : request;
	}

	private LockRequest perPlannedTime(LockRequest request, AutoTicks ticks, PlannedTime.@Nullable Plan plan) {
		if (plan instanceof PlannedTime.Plan.Every every) {
			return ticks.apply(request, every.of(this.method));
		}
		if (ticks.longest.isZero() && !RequestDetail.isRecorded(request)) {
			return request;
		}
		return (plan instanceof PlannedTime.Plan.At at) ? ticks.apply(request, at) : request;
	}

	/**
	 * Return the ticks of the method by the schedule that holds at a time.
	 * @param time the time, long ago for the schedule in the code
	 * @return the ticks, of any time; {@code null} if it has no schedule with ticks, or
	 * several
	 */
	public @Nullable CronTicks ticks(Instant time) {
		CronTicks.Change holding = changes().at(time);
		return (holding != null && holding.ticks() != null) ? holding.ticks() : this.schedule.inCode();
	}

	/**
	 * Parse the schedule of the method again: a scheduler is given the method anew, maybe
	 * because a placeholder has another value now. Of a schedule that can't be parsed
	 * Spring says what is wrong with it.
	 * @return whether it is another one now
	 */
	public boolean parseScheduleAgain() {
		return this.schedule.parseAgain();
	}

	/**
	 * Return for which tick the method is called next.
	 * @param time a time
	 * @return the first tick after that, {@code null} if the method has none
	 */
	public @Nullable Instant nextTick(Instant time) {
		CronTicks ticks = this.schedule.current();
		return (ticks != null) ? ticks.nextAfter(time) : null;
	}

	/**
	 * Return when the method is called.
	 */
	ScheduledTicks schedule() {
		return this.schedule;
	}

	/**
	 * Return the schedules that operators have chosen for the method.
	 * @return the schedules
	 */
	public CronTicks.Changes changes() {
		return this.schedule.changes();
	}

	/**
	 * Return whether a run for a tick may begin, as no schedule is another one since.
	 * @param tick the tick
	 * @return whether it may
	 */
	public boolean allows(Instant tick) {
		return this.schedule.allows(tick);
	}

	/**
	 * Have the method called by the schedules that operators have chosen.
	 * @param changes the schedules
	 */
	public void reschedule(CronTicks.Changes changes) {
		this.schedule.change(changes);
	}

	/**
	 * Have the ledger compare what is known of the schedule, where a call belongs to one.
	 * One that is durably for a tick always does, and has that with its key.
	 * @param scheduled the scheduled call that it is made in
	 */
	private LockRequest ofSchedule(LockRequest request, @Nullable PlannedTime scheduled) {
		PlannedTime.Plan plan = (scheduled != null) ? scheduled.plan() : null;
		return (this.oncePerTick || (request.tick() == null && plan == null) || !RequestDetail.isRecorded(request))
				? request : request.with(planned(plan));
	}

	private RequestDetail.Planned planned(PlannedTime.@Nullable Plan plan) {
		return new RequestDetail.Planned(this.schedule::changedAt, (tick, now) -> isAllowed(tick, plan, now));
	}

	private boolean isAllowed(@Nullable Instant tick, PlannedTime.@Nullable Plan plan, Instant now) {
		if (tick == null && plan instanceof PlannedTime.Plan.Every every) {
			return changes().allows(every.interval(), now);
		}
		Instant time = (tick == null && plan instanceof PlannedTime.Plan.At at) ? at.tick(this.schedule.current())
				: tick;
		return time == null || allows(time);
	}

	private LockRequest request(AdvisoryLockKey key, boolean now) {
		LockRequest request = LockRequest.of(key).scope(this.scope).permits(this.permits).waitFor(this.waitFor);
		request = (this.transactionManager != null) ? request.transactionManager(this.transactionManager) : request;
		request = (this.maxRun != null) ? request.maxRun(this.maxRun) : request;
		ResultFormat results = this.ledger.results();
		request = (results != null)
				? request.with(new RequestDetail.KeptResult((returned) -> keep(returned, results, key))) : request;
		request = (this.oncePerTick && !now) ? request.with(planned(null)) : request;
		return this.ledger.apply(request, this.keyTemplate, now);
	}

	private String keep(@Nullable Object returned, ResultFormat results, AdvisoryLockKey key) {
		try {
			return results.write(this.skippedValue.content(returned));
		}
		catch (RuntimeException ex) {
			String reason = String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
			throw new IllegalStateException("Failed to keep what '" + this.method + "' (advisory lock '" + key
					+ "') returned, so that it is not done: " + reason, ex);
		}
	}

	/**
	 * Return whether a lock remembers the ticks or intervals that the method was run for.
	 * @return {@code false} also where the ledger does, or none are known until they come
	 */
	public boolean remembersTicks() {
		AutoTicks auto = this.autoTicks;
		return auto != null && !auto.longest.isZero()
				&& (!auto.intervals.isEmpty() || (auto.schedule.current() != null && !this.ledger.recorded()));
	}

	/**
	 * Return what the work is in fact done once for, in a few words, and why not where
	 * that would be expected.
	 * @param session whether there is a lock session, which remembers ticks and intervals
	 * @return the words
	 */
	public String once(boolean session) {
		AutoTicks auto = this.autoTicks;
		String many = ((this.permits > 1) ? String.valueOf(this.permits) : "one") + " at a time";
		if (auto == null) {
			return this.oncePerTick ? "once per tick"
					: this.ledger.oncePerKey() ? "once per key" : (this.notOnce != null) ? many + this.notOnce : many;
		}
		boolean ticks = auto.schedule.current() != null;
		boolean locks = session && !auto.longest.isZero();
		boolean remembers = locks || this.ledger.recorded();
		if (ticks && remembers) {
			return "once per tick";
		}
		if (locks && !auto.intervals.isEmpty()) {
			return auto.intervals.stream()
				.map(AutoTicks::describe)
				.collect(Collectors.joining(" and ", "once per ", ""));
		}
		if (ticks || !auto.intervals.isEmpty()) {
			return many + NOT_ONCE
					+ (session ? "'advisory-lock.remember-ticks' is 0" : "there is no session to remember that");
		}
		return remembers ? many + ", once per tick or interval of a scheduled method that calls it" : many;
	}

	/**
	 * Return what the caller of a call that did not run gets.
	 * @param result why it did not run
	 * @return the value to return
	 * @throws io.github.advisorylock.LockBusyException if that is what the caller asked
	 * for
	 * @throws IllegalStateException if the method has no value for it
	 */
	@Nullable Object skippedValue(LockResult<?> result) {
		if (this.failWhenBusy && result.outcome() == LockOutcome.BUSY) {
			return result.orElseThrow();
		}
		return this.skippedValue.of(result);
	}

	/**
	 * Return what the caller of a call gets whose work was done before.
	 * @param kept what is kept of its result
	 * @throws IllegalStateException if that can't be read any more
	 */
	@Nullable Object keptValue(String kept, AdvisoryLockKey key) {
		ResultFormat results = this.ledger.results();
		Assert.state(results != null, "'results' must not be null");
		Object value;
		try {
			value = results.read(kept);
		}
		catch (RuntimeException ex) {
			throw new IllegalStateException("Failed to return what '" + this.method + "' (advisory lock '" + key
					+ "') returned when it ran: that was kept and can't be read any more as what the method returns "
					+ "now. The work was done, and is not done again; let the type read what it once wrote, or forget "
					+ "the key", ex);
		}
		return this.skippedValue.of(LockResult.alreadyRan(value, key));
	}

	/**
	 * Has a method run once for a tick or an interval when a scheduler calls it, and only
	 * then.
	 *
	 * @param schedule the ticks of its schedule; where it has none, several or another
	 * one, each planned time is a tick
	 * @param intervals how often it is called as its annotation said at the start
	 * @param longest for how long at most a lock remembers a tick, zero if it remembers
	 * neither that nor an interval
	 * @param refused why it is not run once for either, {@code null} if it is
	 */
	public record AutoTicks(ScheduledTicks schedule, List<Duration> intervals, Duration longest,
			@Nullable String refused) {

		/**
		 * For how long a tick is remembered whose next one is not known: it may come
		 * soon, and a lock is held for each.
		 */
		private static final Duration NEXT_UNKNOWN = Duration.ofSeconds(30);

		/**
		 * Create what has a method run once for a tick.
		 * @param ticks parses the ticks, {@code null} if there are none; asked whenever a
		 * scheduler is given the method
		 * @param intervals how often it is called
		 * @param longest for how long at most a lock remembers each, zero if none does
		 * @param refused why the method is not run once for either, {@code null} if it is
		 */
		public AutoTicks(Supplier<? extends @Nullable CronTicks> ticks, List<Duration> intervals, Duration longest,
				@Nullable String refused) {
			this(new ScheduledTicks(ticks), List.copyOf(intervals), longest, refused);
		}

		private static String describe(Duration interval) {
			boolean whole = interval.toNanosPart() == 0;
			return whole ? interval.toSeconds() + " s" : interval.toMillis() + " ms";
		}

		/**
		 * A lock remembers an interval also where runs are recorded: it forgets a run
		 * that failed. Nobody asks it where the ledger keeps runs apart by as much.
		 */
		private LockRequest apply(LockRequest request, RequestDetail.Interval interval) {
			Duration minInterval = request.minInterval();
			boolean apart = minInterval != null && minInterval.compareTo(interval.memory()) >= 0;
			return (apart || this.longest.isZero()) ? request : request.with(interval);
		}

		/**
		 * Where runs are recorded anyway, the ledger remembers their ticks, too.
		 */
		private LockRequest apply(LockRequest request, PlannedTime.Plan.At planned) {
			CronTicks known = this.schedule.current();
			Instant tick = planned.tick(known);
			return RequestDetail.isRecorded(request) ? request.oncePerTick(tick)
					: request.rememberTick(tick, memory(tick, planned.next(tick, known)));
		}

		/**
		 * A clock that is late by more takes the tick for another one.
		 */
		private Duration memory(Instant tick, @Nullable Instant next) {
			Duration half = (next != null) ? Duration.between(tick, next).dividedBy(2) : NEXT_UNKNOWN;
			return (half.compareTo(this.longest) < 0) ? half : this.longest;
		}

	}

}
