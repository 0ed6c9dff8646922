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

import org.springframework.util.Assert;

/**
 * The outcome of a call that asked for a lock, with the result of the work when it ran.
 * <p>
 * A {@code @SingleRunner} method may declare it as its return type, and returns
 * {@link #executed(Object)}.
 *
 * @param <T> the type of the work's result
 * @since 0.1.0
 */
public final class LockResult<T extends @Nullable Object> {

	private final LockOutcome outcome;

	private final @Nullable T value;

	private final @Nullable AdvisoryLockKey key;

	private final @Nullable String reason;

	private LockResult(LockOutcome outcome, @Nullable T value, @Nullable AdvisoryLockKey key, @Nullable String reason) {
		this.reason = reason;
		this.outcome = outcome;
		this.value = value;
		this.key = key;
	}

	/**
	 * Create the result of work that ran.
	 * @param <T> the type of the work's result
	 * @param value the work's result, may be {@code null}
	 * @return a result with {@link LockOutcome#EXECUTED}
	 */
	public static <T extends @Nullable Object> LockResult<T> executed(@Nullable T value) {
		return new LockResult<>(LockOutcome.EXECUTED, value, null, null);
	}

	/**
	 * Create the result of work that did not run.
	 * @param <T> the type of the work's result
	 * @param outcome why it did not run
	 * @param key the key it would have run under
	 * @return a result without a value
	 */
	public static <T extends @Nullable Object> LockResult<T> skipped(LockOutcome outcome, AdvisoryLockKey key) {
		return skipped(outcome, key, null);
	}

	/**
	 * Create the result of work that did not run.
	 * @param <T> the type of the work's result
	 * @param outcome why it did not run
	 * @param key the key it would have run under
	 * @param reason what the outcome does not say, {@code null} if it says all
	 * @return a result without a value
	 */
	public static <T extends @Nullable Object> LockResult<T> skipped(LockOutcome outcome, AdvisoryLockKey key,
			@Nullable String reason) {
		Assert.notNull(outcome, "'outcome' must not be null");
		Assert.notNull(key, "'key' must not be null");
		Assert.isTrue(outcome != LockOutcome.EXECUTED, "'outcome' must say why the work did not run");
		return new LockResult<>(outcome, null, key, reason);
	}

	/**
	 * Create the result of work that was done before, with what it returned then.
	 * @param <T> the type of the work's result
	 * @param value the work's result, may be {@code null}
	 * @param key the key it was done under
	 * @return a result with {@link LockOutcome#ALREADY_RAN}
	 */
	public static <T extends @Nullable Object> LockResult<T> alreadyRan(@Nullable T value, AdvisoryLockKey key) {
		Assert.notNull(key, "'key' must not be null");
		return new LockResult<>(LockOutcome.ALREADY_RAN, value, key, null);
	}

	/**
	 * Return how the call ended.
	 * @return the outcome
	 */
	public LockOutcome outcome() {
		return this.outcome;
	}

	/**
	 * Return whether the work ran.
	 * @return whether the outcome is {@link LockOutcome#EXECUTED}
	 */
	public boolean executed() {
		return this.outcome == LockOutcome.EXECUTED;
	}

	/**
	 * Return the result of the work.
	 * @return what the work returned, also when it was {@link LockOutcome#ALREADY_RAN}
	 * and its result is kept; {@code null} when it returned that or did not run
	 */
	public @Nullable T value() {
		return this.value;
	}

	/**
	 * Return the result of the work, or throw when it did not run.
	 * @return what the work returned
	 * @throws LockBusyException if somebody else held the lock
	 * @throws IllegalStateException if the work did not run for another reason
	 */
	@SuppressWarnings("NullAway") // the work's own null goes through
	public T orElseThrow() {
		if (executed()) {
			return this.value;
		}
		if (this.outcome == LockOutcome.BUSY) {
			throw new LockBusyException(this.key);
		}
		throw new IllegalStateException("Work under advisory lock '" + this.key + "' did not run: " + why());
	}

	@Override
	public String toString() {
		return executed() ? "EXECUTED[" + this.value + "]" : why() + "[" + this.key + "]";
	}

	private String why() {
		return (this.reason != null) ? this.outcome + " (" + this.reason + ")" : this.outcome.name();
	}

}
