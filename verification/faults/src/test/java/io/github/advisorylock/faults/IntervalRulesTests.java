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

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IntervalRules}: each rule is broken by a history that is made by hand.
 */
class IntervalRulesTests {

	private static final long LENGTH = 200;

	private static final long TIMER = Promise.TIMER.toMillis();

	private final HandMadeHistory history = new HandMadeHistory();

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void goodHistoryIsGood(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, LENGTH + TIMER * 9 / 10);
		this.history.failed("a#2", promise, 2 * TIMER);
		this.history.executed("c#1", promise, 2 * TIMER + 500);
		this.history.executed("a#3", promise, 3 * TIMER + PromiseRules.BUSY);
		alive(100_000);
		this.history.disturb(Fault.CUT_NETWORK, 30_000, 90_000);
		assertThat(violations()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void secondRunInAnIntervalIsFound(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, 2_300);
		alive(14_000);
		assertThat(violations()).singleElement().asString().startsWith("Twice in an interval: a#1");
		this.history.disturb(Fault.TERMINATED_SESSIONS, 300, 300);
		assertThat(violations()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void secondRunAfterAFailedOneIsFound(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.failed("b#1", promise, 1_000);
		this.history.executed("c#1", promise, 2_000);
		alive(14_000);
		assertThat(violations()).hasSize(2)
			.allSatisfy((text) -> assertThat(text).startsWith("Twice in an interval: a#1"));
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void faultThatEndsNoMemoryIsOverWhenTheIntervalBegins(Promise promise) {
		this.history.disturb(Fault.FROZEN_INSTANCE, 0, 4_000);
		this.history.executed("a#1", promise, 8_000);
		this.history.executed("b#1", promise, 9_000);
		alive(20_000);
		assertThat(violations()).singleElement().asString().startsWith("Twice in an interval");
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void instanceThatStopsTakesItsMemoryWithIt(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, 1_000);
		this.history.alive("b", 14_000);
		assertThat(violations()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void instanceThatTakesLongToStopTakesItsMemoryWithIt(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, 2_300);
		alive(14_000);
		assertThat(violations()).hasSize(1);
		this.history.stop(2_000);
		assertThat(violations()).isEmpty();
	}

	/**
	 * The end of a run is known, and its begin is not: it is written when the interval
	 * has begun.
	 */
	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void onlyARunThatIsCountedFromItsBeginMaySeemToBeSooner(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, TIMER * 9 / 10 - PromiseRules.EARLY + LENGTH);
		alive(14_000);
		assertThat(violations()).hasSize((promise == Promise.RATE) ? 0 : 1);
	}

	@ParameterizedTest
	@EnumSource(names = { "RATE", "DELAY" })
	void intervalWithoutARunIsFound(Promise promise) {
		this.history.failed("a#1", promise, 0);
		this.history.executed("b#1", promise, 2 * TIMER);
		alive(40_000);
		assertThat(violations()).hasSize(2)
			.allSatisfy((text) -> assertThat(text).startsWith("Nobody ran for 1"))
			.anyMatch((text) -> text.contains("a#1"))
			.anyMatch((text) -> text.contains("b#1"));
		this.history.disturb(Fault.KILLED_SERVER, 1_000, 2_000);
		this.history.disturb(Fault.KILLED_SERVER, 13_000, 14_000);
		assertThat(violations()).isEmpty();
	}

	private void alive(long at) {
		List.of("a", "b", "c").forEach((instance) -> this.history.alive(instance, at));
	}

	private List<String> violations() {
		return new IntervalRules(this.history.events(), this.history.runs(), this.history.disturbances(),
				this.history.end())
			.violations();
	}

}
