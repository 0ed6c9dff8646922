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

package io.github.advisorylock.actuate;

import java.time.Duration;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * What the last runs of a job have in common.
 *
 * @param runs how many of them are over
 * @param executed how many of these were executed
 * @param failures how many in a row were not, the last one that is over and those before
 * it
 * @param median what half of those that were executed took no longer than, {@code null}
 * if there was none
 * @param p95 what 95 of a hundred of these took no longer than
 * @since 0.1.0
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunStatistics(int runs, int executed, int failures, @Nullable Duration median, @Nullable Duration p95) {

	/**
	 * Look at some runs, latest first.
	 */
	static RunStatistics of(List<RunDescriptor> runs) {
		List<RunDescriptor> over = runs.stream().filter((run) -> run.outcome() != null).toList();
		List<Duration> executed = over.stream()
			.filter(RunStatistics::isExecuted)
			.map(RunDescriptor::duration)
			.sorted()
			.toList();
		int failures = (int) over.stream().takeWhile((run) -> !isExecuted(run)).count();
		return new RunStatistics(over.size(), executed.size(), failures, at(executed, 0.5), at(executed, 0.95));
	}

	private static boolean isExecuted(RunDescriptor run) {
		return "EXECUTED".equals(run.outcome());
	}

	/**
	 * The smallest that so many are not longer than.
	 */
	private static @Nullable Duration at(List<Duration> sorted, double part) {
		return sorted.isEmpty() ? null : sorted.get((int) Math.ceil(part * sorted.size()) - 1);
	}

}
