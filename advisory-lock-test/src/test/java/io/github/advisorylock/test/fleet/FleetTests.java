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
import java.util.List;
import java.util.stream.Stream;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import io.github.advisorylock.test.LockAssert;
import io.github.advisorylock.test.TestLocks;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.times;

/**
 * Tests for {@link FleetTest}.
 */
@FleetTest(value = { Jobs.class, Billing.class }, from = "2026-10-24T00:00:00Z")
class FleetTests {

	private static final Duration RUN = Duration.ofMinutes(20);

	@MockitoBean
	private Ledgers ledgers;

	@Test
	void tickOfKilledRunnerIsRunAgainInTheNightWhenClocksChange(Fleet fleet) {
		fleet.skewClock(1, Duration.ofSeconds(5));
		fleet.takes("billing", RUN);
		fleet.advanceTo("2026-10-25T00:40:00Z");
		int runner = fleet.runnerOf("billing");
		fleet.kill(runner);
		fleet.advanceTo("2026-10-26T04:00:00Z");
		assertThatLock("billing").hasRunOncePerTick().neverOverlapped();
		assertThat(fleet.instances()).hasSize(2).doesNotContain(runner);
		then(this.ledgers).should(times(4)).write("billing");
	}

	@Test
	void workIsToldWithTheInstancesThatItRanOn(Fleet fleet) {
		fleet.takes("billing", RUN);
		fleet.advanceTo("2026-10-24T00:40:00Z");
		int killed = fleet.runnerOf("billing");
		fleet.kill(killed);
		fleet.advanceTo("2026-10-24T00:50:00Z");
		int runner = fleet.runnerOf("billing");
		assertThatLock("billing").hasRunOn(runner);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThatLock("billing").hasRunOn(killed, runner))
			.withMessageContaining("and it ran on [" + runner + "]");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThatLock("cleanup").hasRunOn(runner))
			.withMessageContaining("and it ran on []");
	}

	@Test
	void yearOfDailyJobRunsOncePerTick(Fleet fleet) {
		fleet.advanceTo("2027-10-24T00:00:00Z");
		assertThatLock("cleanup").hasRunOncePerTick();
		then(this.ledgers).should(times(365)).write("cleanup");
	}

	@Test
	void rateRunsOncePerInterval(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(1));
		assertThatLock("sync").hasRunOncePerInterval();
	}

	@Test
	void delayIsCountedFromTheEndOfTheRun(Fleet fleet) {
		fleet.stop(1);
		fleet.stop(2);
		fleet.takes("poll", Duration.ofMinutes(7));
		fleet.advanceBy(Duration.ofMinutes(50));
		assertThatLock("poll").hasRun(3);
		fleet.advanceBy(Duration.ofMinutes(9));
		assertThatLock("poll").hasRun(4);
	}

	/**
	 * The locks of a process that is gone have gone with it.
	 */
	@Test
	void lateInstanceRunsTheTickOfOneThatWasKilledAfterIt(Fleet fleet) {
		fleet.skewClock(1, Duration.ofSeconds(-5));
		fleet.takes("cleanup", Duration.ofSeconds(1));
		fleet.advanceTo("2026-10-25T03:00:00.5Z");
		int runner = fleet.runnerOf("cleanup");
		fleet.advanceTo("2026-10-25T03:00:03Z");
		assertThatLock("cleanup").hasRun(2);
		fleet.kill(runner);
		fleet.advanceTo("2026-10-25T03:00:10Z");
		assertThatLock("cleanup").hasRun(3);
	}

	@Test
	void jobWithoutGuardFailsWithItsInstances(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(2));
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThatLock("unguarded").hasRunOncePerTick())
			.withMessageContaining("Jobs.unguarded on instances 0, 1, 2");
	}

	@Test
	void jobThatIsNotThereFailsWithWhatToDo(Fleet fleet) {
		fleet.advanceBy(Duration.ofDays(2));
		LockAssert outbox = assertThatLock("outbox");
		assertThat(Stream.<ThrowingCallable>of(outbox::hasRunOncePerTick, outbox::hasRunOncePerInterval,
				outbox::neverOverlapped, outbox::hasMissed, outbox::hasRunOn))
			.hasSize(5)
			.allSatisfy((assertion) -> assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion)
				.withMessageContaining("no bean has a method with that key: its class must be a component"));
	}

	@Test
	void lostTickIsMissed(Fleet fleet) {
		fleet.advanceTo("2026-10-24T02:59:59Z");
		fleet.databaseDown();
		fleet.advanceTo("2026-10-24T03:10:00Z");
		fleet.databaseUp();
		fleet.advanceTo("2026-10-25T04:00:00Z");
		assertThatLock("cleanup").hasMissed("2026-10-24T03:00:00Z");
		assertThatLock("billing").hasRunOncePerTick();
	}

	@Test
	void tickIsNotMadeUpForWhenItsTimeIsOver(Fleet fleet) {
		fleet.databaseDown();
		fleet.advanceTo("2026-10-24T06:30:10Z");
		fleet.databaseUp();
		fleet.advanceTo("2026-10-24T07:00:00Z");
		assertThatLock("billing").hasRun(0).hasMissed("2026-10-24T00:30:00Z");
	}

	@Test
	void failedRunIsTriedAgainAfterItsPause(Fleet fleet) {
		willThrow(new IllegalStateException("no money")).willDoNothing().given(this.ledgers).write("billing");
		fleet.advanceTo("2026-10-24T00:30:20Z");
		assertThatLock("billing").hasFailedWith(IllegalStateException.class).hasRun(0);
		fleet.advanceTo("2026-10-24T00:31:20Z");
		assertThatLock("billing").hasRunOncePerTick();
	}

	@Test
	void runThatLastsTooLongIsTold(Fleet fleet) {
		fleet.takes("export", Duration.ofMinutes(45));
		fleet.advanceTo("2026-10-24T01:40:00Z");
		assertThatLock("export").isFree().hasFailedWith(LockLostException.class).hasRun(0);
	}

	@Test
	void stoppedInstanceEndsItsRun(Fleet fleet) {
		fleet.takes("cleanup", Duration.ofSeconds(20));
		fleet.advanceTo("2026-10-24T03:00:10Z");
		int runner = fleet.runnerOf("cleanup");
		fleet.stop(runner);
		fleet.advanceBy(Duration.ofMinutes(1));
		fleet.start(runner);
		fleet.advanceTo("2026-10-25T04:00:00Z");
		assertThatLock("cleanup").hasRunOncePerTick();
	}

	@Test
	void runThatIsInterruptedByAStopIsNotDone(Fleet fleet) {
		fleet.takes("cleanup", RUN);
		fleet.advanceTo("2026-10-24T03:00:10Z");
		fleet.stop(fleet.runnerOf("cleanup"));
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThatLock("cleanup").hasFailedWith(IllegalStateException.class)
			.hasMissed("2026-10-24T03:00:00Z")
			.hasRun(0);
	}

	/**
	 * An attempt that was cut short is none that has failed, after which others wait.
	 */
	@Test
	void tickOfStoppedRunnerIsRunAgainAtOnce(Fleet fleet) {
		fleet.takes("billing", RUN);
		fleet.advanceTo("2026-10-24T00:40:00Z");
		fleet.kill(fleet.runnerOf("billing"));
		fleet.advanceBy(Duration.ofMinutes(1));
		int second = fleet.runnerOf("billing");
		fleet.stop(second);
		fleet.advanceBy(Duration.ofSeconds(40));
		assertThat(fleet.instances()).containsExactly(fleet.runnerOf("billing")).doesNotContain(second);
	}

	@Test
	void jobThatIsNotRecordedIsNotPaused(Fleet fleet) {
		TestLocks locks = fleet.bean(0, TestLocks.class);
		for (String key : List.of("unknown", "export")) {
			assertThatIllegalArgumentException().isThrownBy(() -> locks.pause(key))
				.withMessageContaining("the ledger records no method with that key");
			assertThatIllegalArgumentException().isThrownBy(() -> locks.resume(key))
				.withMessageContaining("the ledger records no method with that key");
		}
	}

	@Test
	void frozenInstanceIsNotStopped(Fleet fleet) {
		fleet.freeze(1);
		assertThatIllegalStateException().isThrownBy(() -> fleet.stop(1)).withMessageContaining("it is frozen");
		assertThatIllegalStateException().isThrownBy(() -> fleet.freeze(1)).withMessageContaining("is frozen already");
	}

	@Test
	void timeWithoutOffsetIsRefused(Fleet fleet) {
		assertThatIllegalArgumentException().isThrownBy(() -> fleet.advanceTo("2026-10-24T01:10:00"))
			.withMessageContaining("with an offset or a zone, and is '2026-10-24T01:10:00'");
	}

	@Test
	void frozenRunnerLosesItsLock(Fleet fleet) {
		fleet.takes("cleanup", RUN);
		fleet.advanceTo("2026-10-24T03:00:10Z");
		int runner = fleet.runnerOf("cleanup");
		fleet.freeze(runner);
		fleet.advanceBy(Duration.ofSeconds(20));
		assertThatLock("cleanup").isFree();
		fleet.thaw(runner);
		fleet.advanceBy(Duration.ofHours(1));
		assertThatLock("cleanup").hasFailedWith(LockLostException.class).hasRun(0);
	}

	@Test
	void instanceThatIsFrozenAgainHasAllTheTimeAgain(Fleet fleet) {
		fleet.takes("cleanup", RUN);
		fleet.advanceTo("2026-10-24T03:00:10Z");
		int runner = fleet.runnerOf("cleanup");
		fleet.freeze(runner);
		fleet.advanceBy(Duration.ofSeconds(5));
		fleet.thaw(runner);
		fleet.advanceBy(Duration.ofSeconds(1));
		fleet.freeze(runner);
		fleet.advanceBy(Duration.ofSeconds(9));
		assertThatLock("cleanup").isHeld();
		fleet.advanceBy(Duration.ofSeconds(2));
		assertThatLock("cleanup").isFree();
	}

}
