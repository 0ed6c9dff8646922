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

import org.springframework.dao.CannotAcquireLockException;

/**
 * Thrown when another holder has a lock and the caller asked to be told so by an
 * exception.
 *
 * @since 0.1.0
 */
public class LockBusyException extends CannotAcquireLockException {

	private final AdvisoryLockKey key;

	/**
	 * Create an exception for a key that is held by somebody else.
	 * @param key the key that could not be locked
	 */
	public LockBusyException(AdvisoryLockKey key) {
		super("Failed to acquire advisory lock '" + key + "': another holder has it");
		this.key = key;
	}

	/**
	 * Return the key that is held by somebody else.
	 * @return the key
	 */
	public AdvisoryLockKey getKey() {
		return this.key;
	}

}
