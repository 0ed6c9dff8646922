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

package io.github.advisorylock.annotation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * The keys that every call of some method has. What arguments make of the key of another
 * method must not be one of them, or a caller could keep that method from running.
 */
final class FixedKeys {

	private final Map<AdvisoryLockKey, SingleRunnerMethod> methods = new ConcurrentHashMap<>();

	void add(SingleRunnerMethod method) {
		if (method.fixedKey() != null) {
			this.methods.put(method.fixedKey(), method);
		}
	}

	/**
	 * Check a key that arguments made.
	 * @param template the text that the key was made from
	 * @param allowShared whether the method may have the key of another one that allows
	 * that too
	 * @throws IllegalArgumentException if it is the key of another method
	 */
	AdvisoryLockKey check(AdvisoryLockKey key, String template, boolean allowShared) {
		SingleRunnerMethod other = this.methods.get(key);
		if (other != null && !(allowShared && other.allowSharedKey())) {
			throw new IllegalArgumentException("Failed to evaluate key '" + template + "': '" + key + "' is the key of "
					+ other + "; give keys with arguments a text of their own, or set "
					+ "'allowSharedKey' on both methods if they are meant to exclude each other");
		}
		return key;
	}

}
