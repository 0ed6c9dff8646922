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

import io.github.advisorylock.jdbc.RunLedger;
import io.micrometer.observation.Observation;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;

import org.springframework.util.ClassUtils;

/**
 * The ids of traces that observations are part of, where Micrometer Tracing is there.
 */
final class TraceIds {

	private static final boolean PRESENT = ClassUtils
		.isPresent("io.micrometer.tracing.handler.TracingObservationHandler", TraceIds.class.getClassLoader());

	private TraceIds() {
	}

	/**
	 * Tell a run the id of the trace that its observation, which was started, is part of.
	 */
	static void tell(Observation.Context observation, RunLedger.Traced run) {
		if (PRESENT) {
			Spans.tell(observation, run);
		}
	}

	/**
	 * Is not loaded where there is no tracing.
	 */
	private static final class Spans {

		static void tell(Observation.Context observation, RunLedger.Traced run) {
			TracingContext tracing = observation.get(TracingContext.class);
			Span span = (tracing != null) ? tracing.getSpan() : null;
			if (span != null && !span.context().traceId().isEmpty()) {
				run.traced(span.context().traceId());
			}
		}

	}

}
