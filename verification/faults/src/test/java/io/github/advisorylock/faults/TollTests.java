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
 * Tests for {@link Toll}: which runs a fault has met and failed, and when these were made
 * up for.
 */
class TollTests {

	private static final Instant TICK = Instant.parse("2026-11-22T12:00:00Z");

	private static final String KEY = Job.TICK_SESSION.key(7);

	private final List<Event> events = new ArrayList<>();

	@Test
	void runsUnderWayAreMetAndThoseThatDoNotSucceedHaveFailed() {
		run("i0-1#1", Job.SESSION, 0, 900, Event.Kind.DONE);
		run("i0-1#2", Job.SESSION, 1000, 1500, Event.Kind.DONE);
		run("i1-1#1", KEY, 1200, 1600, Event.Kind.FAIL);
		run("i2-1#1", Job.LEADER, 1200, 1600, Event.Kind.END);
		run("i2-1#2", KEY, 1700, 1800, Event.Kind.END);
		run("i2-1#3", KEY, 2400, 2800, Event.Kind.FAIL);
		assertThat(toll(Fault.TERMINATED_BACKENDS, Fleet.ALL, 1400, 1400))
			.isEqualTo(new Toll(Fault.TERMINATED_BACKENDS, 3, 2, List.of()));
	}

	@Test
	void runsOfOtherInstancesAreNotMet() {
		run("i0-1#1", KEY, 1000, 1500, Event.Kind.FAIL);
		assertThat(toll(Fault.CUT_IN, Fleet.CABLE, 1400, 1400)).extracting(Toll::met, Toll::failed)
			.containsExactly(1, 1);
		assertThat(toll(Fault.RESTARTED_POOLER, Fleet.POOLER, 1400, 1400)).extracting(Toll::met, Toll::failed)
			.containsExactly(0, 0);
	}

	@Test
	void runThatSaysNothingAnyMoreHasFailed() {
		run("i0-1#1", KEY, 1000, 1300, Event.Kind.BEAT);
		assertThat(toll(Fault.KILLED_INSTANCE, 0, 1400, 1500)).extracting(Toll::met, Toll::failed)
			.containsExactly(1, 1);
	}

	@Test
	void runThatHadFailedBeforeWasNotMet() {
		run("i0-1#1", KEY, 1000, 1300, Event.Kind.FAIL);
		assertThat(toll(Fault.KILLED_INSTANCE, 0, 1400, 1500)).extracting(Toll::met, Toll::failed)
			.containsExactly(0, 0);
	}

	@Test
	void whatFailedIsTimedUntilAnybodyHasExecutedIt() {
		run("i0-1#1", KEY, 1000, 1500, Event.Kind.FAIL);
		run("i1-1#1", KEY, 1600, 1800, Event.Kind.FAIL);
		run("i2-1#1", KEY, 2500, 2900, Event.Kind.DONE);
		assertThat(toll(Fault.TERMINATED_BACKENDS, Fleet.ALL, 1400, 1400).redone()).containsExactly(1500L);
	}

	@Test
	void whatAnotherFaultHasFailedIsNotTimed() {
		run("i0-1#1", KEY, 1000, 1500, Event.Kind.FAIL);
		run("i2-1#1", KEY, 2500, 2900, Event.Kind.DONE);
		assertThat(toll(Fault.TERMINATED_BACKENDS, Fleet.ALL, 1600, 1600).redone()).isEmpty();
	}

	private Toll toll(Fault fault, int place, long begin, long end) {
		return Toll.of(new Disturbance(fault, place, begin, end), Run.of(this.events));
	}

	private void run(String run, String key, long begin, long end, Event.Kind last) {
		write(Event.Kind.START, run, key, begin);
		if (last == Event.Kind.DONE) {
			write(Event.Kind.END, run, key, end);
		}
		write(last, run, key, end);
	}

	private void write(Event.Kind kind, String run, String key, long at) {
		this.events.add(new Event(kind, run, run.substring(0, run.indexOf('#')), key, TICK, null, at, at, false));
	}

}
