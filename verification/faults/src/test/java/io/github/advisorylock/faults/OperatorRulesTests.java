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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OperatorRules}: each rule is broken by a history that is made by hand.
 */
class OperatorRulesTests {

	private static final Instant TICK = Instant.parse("2026-11-22T11:00:00Z");

	private final List<Event> events = new ArrayList<>();

	private final List<Disturbance> disturbances = new ArrayList<>();

	@Test
	void runThatADrainedInstanceBeginsIsFound() {
		say(Event.Kind.DRAINED, "a", OperatedJob.DRAINED, null, 0);
		say(Event.Kind.START, "a", Job.SESSION, null, OperatorRules.UNDER_WAY);
		say(Event.Kind.START, "b", Job.SESSION, null, 2_000);
		say(Event.Kind.DRAIN_ENDED, "a", OperatedJob.DRAINED, null, 5_000);
		say(Event.Kind.START, "a", Job.SESSION, null, 5_100);
		assertThat(violations()).isEmpty();
		say(Event.Kind.DRAINED, "a", OperatedJob.DRAINED, null, 60_000);
		say(Event.Kind.START, "a", Job.SESSION, null, 61_010);
		assertThat(violations()).singleElement().asString().startsWith("Begun though drained");
		disturb(Fault.TERMINATED_BACKENDS, 60_500);
		assertThat(violations()).hasSize(1);
		disturb(Fault.LAGGING_STANDBY, 60_500);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatIsBackfilledThoughCancelledIsFound() {
		say(Event.Kind.BACKFILLING, "a", OperatedJob.BACKFILLED, TICK, 0);
		say(Event.Kind.CANCELLED, "a", OperatedJob.BACKFILLED, null, 1_000);
		say(Event.Kind.START, "a", OperatedJob.BACKFILLED, TICK, 1_900);
		say(Event.Kind.START, "a", OperatedJob.BACKFILLED, TICK.plusSeconds(3_600), 2_500);
		say(Event.Kind.BACKFILLING, "a", OperatedJob.BACKFILLED, TICK, 3_000);
		say(Event.Kind.START, "a", OperatedJob.BACKFILLED, TICK, 3_100);
		assertThat(violations()).isEmpty();
		say(Event.Kind.CANCELLED, "a", OperatedJob.BACKFILLED, null, 4_000);
		say(Event.Kind.START, "a", OperatedJob.BACKFILLED, TICK, 5_010);
		assertThat(violations()).singleElement().asString().startsWith("Begun though cancelled");
	}

	@Test
	void lastTickThatGoesBackIsFound() {
		say(Event.Kind.LAST_TICK, "a", OperatedJob.BACKFILLED, TICK, 0);
		say(Event.Kind.LAST_TICK, "a", OperatedJob.BACKFILLED, TICK, 1_000);
		say(Event.Kind.LAST_TICK, "a", OperatedJob.BACKFILLED, TICK.plusSeconds(20), 2_000);
		assertThat(violations()).isEmpty();
		say(Event.Kind.LAST_TICK, "a", OperatedJob.BACKFILLED, TICK, 3_000);
		assertThat(violations()).singleElement().asString().startsWith("The last tick went back");
	}

	private void say(Event.Kind kind, String instance, String key, @Nullable Instant tick, long at) {
		Event event = new Event(kind, instance, instance, key, tick, null, at,
				TICK.plusSeconds(3_600).toEpochMilli() + at, false);
		this.events.add(Event.parse(event.toLine()));
	}

	private void disturb(Fault fault, long at) {
		this.disturbances.add(new Disturbance(fault, Fleet.ALL, at, at));
	}

	private List<String> violations() {
		return new OperatorRules(this.events, this.disturbances).violations();
	}

}
