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
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PromiseRules}: each rule is broken by a history that is made by hand.
 */
class PromiseRulesTests {

	private static final Instant TICK = Instant.parse("2026-11-22T12:00:00Z");

	private final List<Event> events = new ArrayList<>();

	private final Set<String> written = new HashSet<>();

	private final List<Disturbance> disturbances = new ArrayList<>();

	@Test
	void goodHistoryIsGood() {
		executed("a#1", Promise.INTERVAL, null, 0);
		executed("b#1", Promise.INTERVAL, null, 5_000);
		executed("a#2", Promise.JOINED, null, 300);
		undone("a#3", Promise.JOINED, null, 600);
		undone("a#4", Promise.CATCH_UP, TICK, 0);
		executed("b#2", Promise.CATCH_UP, TICK, 31_000);
		run("a#5", Promise.SHARED_READ, null, 400, Event.Kind.END);
		run("b#3", Promise.SHARED_READ, null, 500, Event.Kind.END);
		assertThat(violations()).isEmpty();
		assertThat(ofChecker()).isEmpty();
	}

	@Test
	void runSoonerThanItsIntervalIsFound() {
		executed("a#1", Promise.INTERVAL, null, 0);
		executed("b#1", Promise.INTERVAL, null, 1_900);
		assertThat(violations()).singleElement().asString().startsWith("Sooner than the interval");
		disturb(Fault.KILLED_SERVER, 100, 1_100);
		assertThat(violations()).isEmpty();
	}

	@Test
	void intervalBeginsNoLaterThanItsRunAndNoSoonerThanItsCall() {
		say(Event.Kind.WAITED, Promise.INTERVAL, 3_100, 5_000);
		executed("i0-1#1", Promise.INTERVAL, null, 5_100);
		executed("b#1", Promise.INTERVAL, null, 6_900);
		assertThat(violations()).isEmpty();
		executed("b#2", Promise.INTERVAL, null, 9_800);
		executed("c#1", Promise.INTERVAL, null, 10_000);
		assertThat(violations()).singleElement().asString().startsWith("Sooner than the interval");
	}

	@Test
	void failedRunCountsForTheInterval() {
		undone("a#1", Promise.INTERVAL, null, 0);
		executed("b#1", Promise.INTERVAL, null, 500);
		assertThat(violations()).singleElement().asString().startsWith("Sooner than the interval");
	}

