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

/**
 * How a call that asked for a lock ended. Everything but {@link #EXECUTED} is a skip: the
 * work did not run.
 *
 * @since 0.1.0
 */
public enum LockOutcome {

	/**
	 * The lock was taken and the work ran to its end.
	 */
	EXECUTED,

	/**
	 * Somebody else holds the lock.
	 */
	BUSY,

	/**
	 * It has run for this tick, or for this key, before.
	 */
	ALREADY_RAN,

	/**
	 * The last run was too short a time ago: its interval has had its run. Of a tick that
	 * failed: it is not tried again yet, or not by itself.
	 */
	TOO_SOON,

	/**
	 * An operator has paused the key.
	 */
	PAUSED

}
