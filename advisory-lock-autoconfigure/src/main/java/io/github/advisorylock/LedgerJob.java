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

package io.github.advisorylock;

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
 * @since 0.1.0
 */
public record LedgerJob(String namespace, String key, Instant firstSeenAt, @Nullable Instant lastTick,
		@Nullable Instant lastStartedAt, @Nullable Instant lastFinishedAt, @Nullable RunOutcome lastOutcome,
		@Nullable Long fencingToken, @Nullable Instant pausedAt, @Nullable String pausedBy) {

	/**
	 * Return whether the key is paused.
	 * @return {@code true} if its methods do not run for now
	 */
	public boolean isPaused() {
		return this.pausedAt != null;
	}

}