	@Test
	void writerBesideAReaderIsFound() {
		run("a#1", Promise.SHARED_READ, null, 0, Event.Kind.END);
		run("b#1", Promise.SHARED_WRITE, null, 100, Event.Kind.END);
		assertThat(ofChecker()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void twoWritersAreFound() {
		run("a#1", Promise.SHARED_WRITE, null, 0, Event.Kind.END);
		run("b#1", Promise.SHARED_WRITE, null, 100, Event.Kind.END);
		assertThat(ofChecker()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void tickThatIsMadeUpForMayRunOnAPlatformThread() {
		run("a#1", Promise.CATCH_UP, TICK, 0, Event.Kind.END);
		assertThat(ofChecker(true)).isEmpty();
		run("b#1", Promise.JOINED, null, 0, Event.Kind.END);
		assertThat(ofChecker(true)).singleElement().asString().startsWith("On a platform thread: b#1");
	}

	@Test
	void runThatBeganWhenAFaultHadEndedItsTransactionMayGoOnForAMoment() {
		executed("a#1", Promise.WAIT_TRANSACTION, null, 0);
		run("b#1", Promise.WAIT_TRANSACTION, null, 100, Event.Kind.FAIL);
		assertThat(ofChecker()).singleElement().asString().startsWith("Two at a time");
		disturb(Fault.TERMINATED_BACKENDS, -50, -50);
		assertThat(ofChecker()).isEmpty();
	}

	@Test
	void effectOfWhatWasRolledBackIsFound() {
		undone("a#1", Promise.JOINED, null, 0);
		run("a#2", Promise.THROWING, TICK, 300, Event.Kind.FAIL);
		this.written.addAll(List.of("a#1", "a#2"));
		assertThat(violations()).hasSize(2)
			.allSatisfy((text) -> assertThat(text).startsWith("An effect though rolled back"));
	}

	@Test
	void effectThatIsLostIsFound() {
		executed("a#1", Promise.JOINED, null, 0);
		this.written.clear();
		assertThat(violations()).singleElement().asString().startsWith("No effect though executed");
		disturb(Fault.LAGGING_STANDBY, 100, 2_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatWasTriedAgainThoughExecutedIsFound() {
		executed("a#1", Promise.THROWING, TICK, 0);
		executed("b#1", Promise.THROWING, TICK, 300);
		executed("a#2", Promise.CATCH_UP, TICK, 0);
		executed("b#2", Promise.CATCH_UP, TICK, 300);
		assertThat(violations()).hasSize(2).allSatisfy((text) -> assertThat(text).startsWith("Two effects of a tick"));
	}

	@Test
	void tickThatIsTriedAgainTooSoonIsFound() {
		undone("a#1", Promise.CATCH_UP, TICK, 0);
		executed("b#1", Promise.CATCH_UP, TICK, 20_000);
		assertThat(violations()).singleElement().asString().startsWith("Tried again too soon");
		disturb(Fault.KILLED_SERVER, 100, 1_100);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatIsTriedTooOftenIsFound() {
		undone("a#1", Promise.RETRIED, TICK, 0);
		undone("b#1", Promise.RETRIED, TICK, 30_000);
		undone("a#2", Promise.RETRIED, TICK.plusSeconds(60), 60_000);
		assertThat(violations()).isEmpty();
		undone("b#2", Promise.RETRIED, TICK, 55_000);
		assertThat(violations()).singleElement().asString().startsWith("Tried too often: [a#1");
		disturb(Fault.KILLED_SERVER, 30_100, 31_100);
		assertThat(violations()).isEmpty();
	}

	@Test
	void tickThatNobodyMakesUpForIsFound() {
		executed("a#1", Promise.CATCH_UP, TICK, 0);
		undone("a#2", Promise.CATCH_UP, TICK.plusSeconds(120), 120_000);
		executed("a#3", Promise.CATCH_UP, TICK.plusSeconds(180), 180_000);
		run("a#4", Promise.SHARED_READ, null, 250_000, Event.Kind.END);
		assertThat(violations()).containsExactly("Nobody made up for " + TICK.plusSeconds(60),
				"Nobody made up for " + TICK.plusSeconds(120));
		disturb(Fault.CUT_NETWORK, 125_000, 138_000);
		assertThat(violations()).containsExactly("Nobody made up for " + TICK.plusSeconds(60));
		disturb(Fault.CUT_NETWORK, 65_000, 78_000);
		assertThat(violations()).containsExactly("Nobody made up for " + TICK.plusSeconds(60));
		disturb(Fault.CUT_NETWORK, 95_000, 108_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void waitThatIsTooLongIsFound() {
		say(Event.Kind.TRIED, Promise.WAIT_SESSION, 0, 0);
		long allowed = Promise.WAIT.toMillis() + PromiseRules.BUSY;
		say(Event.Kind.GAVE_UP, Promise.WAIT_SESSION, allowed, 100_000);
		say(Event.Kind.WAITED, Promise.WAIT_TRANSACTION, allowed, 100_000);
		say(Event.Kind.WAITED, Promise.PAUSED, PromiseRules.BUSY, 100_000);
		assertThat(violations()).isEmpty();
		say(Event.Kind.GAVE_UP, Promise.WAIT_SESSION, allowed + 1, 100_000);
		say(Event.Kind.WAITED, Promise.WAIT_TRANSACTION, allowed + 1, 100_000);
		say(Event.Kind.WAITED, Promise.PAUSED, PromiseRules.BUSY + 1, 100_000);
		assertThat(violations()).hasSize(3).allSatisfy((text) -> assertThat(text).startsWith("Waited for"));
		disturb(Fault.FROZEN_INSTANCE, 95_000, 99_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void instanceThatComesUpMayTakeItsTime() {
		say(Event.Kind.WAITED, Promise.PAUSED, PromiseRules.BUSY + 1, 10_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void callThatDoesNotWaitIsFound() {
		say(Event.Kind.GAVE_UP, Promise.WAIT_SESSION, 1_000, 10_000);
		assertThat(violations()).isEmpty();
		run("i0-1#1", Promise.SHARED_READ, null, 30_000, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Gave up after 1000 ms");
	}

	@Test
	void runThatBeginsWhileItIsPausedIsFound() {
		say(Event.Kind.PAUSED, Promise.PAUSED, 0, 0);
		executed("a#1", Promise.PAUSED, null, PromiseRules.EARLY);
		say(Event.Kind.RESUMED, Promise.PAUSED, 0, 5_000);
		executed("a#2", Promise.PAUSED, null, 5_001);
		assertThat(violations()).isEmpty();
		say(Event.Kind.PAUSED, Promise.PAUSED, 0, 10_000);
		executed("a#4", Promise.PAUSED, null, 15_000);
		say(Event.Kind.RESUMED, Promise.PAUSED, 0, 15_000);
		assertThat(violations()).isEmpty();
		executed("a#3", Promise.PAUSED, null, 4_000);
		assertThat(violations()).singleElement().asString().startsWith("Begun though paused");
		disturb(Fault.FROZEN_INSTANCE, -100, 3_900);
		assertThat(violations()).isEmpty();
	}

	@Test
	void workThatDoesNotGoOnIsFound() {
		run("a#1", Promise.HOUSEKEEPING, null, 0, Event.Kind.END);
		run("a#2", Promise.SHARED_READ, null, 61_000, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Nothing of housekeeping");
		disturb(Fault.CUT_NETWORK, 1_000, 14_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void workThatIsNeverDoneIsFound() {
		for (Promise promise : Promise.values()) {
			run("a#" + promise, promise, null, 0,
					(promise != Promise.LOCK_REGISTRY) ? Event.Kind.END : Event.Kind.FAIL);
		}
		assertThat(PromiseRules.missing(Run.of(this.events))).containsExactly("Never done: lock-registry",
				"Never 2 at a time: permit-transaction", "Never 2 at a time: permit-session");
	}

	private void executed(String run, Promise promise, @Nullable Instant tick, long begin) {
		run(run, promise, tick, begin, Event.Kind.END);
		write(Event.Kind.DONE, run, promise, tick, null, begin + 200);
		this.written.add(run);
	}

	private void undone(String run, Promise promise, @Nullable Instant tick, long begin) {
		run(run, promise, tick, begin, (promise == Promise.JOINED) ? Event.Kind.END : Event.Kind.FAIL);
		write(Event.Kind.ROLLED_BACK, run, promise, tick, null, begin + 200);
	}

	private void run(String run, Promise promise, @Nullable Instant tick, long begin, Event.Kind last) {
		write(Event.Kind.START, run, promise, tick, null, begin);
		write(Event.Kind.BEAT, run, promise, tick, null, begin + 100);
		write(last, run, promise, tick, null, begin + 200);
	}

	private void say(Event.Kind kind, Promise promise, long value, long at) {
		write(kind, "i0-1#0", promise, null, value, at);
	}

	private void write(Event.Kind kind, String run, Promise promise, @Nullable Instant tick, @Nullable Long token,
			long at) {
		Event event = new Event(kind, run, run.substring(0, run.indexOf('#')), promise.key(), tick, token, at,
				TICK.toEpochMilli() + at, false);
		this.events.add(Event.parse(event.toLine()));
	}

	private void disturb(Fault fault, long begin, long end) {
		this.disturbances.add(new Disturbance(fault, Fleet.ALL, begin, end));
	}

	private List<String> violations() {
		List<Event> sorted = new ArrayList<>(this.events);
		sorted.sort(Event.IN_TIME);
		return new PromiseRules(sorted, this.written, this.disturbances, new TrialEnd().of(this.events)).violations();
	}

	private List<String> ofChecker() {
		return ofChecker(false);
	}

	private List<String> ofChecker(boolean virtual) {
		return new Checker(this.events, List.of(), List.of(), this.disturbances, virtual,
				new TrialEnd().of(this.events))
			.check(List.of())
			.violations();
	}

}
