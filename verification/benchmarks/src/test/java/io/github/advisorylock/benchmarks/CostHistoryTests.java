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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link CostHistory}.
 */
class CostHistoryTests {

	@Test
	void ratioAboveAllNightsAndFivePercentAboveTheirMedianIsTooHigh() {
		assertThat(excesses(1.10, 1.00, 1.01, 1.00, 1.02, 1.00)).singleElement()
			.asString()
			.contains("PER_TICK:", "1.10 times", "ShedLock", "1.00 (1.00 to 1.02) in 5 nights");
	}

	@Test
	void ratioThatAnotherNightHadIsNotTooHigh() {
		assertThat(excesses(1.10, 1.00, 1.10, 1.00, 1.02, 1.00)).isEmpty();
	}

	@Test
	void ratioLittleAboveAllNightsIsNotTooHigh() {
		assertThat(excesses(1.04, 1.00, 1.01, 1.00, 1.02, 1.00)).isEmpty();
	}

	@Test
	void ratioIsNotJudgedByFewNights() {
		assertThat(excesses(2.00, 1.00, 1.01, 1.00, 1.02)).isEmpty();
	}

	@Test
	void callThatNoNightKnowsIsNotJudged() {
		CostHistory history = history(1.00, 1.01, 1.00, 1.02, 1.00);
		assertThat(history.excesses(Map.of(GuardedCost.PER_KEY, 2.00))).isEmpty();
	}

	@Test
	void eachCallIsJudgedByItsOwnNights() {
		CostHistory history = new CostHistory(
				Stream.generate(() -> Map.of(GuardedCost.PER_TICK, 2.00, GuardedCost.PER_KEY, 1.00)).limit(5).toList());
		assertThat(history.excesses(Map.of(GuardedCost.PER_TICK, 2.00, GuardedCost.PER_KEY, 1.20))).singleElement()
			.asString()
			.startsWith("PER_KEY:");
	}

	@Test
	void onlyTheLatestTwentyNightsCount() {
		CostHistory history = history(9.00);
		for (int night = 0; night < CostHistory.NIGHTS; night++) {
			history = history.with(Map.of(GuardedCost.PER_TICK, 1.00));
		}
		assertThat(history.nights()).hasSize(CostHistory.NIGHTS);
		assertThat(history.excesses(Map.of(GuardedCost.PER_TICK, 1.10))).hasSize(1);
	}

	@Test
	void historyIsReadAsItWasWritten(@TempDir Path directory) throws IOException {
		Path file = directory.resolve("nights.txt");
		assertThat(CostHistory.read(file).nights()).isEmpty();
		CostHistory history = history(1.00, 1.25).with(Map.of(GuardedCost.PER_TICK, 1.5, GuardedCost.PER_KEY, 0.5));
		history.write(file);
		assertThat(CostHistory.read(file)).isEqualTo(history);
	}

	@Test
	void fileOfSomethingElseIsRefused(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("nights.txt"), "no night");
		assertThatIllegalArgumentException().isThrownBy(() -> CostHistory.read(file))
			.withMessage("Not a night: no night");
	}

	private static List<String> excesses(double ratio, double... nights) {
		return history(nights).excesses(Map.of(GuardedCost.PER_TICK, ratio));
	}

	private static CostHistory history(double... nights) {
		CostHistory history = new CostHistory(List.of());
		for (double night : nights) {
			history = history.with(Map.of(GuardedCost.PER_TICK, night));
		}
		return history;
	}

}
