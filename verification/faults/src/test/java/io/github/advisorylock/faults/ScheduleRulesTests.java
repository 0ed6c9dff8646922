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

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ScheduleRules}: each rule is broken by a history that is made by hand.
 */
class ScheduleRulesTests {

	private static final String KEY = OperatedJob.RESCHEDULED;

	private static final Instant CHANGE = at(40);

	private static final Instant OLD = at(-3_600);

	private final OperatedHistory history = new OperatedHistory();

	private final List<Execution> recorded = new ArrayList<>();

	@Test
	void tickOfTheOldScheduleIsFound() {
		annotatedThenOther();
		this.history.start("b", KEY, at(36));
		assertThat(violations()).isEmpty();
		this.history.start("b", KEY, at(42));
		assertThat(violations()).singleElement().asString().startsWith("No tick of the schedule 1/5 ");
	}

	@Test
	void tickOfTheNewScheduleBeforeItsTimeIsFound() {
		annotatedThenOther();
		this.history.start("b", KEY, at(31));
		assertThat(violations()).singleElement().asString().startsWith("No tick of the schedule */3 ");
	}

	@Test
	void missedTickOfTheNewScheduleIsFound() {
		annotatedThenOther();
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsOnlyKeys(Act.OTHER_SCHEDULE);
		this.recorded.remove(new Execution(KEY, at(46)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:00:46Z");
		// When it was to be learned
		this.history.disturb(Fault.TERMINATED_BACKENDS, 12_000);
		assertThat(violations()).isEmpty();
		this.history.heal();
		this.history.disturb(Fault.TERMINATED_BACKENDS, 52_000);
		assertThat(violations()).hasSize(1);
	}

	@Test
	void tickThatIsDueWhenInstancesStopIsNotAskedFor() {
		run(KEY, 3, 3, 60);
		this.history.say(Event.Kind.TRIED, "a", Job.SESSION, 80_000);
		assertThat(violations()).hasSize(4);
		this.history.stop(59_000 + Disturbance.RECOVERY);
		assertThat(violations()).isEmpty();
		this.history.stop(60_000 + Disturbance.RECOVERY);
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:00Z");
	}

	@Test
	void missedTickOfTheOldScheduleIsFound() {
		annotatedThenOther();
		this.recorded.remove(new Execution(KEY, at(39)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:00:39Z");
		this.history.disturb(Fault.TERMINATED_BACKENDS, 26_000);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.TERMINATED_BACKENDS, 36_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void changeThatIsNotAnsweredLetsBothRun() {
		run(KEY, 3, 3, 120);
		run(KEY, 41, 5, 120);
		this.history.say(Event.Kind.RESCHEDULING, "a", KEY, null, 1L, 10_000);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.RESCHEDULING, "a", KEY, null, 0L, 50_000);
		this.history.say(Event.Kind.RESCHEDULED, "a", KEY, at(80), 0L, 50_000);
		assertThat(violations()).isNotEmpty()
			.allSatisfy((violation) -> assertThat(violation).startsWith("No tick of the schedule */3 "));
	}

	@Test
	void changeThatDoesNotHoldYetIsReplaced() {
		run(KEY, 3, 3, 55);
		this.history.say(Event.Kind.RESCHEDULING, "a", KEY, null, 1L, 9_900);
		this.history.say(Event.Kind.RESCHEDULED, "a", KEY, CHANGE, 1L, 10_000);
		run(KEY, 56, 5, 120);
		assertThat(violations()).isNotEmpty();
		this.history.say(Event.Kind.RESCHEDULING, "b", KEY, null, 1L, 24_900);
		this.history.say(Event.Kind.RESCHEDULED, "b", KEY, at(55), 1L, 25_000);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsEntry(Act.OTHER_SCHEDULE, 2);
		this.recorded.remove(new Execution(KEY, at(48)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:00:48Z");
	}

	@Test
	void tickThatAWrongClockHasBegunEarlyIsOfTheScheduleThatIsReplaced() {
		run(KEY, 3, 3, 120);
		this.history.say(Event.Kind.RESCHEDULING, "a", KEY, null, 1L, 9_900);
		this.history.say(Event.Kind.RESCHEDULED, "a", KEY, CHANGE, 1L, 10_000);
		this.history.say(Event.Kind.START, "b", KEY, at(41), null, 16_000);
		this.history.disturb(Fault.CLOCK_SET_AHEAD, 15_500);
		this.history.say(Event.Kind.RESCHEDULING, "c", KEY, null, 0L, 35_900);
		this.history.say(Event.Kind.RESCHEDULED, "c", KEY, at(66), 0L, 36_000);
		assertThat(violations()).isEmpty();
		this.history.start("b", KEY, at(41));
		assertThat(violations()).singleElement().asString().startsWith("No tick of the schedule */3 ");
	}

	@Test
	void orderWithoutAnswerMayHaveReplacedAChange() {
		annotatedThenOther();
		this.history.say(Event.Kind.RESCHEDULING, "b", KEY, null, 1L, 25_000);
		this.history.start("b", KEY, at(45));
		assertThat(violations()).isEmpty();
		this.history.start("b", KEY, at(37));
		assertThat(violations()).singleElement().asString().startsWith("No tick of the schedule */3 ");
	}

	@Test
	void tickThatBeginsBeforeItsTimeIsFound() {
		this.history.say(Event.Kind.START, "a", Job.REMEMBERED, at(3), null, 2_950);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.START, "a", Job.REMEMBERED, at(30), null, 5_000);
		assertThat(violations()).singleElement().asString().startsWith("Begun before its time");
		this.history.disturb(Fault.CLOCK_SET_AHEAD, 4_500);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatAWrongClockHasOvertakenIsNotMissed() {
		run(KEY, 3, 3, 120);
		this.recorded.remove(new Execution(KEY, at(84)));
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.CLOCK_AHEAD, 60_000);
		this.history.say(Event.Kind.START, "b", KEY, at(84), null, 60_000);
		assertThat(violations()).hasSize(1);
		this.history.say(Event.Kind.START, "b", KEY, at(87), null, 62_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatIsLeftToALateTimerIsNotMissed() {
		run(OperatedJob.ADDED, 2, 6, 120);
		this.recorded.remove(new Execution(OperatedJob.ADDED, at(80)));
		this.history.disturb(Fault.CLOCK_SET_BACK, Fleet.POOLER, 60_000);
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:20Z");
		this.history.disturb(Fault.CLOCK_SET_AHEAD, Fleet.NEXT_VERSION, 60_000);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.CLOCK_SET_BACK, Fleet.NEXT_VERSION, 45_000);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.CLOCK_SET_BACK, Fleet.NEXT_VERSION, 60_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatIsLeftToALateTimerWhileAnotherInstanceIsDrainedIsNotMissed() {
		run(OperatedJob.VERSIONED, 4, 4, 120);
		this.recorded.remove(new Execution(OperatedJob.VERSIONED, at(80)));
		this.history.disturb(Fault.CLOCK_SET_BACK, Fleet.SIZE - 1, 60_000);
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:20Z");
		String drained = Fleet.name(Fleet.POOLER) + 2;
		this.history.say(Event.Kind.DRAINED, "a", drained, 70_000);
		assertThat(violations()).isEmpty();
		// Which the next version has too
		this.recorded.remove(new Execution(OperatedJob.VERSIONED, at(84)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:24Z");
		this.history.say(Event.Kind.DRAIN_ENDED, drained, drained, 78_000);
		assertThat(violations()).hasSize(2);
	}

	@Test
	void missedTickOfAVersionIsFound() {
		run(OperatedJob.VERSIONED, 4, 4, 120);
		assertThat(violations()).isEmpty();
		this.recorded.remove(new Execution(OperatedJob.VERSIONED, at(84)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:24Z");
		// While one instance is alone it may be drained
		this.history.say(Event.Kind.TRIED, Fleet.name(0) + 1, Job.SESSION, 10_000);
		assertThat(violations()).hasSize(1);
		this.history.say(Event.Kind.TRIED, Fleet.name(2) + 1, Job.SESSION, 85_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickOfAnotherVersionIsFound() {
		this.history.start(Fleet.name(Fleet.POOLER) + 2, OperatedJob.VERSIONED, at(4));
		this.history.start(Fleet.name(Fleet.NEXT_VERSION) + 1, OperatedJob.VERSIONED, at(12));
		assertThat(violations()).isEmpty();
		this.history.start(Fleet.name(Fleet.NEXT_VERSION) + 1, OperatedJob.VERSIONED, at(16));
		assertThat(violations()).singleElement().asString().startsWith("No tick of the schedule */12 ");
	}

	@Test
	void missedTickOfWhatOneVersionHasIsFound() {
		run(OperatedJob.ADDED, 2, 6, 120);
		assertThat(violations()).isEmpty();
		this.recorded.remove(new Execution(OperatedJob.ADDED, at(80)));
		assertThat(violations()).singleElement().asString().startsWith("Nobody ran the tick 2026-11-22T12:01:20Z");
		this.history.disturb(Fault.KILLED_INSTANCE, 78_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatABackfillHasLeftOutIsFound() {
		String key = OperatedJob.BACKFILLED;
		this.history.say(Event.Kind.BACKFILLING, "a", key, OLD, 0L, 1_000);
		for (int i = OperatedJob.BACKFILL; i > 0; i--) {
			Instant tick = OLD.minusSeconds((long) OperatedJob.BACKFILL_PERIOD * i);
			this.history.say(Event.Kind.START, "a", key, tick, null, 2_000 - i);
			this.history.say(Event.Kind.END, "a", key, tick, null, 2_000 - i);
			this.history.say(Event.Kind.DONE, "a", key, tick, null, 2_000 - i);
			this.recorded.add(new Execution(key, tick));
		}
		this.history.say(Event.Kind.BACKFILLED, "a", key, OLD, 0L, 3_000);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsEntry(Act.BACKFILLED_TICK, OperatedJob.BACKFILL);
		this.recorded.remove(2);
		assertThat(violations()).singleElement().asString().startsWith("Not executed by a backfill");
		this.history.disturb(Fault.LAGGING_STANDBY, 3_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatOnlyALaterBackfillHasRunIsFound() {
		String key = OperatedJob.BACKFILLED;
		for (int i = OperatedJob.BACKFILL; i > 0; i--) {
			Instant tick = OLD.minusSeconds((long) OperatedJob.BACKFILL_PERIOD * i);
			this.history.say(Event.Kind.END, "a", key, tick, null, (i == OperatedJob.BACKFILL) ? 4_000 : 2_000);
			this.recorded.add(new Execution(key, tick));
		}
		this.history.say(Event.Kind.BACKFILLED, "a", key, OLD, 0L, 5_000);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.BACKFILLED, "a", key, OLD, 0L, 3_000);
		assertThat(violations()).singleElement().asString().startsWith("Not executed by a backfill");
	}

	@Test
	void backfillThatFailsIsFound() {
		String key = OperatedJob.BACKFILLED;
		this.history.say(Event.Kind.BACKFILLING, "a", key, OLD, 0L, 1_000);
		this.history.say(Event.Kind.CANCELLED, "a", key, null, 0L, 2_000);
		this.history.say(Event.Kind.LAST_TICK, "a", key, OLD, 0L, 3_000);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.BACKFILLING, "a", key, OLD, 0L, 4_000);
		this.history.say(Event.Kind.LAST_TICK, "a", key, OLD, 0L, 5_000);
		assertThat(violations()).singleElement().asString().startsWith("Not answered as executed");
		this.history.disturb(Fault.TERMINATED_BACKENDS, 4_500);
		assertThat(violations()).isEmpty();
	}

	@Test
	void backfillThatIsNotOldestFirstIsFound() {
		String key = OperatedJob.BACKFILLED;
		this.history.say(Event.Kind.START, "a", key, OLD, null, 1_000);
		this.history.say(Event.Kind.BACKFILLING, "a", key, OLD, 0L, 2_000);
		this.history.say(Event.Kind.START, "a", key, OLD.minusSeconds(40), null, 3_000);
		this.history.say(Event.Kind.START, "a", key, OLD.minusSeconds(20), null, 4_000);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.START, "a", key, OLD.minusSeconds(40), null, 5_000);
		assertThat(violations()).singleElement().asString().startsWith("Not oldest first");
	}

	private void annotatedThenOther() {
		run(KEY, 3, 3, 40);
		this.history.say(Event.Kind.RESCHEDULING, "a", KEY, null, 1L, 9_900);
		this.history.say(Event.Kind.RESCHEDULED, "a", KEY, CHANGE, 1L, 10_000);
		run(KEY, 41, 5, 120);
	}

	/**
	 * Have ticks executed.
	 */
	private void run(String key, int from, int period, int to) {
		for (int second = from; second < to; second += period) {
			this.history.start("a", key, at(second));
			this.recorded.add(new Execution(key, at(second)));
		}
	}

	private static Instant at(int second) {
		return OperatedHistory.BEGIN.plusSeconds(second);
	}

	private List<String> violations() {
		return new ScheduleRules(this.history.events(), this.recorded, this.history.disturbances(), this.history.acts(),
				this.history.end())
			.violations();
	}

}
