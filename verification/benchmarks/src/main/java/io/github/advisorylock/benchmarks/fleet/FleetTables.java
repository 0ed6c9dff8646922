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

package io.github.advisorylock.benchmarks.fleet;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Tables in Markdown of what was measured.
 */
final class FleetTables {

	static final String DIRECT = "direct";

	static final String POOLED = "through PgBouncer";

	private final StringBuilder text = new StringBuilder();

	private final StringBuilder instances = new StringBuilder();

	/**
	 * Add what an instance of a fleet takes.
	 */
	void addInstance(String path, Fleet fleet) {
		this.instances.append("* %s, %d instances: started in %.0f s, %.1f MB of heap each%n".formatted(path,
				fleet.instances(), fleet.startSeconds(), fleet.heapOfInstance() / 1e6));
	}

	/**
	 * Add rounds.
	 */
	void addResults(List<Result> results, int[] jobs) {
		this.text.append("%nWhat an instance takes:%n%n".formatted()).append(this.instances);
		for (String path : List.of(DIRECT, POOLED)) {
			List<Result> all = results.stream().filter((result) -> result.path().equals(path)).toList();
			title("Milliseconds until an instance knows of all jobs: p50 / p99 / last, " + path);
			addTable(all, jobs, Result::formatTimes);
			title("What a round costs the server, " + path);
			addTable(all, jobs, Result::formatCost);
			title("Connections of the server at most, " + path);
			addConnections(all);
		}
	}

	private void title(String title) {
		this.text.append("%n%s:%n%n".formatted(title));
	}

	private void addTable(List<Result> results, int[] jobs, Function<Result, String> cell) {
		row("instances", "what",
				Arrays.stream(jobs).mapToObj((number) -> number + ((number == 1) ? " job" : " jobs")).toList());
		row("---", "---", Arrays.stream(jobs).mapToObj((number) -> "---").toList());
		results.stream().map((result) -> List.of(result.instances(), result.use())).distinct().forEach((head) -> {
			List<Result> cells = results.stream()
				.filter((result) -> head.equals(List.of(result.instances(), result.use())))
				.toList();
			row(Integer.toString(cells.get(0).instances()), cells.get(0).use().title(),
					cells.stream().map(cell).toList());
		});
	}

	private void addConnections(List<Result> results) {
		row("instances", "connections", List.of());
		row("---", "---", List.of());
		results.stream().map(Result::instances).distinct().forEach((size) -> {
			int most = results.stream()
				.filter((result) -> result.instances() == size)
				.mapToInt(Result::connections)
				.max()
				.orElseThrow();
			row(Integer.toString(size), Integer.toString(most), List.of());
		});
	}

	/**
	 * Add what instances ask that have nothing to do.
	 */
	void addIdle(Map<String, Double> statementsPerSecond) {
		title("Statements of an idle instance each second");
		row("an instance that", "statements/s", List.of());
		row("---", "---", List.of());
		statementsPerSecond
			.forEach((use, statements) -> row(use, String.format(Locale.ROOT, "%.2f", statements), List.of()));
	}

	/**
	 * Add what a session with many locks costs.
	 */
	void addHeld(Map<Integer, List<Double>> micros) {
		title("Microseconds of a statement on a session that holds many locks, p50");
		row("locks held", "`SELECT 1` there",
				List.of("a guarded run in scope `SESSION`", "one in scope `TRANSACTION`"));
		row("---", "---", List.of("---", "---"));
		micros.forEach((locks, times) -> row("%,d".formatted(locks), "%.0f".formatted(times.get(0)),
				times.stream().skip(1).map("%.0f"::formatted).toList()));
	}

	private void row(String first, String second, List<String> others) {
		String rest = others.stream().map((cell) -> " " + cell + " |").collect(Collectors.joining());
		this.text.append("| " + first + " | " + second + " |" + rest + "\n");
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

}
