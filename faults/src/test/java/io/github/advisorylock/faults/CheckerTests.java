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
 * Tests for {@link Checker}: each rule is broken by a history that is made by hand.
 */
class CheckerTests {

	private static final Instant TICK = Instant.parse("2026-11-22T12:00:00Z");

	private static final String KEY = Job.TICK_TRANSACTION.key(7);

	private static final String LONG = Job.TICK_SESSION.key(7);

	private final List<Event> events = new ArrayList<>();

	private final List<Effect> effects = new ArrayList<>();

	private final List<Execution> recorded = new ArrayList<>();

	private final List<Disturbance> disturbances = new ArrayList<>();

	private final List<Execution> expected = new ArrayList<>();

	@Test
	void goodHistoryIsGood() {
		executed("a#1", KEY, 1L, 0, 500);
		this.expected.add(new Execution(KEY, TICK));
		run("b#1", Job.LEADER, null, 5L, 0, 500, Event.Kind.END);
		run("b#2", Job.LEADER, null, 5L, 600, 900, Event.Kind.END);
		run("c#1", Job.LEADER, null, 6L, 7000, 7900, Event.Kind.FAIL);
		assertThat(violations()).isEmpty();
	}

	@Test
	void twoRunsAtATimeAreFound() {
		run("a#1", Job.SESSION, null, null, 0, 500, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void runThatLostItsLockToAFaultMayGoOnForAMoment() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 2400, Event.Kind.TOLD);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		Findings findings = check();
		assertThat(findings.violations()).isEmpty();
		assertThat(findings.overlaps()).containsExactly(new Overlap(Fault.TERMINATED_SESSIONS, 2000));
	}

	@Test
	void runThatBeganWhenAnotherHadItsLockMayGoOnForAMoment() {
		executed("a#1", KEY, 2L, 400, 900);
		run("b#1", KEY, TICK, 1L, 410, 910, Event.Kind.TOLD);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
		disturb(Fault.RESTARTED_POOLER, 300, 300);
		assertThat(check().violations()).isEmpty();
		assertThat(check().overlaps()).containsExactly(new Overlap(Fault.RESTARTED_POOLER, 500));
		executed("c#1", KEY, 4L, 1400, 1900);
		run("d#1", KEY, TICK, 5L, 1410, 1910, Event.Kind.TOLD);
		assertThat(violations()).anyMatch((text) -> text.startsWith("Two at a time"));
	}

