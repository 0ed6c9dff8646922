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

package io.github.advisorylock.benchmarks;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.metrics.DefaultLockExecutionObservationConvention;
import io.github.advisorylock.metrics.MicrometerSingleRunnerObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

/**
 * Observes calls as told, so that calls with and without meters can take turns on the
 * same connections.
 */
class SwitchedObserver extends MicrometerSingleRunnerObserver {

	private static final SingleRunnerObserver NONE = (operation, key) -> Call.UNOBSERVED;

	private final SingleRunnerObserver observations;

	private SingleRunnerObserver current = NONE;

	SwitchedObserver(MeterRegistry meters, ObservationRegistry observations) {
		super(meters, ObservationRegistry.NOOP, new DefaultLockExecutionObservationConvention(), false);
		this.observations = new MicrometerSingleRunnerObserver(meters, observations,
				new DefaultLockExecutionObservationConvention(), false);
	}

	void run(Mode mode, Runnable call) {
		this.current = switch (mode) {
			case UNOBSERVED -> NONE;
			case METERS -> super::observe;
			case OBSERVATIONS -> this.observations;
		};
		call.run();
	}

	@Override
	public SingleRunnerObserver.Call observe(SingleRunnerOperation operation, AdvisoryLockKey key) {
		return this.current.observe(operation, key);
	}

	/**
	 * How calls are observed.
	 */
	enum Mode {

		/**
		 * Not at all, as without Micrometer.
		 */
		UNOBSERVED,

		/**
		 * By meters, as where nothing else listens to observations.
		 */
		METERS,

		/**
		 * By observations with the handlers of Spring Boot, which make the meters.
		 */
		OBSERVATIONS

	}

}
