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

package io.github.advisorylock.jdbc.thread;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Deadline}.
 */
class DeadlineTests {

	@ParameterizedTest
	@CsvSource({ "0, 10", "40, 10", "100, 25", "400, 100", "1000, 250", "3600000, 250" })
	void pauseIsQuarterOfWaitWithinLimits(long waitedMillis, long pauseMillis) {
		assertThat(Deadline.longestPause(TimeUnit.MILLISECONDS.toNanos(waitedMillis)))
			.isEqualTo(TimeUnit.MILLISECONDS.toNanos(pauseMillis));
	}

	/**
	 * A pause is no shorter than half of what it may be: there are 8 in the first 40 ms
	 * at most, then each makes the wait longer by an eighth.
	 */
	@Test
	void whoWaitsAsksSeldom() {
		int[] attempts = new int[1];
		Deadline deadline = Objects
			.requireNonNull(new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(Duration.ofSeconds(1)));
		assertThat(deadline.pollWhile(false, () -> ++attempts[0] < 0)).isFalse();
		assertThat(attempts[0]).isBetween(1, 40);
	}

}
