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

import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

/**
 * One run in the ledger's history. Times are those of the database's clock.
 *
 * @param id the number of the run
 * @param namespace the namespace of the key, empty if there is none
 * @param key the name of the key
 * @param tick the planned time it ran for, {@code null} if for none
 * @param scope how long the lock lived
 * @param instance who ran it: host and process id
 * @param fencingToken its fencing token
 * @param startedAt when it started
 * @param finishedAt when it ended, {@code null} while it runs
 * @param outcome how it ended, {@code null} while it runs
 * @param error the first line of what the failure prints, {@code null} if there was none
 * @param errorClass the name of its class, {@code null} if there was none, or it was
 * written by a version that did not keep it
 * @since 0.1.0
 */
public record LedgerRun(long id, String namespace, String key, @Nullable Instant tick, LockScope scope, String instance,
		long fencingToken, Instant startedAt, @Nullable Instant finishedAt, @Nullable RunOutcome outcome,
		@Nullable String error, @Nullable String errorClass) {

}
