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
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.interceptor.LedgerOperation;

/**
 * How the ledger is kept. The values are checked where they are configured.
 *
 * @param tablePrefix what the names of its tables start with, a schema before it or not
 * @param initializeSchema whether missing tables are created
 * @param keepRunsFor how long a run is kept in the history
 * @param keepRunsOfKey how many runs of a key are kept in the history
 * @param rememberKeys how long a key that was completed is remembered
 * @since 0.1.0
 */
public record LedgerSettings(String tablePrefix, boolean initializeSchema, Duration keepRunsFor, int keepRunsOfKey,
		Duration rememberKeys) {

	/**
	 * What the names of tables start with unless somebody says otherwise.
	 */
	static final String DEFAULT_TABLE_PREFIX = "advisory_lock_";

	/**
	 * Create settings, with no time longer than {@link LedgerOperation#FOR_EVER}.
	 */
	public LedgerSettings {
		keepRunsFor = LedgerOperation.bounded(keepRunsFor);
		rememberKeys = LedgerOperation.bounded(rememberKeys);
	}

	/**
	 * Return a duration for the database, in microseconds.
	 */
	static long micros(Duration duration) {
		return TimeUnit.MICROSECONDS.convert(LedgerOperation.bounded(duration));
	}

}
