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

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published on the thread of the run when a guarded method has run, or failed to: after
 * its transaction, also where that is a caller's.
 *
 * @param key the key of the run
 * @param scope how long the lock lived
 * @param method the method, as {@code Class.method}
 * @param duration how long the call took, with waiting and committing, to the end of its
 * transaction
 * @param failure what the run threw, {@code null} on success; the caller got it as an
 * exception, unless other advice of the method has kept it back, or the method returned
 * and its transaction was rolled back
 * @param tick the planned time that the run was for, {@code null} if for none
 * @param attempt how often the work has been tried for that tick, 1 for the first time
 * @param done whether the work is done, and not tried again: it succeeded, or it failed
 * and its transaction was committed nevertheless
 * @since 0.1.0
 */
public record SingleRunnerFinishedEvent(AdvisoryLockKey key, LockScope scope, String method, Duration duration,
		@Nullable Throwable failure, @Nullable Instant tick, int attempt, boolean done) {

	/**
	 * Create the event of a run that is done if it did not fail.
	 * @param key the key of the run
	 * @param scope how long the lock lived
	 * @param method the method, as {@code Class.method}
	 * @param duration how long the call took
	 * @param failure what the run threw, {@code null} on success
	 * @param tick the planned time that the run was for, {@code null} if for none
	 * @param attempt how often the work has been tried for that tick
	 */
	public SingleRunnerFinishedEvent(AdvisoryLockKey key, LockScope scope, String method, Duration duration,
			@Nullable Throwable failure, @Nullable Instant tick, int attempt) {
		this(key, scope, method, duration, failure, tick, attempt, failure == null);
	}

	/**
	 * Return whether the run has failed because an operator has cancelled it.
	 * @return {@code true} for a run that is no failure for anybody
	 */
	public boolean cancelled() {
		return LockLostException.isCancelled(this.failure, this.key);
	}

}
