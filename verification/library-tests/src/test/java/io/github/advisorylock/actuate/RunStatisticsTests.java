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
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunStatistics;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunStatistics}.
 */
class RunStatisticsTests {

	@ParameterizedTest
	@CsvSource({ "1, 1, 1", "2, 1, 2", "10, 5, 10", "20, 10, 19", "21, 11, 20", "100, 50, 95" })
	void mostRunsTakeNoLongerThanIsTold(int runs, int median, int p95) {
		RunStatistics statistics = RunStatistics
			.of(IntStream.rangeClosed(1, runs).mapToObj((i) -> run("EXECUTED", i)).toList());
		assertThat(statistics)
			.isEqualTo(new RunStatistics(runs, runs, 0, Duration.ofMillis(median), Duration.ofMillis(p95)));
	}

	@Test
	void runsThatDidNotEndWellCountAsFailuresButTakeNoTime() {
		RunStatistics statistics = RunStatistics.of(List.of(run(null, 9000), run("FAILED", 9000),
				run("ABANDONED", 9000), run("EXECUTED", 20), run("FAILED", 9000), run("EXECUTED", 10)));
		assertThat(statistics).isEqualTo(new RunStatistics(5, 2, 2, Duration.ofMillis(10), Duration.ofMillis(20)));
	}

	@Test
	void nothingIsToldOfJobWithoutRunsThatAreOver() {
		assertThat(RunStatistics.of(List.of())).isEqualTo(new RunStatistics(0, 0, 0, null, null));
		assertThat(RunStatistics.of(List.of(run(null, 1)))).isEqualTo(new RunStatistics(0, 0, 0, null, null));
	}

	private static RunDescriptor run(@Nullable String outcome, long millis) {
		return new RunDescriptor(null, null, "host:1", 1L, Instant.EPOCH, null, Duration.ofMillis(millis), outcome,
				null, null, null, null, null);
	}

}
