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

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Runs work under a PostgreSQL advisory lock. The programmatic counterpart of
 * {@code @SingleRunner}:
 *
 * <pre class="code">
 * LockResult&lt;Report&gt; result = locks.execute(LockRequest.of("nightly-report"), (lock) -&gt; buildReport());
 * if (!result.executed()) {
 *     // somebody else is at it
 * }
 * </pre>
 *
 * @since 0.1.0
 */
public interface AdvisoryLockOperations {

	/**
	 * Run the given work if the requested lock is free, or becomes free in the time that
	 * the request is willing to wait.
	 * <p>
	 * A call on a thread that is already running under the same key is part of that run.
	 * @param <T> the type of the work's result
	 * @param <X> the type of a checked exception the work may throw
	 * @param request which lock, and how to ask for it
	 * @param action the work
	 * @return the outcome, with the result of the work when it ran
	 * @throws X the failure of the work; failures of the release are added to it as
	 * suppressed
	 */
	<T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X;

	/**
	 * Take a {@link LockScope#SESSION} lock that is held until it is closed or lost.
	 * Unlike {@link #execute} it is never part of a run: a key that this application
	 * holds already is busy, on the same thread too.
	 * @param request which lock, and how to ask for it; must not ask for
	 * {@link LockScope#TRANSACTION}
	 * @return the held lock, or empty when another holder has it
	 */
	Optional<HeldLock> tryAcquire(LockRequest request);

}
