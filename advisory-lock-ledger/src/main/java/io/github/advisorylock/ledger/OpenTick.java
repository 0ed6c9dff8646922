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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.jdbc.LockScheduler;
import org.jspecify.annotations.Nullable;

/**
 * A tick of a method with {@code catchUp} that nobody has completed, as far as this
 * instance knows.
 */
final class OpenTick {

	private static final Duration MOST_EARLY = Duration.ofSeconds(1);

	private static final int MOST_DOUBLINGS = 7;

	private final SingleRunnerMethod method;

	private final AdvisoryLockKey key;

	private final Instant time;

	private final Duration window;

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
	 * When somebody else was first found at it.
	 */
	private @Nullable Long busyNanos;

	private ObservedJob.@Nullable Holder holder;

	private int attempts;

	/**
	 * Create a tick that is open.
	 * @param method the method
	 * @param time the tick
	 * @param delayNanos when to look, from now on
	 * @param ticker tells when that is
	 */
	OpenTick(SingleRunnerMethod method, Instant time, long delayNanos, LockScheduler.Ticker ticker) {
		this.method = method;
		this.key = Objects.requireNonNull(method.fixedKey(), "'fixedKey' must not be null");
		this.time = time;
		this.window = Objects.requireNonNull(method.operation().ledger().catchUp(), "'catchUp' must not be null");
		this.ticker = ticker;
		this.dueNanos = ticker.nanoTime() + delayNanos;
	}

	SingleRunnerMethod method() {
		return this.method;
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	Instant time() {
		return this.time;
	}

	Duration window() {
		return this.window;
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
	 * @param busy whether somebody else was found at it
	 */
	void tried(boolean busy) {
		this.tried = true;
		this.busyNanos = (busy && this.busyNanos == null) ? Long.valueOf(this.ticker.nanoTime()) : this.busyNanos;
	}

	/**
	 * Judge what was seen of the job.
	 */
	State judge(ObservedJob observed) {
		LedgerJob job = observed.job();
		if (isSettled(job)) {
			return State.SETTLED;
		}
		remember(observed);
		if (observed.isHeld()) {
			return State.BUSY;
		}
		boolean over = untilEnd(observed.clock()).isNegative();
		if (job != null && job.isPaused()) {
			return over ? State.SETTLED : State.PAUSED;
		}
		if (over) {
			return State.LOST;
		}
		return pause(observed).isZero() ? State.READY : State.WAITING;
	}

	private boolean isSettled(@Nullable LedgerJob job) {
		if (job == null || job.lastTick() == null) {
			return !this.tried && (job == null || !this.time.isAfter(job.firstSeenAt()));
		}
		return !this.time.isAfter(job.lastTick());
	}

	/**
	 * Return for how long the tick may not be tried yet, no longer than until its window
	 * ends.
	 * @return the time, zero for none
	 */
	Duration pause(ObservedJob observed) {
		LedgerOperation operation = this.method.operation().ledger();
		LedgerJob job = observed.job();
		Duration pause = Duration.between(observed.clock(), this.time);
		if (job != null && job.retryAt() != null && this.time.equals(job.openTick())) {
			pause = longer(pause, Duration.between(observed.clock(), job.retryAt()));
		}
		if (job != null && job.lastStartedAt() != null && operation.minInterval() != null) {
			pause = longer(pause,
					operation.minInterval().minus(Duration.between(job.lastStartedAt(), observed.clock())));
		}
		Duration end = untilEnd(observed.clock());
		pause = (pause.compareTo(end) < 0) ? pause : end;
		return pause.isNegative() ? Duration.ZERO : pause;
	}

	private Duration untilEnd(Instant clock) {
		return this.window.minus(Duration.between(this.time, clock));
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

	/**
	 * Keep who is at it. Once another attempt is recorded, what was seen before is no
	 * matter.
	 */
	private void remember(ObservedJob observed) {
		LedgerJob job = observed.job();
		int attempts = (job != null && this.time.equals(job.openTick())) ? job.attempts() : 0;
		if (attempts != this.attempts) {
			this.attempts = attempts;
			this.busyNanos = null;
			this.holder = null;
		}
		if (observed.holder() != null) {
			this.holder = observed.holder();
			tried(true);
		}
	}

	/**
	 * Return who was at it in a transaction and has vanished, of which nothing tells but
	 * that this instance has seen it: no run of the job has ended since.
	 * @return the holder of the lock, {@code null} if nobody was, or one that began
	 * before the tick
	 */
	ObservedJob.@Nullable Holder vanished(ObservedJob observed) {
		if (this.busyNanos == null || this.method.operation().scope() != LockScope.TRANSACTION) {
			return null;
		}
		Instant seen = observed.clock().minusNanos(this.ticker.nanoTime() - this.busyNanos);
		LedgerJob job = observed.job();
		if (job != null && job.lastFinishedAt() != null && !job.lastFinishedAt().isBefore(seen)) {
			return null;
		}
		Instant since = (this.holder != null && this.holder.since() != null) ? this.holder.since() : seen;
		String text = (this.holder != null) ? this.holder.text() : "another instance";
		return since.isBefore(this.time.minus(MOST_EARLY)) ? null : new ObservedJob.Holder(text, since);
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
