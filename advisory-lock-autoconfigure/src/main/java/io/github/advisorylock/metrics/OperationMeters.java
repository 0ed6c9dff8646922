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
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The meters of one method, looked up once. Names and tags are those that the observation
 * of a run has.
 */
final class OperationMeters {

	private final MeterRegistry registry;

	private final LockExecutionObservationConvention convention;

	private final SingleRunnerOperation operation;

	private final Map<LockOutcome, Timer> calls = new EnumMap<>(LockOutcome.class);

	private final Timer acquire;

	private final LongTaskTimer active;

	private final AtomicReference<Double> lastSuccess = new AtomicReference<>(Double.NaN);

	OperationMeters(MeterRegistry registry, LockExecutionObservationConvention convention,
			SingleRunnerOperation operation, AdvisoryLockKey key) {
		this.registry = registry;
		this.convention = convention;
		this.operation = operation;
		for (LockOutcome outcome : LockOutcome.values()) {
			this.calls.put(outcome, timer(key, outcome, null));
		}
		this.active = LongTaskTimer.builder(name() + ".active").tags(tags(key, null, null)).register(registry);
		this.acquire = Timer.builder("advisory.lock.acquire")
			.description("Time until a lock was taken or found busy")
			.tag("key", operation.keyTemplate())
			.register(registry);
		Gauge.builder("advisory.lock.last.success", this.lastSuccess, AtomicReference::get)
			.description("When a run last came to a good end on this instance")
			.baseUnit("seconds")
			.tag("key", operation.keyTemplate())
			.register(registry);
	}

	void acquired(long nanos) {
		this.acquire.record(nanos, TimeUnit.NANOSECONDS);
	}

	LongTaskTimer.Sample begin() {
		return this.active.start();
	}

	void skipped(LockOutcome outcome, long nanos) {
		record(outcome, nanos);
		if (outcome == LockOutcome.BUSY) {
			acquired(nanos);
		}
	}

	void succeeded() {
		this.lastSuccess.set(System.currentTimeMillis() / 1000.0);
	}

	/**
	 * Record a run that nobody observes.
	 */
	void ran(AdvisoryLockKey key, @Nullable Throwable failure, long nanos) {
		if (failure == null) {
			record(LockOutcome.EXECUTED, nanos);
		}
		else {
			timer(key, null, failure).record(nanos, TimeUnit.NANOSECONDS);
		}
	}

	private void record(LockOutcome outcome, long nanos) {
		Timer timer = this.calls.get(outcome);
		Assert.state(timer != null, "'outcome' must be known");
		timer.record(nanos, TimeUnit.NANOSECONDS);
	}

	private Timer timer(AdvisoryLockKey key, @Nullable LockOutcome outcome, @Nullable Throwable failure) {
		String error = (failure != null && !LockLostException.isCancelled(failure, key))
				? failure.getClass().getSimpleName() : KeyValue.NONE_VALUE;
		return Timer.builder(name()).tags(tags(key, outcome, failure).and("error", error)).register(this.registry);
	}

	private String name() {
		String name = this.convention.getName();
		return (name != null) ? name : "advisory.lock.execution";
	}

	private Tags tags(AdvisoryLockKey key, @Nullable LockOutcome outcome, @Nullable Throwable failure) {
		LockExecutionObservationContext context = new LockExecutionObservationContext(this.operation, key);
		context.setOutcome(outcome);
		context.setCancelled(LockLostException.isCancelled(failure, key));
		if (failure != null && !context.isCancelled()) {
			context.setError(failure);
		}
		return Tags.of(this.convention.getLowCardinalityKeyValues(context)
			.stream()
			.map((value) -> Tag.of(value.getKey(), value.getValue()))
			.toList());
	}

}
