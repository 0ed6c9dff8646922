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

import io.micrometer.common.KeyValues;

/**
 * Names and tags of the observation of a skip: the tags are those of a run.
 *
 * @param execution the convention for runs
 */
record LockSkipObservationConvention(
		LockExecutionObservationConvention execution) implements LockExecutionObservationConvention {

	static final String NAME = "advisory.lock.skip";

	@Override
	public String getName() {
		return NAME;
	}

	@Override
	public String getContextualName(LockExecutionObservationContext context) {
		return "skip " + context.getOperation().keyTemplate();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockExecutionObservationContext context) {
		return this.execution.getLowCardinalityKeyValues(context);
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockExecutionObservationContext context) {
		return this.execution.getHighCardinalityKeyValues(context);
	}

}
