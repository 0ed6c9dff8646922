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
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockResult;
import org.jspecify.annotations.Nullable;

/**
 * How a lock of one scope is taken, run under and released.
 */
interface LockScopeStrategy {

	/**
	 * Run the action under a lock that neither the current thread nor its transaction
	 * holds.
	 */
	<T extends @Nullable Object, X extends Exception> LockResult<T> execute(AdvisoryLockKey key, LockMode mode,
			Deadline deadline, @Nullable RunRecord record, LockCallback<T, X> action) throws X;

}
