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

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.Assert;

/**
 * What the ledger has of one job, by the rules of its statements: who begins a run asks
 * it, and writes how the run ended. Compared with PostgreSQL by random calls.
 */
final class InMemoryJob {

	/**
	 * How much later than the clock of the database a time may be that decides anything.
	 */
	static final Duration MOST_AHEAD = Duration.ofMinutes(1);

	/**
	 * From when on another schedule holds.
	 */
	private static final Duration AHEAD = Duration.ofSeconds(31);

	private static final Duration FIRST_BACK_OFF = Duration.ofSeconds(30);

	private static final Duration LONGEST_BACK_OFF = Duration.ofMinutes(10);

	private @Nullable Instant firstSeenAt;

	private @Nullable Instant lastTick;

	private @Nullable Instant lastStartedAt;

	private @Nullable Open open;

	private long token;

	private CronTicks.Changes changes = CronTicks.Changes.NONE;

	InMemoryJob() {
	}

	private InMemoryJob(InMemoryJob other) {
		set(other);
	}

	private void set(InMemoryJob other) {
		this.firstSeenAt = other.firstSeenAt;
		this.lastTick = other.lastTick;
		this.lastStartedAt = other.lastStartedAt;
		this.open = other.open;
		this.token = other.token;
	}

	/**
	 * Return what brings back what there is now.
	 */
	Runnable undo() {
		InMemoryJob before = new InMemoryJob(this);
		return () -> set(before);
	}

	/**
	 * Return the schedules that operators have chosen.
	 */
	CronTicks.Changes changes() {
		return this.changes;
	}

	/**
	 * Give the job another schedule, in the place of one that does not hold yet.
	 * @param method its method, {@code null} if there is none
	 * @return from when on it holds
	 */
	Instant reschedule(AdvisoryLockKey key, @Nullable SingleRunnerMethod method, @Nullable String schedule,
			@Nullable String zone, Instant now) {
		String failed = "Failed to give '" + key + "' another schedule: ";
		Assert.state(method != null && method.operation().ledger().recorded(),
				() -> failed + "the ledger records no method with that key; give one 'once = Once.PER_TICK', or set "
						+ "'advisory-lock.ledger.enabled' to true");
		int count = AnnotatedElementUtils
			.getMergedRepeatableAnnotations(method.method(), Scheduled.class, Schedules.class)
			.size();
		Assert.state(count == 1, () -> failed + "it has " + count + " @Scheduled, and one can be replaced");
		CronTicks inCode = method.operation().ticks(Instant.MIN);
		Instant from = now.plus(AHEAD).truncatedTo(ChronoUnit.SECONDS);
		CronTicks ticks = (schedule != null && inCode != null)
				? new CronTicks(schedule, (zone != null) ? ZoneId.of(zone) : inCode.zone()) : null;
		Duration interval = (schedule != null && inCode == null) ? DurationFormatterUtils.detectAndParse(schedule)
				: null;
		Assert.isTrue(zone == null || ticks != null, () -> failed + "'zone' is for the expression of a 'cron'");
		this.changes = new CronTicks.Changes(Stream
			.concat(this.changes.all().stream().filter((change) -> !change.from().isAfter(now)),
					Stream.of(new CronTicks.Change(from, now, ticks, interval)))
			.toList());
		return from;
	}

	/**
	 * Decide whether a run may begin.
	 * @param now the time of the database
	 * @throws IllegalStateException if the tick is ahead of that
	 */
	LockOutcome decide(String key, LockRequest request, Instant now) {
		Instant tick = request.tick();
		Instant latest = now.plus(MOST_AHEAD);
		Assert.state(tick == null || !tick.isAfter(latest), () -> "Failed to run advisory lock '" + key + "' for tick "
				+ tick + ": it is ahead of the clock of the database, which says " + now);
		if (tick != null && hasRun(tick, now)) {
			return LockOutcome.ALREADY_RAN;
		}
		Open open = open(tick);
		if (open != null && RequestDetail.Retries.of(request).backOff()
				&& (open.givenUp || !open.pause(now).isZero())) {
			return LockOutcome.TOO_SOON;
		}
		return untilApart(request.minInterval(), now).isZero() ? LockOutcome.EXECUTED : LockOutcome.TOO_SOON;
	}

	/**
	 * Note that an instance has the job.
	 */
	void seen(Instant now) {
		this.firstSeenAt = (this.firstSeenAt != null) ? this.firstSeenAt : now;
	}

	/**
	 * Return whether nobody has to complete a tick.
	 * @param tried whether it was tried: a job that nobody has seen before has missed
	 * nothing
	 */
	boolean isSettled(Instant tick, boolean tried, Instant now) {
		if (this.open != null && this.open.tick.isAfter(tick)) {
			return true;
		}
		return (this.lastTick != null) ? hasRun(tick, now)
				: !tried && (this.firstSeenAt == null || !tick.isAfter(this.firstSeenAt));
	}

	/**
	 * Return whether a tick, or a later one, has come to its end.
	 */
	boolean hasRun(Instant tick, Instant now) {
		return this.lastTick != null && !tick.isAfter(this.lastTick) && !this.lastTick.isAfter(now.plus(MOST_AHEAD));
	}