	@Test
	void runThatGoesOnForLongerIsFound() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 400 + Checker.NOTICE + 1, Event.Kind.TOLD);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void faultThatEndsNoLocksIsNoExcuse() {
		disturb(Fault.FROZEN_INSTANCE, 300, 4300);
		run("a#1", Job.SESSION, null, null, 0, 4400, Event.Kind.TOLD);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void timeInWhichARunWasFrozenDoesNotCount() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 350, Event.Kind.BEAT);
		write(Event.Kind.TOLD, "a#1", Job.SESSION, null, null, 60_000);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(check().overlaps()).containsExactly(new Overlap(Fault.TERMINATED_SESSIONS, 0));
	}

	@Test
	void runThatCountsAsExecutedHasNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		executed("a#1", LONG, 1L, 0, 800);
		run("b#1", LONG, TICK, 2L, 400, 900, Event.Kind.FAIL);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void twoLeadersHaveNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.LEADER, null, 5L, 0, 800, Event.Kind.TOLD);
		run("b#1", Job.LEADER, null, 6L, 700, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void tokenThatDoesNotRiseIsFound() {
		executed("a#1", KEY, 2L, 0, 500);
		run("b#1", KEY, TICK.plusSeconds(200), 2L, 600, 900, Event.Kind.FAIL);
		assertThat(violations()).singleElement().asString().startsWith("Tokens do not rise");
	}

	@Test
	void runThatBeganWhenItsLockHadEndedMayHaveALowerTokenIfItDoesNotCount() {
		disturb(Fault.TERMINATED_BACKENDS, 100, 100);
		executed("a#1", KEY, 2L, 200, 500);
		run("b#1", KEY, TICK, 1L, 600, 900, Event.Kind.TOLD);
		assertThat(violations()).isEmpty();
		run("c#1", KEY, TICK.plusSeconds(200), 1L, 1000, 1400, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Tokens do not rise");
	}

	@Test
	void termOfAnotherLeaderThatDoesNotRiseIsFound() {
		run("a#1", Job.LEADER, null, 5L, 0, 500, Event.Kind.END);
		run("b#1", Job.LEADER, null, 5L, 600, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Tokens do not rise");
	}

	@Test
	void rememberedTickThatRunsTwiceIsFound() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.REMEMBERED, TICK, null, 600, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Run twice though nothing had happened");
		disturb(Fault.KILLED_INSTANCE, 550, 560);
		assertThat(violations()).isEmpty();
	}

	@Test
	void rememberedTickMayRunAgainForACallThatComesTooLate() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.REMEMBERED, TICK, null, Checker.MEMORY, 1900, Event.Kind.END);
		assertThat(violations()).isEmpty();
	}

	@Test
	void secondEffectOfATickIsFound() {
		executed("a#1", KEY, 1L, 0, 500);
		run("b#1", KEY, TICK, 2L, 600, 900, Event.Kind.FAIL);
		this.effects.add(new Effect(KEY, TICK, "b#1"));
		assertThat(violations()).singleElement().asString().startsWith("Two effects");
	}

	@Test
	void runInScopeSessionThatWasNotExecutedMayHaveLeftAnEffect() {
		run("a#1", LONG, TICK, 1L, 0, 500, Event.Kind.TOLD);
		this.effects.add(new Effect(LONG, TICK, "a#1"));
		executed("b#1", LONG, 2L, 600, 900);
		assertThat(violations()).isEmpty();
	}

	@Test
	void effectOfNobodyIsFound() {
		executed("a#1", LONG, 1L, 0, 500);
		this.effects.set(0, new Effect(LONG, TICK, "c#9"));
		assertThat(violations()).singleElement().asString().startsWith("An effect of nobody");
	}

	@Test
	void effectWithoutLedgerIsFound() {
		executed("a#1", KEY, 1L, 0, 500);
		this.recorded.clear();
		assertThat(violations()).hasSize(2)
			.anyMatch((text) -> text.startsWith("An effect that is not in the ledger"))
			.anyMatch((text) -> text.startsWith("Said to be executed, and not in the ledger"));
	}

	@Test
	void ledgerWithoutEffectIsFound() {
		executed("a#1", KEY, 1L, 0, 500);
		this.effects.clear();
		assertThat(violations()).singleElement().asString().startsWith("In the ledger, without an effect");
	}

	@Test
	void tickThatTheLedgerHasTwiceIsFound() {
		executed("a#1", LONG, 1L, 0, 500);
		this.recorded.add(this.recorded.get(0));
		assertThat(violations()).singleElement().asString().startsWith("Executed twice, says the ledger");
	}

	@Test
	void tickThatIsExecutedTwiceIsFound() {
		executed("a#1", LONG, 1L, 0, 500);
		run("b#1", LONG, TICK, 2L, 600, 900, Event.Kind.END);
		write(Event.Kind.DONE, "b#1", LONG, TICK, 2L, 900);
		assertThat(violations()).singleElement().asString().startsWith("Executed twice");
	}

	@Test
	void tickThatIsLostIsFound() {
		this.expected.add(new Execution(KEY, TICK));
		assertThat(violations()).singleElement().asString().startsWith("Never executed");
	}

	@Test
	void whatAServerHasLostWhenItsStandbyTookOverIsNoFaultOfOurs() {
		disturb(Fault.LAGGING_STANDBY, 100, 2000);
		executed("a#1", KEY, 1L, 0, 500);
		this.recorded.clear();
		this.effects.clear();
		this.expected.add(new Execution(KEY, TICK));
		assertThat(violations()).isEmpty();
	}

	private void executed(String run, String key, Long token, long begin, long end) {
		run(run, key, TICK, token, begin, end, Event.Kind.END);
		write(Event.Kind.DONE, run, key, TICK, token, end);
		this.effects.add(new Effect(key, TICK, run));
		this.recorded.add(new Execution(key, TICK));
	}

	private void run(String run, String key, @Nullable Instant tick, @Nullable Long token, long begin, long end,
			Event.Kind last) {
		write(Event.Kind.START, run, key, tick, token, begin);
		for (long at = begin + 100; at < end; at += 100) {
			write(Event.Kind.BEAT, run, key, tick, token, at);
		}
		write(last, run, key, tick, token, end);
	}

	private void write(Event.Kind kind, String run, String key, @Nullable Instant tick, @Nullable Long token, long at) {
		Event event = new Event(kind, run, run.substring(0, 1), key, tick, token, at, TICK.toEpochMilli() + at);
		this.events.add(Event.parse(event.toLine()));
	}

	private void disturb(Fault fault, long begin, long end) {
		this.disturbances.add(new Disturbance(fault, begin, end));
	}

	private List<String> violations() {
		return check().violations();
	}

	private Findings check() {
		return new Checker(this.events, this.effects, this.recorded, this.disturbances).check(this.expected);
	}

}
