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

/**
 * How a {@link Hold} is doing.
 */
enum HoldState {

	ACTIVE,

	/**
	 * Is being released, and can still be lost.
	 */
	RELEASING,

	/**
	 * Ends with its transaction.
	 */
	ENDING,

	RELEASED,

	/**
	 * The lock is gone.
	 */
	LOST,

	/**
	 * The lock is held, and its holder was told to give it up.
	 */
	REVOKED,

	/**
	 * Was revoked, and is being released.
	 */
	GIVEN_UP;

	/**
	 * Return whether the lock is lost, or the holder was told to give it up.
	 */
	boolean isLost() {
		return this == LOST || this == REVOKED || this == GIVEN_UP;
	}

	/**
	 * Return whether the lock can be lost: also while it is being released.
	 */
	boolean isOpen() {
		return this == ACTIVE || this == RELEASING;
	}

	/**
	 * Return the state after somebody wants to release the lock.
	 * @return the same one where nobody has to
	 */
	HoldState afterRelease() {
		return switch (this) {
			case ACTIVE -> RELEASING;
			case REVOKED -> GIVEN_UP;
			case RELEASING, ENDING, RELEASED, LOST, GIVEN_UP -> this;
		};
	}

}