	/**
	 * Return whether nobody is to try a tick again.
	 */
	boolean hasGivenUp(Instant tick) {
		Open open = open(tick);
		return open != null && open.givenUp;
	}

	/**
	 * Return for how long a tick is not tried.
	 */
	Duration pause(Instant tick, @Nullable Duration minInterval, Instant now) {
		Duration apart = untilApart(minInterval, now);
		Open open = open(tick);
		Duration pause = (open != null) ? open.pause(now) : Duration.ZERO;
		return (pause.compareTo(apart) > 0) ? pause : apart;
	}

	/**
	 * Return what there is of a tick that has been tried and has not come to its end.
	 */
	private @Nullable Open open(@Nullable Instant tick) {
		return (this.open != null && this.open.tick.equals(tick)) ? this.open : null;
	}

	private Duration untilApart(@Nullable Duration minInterval, Instant now) {
		if (minInterval == null || this.lastStartedAt == null || this.lastStartedAt.isAfter(now.plus(MOST_AHEAD))) {
			return Duration.ZERO;
		}
		Duration left = minInterval.minus(Duration.between(this.lastStartedAt, now));
		return left.isNegative() ? Duration.ZERO : left;
	}

	/**
	 * Begin a run.
	 * @param written whether that is written at once, as in scope SESSION: a run whose
	 * process ends leaves that behind
	 */
	Attempt begin(LockRequest request, long token, Instant now, boolean written) {
		Instant tick = request.tick();
		Open open = open(tick);
		Attempt attempt = (open != null) ? new Attempt(token, open.attempts + 1, open.failed, now)
				: new Attempt(token, 1, 0, now);
		if (written) {
			this.lastStartedAt = now;
			this.token = token;
			if (tick != null && isLatest(tick)) {
				this.open = new Open(tick, attempt.number, attempt.failedBefore, false, null);
			}
		}
		return attempt;
	}

	/**
	 * Complete a run.
	 * @return whether that was possible: another one may have come between, where the
	 * lock was lost
	 */
	boolean complete(LockRequest request, Attempt attempt, Instant now) {
		Instant tick = request.tick();
		if (this.token > attempt.token || (tick != null && hasRun(tick, now))) {
			return false;
		}
		ended(attempt);
		if (tick != null) {
			this.lastTick = tick;
			this.open = isLatest(tick) ? null : this.open;
		}
		return true;
	}

	/**
	 * Note a run that has failed.
	 * @param end what that means for its tick
	 * @param chance between 0 and 1, for the time to the next attempt
	 */
	void fail(LockRequest request, Attempt attempt, BadEnd end, Instant now, double chance) {
		Instant tick = request.tick();
		if (this.token > attempt.token) {
			return;
		}
		ended(attempt);
		if (tick == null || !isLatest(tick)) {
			return;
		}
		Integer maxRetries = RequestDetail.Retries.of(request).most();
		boolean counted = maxRetries != null && end == BadEnd.FAILED;
		boolean over = maxRetries != null && (end == BadEnd.REVOKED || (counted && attempt.failedBefore >= maxRetries));
		boolean waits = !over && !(end == BadEnd.STOPPING && maxRetries != null);
		this.open = new Open(tick, attempt.number, attempt.failedBefore + (counted ? 1 : 0), over,
				waits ? now.plus(backOff(attempt.number, chance)) : null);
	}

	private void ended(Attempt attempt) {
		this.lastStartedAt = attempt.startedAt;
		this.token = attempt.token;
	}

	private boolean isLatest(Instant tick) {
		return this.open == null || !tick.isBefore(this.open.tick);
	}

	/**
	 * 30 s, doubled with each attempt, 10 min at most, and up to a fifth longer by
	 * chance.
	 */
	private static Duration backOff(int attempt, double chance) {
		Duration doubled = FIRST_BACK_OFF.multipliedBy(1L << Math.min(attempt - 1, 5));
		Duration pause = (doubled.compareTo(LONGEST_BACK_OFF) < 0) ? doubled : LONGEST_BACK_OFF;
		return pause.plusMillis((long) (pause.toMillis() * 0.2 * chance));
	}

	/**
	 * A run that has begun.
	 *
	 * @param token its fencing token
	 * @param number how often its tick has been tried, with this one
	 * @param failedBefore how many attempts of the tick have failed before
	 * @param startedAt when it began
	 */
	record Attempt(long token, int number, int failedBefore, Instant startedAt) {

	}

	/**
	 * A tick that has been tried and has not come to its end.
	 *
	 * @param tick the tick
	 * @param attempts how often it has been tried
	 * @param failed how many of those have failed
	 * @param givenUp whether it is not to be tried again
	 * @param retryAt when it may be, {@code null} if at any time
	 */
	private record Open(Instant tick, int attempts, int failed, boolean givenUp, @Nullable Instant retryAt) {

		private Duration pause(Instant now) {
			return (this.retryAt != null && this.retryAt.isAfter(now)) ? Duration.between(now, this.retryAt)
					: Duration.ZERO;
		}

	}

	/**
	 * How a run has failed.
	 */
	enum BadEnd {

		/**
		 * By itself.
		 */
		FAILED,

		/**
		 * It was told to end.
		 */
		REVOKED,

		/**
		 * Its lock was lost.
		 */
		LOST,

		/**
		 * Its instance was stopped.
		 */
		STOPPING

	}

}
