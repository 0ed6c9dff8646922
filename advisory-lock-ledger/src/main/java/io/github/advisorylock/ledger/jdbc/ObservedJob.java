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

import java.time.Instant;

import io.github.advisorylock.ledger.LedgerJob;
import org.jspecify.annotations.Nullable;

/**
 * What was seen of a job at one moment: its row, and whether somebody holds its lock. The
 * lock may have been given back after the row was read: only a job that is seen twice
 * without a holder was not completed by the one of the first time.
 *
 * @param job the row, {@code null} where the ledger has none
 * @param isHeld whether somebody holds the lock
 * @param clock the time of the database
 */
record ObservedJob(@Nullable LedgerJob job, boolean isHeld, Instant clock) {

}
