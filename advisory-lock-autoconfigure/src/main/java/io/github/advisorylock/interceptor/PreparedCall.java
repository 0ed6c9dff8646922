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

package io.github.advisorylock.interceptor;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockOutcome;

/**
 * What was done for a call before it begins its transaction.
 *
 * @param outcome {@link LockOutcome#EXECUTED} if the call may go on, else why it is
 * skipped
 * @param operations takes the lock of this call, once it is where that belongs
 * @param end is run when the call is over, whether or not it got that far
 * @since 0.1.0
 */
public record PreparedCall(LockOutcome outcome, AdvisoryLockOperations operations, Runnable end) {

	/**
	 * Prepare nothing.
	 * @param operations takes the lock
	 * @return a call that may go on
	 */
	public static PreparedCall of(AdvisoryLockOperations operations) {
		return new PreparedCall(LockOutcome.EXECUTED, operations, () -> {
		});
	}

}
