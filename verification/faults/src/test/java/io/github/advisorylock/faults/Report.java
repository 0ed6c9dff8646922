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
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What came of all trials, as it stands in the documents.
 */
final class Report {

	private final Set<String> machines = new LinkedHashSet<>();

	private final Set<String> runtimes = new TreeSet<>();

	private final Map<Fault, List<Long>> recoveries = new EnumMap<>(Fault.class);

	private final Map<Fault, List<Long>> overlaps = new EnumMap<>(Fault.class);

	private final Map<Fault, List<Toll>> tolls = new EnumMap<>(Fault.class);

	private final Map<Act, Integer> acts = new EnumMap<>(Act.class);

	private final List<String> violations = new ArrayList<>();

	private int runs;

	private int executed;

	private int pairs;

	private int excusable;

	/**
	 * Say where a fleet ran.
	 */
	synchronized void addPlace(String machine, Jvm jvm) {
		this.machines.add(machine);
		this.runtimes.add(jvm.toString());
	}

	synchronized void addRecovery(Fault fault, long milliseconds) {
		this.recoveries.computeIfAbsent(fault, (key) -> new ArrayList<>()).add(milliseconds);
	}

	synchronized void add(Toll toll) {
		this.tolls.computeIfAbsent(toll.fault(), (key) -> new ArrayList<>()).add(toll);
	}

	synchronized void add(Findings findings, List<String> found) {
		this.runs += findings.runs();
		this.executed += findings.executed();
		this.pairs += findings.pairs();
		this.excusable += findings.excusable();
		this.violations.addAll(found);
		findings.overlaps()
			.forEach((overlap) -> this.overlaps.computeIfAbsent(overlap.fault(), (key) -> new ArrayList<>())
				.add(overlap.milliseconds()));
	}

	/**
	 * Add how often operators did something.
	 */
	synchronized void add(Map<Act, Integer> acts) {
		acts.forEach((act, count) -> this.acts.merge(act, count, Integer::sum));
	}

	synchronized List<String> violations() {
		return List.copyOf(this.violations);
	}

	private int faults() {
		return this.recoveries.values().stream().mapToInt(List::size).sum();
	}

	/**
	 * Return why this shows less than it seems to: a fault that does not happen, or hits
	 * nobody, is survived by everybody, and so is a checker that excuses everything.
	 * @param kinds what should have happened
	 * @param acts what operators should have done
	 * @param excusable of a hundred pairs of runs that follow one another, how many may
	 * have an excuse
	 */
	synchronized List<String> shortcomings(Collection<Fault> kinds, Collection<Act> acts, int excusable) {
		List<String> shortcomings = new ArrayList<>();
		acts.stream()
			.filter((act) -> !this.acts.containsKey(act))
			.forEach((act) -> shortcomings.add("Has not been done: " + act));
		for (Fault fault : kinds) {
			List<Toll> tolls = this.tolls.getOrDefault(fault, List.of());
			if (tolls.isEmpty() || !this.recoveries.containsKey(fault)) {
				shortcomings.add("Has not happened: " + fault);
			}
			else if (met(tolls) == 0) {
				shortcomings.add("Has met no run: " + fault);
			}
			else if (fault.failsRuns() && failed(tolls) == 0) {
				shortcomings.add("Has failed no run: " + fault);
			}
		}
		if (this.excusable * 100L > (long) this.pairs * excusable || this.pairs == 0) {
			shortcomings.add("Excused by a fault: %d of %d pairs of runs".formatted(this.excusable, this.pairs));
		}
		return shortcomings;
	}

	private static int met(List<Toll> tolls) {
		return tolls.stream().mapToInt(Toll::met).sum();
	}

	private static int failed(List<Toll> tolls) {
		return tolls.stream().mapToInt(Toll::failed).sum();
	}

	/**
	 * Return the table.
	 */
	synchronized String toMarkdown() {
		StringBuilder text = new StringBuilder("%s; instances on %s.\n\n".formatted(String.join(", ", this.machines),
				String.join(", and ", this.runtimes)));
		text.append(
				"""
						| fault | how often | expected | runs that it met | runs that failed by it | runs beside the next one (longest) | until what failed was executed: median, worst | until all work went on: median, worst |
						|---|---|---|---|---|---|---|---|
						""");
		this.recoveries.forEach((fault, times) -> {
			List<Toll> tolls = this.tolls.getOrDefault(fault, List.of());
			List<Long> beside = this.overlaps.getOrDefault(fault, List.of());
			text.append("| %s | %d | %s | %d | %d | %s | %s | %s |\n".formatted(fault.title(), times.size(),
					fault.expected(), met(tolls), failed(tolls),
					beside.isEmpty() ? "none"
							: beside.size() + " (" + seconds(beside.stream().max(Long::compare).orElseThrow()) + ")",
					medianAndWorst(tolls.stream().flatMap((toll) -> toll.redone().stream()).toList()),
					medianAndWorst(times)));
		});
		text.append("\n%d faults; %d runs; %d ticks and keys executed; %d violations.\n".formatted(faults(), this.runs,
				this.executed, this.violations.size()));
		text.append("Operators and what came of them: %s.\n".formatted(this.acts));
		text.append(String.format(Locale.ROOT,
				"%d pairs of runs of a key that follow one another, of which %d (%.1f %%) would have had an excuse.%n",
				this.pairs, this.excusable, 100.0 * this.excusable / Math.max(1, this.pairs)));
		return text.toString();
	}

	private static String medianAndWorst(List<Long> times) {
		if (times.isEmpty()) {
			return "-";
		}
		List<Long> sorted = times.stream().sorted().toList();
		return seconds(sorted.get(sorted.size() / 2)) + ", " + seconds(sorted.get(sorted.size() - 1));
	}

	private static String seconds(long milliseconds) {
		return String.format(Locale.ROOT, "%.1f s", milliseconds / 1000.0);
	}

}
