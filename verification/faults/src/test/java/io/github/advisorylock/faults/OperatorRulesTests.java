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
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OperatorRules}: each rule is broken by a history that is made by hand.
 */
class OperatorRulesTests {

	private static final Instant TICK = OperatedHistory.BEGIN.minusSeconds(3_600);

	private static final String TICKS = OperatedJob.RESCHEDULED;

	private final OperatedHistory history = new OperatedHistory();

	@Test
	void runThatADrainedInstanceBeginsIsFound() {
		this.history.say(Event.Kind.DRAINED, "a", "a", 0);
		this.history.say(Event.Kind.START, "a", Job.SESSION, OperatorRules.UNDER_WAY);
		this.history.say(Event.Kind.TRIED, "a", Job.SESSION, 1_500);
		this.history.say(Event.Kind.START, "b", Job.SESSION, 2_000);
		this.history.say(Event.Kind.DRAIN_ENDED, "a", "a", 5_000);
		this.history.say(Event.Kind.START, "a", Job.SESSION, 5_100);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsOnlyKeys(Act.DRAIN).containsEntry(Act.DRAIN, 1);
		this.history.say(Event.Kind.DRAINED, "a", "a", 60_000);
		this.history.say(Event.Kind.START, "a", Job.SESSION, 60_000 + OperatorRules.UNDER_WAY + 10);
		assertThat(violations()).singleElement().asString().startsWith("Begun though drained");
		this.history.disturb(Fault.TERMINATED_BACKENDS, 60_200);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.LAGGING_STANDBY, 60_200);
		assertThat(violations()).isEmpty();
	}

	@Test
	void recordedRunThatBeginsWhereAnotherInstanceWasAskedIsFound() {
		this.history.say(Event.Kind.DRAINED, "b", "a", 0);
		this.history.say(Event.Kind.START, "a", Job.LEADER, OperatorRules.HEARD);
		this.history.say(Event.Kind.START, "b", TICKS, 2_000);
		assertThat(violations()).isEmpty();
		this.history.say(Event.Kind.START, "a", TICKS, OperatorRules.UNDER_WAY + 10);
		assertThat(violations()).singleElement().asString().startsWith("Begun though drained");
		this.history.say(Event.Kind.START, "a", Job.LEADER, OperatorRules.HEARD + OperatorRules.UNDER_WAY + 10);
		assertThat(violations()).hasSize(2);
	}

	@Test
	void tickThatIsBackfilledThoughCancelledIsFound() {
		backfill(Event.Kind.BACKFILLING, TICK, 0);
		backfill(Event.Kind.CANCELLED, null, 1_000);
		backfill(Event.Kind.START, TICK, 1_000 + OperatorRules.UNDER_WAY);
		backfill(Event.Kind.START, TICK.plusSeconds(3_600), 2_500);
		backfill(Event.Kind.BACKFILLING, TICK, 3_000);
		backfill(Event.Kind.START, TICK, 3_100);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsOnlyKeys(Act.CANCELLED_BACKFILL);
		backfill(Event.Kind.CANCELLED, null, 4_000);
		backfill(Event.Kind.START, TICK, 4_000 + OperatorRules.UNDER_WAY + 10);
		assertThat(violations()).singleElement().asString().startsWith("Begun though cancelled");
	}

	@Test
	void secondTickThatIsBackfilledThoughCancelledIsFound() {
		backfill(Event.Kind.CANCELLED, null, 1_000);
		backfill(Event.Kind.START, TICK, 1_010);
		assertThat(violations()).isEmpty();
		backfill(Event.Kind.START, TICK.plusSeconds(20), 1_020);
		assertThat(violations()).singleElement().asString().startsWith("Begun though cancelled");
	}

	@Test
	void beginIsLaterWhereAFaultHoldsItUp() {
		this.history.disturb(Fault.RESTARTED_SERVER, 900);
		backfill(Event.Kind.CANCELLED, null, 1_000);
		backfill(Event.Kind.START, TICK, 1_000 + OperatorRules.UNDER_WAY + OperatorRules.HELD_UP);
		assertThat(violations()).isEmpty();
		backfill(Event.Kind.BACKFILLING, TICK, 10_000);
		backfill(Event.Kind.CANCELLED, null, 11_000);
		this.history.disturb(Fault.RESTARTED_SERVER, 10_900);
		backfill(Event.Kind.START, TICK, 11_000 + OperatorRules.UNDER_WAY + OperatorRules.HELD_UP + 10);
		assertThat(violations()).singleElement().asString().startsWith("Begun though cancelled");
	}

	@Test
	void lastTickThatGoesBackIsFound() {
		backfill(Event.Kind.LAST_TICK, TICK, 0);
		backfill(Event.Kind.LAST_TICK, TICK, 1_000);
		backfill(Event.Kind.LAST_TICK, TICK.plusSeconds(20), 2_000);
		assertThat(violations()).isEmpty();
		backfill(Event.Kind.LAST_TICK, TICK, 3_000);
		assertThat(violations()).singleElement().asString().startsWith("The last tick went back");
	}

	private void backfill(Event.Kind kind, @Nullable Instant tick, long at) {
		this.history.say(kind, "a", OperatedJob.BACKFILLED, tick, null, at);
	}

	private List<String> violations() {
		return new OperatorRules(this.history.events(), Set.of(TICKS), this.history.disturbances(), this.history.acts())
			.violations();
	}

}
