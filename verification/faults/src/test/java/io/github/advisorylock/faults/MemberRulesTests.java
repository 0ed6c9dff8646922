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

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MemberRules}: each rule is broken by a history that is made by hand.
 */
class MemberRulesTests {

	private static final long CALM = MemberRules.SETTLE + MemberRules.ROUND + 1_000;

	private final OperatedHistory history = new OperatedHistory();

	@Test
	void membersThatAreCountedWrongAreFound() {
		live("a", 0, 200_000);
		live("b", 0, 200_000);
		live("c", 0, 100_000);
		count("a", 3, CALM);
		count("a", 2, MemberRules.SETTLE);
		count("b", 3, 100_000 + MemberRules.SETTLE);
		count("b", 2, 100_000 + CALM);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsOnlyKeys(Act.COUNT).containsEntry(Act.COUNT, 2);
		count("b", 3, 100_000 + CALM);
		assertThat(violations()).singleElement().asString().startsWith("Counted 3 members instead of 2");
		this.history.disturb(Fault.CLOCK_SET_AHEAD, 110_000);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.KILLED_SERVER, 110_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void drainedInstanceIsNoMember() {
		live("a", 0, 200_000);
		live("b", 0, 200_000);
		this.history.say(Event.Kind.DRAINED, "b", "a", 60_000);
		this.history.say(Event.Kind.DRAIN_ENDED, "a", "a", 59_000);
		count("b", 2, 59_000);
		count("b", 2, 60_000 + MemberRules.SETTLE);
		count("b", 1, 60_000 + CALM);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsEntry(Act.COUNT, 2);
		count("b", 2, 60_000 + CALM);
		assertThat(violations()).singleElement().asString().startsWith("Counted 2 members instead of 1");
	}

	@Test
	void instancesThatStopAreNotLookedAt() {
		live("a", 0, 200_000);
		live("b", 0, 200_000);
		count("a", 1, 150_000);
		assertThat(violations()).hasSize(1);
		this.history.stop(149_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void moreThanItsShareIsFound() {
		live("a", 0, 200_000);
		live("b", 0, 200_000);
		lead("a", 0, 3, CALM - 2_000);
		lead("b", 3, 6, CALM - 2_000);
		lead("a", 0, 3, CALM);
		lead("b", 3, 6, CALM);
		lead("a", 3, 4, 10_000);
		assertThat(violations()).isEmpty();
		lead("a", 3, 4, CALM + 1_000);
		assertThat(violations()).singleElement().asString().startsWith("Leads ").contains("more than its share of 3");
		assertThat(this.history.acts()).containsKeys(Act.SHARE, Act.HANDOVER);
	}

	@Test
	void shardThatNobodyLeadsIsFound() {
		live("a", 0, 200_000);
		lead("a", 0, 6, CALM - 2_000);
		lead("a", 0, 6, CALM);
		lead("a", 0, 6, CALM + 2_000);
		assertThat(violations()).isEmpty();
		lead("a", 0, 5, CALM + 2_000 + MemberRules.ROUND + 10);
		assertThat(violations()).isNotEmpty()
			.allSatisfy((violation) -> assertThat(violation).startsWith("Only ").contains(" shards are led"));
	}

	@Test
	void twoTurnsOneAfterTheOtherAreFound() {
		live("a", 0, 200_000);
		live("b", 0, 200_000);
		begin("b", 3, 0);
		begin("b", 6, 0);
		// The tick between was missed
		begin("a", 24, 0);
		begin("a", 30, 0);
		begin("b", 33, 10);
		begin("b", 36, MemberRules.TURN);
		begin("b", 39, 10);
		begin("a", 42, 20);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).containsOnlyKeys(Act.TURN).containsEntry(Act.TURN, 2);
		begin("a", 45, 20);
		assertThat(violations()).singleElement().asString().startsWith("Had two turns, one after the other");
		this.history.disturb(Fault.CLOCK_SET_AHEAD, 40_000);
		assertThat(violations()).isEmpty();
	}

	@Test
	void whoIsAloneHasAllTurns() {
		live("a", 0, 200_000);
		begin("a", 30, 0);
		begin("a", 33, 0);
		assertThat(violations()).isEmpty();
		assertThat(this.history.acts()).isEmpty();
	}

	private void begin(String instance, int second, long late) {
		this.history.say(Event.Kind.START, instance, Job.REMEMBERED, OperatedHistory.BEGIN.plusSeconds(second), null,
				second * 1_000 + late);
	}

	private void live(String instance, long from, long to) {
		this.history.say(Event.Kind.TRIED, instance, Job.SESSION, from);
		this.history.say(Event.Kind.TRIED, instance, Job.SESSION, to);
	}

	private void count(String instance, long members, long at) {
		this.history.say(Event.Kind.MEMBERS, instance, OperatedJob.MEMBERS, null, members, at);
	}

	/**
	 * Have an instance lead some shards, each at the same moment.
	 */
	private void lead(String instance, int from, int to, long at) {
		for (int shard = from; shard < to; shard++) {
			this.history.say(Event.Kind.START, instance, OperatedJob.shard(shard), at);
		}
	}

	private List<String> violations() {
		return new MemberRules(this.history.events(), this.history.disturbances(), this.history.acts(),
				this.history.end())
			.violations();
	}

}
