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

import java.time.Instant;

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
 * @param failures how many runs in a row were not executed
 * @param nextAt when its schedule calls it next, as was known when its last run ended or
 * an instance registered it, {@code null} without a schedule
 * @param givenUp whether the open tick is not tried again by itself
 * @since 0.1.0
 */
public record LedgerJob(String namespace, String key, Instant firstSeenAt, @Nullable Instant lastTick,
		@Nullable Instant lastStartedAt, @Nullable Instant lastFinishedAt, LedgerRun.@Nullable Outcome lastOutcome,
		@Nullable Long fencingToken, @Nullable Instant pausedAt, @Nullable String pausedBy,
		@Nullable String pausedReason, @Nullable Instant resumedAt, @Nullable Instant openTick, int attempts,
		@Nullable Instant retryAt, boolean pausedWithAll, int failures, @Nullable Instant nextAt, boolean givenUp) {

	/**
	 * Return whether the key is paused.
	 * @return {@code true} if its methods do not run for now
	 */
	public boolean isPaused() {
		return this.pausedAt != null;
	}

	/**
	 * The last backfill of a job.
	 *
	 * @param from the first time whose ticks are run
	 * @param to the first time whose ticks are not any more
	 * @param done how many runs were executed
	 * @param of how many ticks there are
	 * @param skipped how many were left out, as they were executed before
	 * @param tick the tick that is run, {@code null} if none is
	 * @param instance the instance that makes it
	 * @param by who wanted it
	 * @param startedAt when it began
	 * @param outcome how it ended: {@code EXECUTED} if all ticks were, {@code FAILED} or
	 * {@code CANCELLED}, {@code PAUSED} or {@code TOO_SOON} where the ledger had a run
	 * not begin, {@code ABANDONED} with its instance; {@code null} while it is under way
	 * @param errorClass the class of the failure
	 * @param error the first line of what the failure prints
	 */
	public record Backfill(Instant from, Instant to, int done, int of, int skipped, @Nullable Instant tick,
			String instance, String by, Instant startedAt, @Nullable String outcome, @Nullable String errorClass,
			@Nullable String error) {

	}

}
