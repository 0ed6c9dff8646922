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

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What came of all trials, as it stands in the documents.
 */
final class Report {

	private final Map<Fault, List<Long>> recoveries = new EnumMap<>(Fault.class);

	private final Map<Fault, List<Long>> overlaps = new EnumMap<>(Fault.class);

	private final Map<Fault, Integer> hits = new EnumMap<>(Fault.class);

	private final List<String> violations = new ArrayList<>();

	private int runs;

	private int executed;

	synchronized void addRecovery(Fault fault, long milliseconds) {
		this.recoveries.computeIfAbsent(fault, (key) -> new ArrayList<>()).add(milliseconds);
	}

	/**
	 * Count a run that a fault has ended before it was done.
	 */
	synchronized void addHit(Fault fault) {
		this.hits.merge(fault, 1, Integer::sum);
	}

	synchronized void add(Findings findings, List<String> found) {
		this.runs += findings.runs();
		this.executed += findings.executed();
		this.violations.addAll(found);
		findings.overlaps()
			.forEach((overlap) -> this.overlaps.computeIfAbsent(overlap.fault(), (key) -> new ArrayList<>())
				.add(overlap.milliseconds()));
	}

	synchronized List<String> violations() {
		return List.copyOf(this.violations);
	}

	synchronized int faults() {
		return this.recoveries.values().stream().mapToInt(List::size).sum();
	}

	/**
	 * Return the table.
	 */
	synchronized String toMarkdown() {
		StringBuilder text = new StringBuilder(
				"""
						| fault | how often | expected | runs that failed by it | runs beside the next one (longest) | until all work went on: median, worst |
						|---|---|---|---|---|---|
						""");
		this.recoveries.forEach((fault, times) -> {
			List<Long> beside = this.overlaps.getOrDefault(fault, List.of());
			List<Long> sorted = times.stream().sorted().toList();
			text.append("| %s | %d | %s | %d | %s | %s, %s |\n".formatted(fault.title(), times.size(), fault.expected(),
					this.hits.getOrDefault(fault, 0),
					beside.isEmpty() ? "none"
							: beside.size() + " (" + seconds(beside.stream().max(Long::compare).orElseThrow()) + ")",
					seconds(sorted.get(sorted.size() / 2)), seconds(sorted.get(sorted.size() - 1))));
		});
		text.append("\n%d faults; %d runs; %d ticks and keys executed; %d violations.\n".formatted(faults(), this.runs,
				this.executed, this.violations.size()));
		return text.toString();
	}

	private static String seconds(long milliseconds) {
		return String.format(Locale.ROOT, "%.1f s", milliseconds / 1000.0);
	}

}
