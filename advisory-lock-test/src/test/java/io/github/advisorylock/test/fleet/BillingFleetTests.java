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
import org.junit.jupiter.api.Test;

import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;

/**
 * Tests for {@link Billing}, which stand in the documents.
 */
@FleetTest(value = Billing.class, instances = 3, from = "2026-10-24T00:00:00Z")
class BillingFleetTests {

	@MockitoBean
	private Ledgers ledgers;

	@Test
	void runsOnceInTheNightWhenClocksChange(Fleet fleet) {
		fleet.skewClock(1, Duration.ofSeconds(5));
		fleet.advanceTo("2026-10-26T04:00:00Z");
		assertThatLock("billing").hasRunOncePerTick();
	}

	@Test
	void anotherInstanceRunsAgainWhatWasKilled(Fleet fleet) {
		fleet.takes("billing", Duration.ofMinutes(20));
		fleet.advanceTo("2026-10-24T00:40:00Z");
		fleet.kill(fleet.runnerOf("billing"));
		fleet.advanceTo("2026-10-24T02:00:00Z");
		assertThatLock("billing").hasRunOncePerTick().neverOverlapped();
	}

	@Test
	void runsAfterAnOutage(Fleet fleet) {
		fleet.databaseDown();
		fleet.advanceTo("2026-10-24T05:00:00Z");
		assertThatLock("billing").hasMissed("2026-10-24T00:30:00Z");
		fleet.databaseUp();
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThatLock("billing").hasRunOncePerTick();
	}

	@Test
	void runsDuringARollingRelease(Fleet fleet) {
		fleet.takes("billing", Duration.ofMinutes(20));
		fleet.advanceTo("2026-10-24T00:40:00Z");
		for (int instance : fleet.instances()) {
			fleet.stop(instance);
			fleet.advanceBy(Duration.ofMinutes(1));
			fleet.start(instance);
		}
		fleet.advanceTo("2026-10-24T02:00:00Z");
		assertThatLock("billing").hasRunOncePerTick().neverOverlapped();
	}

}
