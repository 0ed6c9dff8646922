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
 * Work that runs while a lock is held.
 *
 * @param <T> the type of the result
 * @param <X> the type of a checked exception the work may throw
 * @since 0.1.0
 * @see AdvisoryLockOperations#execute(LockRequest, LockCallback)
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, X extends Exception> {

	/**
	 * Do the work. It must be done when this returns: what goes on elsewhere, with a
	 * future or a reactive type as the result, goes on without the lock.
	 * @param lock what is known about the lock that is held
	 * @return the result, may be {@code null}
	 * @throws X any failure, which reaches the caller as it is
	 */
	T doWithLock(LockContext lock) throws X;

}
