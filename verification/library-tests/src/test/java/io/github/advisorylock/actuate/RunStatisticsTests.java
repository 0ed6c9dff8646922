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
import java.util.stream.LongStream;

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
		List<Long> durations = LongStream.rangeClosed(1, runs).map((i) -> runs + 1 - i).boxed().toList();
		RunStatistics statistics = RunStatistics.of("E".repeat(runs), durations);
		assertThat(statistics.median()).isEqualTo(Duration.ofMillis(median));
		assertThat(statistics.p95()).isEqualTo(Duration.ofMillis(p95));
		assertThat(statistics.success()).isOne();
		assertThat(statistics.failures()).isZero();
	}

	@Test
	void runsThatDidNotEndWellCountAsFailuresButTakeNoTime() {
		RunStatistics statistics = RunStatistics.of("EFEAFR", List.of(10L, 9000L, 20L, 9000L, 9000L, 9000L));
		assertThat(statistics.failures()).as("in a row").isEqualTo(2);
		assertThat(statistics.success()).isEqualTo(0.4);
		assertThat(statistics.median()).isEqualTo(Duration.ofMillis(10));
		assertThat(statistics.p95()).isEqualTo(Duration.ofMillis(20));
	}

	@Test
	void nothingIsToldOfJobWithoutRunsThatAreOver() {
		for (String none : List.of("", "R")) {
			RunStatistics statistics = RunStatistics.of(none, List.of());
			assertThat(statistics.failures()).isZero();
			assertThat(statistics.success()).isNull();
			assertThat(statistics.median()).isNull();
			assertThat(statistics.p95()).isNull();
		}
	}

}
