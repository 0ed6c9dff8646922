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
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Report}: what it has to say against itself, and its figures.
 */
class ReportTests {

	private static final List<Fault> KINDS = List.of(Fault.KILLED_SERVER, Fault.FROZEN_INSTANCE);

	private final Report report = new Report();

	@Test
	void faultsThatMetAndFailedRunsAreEnough() {
		happened(Fault.KILLED_SERVER, 2, 1);
		happened(Fault.KILLED_SERVER, 0, 0);
		happened(Fault.FROZEN_INSTANCE, 1, 0);
		judged(1000, 100);
		assertThat(this.report.shortcomings(KINDS, List.of(), 10)).isEmpty();
	}

	@Test
	void faultThatHasNotHappenedIsTold() {
		happened(Fault.KILLED_SERVER, 2, 1);
		judged(1000, 0);
		assertThat(this.report.shortcomings(KINDS, List.of(), 10)).containsExactly("Has not happened: FROZEN_INSTANCE");
	}

	@Test
	void faultThatHasMetNobodyIsTold() {
		happened(Fault.KILLED_SERVER, 2, 1);
		happened(Fault.FROZEN_INSTANCE, 0, 0);
		judged(1000, 0);
		assertThat(this.report.shortcomings(KINDS, List.of(), 10)).containsExactly("Has met no run: FROZEN_INSTANCE");
	}

	@Test
	void faultThatHasFailedNobodyIsToldWhereItMust() {
		happened(Fault.KILLED_SERVER, 2, 0);
		happened(Fault.FROZEN_INSTANCE, 1, 0);
		judged(1000, 0);
		assertThat(this.report.shortcomings(KINDS, List.of(), 10)).containsExactly("Has failed no run: KILLED_SERVER");
	}

	@Test
	void whatNoOperatorHasDoneIsTold() {
		judged(1000, 0);
		this.report.add(Map.of(Act.DRAIN, 1));
		assertThat(this.report.shortcomings(List.of(), List.of(Act.DRAIN, Act.HANDOVER), 10))
			.containsExactly("Has not been done: HANDOVER");
	}

	@Test
	void checkerThatExcusesTooMuchIsTold() {
		judged(1000, 101);
		assertThat(this.report.shortcomings(List.of(), List.of(), 10))
			.containsExactly("Excused by a fault: 101 of 1000 pairs of runs");
	}

	@Test
	void checkerThatHasJudgedNothingIsTold() {
		assertThat(this.report.shortcomings(List.of(), List.of(), 10))
			.containsExactly("Excused by a fault: 0 of 0 pairs of runs");
	}

	@Test
	void tableHasMedianAndWorstOfBothTimesAndSaysWhereItWasMeasured() {
		this.report.addPlace("a processor, PostgreSQL 18.1", new Jvm("java", "25.0.1", true, true));
		this.report.addPlace("a processor, PostgreSQL 18.1", new Jvm("java", "17.0.15", false, false));
		this.report.add(new Toll(Fault.KILLED_SERVER, 7, 3, List.of(9000L, 1000L, 2000L)));
		this.report.addRecovery(Fault.KILLED_SERVER, 4000);
		judged(1000, 25);
		assertThat(this.report.toMarkdown())
			.startsWith("a processor, PostgreSQL 18.1; instances on Java 17.0.15 with platform threads, "
					+ "and Java 25.0.1 with virtual threads, as executable jars.")
			.contains("| 1 | runs fail, and are done again | 7 | 3 | none | 2.0 s, 9.0 s | 4.0 s, 4.0 s |")
			.contains(
					"1000 pairs of runs of a key that follow one another, of which 25 (2.5 %) would have had an excuse.");
	}

	private void happened(Fault fault, int met, int failed) {
		this.report.addRecovery(fault, 1000);
		this.report.add(new Toll(fault, met, failed, List.of()));
	}

	private void judged(int pairs, int excusable) {
		this.report.add(new Findings(List.of(), 0, 0, List.of(), pairs, excusable), List.of());
	}

}
