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

package io.github.advisorylock.annotation;

import java.time.Duration;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * What holds for methods whose annotation does not say otherwise, and what overrides it.
 *
 * @param namespace the namespace
 * @param keyFactory makes keys of names
 * @param waitFor how long to wait for a lock that is busy, zero to not wait
 * @param rememberTicks for how long at most a lock remembers a tick that was run, zero to
 * remember neither ticks nor intervals
 * @param ledger which runs are recorded
 * @param results makes what keeps results of a type, or returns {@code null} where
 * nothing can
 * @param jobs finds the overrides of a single annotation by the text of its key
 * @since 0.1.0
 */
public record SingleRunnerSettings(String namespace, AdvisoryLockKeyFactory keyFactory, Duration waitFor,
		Duration rememberTicks, LedgerUse ledger, Function<ResolvableType, @Nullable ResultFormat> results,
		Function<String, @Nullable Job> jobs) {

	Job job(String key) {
		Job job = this.jobs.apply(key);
		return (job != null) ? job : Job.NONE;
	}

	/**
	 * Which runs are recorded in the ledger.
	 */
	public enum LedgerUse {

		/**
		 * None: an attribute that needs the ledger is an error.
		 */
		OFF,

		/**
		 * Those of methods with an attribute that needs it.
		 */
		ON_DEMAND,

		/**
		 * Those too of every other method whose key does not depend on arguments.
		 */
		ALWAYS

	}

	/**
	 * Overrides of one annotation.
	 *
	 * @param paused whether the method does not run at all for now
	 * @param scope how long the lock lives, {@code null} to leave it
	 * @param waitFor how long to wait for a lock that is busy, {@code null} to leave it
	 * @param minInterval the shortest time from start to start, {@code null} to leave it
	 * @param catchUp for how long a tick is made up for, {@code null} to leave it
	 * @param maxRun the longest time that a run may take, {@code null} to leave it
	 * @param maxRetries how often a tick that failed is tried again, {@code null} to
	 * leave it
	 * @param permits how many may run at a time, {@code null} to leave it
	 */
	public record Job(boolean paused, @Nullable LockScope scope, @Nullable Duration waitFor,
			@Nullable Duration minInterval, @Nullable Duration catchUp, @Nullable Duration maxRun,
			@Nullable Integer maxRetries, @Nullable Integer permits) {

		private static final Job NONE = new Job(false, null, null, null, null, null, null, null);

		int permits(SingleRunner annotation) {
			return (this.permits != null) ? this.permits : annotation.permits();
		}

	}

}
