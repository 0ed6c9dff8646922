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

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.support.TwoPhaseLockOperations.Admission;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Admits a call to operations that know one phase only.
 */
final class OnePhaseAdmission implements Admission {

	private final AdvisoryLockOperations operations;

	private final LockRequest request;

	private LockOutcome outcome = LockOutcome.EXECUTED;

	OnePhaseAdmission(AdvisoryLockOperations operations, LockRequest request) {
		this.operations = operations;
		this.request = request;
	}

	@Override
	public LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action) throws X {
		LockResult<T> result = this.operations.execute(this.request, action);
		Assert.state(result != null, () -> "Failed to run under a lock: 'execute' of " + this.operations
				+ " has returned null. A mock has to return a LockResult, or to call the action");
		this.outcome = result.outcome();
		return result.value();
	}

	@Override
	public void close() {
	}

}
