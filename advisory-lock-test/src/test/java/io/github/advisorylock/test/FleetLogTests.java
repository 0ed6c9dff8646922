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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.fleet.Billing;
import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Jobs;
import io.github.advisorylock.test.fleet.Ledgers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.willThrow;

/**
 * Tests for what a {@link FleetTest} that fails tells.
 */
@FleetTest({ Jobs.class, Billing.class })
@ContextConfiguration(classes = FleetApplication.class)
class FleetLogTests {

	private static final Instant FROM = Instant.parse("2026-10-24T00:00:00Z");

	@MockitoBean
	private Ledgers ledgers;

	@Test
	void sameSeedHasTheSameThingsHappen(Fleet fleet) {
		List<String> first = play(fleet, 42);
		assertThat(first).hasSizeGreaterThan(20)
			.anySatisfy((line) -> assertThat(line).contains("is killed"))
			.isEqualTo(play(fleet, 42))
			.isNotEqualTo(play(fleet, 43));
	}

	@Test
	void failureSaysWhatTheWorkThrew(Fleet fleet) {
		willThrow(new IllegalStateException("no money")).given(this.ledgers).write("billing");
		assertThat(play(fleet, 2)).doesNotHaveDuplicates()
			.anySatisfy((line) -> assertThat(line).contains("fails in 'billing'", "no money"));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void failureSaysWhatCouldNotBeAsked(Fleet fleet, CapturedOutput output) {
		fleet.databaseDown();
		fleet.advanceBy(Duration.ofHours(5));
		assertThat(output.getAll().split("A task of instance 1 failed")).hasSizeGreaterThan(20);
		assertThat(output.getAll().split("FleetInstance\\.call")).hasSizeBetween(2, 10);
		assertThat(fleet.timeline().log())
			.anySatisfy((line) -> assertThat(line).contains("instance 1 fails in 'sync'", "the database is down"));
	}

	/**
	 * All calls are counted, and the latest are shown.
	 */
	@Test
	void manyCallsAreCountedAndNotAllShown(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(20));
		assertThatLock("sync").hasRun(20 * 144 + 1);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThatLock("sync").hasRun(7))
			.satisfies((ex) -> assertThat(ex.getMessage()).contains("before) ").hasSizeLessThan(1000));
	}

	@Test
	void rateThatIsNotRunAnyMoreFailsWithSinceWhen(Fleet fleet) {
		fleet.advanceBy(Duration.ofMinutes(65));
		fleet.locks().answer("sync", LockOutcome.BUSY);
		fleet.advanceBy(Duration.ofHours(1));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThatLock("sync").hasRunOncePerInterval())
			.withMessageContaining("from 2026-01-01T01:00:00Z to 2026-01-01T02:05:00Z it did not run");
	}

	private static List<String> play(Fleet fleet, long seed) {
		fleet.end();
		fleet.locks().reset();
		fleet.begin(3, FROM, seed);
		fleet.takes("billing", Duration.ofMinutes(20));
		fleet.advanceTo("2026-10-24T00:40:00Z");
		fleet.kill(fleet.instances().get(0));
		fleet.advanceTo("2026-10-24T04:00:00Z");
		return fleet.timeline().log();
	}

}
