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

package io.github.advisorylock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that what is due follows a clock that no fault sets.
 */
class DueNumberTests {

	@TempDir
	private Path directory;

	@Test
	void numberIsThatOfTheMachineWhereTheClockOfTheInstanceIsAhead() throws Exception {
		Assumptions.assumeTrue(SettableClock.isPossible(), "This machine has no C compiler");
		SettableClock clock = new SettableClock(this.directory, "ahead");
		clock.set(1000);
		long before = Instant.now().getEpochSecond() / Fleet.PERIOD.toSeconds();
		Path numbers = this.directory.resolve("numbers");
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-cp", System.getProperty("java.class.path"), Due.class.getName(), numbers.toString());
		builder.environment().putAll(clock.environment());
		assertThat(builder.inheritIO().start().waitFor()).isZero();
		long after = Instant.now().getEpochSecond() / Fleet.PERIOD.toSeconds();
		List<Long> printed = Files.readAllLines(numbers).stream().map(Long::valueOf).toList();
		assertThat(printed).hasSize(2);
		// the machine knows only the second in which it was started
		assertThat(printed.get(0)).as("due").isBetween(before - 1, after + 1);
		assertThat(printed.get(1)).as("by the clock of the instance").isBetween(before + 500, after + 501);
	}

	/**
	 * Writes the number that is due, and the one that it would be by its own clock.
	 */
	public static final class Due {

		private Due() {
		}

		public static void main(String[] arguments) throws IOException {
			Files.write(Path.of(arguments[0]), List.of(Long.toString(Job.due(Fleet.PERIOD)),
					Long.toString(Instant.now().getEpochSecond() / Fleet.PERIOD.toSeconds())));
		}

	}

}
