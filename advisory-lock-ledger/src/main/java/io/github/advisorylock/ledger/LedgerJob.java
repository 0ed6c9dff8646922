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
import java.util.stream.Stream;

import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;

/**
 * What the ledger knows of one key. Times are those of the database's clock.
 *
 * @param namespace the namespace of the key, empty if there is none
 * @param key the name of the key
 * @param firstSeenAt when an instance first had a method for it
 * @param lastTick the latest tick that was completed
 * @param lastStartedAt when the last run started
 * @param lastFinishedAt when it ended, {@code null} while none has
 * @param lastOutcome how it ended, {@code null} while none has
 * @param fencingToken the token of the last run
 * @param pausedAt since when it is paused, {@code null} when it is not
 * @param pausedBy who paused it
 * @param pausedReason why, {@code null} if nobody said so
 * @param resumedAt when its last pause ended, {@code null} if none has
 * @param openTick the tick that was tried last and not completed, {@code null} if there
 * is none
 * @param attempts how often that tick was tried
 * @param retryAt before when that tick is not tried again, {@code null} for at once
 * @param pausedWithAll whether all jobs of the namespace are paused, rather than this one
 * @since 0.1.0
 */
public record LedgerJob(String namespace, String key, Instant firstSeenAt, @Nullable Instant lastTick,
		@Nullable Instant lastStartedAt, @Nullable Instant lastFinishedAt, LedgerRun.@Nullable Outcome lastOutcome,
		@Nullable Long fencingToken, @Nullable Instant pausedAt, @Nullable String pausedBy,
		@Nullable String pausedReason, @Nullable Instant resumedAt, @Nullable Instant openTick, int attempts,
		@Nullable Instant retryAt, boolean pausedWithAll) {

	/**
	 * How much later than the clock of the database a tick may be: the clocks of
	 * instances differ.
	 */
	static final Duration MOST_AHEAD = Duration.ofMinutes(1);

	/**
	 * How long a tick that failed waits at most for its next attempt.
	 */
	static final Duration LONGEST_BACK_OFF = Duration.ofMinutes(12);

	/**
	 * How long after its planned time a tick should be completed, or be under way.
	 */
	public static final Duration OVERDUE_AFTER = Duration.ofMinutes(5);

	/**
	 * Return a time unless it is later than now by more than clocks differ: that was
	 * written when a clock was wrong, and decides nothing.
	 */
	static @Nullable Instant past(@Nullable Instant time, Instant now) {
		return (time == null || time.isAfter(now.plus(MOST_AHEAD))) ? null : time;
	}

	/**
	 * Return whether the key is paused.
	 * @return {@code true} if its methods do not run for now
	 */
	public boolean isPaused() {
		return this.pausedAt != null;
	}

	/**
	 * Return the tick that makes this job overdue: it was planned a while ago, and
	 * neither it nor a later one was completed. A run that is under way may do that yet.
	 * What was planned before the job was there, or while it was paused, does not count.
	 * @param operation what the method of the job asks of the ledger
	 * @param now the time
	 * @return the tick, {@code null} if the job is paused, not overdue, or has no ticks
	 */
	public @Nullable Instant overdueTick(LedgerOperation operation, Instant now) {
		CronTicks ticks = operation.ticks();
		if (!operation.oncePerTick() || ticks == null || isPaused() || ticks.nextAfter(now) == null) {
			return null;
		}
		Duration minInterval = operation.minInterval();
		Duration tolerance = (minInterval != null) ? OVERDUE_AFTER.plus(minInterval) : OVERDUE_AFTER;
		Instant tick = ticks.latestAt(now.minus(tolerance));
		return Stream.of(this.lastTick, this.firstSeenAt, this.resumedAt)
			.map((time) -> past(time, now))
			.filter(Objects::nonNull)
			.allMatch(tick::isAfter) ? tick : null;
	}

}
