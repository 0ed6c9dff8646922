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
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * What the last runs of a job have in common.
 *
 * @param failures how many in a row were not executed, the last one that is over and
 * those before it
 * @param median what half of those that were executed took no longer than
 * @param p95 what 95 of a hundred of these took no longer than
 * @param durations what each took, in milliseconds, -1 for one that is not over
 * @param success which part of those that are over was executed
 */
record RunStatistics(int failures, @Nullable Duration median, @Nullable Duration p95, List<Long> durations,
		@Nullable Double success) {

	static final RunStatistics NONE = new RunStatistics(0, null, null, List.of(), null);

	private static final char EXECUTED = 'E';

	private static final char RUNNING = 'R';

	/**
	 * Look at some runs.
	 * @param outcomes the first letters of their outcomes, latest last
	 * @param durations what each took, in milliseconds
	 */
	static RunStatistics of(String outcomes, List<Long> durations) {
		String over = outcomes.replace(String.valueOf(RUNNING), "");
		if (over.isEmpty()) {
			return new RunStatistics(0, null, null, durations, null);
		}
		List<Long> executed = IntStream.range(0, Math.min(outcomes.length(), durations.size()))
			.filter((i) -> outcomes.charAt(i) == EXECUTED)
			.mapToObj(durations::get)
			.sorted()
			.toList();
		double success = (double) over.chars().filter((letter) -> letter == EXECUTED).count() / over.length();
		return new RunStatistics(over.length() - 1 - over.lastIndexOf(EXECUTED), at(executed, 0.5), at(executed, 0.95),
				durations, success);
	}

	/**
	 * The smallest that so many are not longer than.
	 */
	private static @Nullable Duration at(List<Long> sorted, double part) {
		return sorted.isEmpty() ? null : Duration.ofMillis(sorted.get((int) Math.ceil(part * sorted.size()) - 1));
	}

}
