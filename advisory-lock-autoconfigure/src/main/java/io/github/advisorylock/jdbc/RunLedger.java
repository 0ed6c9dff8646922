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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;

/**
 * Where runs are recorded; asked before each one whether it may take place. A feature
 * implements it; the template works without.
 *
 * @since 0.1.0
 */
public interface RunLedger {

	/**
	 * Return the record of one run, of which nothing is asked or written yet. Called
	 * before the lock is taken and before a transaction is begun for the run, and only
	 * for requests that are {@linkplain LockRequest#isRecorded() recorded}.
	 * @param key the key of the run
	 * @param scope how long its lock lives
	 * @param request what is asked of the ledger
	 * @return the record of the run
	 * @throws IllegalArgumentException if there is no room for such a key
	 */
	RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest request);

	/**
	 * Return whether this ledger is in use: it is opened when the first run is recorded,
	 * or before.
	 * @return whether it was opened
	 */
	default boolean isOpen() {
		return true;
	}

	/**
	 * Check that this ledger can be read and written.
	 * @throws org.springframework.dao.DataAccessException if it can't
	 */
	default void check() {
	}

}
