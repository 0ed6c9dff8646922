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
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.ledger.JobRescheduledEvent;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import io.github.advisorylock.test.TestLocks;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.event.ApplicationEvents;
import org.springframework.test.context.event.RecordApplicationEvents;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;

/**
 * Tests for schedules that an operator chooses in a {@link FleetTest}.
 */
@FleetTest(value = { Jobs.class, Billing.class }, from = "2026-11-10T00:00:00Z",
		properties = "advisory-lock.ledger.enabled=true")
@RecordApplicationEvents
class FleetScheduleTests {

	@MockitoBean
	private Ledgers ledgers;

	@Autowired
	private TestLocks locks;

	@Test
	void ticksOfTheOtherScheduleAreRunFromHalfAMinuteLaterOn(Fleet fleet) {
		fleet.advanceTo("2026-11-11T01:29:20Z");
		Instant from = this.locks.reschedule("billing", "0 0 4 * * *", null);
		assertThat(from).isEqualTo("2026-11-11T01:29:51Z");
		fleet.advanceTo("2026-11-11T12:00:00Z");
		assertThatLock("billing").hasRunOncePerTick();
		then(this.ledgers).should(times(2)).write("billing");
		assertThat(ticks("billing")).containsExactly("2026-11-10T01:30:00Z", "2026-11-11T03:00:00Z");
	}

	@Test
	void tickBeforeTheOtherScheduleHoldsIsRun(Fleet fleet) {
		fleet.advanceTo("2026-11-10T01:29:45Z");
		this.locks.reschedule("billing", "0 0 4 * * *", "UTC");
		fleet.advanceTo("2026-11-10T12:00:00Z");
		assertThatLock("billing").hasRunOncePerTick();
		assertThat(ticks("billing")).containsExactly("2026-11-10T01:30:00Z", "2026-11-10T04:00:00Z");
	}

	@Test
	void whoeverStartsLaterOrHasAnotherClockFollowsTheOtherSchedule(Fleet fleet) {
		fleet.skewClock(1, Duration.ofSeconds(5));
		fleet.stop(2);
		this.locks.reschedule("cleanup", "0 */10 * * * *", "UTC");
		fleet.advanceTo("2026-11-10T02:05:00Z");
		fleet.start(2);
		fleet.kill(0);
		fleet.kill(1);
		fleet.advanceTo("2026-11-10T04:00:00Z");
		assertThatLock("cleanup").hasRunOncePerTick().neverOverlapped();
		assertThat(ticks("cleanup")).hasSize(24);
	}

	@Test
	void scheduleOfTheAnnotationHoldsAgain(Fleet fleet) {
		this.locks.reschedule("cleanup", "0 0 5 * * *", null);
		fleet.advanceTo("2026-11-10T12:00:00Z");
		this.locks.reschedule("cleanup", null, null);
		fleet.advanceTo("2026-11-11T12:00:00Z");
		assertThatLock("cleanup").hasRunOncePerTick();
		assertThat(ticks("cleanup")).containsExactly("2026-11-10T05:00:00Z", "2026-11-11T03:00:00Z");
	}

	@Test
	void intervalBecomesAnother(Fleet fleet) {
		fleet.advanceBy(Duration.ofHours(1));
		int before = this.locks.calls(this.locks.key("sync")).size();
		this.locks.reschedule("sync", "1m", null);
		fleet.advanceBy(Duration.ofHours(1));
		assertThat(before).isPositive();
		assertThatLock("sync").hasRunOncePerInterval();
		then(this.ledgers).should(times(7 + 60)).write("sync");
	}

	/**
	 * The run goes on over the change, and the ticks that come meanwhile are those of the
	 * schedule that holds then.
	 */
	@Test
	void runThatIsUnderWayGoesOnOverTheChange(Fleet fleet) {
		fleet.takes("cleanup", Duration.ofHours(3));
		fleet.takes("sync", Duration.ofMinutes(5));
		fleet.advanceTo("2026-11-10T03:00:01Z");
		this.locks.reschedule("cleanup", "0 0 5,7 * * *", "UTC");
		this.locks.reschedule("sync", "20m", null);
		fleet.advanceTo("2026-11-10T11:00:00Z");
		assertThat(ticks("cleanup")).containsExactly("2026-11-10T03:00:00Z", "2026-11-10T07:00:00Z");
		assertThatLock("cleanup").neverOverlapped();
		assertThatLock("sync").hasRunOncePerInterval().neverOverlapped();
	}

	@Test
	void callOfTheScheduleThatWasReplacedIsRefused(Fleet fleet) {
		this.locks.reschedule("cleanup", "0 0 5 * * *", "UTC");
		fleet.advanceTo("2026-11-10T03:00:01Z");
		then(this.ledgers).should(never()).write("cleanup");
	}

	@Test
	void whatCanHaveNoOtherScheduleIsRefused(Fleet fleet) {
		assertThatIllegalStateException().isThrownBy(() -> this.locks.reschedule("unknown", "0 0 4 * * *", null))
			.withMessageContaining("the ledger records no method with that key");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.reschedule("sync", "1m", "UTC"))
			.withMessageContaining("'zone' is for the expression of a 'cron'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.reschedule("cleanup", "at noon", null))
			.withMessageContaining("at noon");
		fleet.advanceTo("2026-11-10T12:00:00Z");
		assertThatLock("cleanup").hasRunOncePerTick();
	}

	@Test
	void listenersAreToldOfTheOtherSchedule(ApplicationEvents events) {
		Instant from = this.locks.reschedule("billing", "0 0 4 * * *", "UTC");
		assertThat(events.stream(JobRescheduledEvent.class)).containsExactly(new JobRescheduledEvent(
				this.locks.key("billing").namespace(), "billing", "0 0 4 * * *", "UTC", from, "test"));
	}

	private List<String> ticks(String key) {
		return this.locks.calls(this.locks.key(key))
			.stream()
			.filter((call) -> call.outcome() == LockOutcome.EXECUTED)
			.map((call) -> String.valueOf(call.tick()))
			.toList();
	}

}
