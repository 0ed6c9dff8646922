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

package io.github.advisorylock.benchmarks.fleet;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Interval;
import org.jspecify.annotations.Nullable;

/**
 * How the instances of a fleet share their jobs. Those that remember ticks come before
 * those in scope SESSION, so that the first round of a fleet finds no lock session open.
 */
enum Use {

	/**
	 * A lock for the transaction: each job may be done again by who comes later.
	 */
	TRANSACTION("lock, `TRANSACTION`", false),

	/**
	 * What cron methods have by default.
	 */
	REMEMBERED("tick remembered, `TRANSACTION`", true),

	/**
	 * What methods with a fixed rate have by default.
	 */
	INTERVAL("interval remembered, `TRANSACTION`", true),

	/**
	 * A lock of the session.
	 */
	SESSION("lock, `SESSION`", false),

	/**
	 * A remembered tick beside a lock of the session.
	 */
	SESSION_REMEMBERED("tick remembered, `SESSION`", true),

	/**
	 * Once for each tick, in the ledger.
	 */
	PER_TICK("`PER_TICK`", true),

	/**
	 * What a method with {@code @LeaderOnly} asks before it runs.
	 */
	LEADER("`@LeaderOnly`", true);

	/**
	 * For how long cron methods that run seldom are remembered.
	 */
	private static final Duration MEMORY = Duration.ofMinutes(5);

	/**
	 * Longer than a round, in which each instance calls once.
	 */
	private static final Interval RATE = new Interval(MEMORY, Interval.Counted.FROM_BEGIN);

	private final String title;

	private final boolean once;

	Use(String title, boolean once) {
		this.title = title;
		this.once = once;
	}

	String title() {
		return this.title;
	}

	/**
	 * Return whether each job is to be done exactly once in a round, rather than by one
	 * at a time.
	 */
	boolean isOnce() {
		return this.once;
	}

	/**
	 * Return what an instance asks for, {@code null} if the leader does all.
	 * @param job the number of the job
	 * @param tick the instant at which all want it
	 */
	@Nullable LockRequest request(int job, Instant tick) {
		LockRequest request = LockRequest.of(name().toLowerCase(Locale.ROOT) + "-" + job);
		return switch (this) {
			case TRANSACTION -> request.scope(LockScope.TRANSACTION);
			case REMEMBERED -> request.scope(LockScope.TRANSACTION).rememberTick(tick, MEMORY);
			// the next round must not be in the same interval
			case INTERVAL -> request.namespace("fleet-" + tick.toEpochMilli()).with(RATE);
			case SESSION -> request.scope(LockScope.SESSION);
			case SESSION_REMEMBERED -> request.scope(LockScope.SESSION).rememberTick(tick, MEMORY);
			case PER_TICK -> request.scope(LockScope.TRANSACTION).oncePerTick(tick);
			case LEADER -> null;
		};
	}

}
