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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PermitRules}: each rule is broken by a history that is made by hand.
 */
class PermitRulesTests {

	private final HandMadeHistory history = new HandMadeHistory();

	@ParameterizedTest
	@EnumSource(names = { "PERMIT_TRANSACTION", "PERMIT_SESSION" })
	void asManyRunsAsThereArePermitsAreGood(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, 100);
		this.history.executed("c#1", promise, 200);
		assertThat(violations()).isEmpty();
		assertThat(ofChecker()).isEmpty();
		assertThat(PermitRules.missing(this.history.runs())).doesNotContain("Never 2 at a time: " + promise.key())
			.hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "PERMIT_TRANSACTION", "PERMIT_SESSION" })
	void oneRunMoreIsFound(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.executed("b#1", promise, 100);
		this.history.executed("c#1", promise, 190);
		assertThat(violations()).singleElement().asString().startsWith("More than 2 at a time").contains("a#1", "c#1");
	}

	@ParameterizedTest
	@EnumSource(names = { "PERMIT_TRANSACTION", "PERMIT_SESSION" })
	void runThatLostItsPermitToAFaultMayGoOnForAMoment(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.run("b#1", promise, 0, 2_000, Event.Kind.FAIL);
		this.history.executed("c#1", promise, 190);
		assertThat(violations()).hasSize(1);
		this.history.disturb(Fault.TERMINATED_BACKENDS, 150, 150);
		assertThat(violations()).isEmpty();
		this.history.executed("d#1", promise, 195);
		assertThat(violations()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "PERMIT_TRANSACTION", "PERMIT_SESSION" })
	void runThatGoesOnForLongerIsFound(Promise promise) {
		this.history.executed("a#1", promise, 0);
		this.history.run("b#1", promise, 0, 191 + Checker.NOTICE, Event.Kind.FAIL);
		this.history.executed("c#1", promise, 190);
		this.history.disturb(Fault.TERMINATED_BACKENDS, 150, 150);
		assertThat(violations()).hasSize(1);
	}

	@Test
	void permitsThatAreNeverUsedTogetherAreFound() {
		this.history.executed("a#1", Promise.PERMIT_SESSION, 0);
		this.history.executed("b#1", Promise.PERMIT_SESSION, 200);
		assertThat(PermitRules.missing(this.history.runs())).containsExactly("Never 2 at a time: permit-transaction",
				"Never 2 at a time: permit-session");
	}

	@ParameterizedTest
	@EnumSource(names = { "PERMIT_TRANSACTION", "PERMIT_SESSION", "RATE", "DELAY" })
	void alarmThoughNothingHappenedIsFound(Promise promise) {
		this.history.run("i0-1#1", promise, 0, 100, Event.Kind.TOLD);
		assertThat(ofChecker()).singleElement().asString().startsWith("Told of a loss though nothing had happened");
	}

	private List<String> violations() {
		return new PermitRules(this.history.runs(), this.history.disturbances()).violations();
	}

	private List<String> ofChecker() {
		return new Checker(this.history.events(), List.of(), List.of(), this.history.disturbances(), false,
				this.history.end())
			.check(List.of())
			.violations();
	}

}
