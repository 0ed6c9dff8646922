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

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.log.LockLog;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * Names and tags of the observation of a call, unless the application has its own.
 *
 * @since 0.1.0
 */
public class DefaultLockExecutionObservationConvention implements LockExecutionObservationConvention {

	@Override
	public String getName() {
		return "advisory.lock.execution";
	}

	@Override
	public String getContextualName(LockExecutionObservationContext context) {
		return "lock " + context.getOperation().keyTemplate();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockExecutionObservationContext context) {
		return KeyValues.of("key", context.getOperation().keyTemplate(), "outcome", outcome(context), "scope",
				LockLog.word(context.getOperation().scope()));
	}

	private static String outcome(LockExecutionObservationContext context) {
		if (context.isCancelled() || context.getError() != null) {
			return context.isCancelled() ? "cancelled" : "error";
		}
		LockOutcome outcome = context.getOutcome();
		return (outcome != null) ? LockLog.word(outcome) : KeyValue.NONE_VALUE;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockExecutionObservationContext context) {
		KeyValues values = KeyValues.of(KeyValue.of("lock.key", context.getKey().toString()));
		LockContext lock = context.getLock();
		if (lock != null && lock.tick().isPresent()) {
			values = values.and("lock.tick", lock.tick().get().toString(), "lock.attempt",
					Integer.toString(lock.attempt()));
		}
		// who asks for the token while the work runs waits for the server's disk, and a
		// span is no reason for that
		boolean over = context.getOutcome() != null || context.isCancelled() || context.getError() != null;
		return (lock == null || !over || lock.fencingToken().isEmpty()) ? values
				: values.and("fencing.token", Long.toString(lock.fencingToken().getAsLong()));
	}

}
