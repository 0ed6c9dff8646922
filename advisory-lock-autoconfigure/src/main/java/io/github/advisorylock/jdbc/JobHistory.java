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

package io.github.advisorylock.jdbc;

import io.github.advisorylock.LedgerJob;
import io.github.advisorylock.LedgerRun;
import org.jspecify.annotations.Nullable;

/**
 * A job of the ledger with what became of its last runs.
 *
 * @param job the job
 * @param lastRun its last run, {@code null} if there was none, or it is forgotten
 * @param outcomes the first letters of the outcomes of its last runs, latest last,
 * {@code R} for one that is not over
 * @since 0.1.0
 */
public record JobHistory(LedgerJob job, @Nullable LedgerRun lastRun, String outcomes) {

}
