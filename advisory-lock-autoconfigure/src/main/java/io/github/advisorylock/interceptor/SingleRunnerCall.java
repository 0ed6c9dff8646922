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

import java.lang.reflect.UndeclaredThrowableException;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * One call of a guarded method, on its way through the proxy. Carries the key, which is
 * evaluated once, and the outcome.
 */
final class SingleRunnerCall {

	private final SingleRunnerOperation operation;

	private final AdvisoryLockKey key;

	private final LockRequest request;

	private final SingleRunnerObserver.Call observed;

	private @Nullable AdvisoryLockOperations operations;

	private boolean decided;

	private @Nullable LockOutcome outcome;

	private @Nullable Throwable failure;

	/**
	 * Create a call.
	 * @param now whether an operator asked for it
	 */
	SingleRunnerCall(SingleRunnerOperation operation, @Nullable Object[] arguments, boolean now,
			SingleRunnerObserver observer) {
		this.operation = operation;
		this.key = operation.key().resolve(arguments);
		this.request = now ? operation.createRequestNow(this.key) : operation.createRequest(this.key);
		this.observed = observer.observe(operation, this.key);
	}

	SingleRunnerOperation operation() {
		return this.operation;
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	LockRequest request() {
		return this.request;
	}

	/**
	 * Return how the call ended.
	 * @return the outcome, {@code null} when it failed before that was known
	 */
	@Nullable LockOutcome outcome() {
		return this.outcome;
	}

	/**
	 * Return whether the call got to where its lock is asked for, or was skipped before.
	 */
	boolean isDecided() {
		return this.decided;
	}

	/**
	 * Return what the run threw, even if other advice has kept that from the caller.
	 */
	@Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Set what takes the lock of this call.
	 */
	void use(AdvisoryLockOperations operations) {
		this.operations = operations;
	}

	/**
	 * Go on with the invocation under the lock, or skip it. What could be foreseen was
	 * found out before.
	 */
	@SuppressWarnings("NullAway") // a method may return null
	@Nullable Object run(MethodInvocation invocation) throws Throwable {
		Assert.state(this.operations != null, "'operations' must be set");
		this.decided = true;
		this.outcome = null;
		this.failure = null;
		LockResult<@Nullable Object> result;
		try {
			result = this.operations.execute(this.request, (lock) -> proceed(lock, invocation));
		}
		catch (Throwable ex) {
			this.failure = unwrap(ex);
			throw this.failure;
		}
		return result.executed() ? result.value() : skip(result);
	}

	private static Throwable unwrap(Throwable failure) {
		return (failure instanceof UndeclaredThrowableException wrapper
				&& !(wrapper.getUndeclaredThrowable() instanceof Exception)) ? wrapper.getUndeclaredThrowable()
						: failure;
	}

	SingleRunnerObserver.Call observed() {
		return this.observed;
	}

	@Nullable Object skip(LockOutcome reason) {
		return skip(LockResult.skipped(reason, this.key));
	}

	private @Nullable Object skip(LockResult<?> result) {
		this.decided = true;
		this.outcome = result.outcome();
		return this.operation.skippedValue(result);
	}

	private @Nullable Object proceed(LockContext lock, MethodInvocation invocation) throws Exception {
		this.outcome = LockOutcome.EXECUTED;
		SingleRunnerObserver.Work work = this.observed.begin(lock);
		try {
			return invocation.proceed();
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
		finally {
			work.close();
		}
	}

}
