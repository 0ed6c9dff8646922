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

package io.github.advisorylock.test;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * Where assertions about locks begin, in a test that has an application context. A test
 * without one says {@code assertThat(locks.lock("key"))}.
 *
 * @since 0.1.0
 */
public final class LockAssertions {

	private LockAssertions() {
	}

	/**
	 * Begin assertions about a lock of the application that is tested.
	 * @param key the name of the key, in {@code advisory-lock.namespace}
	 * @return the assertions
	 * @throws IllegalStateException if the current thread, and the one that started it,
	 * runs no test with an application context
	 */
	public static LockAssert assertThatLock(String key) {
		TestLocks locks = CurrentTest.locks();
		return new LockAssert(locks, locks.key(key));
	}

	/**
	 * Begin assertions about a lock of the application that is tested.
	 * @param key the key
	 * @return the assertions
	 * @throws IllegalStateException if the current thread, and the one that started it,
	 * runs no test with an application context
	 */
	public static LockAssert assertThatLock(AdvisoryLockKey key) {
		return new LockAssert(CurrentTest.locks(), key);
	}

}
