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
 * Turns a name and its namespace into the key that PostgreSQL locks. A bean of this type
 * replaces the one that {@code advisory-lock.key-format} chooses, for example to keep the
 * keys of workers that exist already.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface AdvisoryLockKeyFactory {

	/**
	 * Create the key for a name. Must always give equal keys for equal arguments.
	 * @param namespace the namespace, empty for none
	 * @param name the name of the lock
	 * @return the key
	 */
	AdvisoryLockKey createKey(String namespace, String name);

	/**
	 * Return the factory for {@code advisory-lock.key-format=sha256}, the default: one
	 * 64-bit number as {@link AdvisoryLockKey#of(String, String)} computes it.
	 * @return the factory
	 */
	static AdvisoryLockKeyFactory sha256() {
		return AdvisoryLockKey::of;
	}

	/**
	 * Return the factory for {@code advisory-lock.key-format=pair}: two 32-bit numbers,
	 * the first 4 bytes of the SHA-256 of the namespace and of the name, so that all keys
	 * of a namespace have the same {@code classid} in {@code pg_locks}.
	 * @return the factory
	 */
	static AdvisoryLockKeyFactory pair() {
		return AdvisoryLockKey::pairOf;
	}

}
