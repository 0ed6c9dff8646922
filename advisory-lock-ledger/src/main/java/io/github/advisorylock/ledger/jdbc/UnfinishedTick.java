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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.LedgerJob;
import org.jspecify.annotations.Nullable;

/**
 * A tick of a method with {@code catchUp} that nobody has completed, as far as this
 * instance knows.
 */
final class UnfinishedTick {

	/**
	 * How much later than the clock of the database a tick may be: the clocks of
	 * instances differ.
	 */
	static final Duration MOST_AHEAD = Duration.ofMinutes(1);

	/**
	 * How long a tick that failed waits at most for its next attempt.
	 */
	private static final Duration LONGEST_BACK_OFF = Duration.ofMinutes(12);

	private static final int MOST_DOUBLINGS = 7;

	final SingleRunnerMethod method;

	final AdvisoryLockKey key;

	final Instant time;

	final Duration window;

	private final LockScheduler.Ticker ticker;

	/**
	 * Whether the tick was tried, by whomever: a job that nobody has seen before has
	 * missed nothing.
	 */
	private boolean tried;

	/**
	 * When to look again.
	 */
	private long dueNanos;

	private boolean called;

	private int failedCalls;

	/**
	 * Create a tick that is open.
	 * @param method the method
	 * @param time the tick
	 * @param delayNanos when to look, from now on
	 * @param ticker tells when that is
	 */
	UnfinishedTick(SingleRunnerMethod method, Instant time, long delayNanos, LockScheduler.Ticker ticker) {
		this.method = method;
		this.key = Objects.requireNonNull(method.fixedKey(), "'fixedKey' must not be null");
		this.time = time;
		this.window = Objects.requireNonNull(method.operation().ledger().catchUp(), "'catchUp' must not be null");
		this.ticker = ticker;
		this.dueNanos = ticker.nanoTime() + delayNanos;
	}

	long dueNanos() {
		return this.dueNanos;
	}

	void dueAfter(long nanos) {
		this.dueNanos = this.ticker.nanoTime() + nanos;
	}

	/**
	 * Return whether this instance is at it.
	 */
	boolean isCalled() {
		return this.called;
	}

	void beginCall() {
		this.called = true;
	}

	/**
	 * Have it looked at again after a while, which doubles with each call in a row that
	 * fails for reasons that the ledger does not know.
	 */
	void endCall(boolean failed, long pauseNanos) {
		this.called = false;
		this.failedCalls = failed ? this.failedCalls + 1 : 0;
		dueAfter(pauseNanos << Math.min(this.failedCalls, MOST_DOUBLINGS));
	}

	/**
	 * A call for it did not complete it.
	 */
	void tried() {
		this.tried = true;
	}

	/**
	 * Judge what was seen of the job.
	 */
	State judge(JobRepository.ObservedJob observed) {
		LedgerJob job = observed.job();
		if (isSettled(job, observed.clock())) {
			return State.SETTLED;
		}
		if (observed.isHeld()) {
			this.tried = true;
			return State.BUSY;
		}
		boolean over = untilEnd(observed.clock()).isNegative();
		if (job != null && job.isPaused()) {
			return over ? State.SETTLED : State.PAUSED;
		}
		if (job != null && job.givenUp() && this.time.equals(job.openTick())) {
			return over ? State.SETTLED : State.GIVEN_UP;
		}
		if (over) {
			return State.LOST;
		}
		return pause(observed).isZero() ? State.READY : State.WAITING;
	}

	private boolean isSettled(@Nullable LedgerJob job, Instant clock) {
		Instant openTick = (job != null) ? past(job.openTick(), clock) : null;
		if (openTick != null && openTick.isAfter(this.time)) {
			// by an instance whose clock is ahead: only the latest tick is made up for
			return true;
		}
		Instant lastTick = (job != null) ? past(job.lastTick(), clock) : null;
		Instant firstSeen = (job != null) ? past(job.firstSeenAt(), clock) : null;
		if (lastTick != null) {
			return !this.time.isAfter(lastTick);
		}
		return !this.tried && (job == null || (firstSeen != null && !this.time.isAfter(firstSeen)));
	}

	/**
	 * Return for how long the tick may not be tried yet, no longer than until its window
	 * ends.
	 * @return the time, zero for none
	 */
	Duration pause(JobRepository.ObservedJob observed) {
		LedgerOperation operation = this.method.operation().ledger();
		LedgerJob job = observed.job();
		Duration pause = Duration.between(observed.clock(), this.time);
		Instant retry = (job != null && this.time.equals(job.openTick()))
				? past(job.retryAt(), observed.clock().plus(LONGEST_BACK_OFF)) : null;
		if (retry != null) {
			pause = longer(pause, Duration.between(observed.clock(), retry));
		}
		Instant start = (job != null) ? past(job.lastStartedAt(), observed.clock()) : null;
		if (start != null && operation.minInterval() != null) {
			pause = longer(pause, operation.minInterval().minus(Duration.between(start, observed.clock())));
		}
		Duration end = untilEnd(observed.clock());
		pause = (pause.compareTo(end) < 0) ? pause : end;
		return pause.isNegative() ? Duration.ZERO : pause;
	}

	private Duration untilEnd(Instant clock) {
		return this.window.minus(Duration.between(this.time, clock));
	}

	/**
	 * Return a time unless it is later than now by more than clocks differ: that was
	 * written when a clock was wrong, and decides nothing.
	 */
	private static @Nullable Instant past(@Nullable Instant time, Instant now) {
		return (time == null || time.isAfter(now.plus(MOST_AHEAD))) ? null : time;
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

	/**
	 * What is to be done about a tick.
	 */
	enum State {

		/**
		 * Nothing, for good: it was completed, or nobody wants it.
		 */
		SETTLED,

		/**
		 * Nothing while somebody is at it.
		 */
		BUSY,

		/**
		 * Nothing until an operator says so.
		 */
		PAUSED,

		/**
		 * Nothing, unless an operator has it tried again: its run was told to end, or has
		 * failed too often.
		 */
		GIVEN_UP,

		/**
		 * Nothing for a while that is known.
		 */
		WAITING,

		/**
		 * It is to be run.
		 */
		READY,

		/**
		 * Nothing, but nobody has completed it.
		 */
		LOST

	}

}
