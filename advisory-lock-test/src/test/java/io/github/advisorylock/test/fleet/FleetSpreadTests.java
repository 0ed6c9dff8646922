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

package io.github.advisorylock.test.fleet;

import java.time.Duration;

import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how ticks are spread over the instances of a {@link FleetTest} whose clocks
 * differ a little.
 */
@FleetTest(Jobs.class)
class FleetSpreadTests {

	@MockitoBean
	private Ledgers ledgers;

	@Test
	void ticksAreSharedBetweenInstances(Fleet fleet) {
		int[] runs = runs(fleet);
		assertThat(runs).containsExactly(8, 8, 8);
	}

	@Test
	void ticksOfWhoeverIsGoneAreSharedByTheOthers(Fleet fleet) {
		fleet.kill(1);
		int[] runs = runs(fleet);
		assertThat(runs).containsExactly(12, 0, 12);
	}

	/**
	 * Return how many ticks of a day each instance has run, after the first one.
	 */
	private static int[] runs(Fleet fleet) {
		fleet.takes("export", Duration.ofMinutes(2));
		fleet.skewClock(0, Duration.ofMillis(10));
		fleet.skewClock(2, Duration.ofMillis(-10));
		fleet.advanceBy(Duration.ofMinutes(61));
		int[] runs = new int[3];
		for (int i = 0; i < 24; i++) {
			fleet.advanceBy(Duration.ofHours(1));
			runs[fleet.runnerOf("export")]++;
		}
		assertThatLock("export").hasRunOncePerTick().neverOverlapped();
		return runs;
	}

	/**
	 * As it was before.
	 */
	@Nested
	@TestPropertySource(properties = "advisory-lock.spread=0")
	class Without {

		@Test
		void whoseClockIsAheadRunsEachTick(Fleet fleet) {
			int[] runs = runs(fleet);
			assertThat(runs).containsExactly(24, 0, 0);
		}

	}

}
