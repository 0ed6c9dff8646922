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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.test.fleet.ClockJobs;
import io.github.advisorylock.test.fleet.FleetApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the two nights of a year in which clocks change. A row has the begin and the
 * end, the ticks of the schedule with fixed hours, and those of each hour.
 */
@FleetTest(ClockJobs.class)
@ContextConfiguration(classes = FleetApplication.class)
class ClockChangeTests {

	private static final Duration QUARTER = Duration.ofMinutes(15);

	@Autowired
	private Environment environment;

	/**
	 * Check a night, also with the fixed hours as the choice of an operator, of which no
	 * tick is left out.
	 * @param leftOut the quarters that Spring does not plan, possibly none
	 */
	private void check(Fleet fleet, String from, String to, String fixed, String hourly, String leftOut) {
		fleet.end();
		fleet.locks().reset();
		fleet.begin(3, Instant.parse(from), 0);
		String cron = this.environment.getRequiredProperty("fixed");
		fleet.locks().reschedule("chosen", cron, this.environment.getRequiredProperty("zone"));
		fleet.advanceTo(to);
		assertThat(ticks(fleet, "fixed")).containsExactly(instants(fixed));
		assertThat(ticks(fleet, "chosen")).containsAll(List.of(instants(fixed)));
		assertThatLock("chosen").hasRunOncePerTick();
		assertThat(ticks(fleet, "hourly")).containsExactly(instants(hourly));
		List<Instant> quarters = new ArrayList<>();
		for (Instant time = Instant.parse(from).plus(QUARTER); !time.isAfter(Instant.parse(to)); time = time
			.plus(QUARTER)) {
			quarters.add(time);
		}
		Instant[] missed = instants(leftOut);
		quarters.removeAll(List.of(missed));
		assertThat(ticks(fleet, "quarters")).isEqualTo(quarters);
		assertThatLock("hourly").hasRunOncePerTick();
		assertThatLock("quarters").hasMissed(Arrays.stream(missed).map(Instant::toString).toArray(String[]::new));
		if (missed.length == 0) {
			assertThatLock("fixed").hasRunOncePerTick();
		}
	}

	private static Instant[] instants(String times) {
		return Arrays.stream(times.split(" "))
			.filter((time) -> !time.isEmpty())
			.map(Instant::parse)
			.toArray(Instant[]::new);
	}

	private static List<Instant> ticks(Fleet fleet, String key) {
		return fleet.locks()
			.calls(fleet.locks().key(key))
			.stream()
			.filter((call) -> call.outcome() == LockOutcome.EXECUTED)
			.map(LockCall::tick)
			.toList();
	}

	@Nested
	@TestPropertySource(properties = { "zone=Europe/Berlin", "fixed=0 30 1,2 * * *" })
	class Berlin {

		@ParameterizedTest
		@CsvSource({
				"2026-03-28T23:30:00Z, 2026-03-29T03:00:00Z, 2026-03-29T00:30:00Z, "
						+ "2026-03-29T00:00:00Z 2026-03-29T01:00:00Z 2026-03-29T02:00:00Z 2026-03-29T03:00:00Z",
				"2026-10-24T22:30:00Z, 2026-10-25T03:00:00Z, 2026-10-24T23:30:00Z 2026-10-25T00:30:00Z, "
						+ "2026-10-24T23:00:00Z 2026-10-25T00:00:00Z 2026-10-25T01:00:00Z 2026-10-25T02:00:00Z "
						+ "2026-10-25T03:00:00Z" })
		void runsOncePerTick(String from, String to, String fixed, String hourly, Fleet fleet) {
			check(fleet, from, to, fixed, hourly, "");
		}

	}

	@Nested
	@TestPropertySource(properties = { "zone=America/New_York", "fixed=0 30 1,2 * * *" })
	class NewYork {

		@ParameterizedTest
		@CsvSource({
				"2026-03-08T05:30:00Z, 2026-03-08T08:00:00Z, 2026-03-08T06:30:00Z, "
						+ "2026-03-08T06:00:00Z 2026-03-08T07:00:00Z 2026-03-08T08:00:00Z",
				"2026-11-01T04:30:00Z, 2026-11-01T08:00:00Z, 2026-11-01T05:30:00Z 2026-11-01T07:30:00Z, "
						+ "2026-11-01T05:00:00Z 2026-11-01T06:00:00Z 2026-11-01T07:00:00Z 2026-11-01T08:00:00Z" })
		void runsOncePerTick(String from, String to, String fixed, String hourly, Fleet fleet) {
			check(fleet, from, to, fixed, hourly, "");
		}

	}

	@Nested
	@TestPropertySource(properties = { "zone=America/St_Johns", "fixed=0 30 1,2 * * *" })
	class StJohns {

		@ParameterizedTest
		@CsvSource({
				"2026-03-08T04:00:00Z, 2026-03-08T06:30:00Z, 2026-03-08T05:00:00Z, "
						+ "2026-03-08T04:30:00Z 2026-03-08T05:30:00Z 2026-03-08T06:30:00Z",
				"2026-11-01T03:00:00Z, 2026-11-01T06:30:00Z, 2026-11-01T04:00:00Z 2026-11-01T06:00:00Z, "
						+ "2026-11-01T03:30:00Z 2026-11-01T04:30:00Z 2026-11-01T05:30:00Z 2026-11-01T06:30:00Z" })
		void runsOncePerTick(String from, String to, String fixed, String hourly, Fleet fleet) {
			check(fleet, from, to, fixed, hourly, "");
		}

	}

	/**
	 * Clocks are changed by half an hour. Spring leaves out what is planned in the half
	 * hour after that, in spring 2:45 at the fixed hours, too.
	 */
	@Nested
	@TestPropertySource(properties = { "zone=Australia/Lord_Howe", "fixed=0 15,45 1,2 * * *" })
	class LordHowe {

		@ParameterizedTest
		@CsvSource({
				"2026-10-03T14:00:00Z, 2026-10-03T17:00:00Z, " + "2026-10-03T14:45:00Z 2026-10-03T15:15:00Z, "
						+ "2026-10-03T14:30:00Z 2026-10-03T16:00:00Z 2026-10-03T17:00:00Z, "
						+ "2026-10-03T15:30:00Z 2026-10-03T15:45:00Z",
				"2026-04-04T13:30:00Z, 2026-04-04T17:00:00Z, "
						+ "2026-04-04T14:15:00Z 2026-04-04T14:45:00Z 2026-04-04T15:45:00Z 2026-04-04T16:15:00Z, "
						+ "2026-04-04T14:00:00Z 2026-04-04T15:30:00Z 2026-04-04T16:30:00Z, "
						+ "2026-04-04T15:00:00Z 2026-04-04T15:15:00Z" })
		void runsOncePerTick(String from, String to, String fixed, String hourly, String leftOut, Fleet fleet) {
			check(fleet, from, to, fixed, hourly, leftOut);
		}

	}

}
