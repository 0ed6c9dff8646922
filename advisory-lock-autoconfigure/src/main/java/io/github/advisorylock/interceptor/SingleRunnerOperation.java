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

import java.time.Duration;
import java.util.Optional;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * How one method runs under a lock, with everything resolved that can be before a call.
 *
 * @param method the method, as it stands in logs and events
 * @param returnType what the method returns
 * @param keyTemplate the text of the key, with its expressions as they are
 * @param key gives the key for a call
 * @param scope how long the lock lives
 * @param waitFor how long to wait for a lock that is busy, zero to not wait
 * @param failWhenBusy whether a busy lock is an exception for the caller
 * @param paused whether the method does not run at all for now
 * @param ledger what is asked of the ledger
 * @since 0.1.0
 */
public record SingleRunnerOperation(String method, Class<?> returnType, String keyTemplate, SingleRunnerKey key,
		LockScope scope, Duration waitFor, boolean failWhenBusy, boolean paused, LedgerOperation ledger) {

	public SingleRunnerOperation {
		Assert.hasText(method, "'method' must not be empty");
		Assert.hasText(keyTemplate, "'keyTemplate' must not be empty");
		Assert.isTrue(!waitFor.isNegative(), "'waitFor' must not be negative");
	}

	LockRequest createRequest(AdvisoryLockKey key) {
		return underTemplate(this.ledger.apply(request(key)), key);
	}

	/**
	 * As {@link #createRequest}, for a run that an operator asked for.
	 */
	LockRequest createRequestNow(AdvisoryLockKey key) {
		return underTemplate(this.ledger.applyNow(request(key)), key);
	}

	/**
	 * A key that is not the text of the annotation was made from arguments.
	 */
	private LockRequest underTemplate(LockRequest request, AdvisoryLockKey key) {
		return (request.isRecorded() && !key.name().equals(this.keyTemplate)) ? request.recordedUnder(this.keyTemplate)
				: request;
	}

	private LockRequest request(AdvisoryLockKey key) {
		return LockRequest.of(key).scope(this.scope).waitFor(this.waitFor);
	}

	/**
	 * Return what the caller of a call that did not run gets.
	 * @param result why it did not run
	 * @return the value to return
	 * @throws io.github.advisorylock.LockBusyException if that is what the caller asked
	 * for
	 * @throws IllegalStateException if the method has no value for it
	 */
	@Nullable Object skippedValue(LockResult<?> result) {
		if (this.failWhenBusy && result.outcome() == LockOutcome.BUSY) {
			return result.orElseThrow();
		}
		if (this.returnType == LockResult.class) {
			return result;
		}
		if (this.returnType == Optional.class) {
			return Optional.empty();
		}
		return (this.returnType.isPrimitive() && this.returnType != void.class) ? result.orElseThrow() : null;
	}

}
