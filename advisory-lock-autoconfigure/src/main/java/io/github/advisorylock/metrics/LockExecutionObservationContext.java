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

package io.github.advisorylock.metrics;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a call of a guarded method.
 *
 * @since 0.1.0
 */
public class LockExecutionObservationContext extends Observation.Context {

	private final SingleRunnerOperation operation;

	private final AdvisoryLockKey key;

	private @Nullable LockContext lock;

	private @Nullable LockOutcome outcome;

	private boolean cancelled;

	/**
	 * Create a context.
	 * @param operation how the method runs
	 * @param key the key of the call
	 */
	public LockExecutionObservationContext(SingleRunnerOperation operation, AdvisoryLockKey key) {
		this.operation = operation;
		this.key = key;
	}

	/**
	 * Return how the method runs.
	 * @return the operation; the template of its key is known before any call
	 */
	public SingleRunnerOperation getOperation() {
		return this.operation;
	}

	/**
	 * Return the key of the call.
	 * @return the key; one that depends on arguments has no end of values
	 */
	public AdvisoryLockKey getKey() {
		return this.key;
	}

	/**
	 * Return the lock of the run.
	 * @return the lock, {@code null} if the work did not begin
	 */
	public @Nullable LockContext getLock() {
		return this.lock;
	}

	/**
	 * Return how the call ended.
	 * @return the outcome, {@code null} if it failed or is still under way
	 */
	public @Nullable LockOutcome getOutcome() {
		return this.outcome;
	}

	/**
	 * Return whether an operator has cancelled the run: then it has no outcome, and is no
	 * error.
	 * @return {@code true} once such a run has ended
	 */
	public boolean isCancelled() {
		return this.cancelled;
	}

	void setCancelled(boolean cancelled) {
		this.cancelled = cancelled;
	}

	void setLock(LockContext lock) {
		this.lock = lock;
	}

	void setOutcome(@Nullable LockOutcome outcome) {
		this.outcome = outcome;
	}

}
