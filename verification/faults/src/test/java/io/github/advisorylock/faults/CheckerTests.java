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

	private final TrialEnd end = new TrialEnd();

	@Test
	void goodHistoryIsGood() {
		executed("a#1", KEY, 1L, 0, 500);
		this.expected.add(new Execution(KEY, TICK));
		run("d#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		write(Event.Kind.DONE, "d#1", Job.REMEMBERED, TICK, null, 500);
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
	void runOnAThreadOfAnotherKindIsFound() {
		run("a#1", Job.SESSION, null, null, 0, 500, Event.Kind.END);
		assertThat(
				new Checker(this.events, this.effects, this.recorded, this.disturbances, true, this.end.of(this.events))
					.check(this.expected)
					.violations())
			.singleElement()
			.asString()
			.startsWith("On a platform thread");
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
		run("b#1", KEY, TICK, 1L, 410, 910, Event.Kind.FAIL);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
		disturb(Fault.RESTARTED_POOLER, 300, 300);
		assertThat(check().violations()).isEmpty();
		assertThat(check().overlaps()).containsExactly(new Overlap(Fault.RESTARTED_POOLER, 500));
		executed("c#1", KEY, 4L, 1400, 1900);
		run("d#1", KEY, TICK, 5L, 1410, 1910, Event.Kind.FAIL);
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
	void faultThatHappenedToAnotherInstanceIsNoExcuse() {
		run("i0-1#1", Job.SESSION, null, null, 0, 800, Event.Kind.FAIL);
		run("i2-1#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		this.disturbances.add(new Disturbance(Fault.CUT_NETWORK, Fleet.CABLE, 300, 13_300));
		assertThat(violations()).isEmpty();
		run("i1-1#1", Job.SESSION, null, null, 1000, 1800, Event.Kind.FAIL);
		run("i2-1#2", Job.SESSION, null, null, 1400, 1900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time: i1-1#1");
	}

	@Test
	void faultThatEndsOtherLocksIsNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", KEY, TICK, 1L, 0, 800, Event.Kind.TOLD);
		executed("b#1", KEY, 2L, 400, 900);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
		disturb(Fault.TERMINATED_BACKENDS, 300, 300);
		assertThat(violations()).isEmpty();
		disturb(Fault.RESTARTED_POOLER, 10_000, 10_000);
		run("a#2", Job.SESSION, null, null, 9900, 10_800, Event.Kind.TOLD);
		run("b#2", Job.SESSION, null, null, 10_400, 10_900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void statementThatFailsEndsTheTransactionOfItsRunOnly() {
		disturb(Fault.FULL_LOCK_TABLE, 300, 3300);
		run("a#1", KEY, TICK, 1L, 0, 600, Event.Kind.TOLD);
		executed("b#1", KEY, 2L, 560, 900);
		assertThat(check().overlaps()).containsExactly(new Overlap(Fault.FULL_LOCK_TABLE, 40));
		assertThat(violations()).isEmpty();
		run("a#2", Job.SESSION, null, null, 1000, 1600, Event.Kind.TOLD);
		run("b#2", Job.SESSION, null, null, 1560, 1900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time: a#2");
	}

	@Test
	void runThatIsOverAtOnceMayBeFollowedByAnotherBeforeTheClockGoesOn() {
		executed("b#1", KEY, 2L, 100, 500);
		run("a#1", KEY, TICK, 1L, 100, 100, Event.Kind.FAIL);
		assertThat(violations()).isEmpty();
		run("c#1", KEY, TICK, 3L, 490, 490, Event.Kind.FAIL);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void faultThatIsStillToComeIsNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 401, 401);
		run("a#1", Job.SESSION, null, null, 0, 800, Event.Kind.TOLD);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void faultThatIsOverIsNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 3000, 3800, Event.Kind.FAIL);
		run("b#1", Job.SESSION, null, null, 300 + Disturbance.AFTERMATH, 3900, Event.Kind.END);
		assertThat(violations()).isEmpty();
		run("a#2", Job.SESSION, null, null, 4000, 4800, Event.Kind.FAIL);
		run("b#2", Job.SESSION, null, null, 4400, 4900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time: a#2");
	}

	@Test
	void runThatDoesNotTellThatItLostItsLockHasNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 800, Event.Kind.BEAT);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void runThatCameToItsEndAndWasNotCountedHasAnExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 800, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 400, 900, Event.Kind.END);
		assertThat(violations()).isEmpty();
		write(Event.Kind.DONE, "a#1", Job.SESSION, null, null, 800);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void pairsOfRunsThatWouldHaveHadAnExcuseAreCounted() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", Job.SESSION, null, null, 0, 500, Event.Kind.TOLD);
		run("b#1", Job.SESSION, null, null, 600, 900, Event.Kind.END);
		write(Event.Kind.DONE, "b#1", Job.SESSION, null, null, 900);
		run("a#2", Job.SESSION, null, null, 1000, 1500, Event.Kind.END);
		write(Event.Kind.DONE, "a#2", Job.SESSION, null, null, 1500);
		run("b#2", Job.SESSION, null, null, 9000, 9500, Event.Kind.FAIL);
		executed("c#1", KEY, 1L, 0, 500);
		assertThat(check()).extracting(Findings::pairs, Findings::excusable).containsExactly(3, 1);
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
	void twoLeadersOfAShardHaveNoExcuse() {
		disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		run("a#1", OperatedJob.shard(3), null, 5L, 0, 800, Event.Kind.TOLD);
		run("b#1", OperatedJob.shard(4), null, 6L, 700, 900, Event.Kind.END);
		assertThat(violations()).isEmpty();
		run("c#1", OperatedJob.shard(3), null, 6L, 700, 900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Two at a time");
	}

	@Test
	void termOfAShardThatDoesNotRiseIsFound() {
		run("a#1", OperatedJob.shard(3), null, 5L, 0, 500, Event.Kind.END);
		run("a#2", OperatedJob.shard(3), null, 5L, 600, 900, Event.Kind.END);
		run("b#1", OperatedJob.shard(3), null, 7L, 7000, 7900, Event.Kind.END);
		assertThat(violations()).isEmpty();
		run("a#3", OperatedJob.shard(3), null, 5L, 8000, 8900, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("Tokens do not rise");
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
	void lowerTokenOfARunThatBeganWhenTheFaultWasOverIsFound() {
		disturb(Fault.TERMINATED_BACKENDS, 100, 100);
		executed("a#1", KEY, 2L, 200, 500);
		run("b#1", KEY, TICK, 1L, 100 + Disturbance.AFTERMATH, 3900, Event.Kind.FAIL);
		assertThat(violations()).isEmpty();
		run("c#1", KEY, TICK.plusSeconds(200), 1L, 4000, 4400, Event.Kind.FAIL);
		assertThat(violations()).singleElement().asString().startsWith("Tokens do not rise");
	}

	@Test
	void lowerTokenOfARunThatTheFaultDidNotHitIsFound() {
		this.disturbances.add(new Disturbance(Fault.RESTARTED_POOLER, Fleet.POOLER, 100, 100));
		executed("i0-1#1", KEY, 2L, 200, 500);
		run("i1-1#1", KEY, TICK, 1L, 600, 900, Event.Kind.FAIL);
		assertThat(violations()).isEmpty();
		run("i2-1#1", KEY, TICK.plusSeconds(200), 1L, 1000, 1400, Event.Kind.FAIL);
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
	void rememberedTickMayRunAgainWhereLockSessionsHadJustEnded() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.REMEMBERED, TICK, null, 600, 900, Event.Kind.END);
		disturb(Fault.RESTARTED_POOLER, -100, -100);
		disturb(Fault.TERMINATED_SESSIONS, -Disturbance.AFTERMATH - 1, -Disturbance.AFTERMATH - 1);
		assertThat(violations()).singleElement().asString().startsWith("Run twice though nothing had happened");
		disturb(Fault.TERMINATED_SESSIONS, -Disturbance.AFTERMATH, -Disturbance.AFTERMATH);
		assertThat(violations()).isEmpty();
	}

	@Test
	void rememberedTickMayRunAgainForACallThatComesTooLate() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.REMEMBERED, TICK, null, RememberedTicks.MEMORY, 1900, Event.Kind.END);
		assertThat(violations()).isEmpty();
	}

	@Test
	void alarmThoughNothingHappenedIsFound() {
		run("i0-1#1", Job.SESSION, null, null, 0, 500, Event.Kind.TOLD);
		assertThat(violations()).singleElement().asString().startsWith("Told of a loss though nothing had happened");
		this.disturbances.add(new Disturbance(Fault.CUT_NETWORK, Fleet.POOLER, 100, 200));
		assertThat(violations()).singleElement().asString().startsWith("Told of a loss though nothing had happened");
		this.disturbances.add(new Disturbance(Fault.CUT_NETWORK, Fleet.CABLE, 100, 200));
		assertThat(violations()).isEmpty();
	}

	@Test
	void alarmLongAfterAFaultIsFound() {
		disturb(Fault.TERMINATED_SESSIONS, 100, 100);
		run("a#1", Job.SESSION, null, null, 100 + Disturbance.AFTERMATH, 4000, Event.Kind.TOLD);
		assertThat(violations()).isEmpty();
		run("a#2", Job.SESSION, null, null, 4100, 4500, Event.Kind.TOLD);
		assertThat(violations()).singleElement().asString().startsWith("Told of a loss though nothing had happened");
	}

	@Test
	void leaderWithoutATermIsFound() {
		run("a#1", Job.LEADER, null, null, 0, 500, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("A leader without a term");
	}

	@Test
	void rememberedTickThatNobodyRunsIsFound() {
		for (int i = 0; i <= 100; i++) {
			if (i != 40 && i != 70) {
				run("a#" + i, Job.REMEMBERED, TICK.plusSeconds(3 * i), null, 3000 * i, 3000 * i + 500, Event.Kind.END);
			}
		}
		assertThat(violations()).containsExactly("Nobody ran the remembered tick " + TICK.plusSeconds(120),
				"Nobody ran the remembered tick " + TICK.plusSeconds(210));
		disturb(Fault.CUT_NETWORK, 110_000, 123_000);
		assertThat(violations()).containsExactly("Nobody ran the remembered tick " + TICK.plusSeconds(210));
	}

	@Test
	void tickThatFindsTheOneBeforeStillRunningIsSkipped() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("a#2", Job.REMEMBERED, TICK.plusSeconds(3), null, 5_900, 9_600, Event.Kind.END);
		run("a#3", Job.REMEMBERED, TICK.plusSeconds(15), null, 15_000, 15_500, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 30_000, 30_500, Event.Kind.END);
		assertThat(violations()).contains("Nobody ran the remembered tick " + TICK.plusSeconds(12))
			.doesNotContain("Nobody ran the remembered tick " + TICK.plusSeconds(6),
					"Nobody ran the remembered tick " + TICK.plusSeconds(9));
	}

	@Test
	void rememberedTicksThatNobodyRunsAtTheEndAreFound() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 14_000, 14_500, Event.Kind.END);
		assertThat(violations()).containsExactly("Nobody ran the remembered tick " + TICK.plusSeconds(3));
	}

	@Test
	void rememberedTickThatIsDueWhenInstancesStopIsNotAskedFor() {
		run("a#1", Job.REMEMBERED, TICK, null, 0, 500, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 14_000, 14_500, Event.Kind.END);
		this.end.at(2_000 + Disturbance.RECOVERY);
		assertThat(violations()).isEmpty();
		this.end.at(3_000 + Disturbance.RECOVERY);
		assertThat(violations()).containsExactly("Nobody ran the remembered tick " + TICK.plusSeconds(3));
	}

	@Test
	void lockThatIsGivenBackBeforeTheCommitIsFound() {
		run("a#1", KEY, TICK, 1L, 0, 500, Event.Kind.END);
		run("b#1", KEY, TICK, 2L, 510, 600, Event.Kind.FAIL);
		write(Event.Kind.DONE, "a#1", KEY, TICK, 1L, 550);
		this.effects.add(new Effect(KEY, TICK, "a#1"));
		this.recorded.add(new Execution(KEY, TICK));
		assertThat(violations()).singleElement().asString().startsWith("Begun though executed");
	}

	@Test
	void tenMinutesWithoutALeaderAreFound() {
		run("a#1", Job.LEADER, null, 5L, 0, 500, Event.Kind.END);
		run("b#1", Job.LEADER, null, 6L, 600_000, 600_500, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("No leader");
		disturb(Fault.RESTARTED_SERVER, 1000, 599_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void leaderThatNobodyFollowsIsFound() {
		run("a#1", Job.LEADER, null, 5L, 0, 500, Event.Kind.END);
		run("b#1", Job.SESSION, null, null, 600_000, 600_500, Event.Kind.END);
		assertThat(violations()).singleElement().asString().startsWith("No leader");
	}

	@Test
	void instanceThatNeverRecoversIsFound() {
		run("i1-1#1", Job.SESSION, null, null, 0, 500, Event.Kind.END);
		disturb(Fault.TERMINATED_BACKENDS, 550, 550);
		for (int i = 1; i < 60; i++) {
			run("i0-1#" + i, Job.SESSION, null, null, 1000 * i, 1000 * i + 500, Event.Kind.END);
		}
		assertThat(violations()).singleElement().asString().startsWith("Nothing from instance i1");
		write(Event.Kind.TRIED, "i1-1#0", Job.SESSION, null, null, 30_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void instanceThatWasKilledIsFollowedByAnotherInItsPlace() {
		run("i0-1#1", Job.SESSION, null, null, 0, 500, Event.Kind.END);
		run("i0-2#1", Job.SESSION, null, null, 25_000, 25_500, Event.Kind.END);
		run("i1-1#1", Job.SESSION, null, null, 50_000, 50_500, Event.Kind.END);
		assertThat(violations()).isEmpty();
	}

	@Test
	void secondEffectOfATickIsFound() {
		executed("a#1", KEY, 1L, 0, 500);
		run("b#1", KEY, TICK, 2L, 600, 900, Event.Kind.FAIL);
		this.effects.add(new Effect(KEY, TICK, "b#1"));
		assertThat(violations()).hasSize(2)
			.anyMatch((text) -> text.startsWith("Begun though executed"))
			.anyMatch((text) -> text.startsWith("Two effects"));
	}

	@Test
	void runInScopeSessionThatWasNotExecutedMayHaveLeftAnEffect() {
		run("a#1", LONG, TICK, 1L, 0, 500, Event.Kind.FAIL);
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
		assertThat(violations()).hasSize(2)
			.anyMatch((text) -> text.startsWith("Begun though executed"))
			.anyMatch((text) -> text.startsWith("Executed twice"));
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

	@Test
	void effectOfARunInScopeSessionThatItsServerForgotMayBeThere() {
		executed("a#1", LONG, 1L, 0, 500);
		executed("b#1", LONG, 2L, 5000, 5500);
		this.recorded.remove(0);
		assertThat(violations()).hasSize(3)
			.anyMatch((text) -> text.startsWith("Begun though executed"))
			.anyMatch((text) -> text.startsWith("Two effects"))
			.anyMatch((text) -> text.startsWith("Executed twice"));
		disturb(Fault.LAGGING_STANDBY, 100, 2000);
		assertThat(violations()).isEmpty();
		executed("a#2", KEY, 1L, 0, 500);
		executed("b#2", KEY, 2L, 5000, 5500);
		this.recorded.remove(1);
		assertThat(violations()).singleElement().asString().startsWith("Two effects");
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
		Event event = new Event(kind, run, run.substring(0, run.indexOf('#')), key, tick, token, at,
				TICK.toEpochMilli() + at, false);
		this.events.add(Event.parse(event.toLine()));
	}

	private void disturb(Fault fault, long begin, long end) {
		this.disturbances.add(new Disturbance(fault, Fleet.ALL, begin, end));
	}

	private List<String> violations() {
		return check().violations();
	}

	private Findings check() {
		return new Checker(this.events, this.effects, this.recorded, this.disturbances, false, this.end.of(this.events))
			.check(this.expected);
	}

}
