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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What the ledger of a database would know, and the rules by which it decides. Its clock
 * can be set on.
 */
final class InMemoryLedger {

	private static final Duration MOST_AHEAD = Duration.ofMinutes(1);

	private static final Duration FIRST_BACK_OFF = Duration.ofSeconds(30);

	private static final Duration LONGEST_BACK_OFF = Duration.ofMinutes(10);

	private final Map<AdvisoryLockKey, Job> jobs = new HashMap<>();

	private final Map<AdvisoryLockKey, Map<Instant, Instant>> rememberedTicks = new HashMap<>();

	private final Set<AdvisoryLockKey> paused = new HashSet<>();

	private Duration ahead = Duration.ZERO;

	private long lastToken;

	synchronized void letPass(Duration time) {
		this.ahead = this.ahead.plus(time);
	}

	synchronized void setPaused(AdvisoryLockKey key, boolean paused) {
		if (paused) {
			this.paused.add(key);
		}
		else {
			this.paused.remove(key);
		}
	}

	/**
	 * Forget everything but the highest token.
	 */
	synchronized void forget() {
		this.jobs.clear();
		this.rememberedTicks.clear();
		this.paused.clear();
		this.ahead = Duration.ZERO;
	}

	/**
	 * Return what would be decided about a run now.
	 */
	synchronized LockOutcome decide(AdvisoryLockKey key, LockRequest request) {
		if (request.memory() != null && isRemembered(key, request.tick())) {
			return LockOutcome.ALREADY_RAN;
		}
		return request.isRecorded() ? decideRecorded(key, request) : LockOutcome.EXECUTED;
	}

	private LockOutcome decideRecorded(AdvisoryLockKey key, LockRequest request) {
		Job job = this.jobs.getOrDefault(key, new Job());
		Instant tick = request.tick();
		if (this.paused.contains(key)) {
			return LockOutcome.PAUSED;
		}
		if (tick != null && tick.isAfter(now().plus(MOST_AHEAD))) {
			throw new IllegalStateException("Failed to run advisory lock '" + key + "' for tick " + tick
					+ ": by the clock of the locks in memory that is ahead (it is " + now() + " there)");
		}
		boolean ran = tick != null && job.lastTick != null && !tick.isAfter(job.lastTick);
		if (ran || (request.isOncePerKey() && job.completed)) {
			return LockOutcome.ALREADY_RAN;
		}
		return job.isTooSoon(request, now()) ? LockOutcome.TOO_SOON : LockOutcome.EXECUTED;
	}

	private boolean isRemembered(AdvisoryLockKey key, @Nullable Instant tick) {
		Instant until = (tick != null) ? this.rememberedTicks.getOrDefault(key, Map.of()).get(tick) : null;
		return until != null && now().isBefore(until);
	}

	/**
	 * Begin a run that may take place, with its lock held.
	 */
	synchronized Run begin(AdvisoryLockKey key, LockRequest request) {
		return new Run(key, request);
	}

	private Instant now() {
		return Instant.now().plus(this.ahead);
	}

	/**
	 * What is known of one key.
	 */
	private static final class Job {

		private @Nullable Instant lastTick;

		private @Nullable Instant lastStartedAt;

		private @Nullable Instant openTick;

		private @Nullable Instant retryAt;

		private int attempts;

		private boolean completed;

		private boolean isTooSoon(LockRequest request, Instant now) {
			Duration minInterval = request.minInterval();
			boolean backingOff = request.isBackingOff() && this.openTick != null && this.retryAt != null
					&& this.openTick.equals(request.tick()) && this.retryAt.isAfter(now);
			return backingOff || (minInterval != null && this.lastStartedAt != null
					&& this.lastStartedAt.isAfter(now.minus(minInterval)));
		}

		private int attemptsOf(@Nullable Instant tick) {
			return (tick != null && tick.equals(this.openTick)) ? this.attempts : 0;
		}

	}

	/**
	 * One run, from its begin to how it ended.
	 */
	final class Run {

		private final AdvisoryLockKey key;

		private final LockRequest request;

		private final long token;

		private final int attempt;

		private final @Nullable Instant earlierTick;

		private final boolean earlierCompleted;

		private final @Nullable Job job;

		private boolean failed;

		private Run(AdvisoryLockKey key, LockRequest request) {
			this.key = key;
			this.request = request;
			this.job = request.isRecorded() ? InMemoryLedger.this.jobs.computeIfAbsent(key, (newKey) -> new Job())
					: null;
			this.token = (this.job != null) ? ++InMemoryLedger.this.lastToken : 0;
			this.attempt = (this.job != null) ? this.job.attemptsOf(request.tick()) + 1 : 1;
			this.earlierTick = (this.job != null) ? this.job.lastTick : null;
			this.earlierCompleted = this.job != null && this.job.completed;
			if (this.job != null) {
				this.job.lastStartedAt = now();
			}
		}

		boolean isRecorded() {
			return this.job != null;
		}

		long token() {
			Assert.state(isRecorded(), "There is no token for a run that is not recorded");
			return this.token;
		}

		int attempt() {
			return this.attempt;
		}

		/**
		 * Note that the work is done. It may still be undone.
		 */
		void complete() {
			synchronized (InMemoryLedger.this) {
				Instant tick = this.request.tick();
				Duration memory = this.request.memory();
				if (tick != null && memory != null) {
					InMemoryLedger.this.rememberedTicks.computeIfAbsent(this.key, (newKey) -> new HashMap<>())
						.put(tick, now().plus(memory));
				}
				if (this.job != null) {
					this.job.lastTick = (tick != null) ? tick : this.job.lastTick;
					this.job.completed |= this.request.isOncePerKey();
					this.job.openTick = (tick != null) ? null : this.job.openTick;
				}
			}
		}

		/**
		 * Note that the work failed or was undone. May be repeated.
		 */
		void fail() {
			synchronized (InMemoryLedger.this) {
				Instant tick = this.request.tick();
				Map<Instant, Instant> remembered = InMemoryLedger.this.rememberedTicks.get(this.key);
				if (tick != null && remembered != null && this.request.memory() != null) {
					remembered.remove(tick);
				}
				if (this.job != null && !this.failed) {
					this.failed = true;
					this.job.lastTick = this.earlierTick;
					this.job.completed = this.earlierCompleted;
					noteAttempt(this.job, tick);
				}
			}
		}

		private void noteAttempt(Job job, @Nullable Instant tick) {
			if (tick != null) {
				Duration backOff = FIRST_BACK_OFF.multipliedBy(1L << Math.min(this.attempt - 1, 5));
				job.openTick = tick;
				job.attempts = this.attempt;
				job.retryAt = now().plus((backOff.compareTo(LONGEST_BACK_OFF) < 0) ? backOff : LONGEST_BACK_OFF);
			}
		}

	}

}
