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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the checker of the rivals calls a double run and a lost tick.
 */
class RivalVerdictTests {

	private static final long T = 1_000_000_000;

	@Test
	void completedTicksAreNeitherDoubleNorLost() {
		assertThat(verdict(2, run(null, T, T + 2000, true), run(null, T + 5000, T + 7000, true)))
			.isEqualTo(new RivalVerdict(2, 0, 0, 0));
	}

	@Test
	void runThatBeginsWhileAnotherGoesOnIsDouble() {
		assertThat(verdict(1, run(null, T, T + 2000, true), run(null, T + 1900, T + 3900, true)).doubles()).isOne();
	}

	@Test
	void runForTickThatWasCompletedIsDouble() {
		assertThat(verdict(1, run(T, T, T + 1000, true), run(T, T + 1500, T + 2500, true)).doubles()).isOne();
	}

	@Test
	void secondRunOfTickThatItsContestantNamesIsRepeated() {
		assertThat(verdict(1, run(T, T, T + 1000, true), run(T, T + 500, T + 1500, true)).repeats()).isOne();
		assertThat(verdict(1, run(T, T, T + 1000, true), run(T + 5000, T + 500, T + 1500, true)).repeats()).isZero();
		assertThat(verdict(1, run(T, T, T + 1000, false), run(T, T + 500, T + 1500, true)).repeats()).isZero();
		assertThat(verdict(1, run(null, T, T + 1000, true), run(null, T + 500, T + 1500, true)).repeats()).isZero();
	}

	@Test
	void runForTickThatFailedIsNotDouble() {
		assertThat(verdict(1, run(T, T, T + 1000, false), run(T, T + 1500, T + 2500, true)))
			.isEqualTo(new RivalVerdict(1, 0, 0, 0));
	}

	@Test
	void tickWithoutCompletedRunIsLost() {
		assertThat(verdict(2, run(null, T, T + 500, false), run(null, T + 5000, T + 7000, true)).lost()).isOne();
	}

	@Test
	void tickInTheTimeOfRunThatShowsLifeIsNotLost() {
		assertThat(verdict(4, run(null, T, T + 19000, true)).lost()).isZero();
	}

	@Test
	void ticksWhileRunIsFrozenAreLost() {
		List<Event> frozen = new ArrayList<>(run(null, T, T + 500, false));
		frozen.add(event(Event.Kind.END, null, T + 19000));
		assertThat(verdict(4, frozen).lost()).isEqualTo(3);
	}

	@Test
	void runOfProcessThatWasStartedAgainIsAnother() {
		List<Event> killed = run(null, T, T + 500, false);
		List<Event> again = run(null, T + 5000, T + 7000, true);
		assertThat(verdict(2, killed, again)).isEqualTo(new RivalVerdict(2, 0, 1, 0));
	}

	@SafeVarargs
	@SuppressWarnings("varargs") // only read
	private static RivalVerdict verdict(int ticks, List<Event>... histories) {
		return RivalVerdict.of(List.of(histories), Duration.ofSeconds(5), T, T + ticks * 5000L);
	}

	private static List<Event> run(@Nullable Long tick, long start, long end, boolean completed) {
		List<Event> events = new ArrayList<>();
		events.add(event(Event.Kind.START, tick, start));
		for (long time = start + 100; time < end; time += 100) {
			events.add(event(Event.Kind.BEAT, tick, time));
		}
		events.add(event(completed ? Event.Kind.END : Event.Kind.BEAT, tick, end));
		return events;
	}

	private static Event event(Event.Kind kind, @Nullable Long tick, long time) {
		return new Event(kind, "instance-1#1", "instance-1", "job", (tick != null) ? Instant.ofEpochMilli(tick) : null,
				null, time, time, false);
	}

}
