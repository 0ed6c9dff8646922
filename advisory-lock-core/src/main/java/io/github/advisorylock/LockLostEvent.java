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

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event when a lock ended while its run was under way:
 * another instance may run the same work now. Published too when a holder is told to end;
 * the lock of a run that goes on nevertheless stays taken until it ends. Published once
 * for each lock, on a thread of the library's own.
 *
 * @param key the key that is no longer locked
 * @param reason why the holder has lost it
 * @param database the name of the transaction manager in whose database the lock was,
 * {@code null} where the application has one database
 * @since 0.1.0
 */
public record LockLostEvent(AdvisoryLockKey key, Reason reason, @Nullable String database) {

	/**
	 * Create an event for a lock whose session or transaction is gone.
	 * @param key the key that is no longer locked
	 */
	public LockLostEvent(AdvisoryLockKey key) {
		this(key, Reason.GONE);
	}

	/**
	 * Create an event where there is one database.
	 * @param key the key that is no longer locked
	 * @param reason why the holder has lost it
	 */
	public LockLostEvent(AdvisoryLockKey key, Reason reason) {
		this(key, reason, null);
	}

	/**
	 * Why a holder has lost its lock.
	 */
	public enum Reason {

		/**
		 * What had the lock in the database is gone.
		 */
		GONE,

		/**
		 * It was held for longer than it may, see {@link LockRequest#maxRun}.
		 */
		MAX_RUN,

		/**
		 * An operator has told the holder to end.
		 */
		CANCELLED

	}

}
