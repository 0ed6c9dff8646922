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

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * Gives the key for a call of a method.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface SingleRunnerKey {

	/**
	 * Return the key for a call.
	 * @param arguments the arguments of the call
	 * @return the key
	 * @throws IllegalArgumentException if there is no key for these arguments
	 */
	AdvisoryLockKey resolve(@Nullable Object[] arguments);

	/**
	 * Return the key that every call has.
	 * @return the key, {@code null} when it depends on the arguments
	 */
	default @Nullable AdvisoryLockKey fixed() {
		return null;
	}

	/**
	 * Create what gives every call the same key.
	 * @param key the key
	 * @return gives that key
	 */
	static SingleRunnerKey of(AdvisoryLockKey key) {
		return new SingleRunnerKey() {

			@Override
			public AdvisoryLockKey resolve(@Nullable Object[] arguments) {
				return key;
			}

			@Override
			public AdvisoryLockKey fixed() {
				return key;
			}

		};
	}

}
