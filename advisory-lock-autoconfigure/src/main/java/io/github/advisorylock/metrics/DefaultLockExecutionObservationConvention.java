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

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * Names and tags of the observation of a call, unless the application has its own.
 *
 * @since 0.1.0
 */
public class DefaultLockExecutionObservationConvention implements LockExecutionObservationConvention {

	private static final String OUTCOME = "outcome";

	private static final String SCOPE = "scope";

	private static final KeyValue OUTCOME_ERROR = KeyValue.of(OUTCOME, "error");

	private static final KeyValue OUTCOME_CANCELLED = KeyValue.of(OUTCOME, "cancelled");

	private static final KeyValue OUTCOME_NONE = KeyValue.of(OUTCOME, KeyValue.NONE_VALUE);

	private static final Map<LockOutcome, KeyValue> OUTCOMES = values(LockOutcome.class, OUTCOME);

	private static final KeyValue SCOPE_NONE = KeyValue.of(SCOPE, KeyValue.NONE_VALUE);

	private static final Map<LockScope, KeyValue> SCOPES = values(LockScope.class, SCOPE);

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
		return KeyValues.of(KeyValue.of("key", context.getOperation().keyTemplate()), outcome(context),
				SCOPES.getOrDefault(context.getOperation().scope(), SCOPE_NONE));
	}

	private static KeyValue outcome(LockExecutionObservationContext context) {
		if (context.isCancelled() || context.getError() != null) {
			return context.isCancelled() ? OUTCOME_CANCELLED : OUTCOME_ERROR;
		}
		LockOutcome outcome = context.getOutcome();
		return (outcome != null) ? OUTCOMES.getOrDefault(outcome, OUTCOME_NONE) : OUTCOME_NONE;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockExecutionObservationContext context) {
		KeyValues values = KeyValues.of(KeyValue.of("lock.key", context.getKey().toString()));
		LockContext lock = context.getLock();
		if (lock != null && lock.tick().isPresent()) {
			values = values.and("lock.tick", lock.tick().get().toString(), "lock.attempt",
					Integer.toString(lock.attempt()));
		}
		return (lock == null || !isOver(context) || lock.fencingToken().isEmpty()) ? values
				: values.and("fencing.token", Long.toString(lock.fencingToken().getAsLong()));
	}

	/**
	 * Who asks for the token while the work runs waits for the server's disk, and a span
	 * is no reason for that.
	 */
	private static boolean isOver(LockExecutionObservationContext context) {
		return context.getOutcome() != null || context.isCancelled() || context.getError() != null;
	}

	private static <E extends Enum<E>> Map<E, KeyValue> values(Class<E> type, String name) {
		Map<E, KeyValue> values = new EnumMap<>(type);
		for (E constant : type.getEnumConstants()) {
			values.put(constant, KeyValue.of(name, lowerCase(constant)));
		}
		return values;
	}

	private static String lowerCase(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
