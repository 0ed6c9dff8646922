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

package io.github.advisorylock.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.advisorylock.benchmarks.schedulers.SchedulersMeasurement;

import org.springframework.boot.json.JsonWriter;

/**
 * Collects the results, for people as tables and for programs as JSON.
 */
final class Report {

	private final StringBuilder text = new StringBuilder();

	private final Map<String, Object> data = new LinkedHashMap<>();

	Report(String server) throws IOException {
		this.data.put("processor", processor());
		this.data.put("cores", Runtime.getRuntime().availableProcessors());
		this.data.put("operatingSystem", System.getProperty("os.name") + " " + System.getProperty("os.version"));
		this.data.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.version"));
		this.data.put("server", server);
		addLoad("loadBefore");
		this.data.forEach((name, value) -> this.text.append("%-16s %s%n".formatted(name, value)));
	}

	void addLoad(String name) {
		this.data.put(name, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
	}

	void addCost(CostResults results) {
		this.data.put("cost", results.toMap());
		add("What a call costs, beside others in turns; round trips of the wire take 1 ms longer", results.toTable());
	}

	private void add(String title, MarkdownTable table) {
		this.text.append("%n%s:%n%n".formatted(title)).append(table);
	}

	void addMeters(Map<String, MetersMeasurement.Result> results) {
		Map<String, Object> rows = new LinkedHashMap<>();
		MarkdownTable table = new MarkdownTable("call", "p50 in µs", "ratio");
		results.forEach((call, result) -> {
			rows.put(call, Map.of("p50Micros", result.micros().toMap(), "ratio", result.ratio().toMap()));
			table.row(call, result.micros().format("%.2f"), result.ratio().format("%.2f"));
		});
		add("Latency of a call with meters, all in turns in one JVM (target for meters 1.03)", table);
		this.data.put("meters", rows);
	}

	/**
	 * Add how many milliseconds a call took to begin after the process that held its lock
	 * was killed.
	 */
	void addTakeover(Map<String, Spread> results) {
		addMillis("takeoverMillis", "Takeover", "after `kill -9` of the holder", results);
	}

	/**
	 * Add how many milliseconds a call took to begin that waited until another instance
	 * released its lock.
	 */
	void addHandOver(Map<String, Spread> results) {
		addMillis("handOverMillis", "Hand-over", "a call that waits, after the release", results);
	}

	private void addMillis(String name, String title, String when, Map<String, Spread> results) {
		Map<String, Object> data = new LinkedHashMap<>();
		MarkdownTable table = new MarkdownTable(when, "ms until another begins");
		results.forEach((call, millis) -> {
			data.put(call, millis.toMap());
			table.row(call, millis.format("%.0f"));
		});
		add(title, table);
		this.data.put(name, data);
	}

	void addSchedulers(List<SchedulersMeasurement.Row> rows) {
		Map<String, Object> data = new LinkedHashMap<>();
		MarkdownTable table = new MarkdownTable("scheduler, one instance", "a run: round trips", "statements",
				"WAL bytes", "server's processor time in µs", "a second of idling: round trips", "statements",
				"WAL bytes", "server's processor time in µs");
		for (SchedulersMeasurement.Row row : rows) {
			List<Object> cells = new ArrayList<>(List.of(row.name()));
			row.run().forEach((figure) -> cells.add("%.0f".formatted(figure)));
			row.idleSecond().forEach((figure) -> cells.add("%.1f".formatted(figure)));
			table.row(cells.toArray());
			data.put(row.name(), row.toMap());
		}
		add("Schedulers", table);
		this.data.put("schedulers", data);
	}

	void addCrowd(Map<String, Double> results) {
		this.data.put("callsPerSecondOf64Threads", results);
		MarkdownTable table = new MarkdownTable("64 threads over one connection, round trips 1 ms longer",
				"calls per second");
		double first = results.values().iterator().next();
		results.forEach((call, calls) -> table.row(call, "%,.0f (%.1f times)".formatted(calls, calls / first)));
		add("A crowd", table);
	}

	void addGuard(List<CostGuard.Row> rows) {
		Map<String, Object> costs = new LinkedHashMap<>();
		MarkdownTable table = new MarkdownTable("call", "round trips", "statements", "WAL bytes", "of how many calls",
				"processor time", "noise", "beside");
		for (CostGuard.Row row : rows) {
			GuardedCost cost = row.cost();
			Map<String, Object> figures = new LinkedHashMap<>(
					Map.of("processorRatio", row.ratio(), "noise", row.noise()));
			List<Object> cells = new ArrayList<>(List.of(cost.description()));
			Counts counts = row.counts();
			Counts allowed = cost.counts();
			if (counts != null && allowed != null) {
				figures.putAll(Map.of("roundTrips", counts.roundTrips(), "statements", counts.statements(), "walBytes",
						counts.walBytes(), "share", counts.share()));
				cells.addAll(List.of(of("%.2f", counts.roundTrips(), allowed.roundTrips()),
						of("%.2f", counts.statements(), allowed.statements()),
						"%d (%d)".formatted(counts.walBytes(), allowed.walBytes()),
						of("%.2f", counts.share(), allowed.share())));
			}
			else {
				cells.addAll(List.of("", "", "", ""));
			}
			cells.addAll((row.ratio() > 0) ? List.of("%.2f".formatted(row.ratio()), "%.3f".formatted(row.noise()),
					cost.baseline().description()) : List.of("", "", ""));
			costs.put(cost.description(), figures);
			table.row(cells.toArray());
		}
		add("What a call costs (and may cost)", table);
		this.data.put("guard", costs);
	}

	void addGuardedStarts(Map<GuardedStart, Integer> classes) {
		Map<String, Object> data = new LinkedHashMap<>();
		MarkdownTable table = new MarkdownTable("start-up", "classes added (and at most)");
		classes.forEach((start, added) -> {
			data.put(start.description(), added);
			table.row(start.description(), "%d (%d)".formatted(added, start.most()));
		});
		add("What a start costs (and may cost)", table);
		this.data.put("guardedStarts", data);
	}

	private static String of(String pattern, double measured, double allowed) {
		return (pattern + " (" + pattern + ")").formatted(measured, allowed);
	}

	void addStartup(String name, String title, Map<StartupVariant, List<StartupMeasurement.Start>> results) {
		MarkdownTable table = new MarkdownTable("start-up in ms", "by the clock", "added", "processor time", "added",
				"heap in MB", "added");
		Map<String, Object> rows = new LinkedHashMap<>();
		results.forEach((variant, starts) -> {
			StartupVariant baseline = variant.baseline();
			List<StartupMeasurement.Start> compared = (baseline != null) ? results.getOrDefault(baseline, starts)
					: starts;
			Map<String, Object> row = new LinkedHashMap<>();
			List<String> cells = new ArrayList<>(List.of(variant.description()));
			addStartup("millis", "%.0f", StartupMeasurement.Start::elapsed, starts, compared, row, cells);
			addStartup("processorMillis", "%.0f", StartupMeasurement.Start::processors, starts, compared, row, cells);
			addStartup("heapMegabytes", "%.1f", StartupMeasurement.Start::heap, starts, compared, row, cells);
			table.row(cells.toArray());
			rows.put(variant.name(), row);
		});
		add(title, table);
		this.data.put(name, rows);
	}

	private static void addStartup(String name, String pattern, Function<StartupMeasurement.Start, Double> figure,
			List<StartupMeasurement.Start> starts, List<StartupMeasurement.Start> compared, Map<String, Object> row,
			List<String> cells) {
		Spread spread = Spread.of(starts.stream().map(figure).toList());
		double added = spread.median() - Spread.of(compared.stream().map(figure).toList()).median();
		row.put(name, spread.toMap());
		row.put(name + "Added", added);
		cells.add(spread.format(pattern));
		cells.add((compared != starts) ? pattern.formatted(added) : "");
	}

	void addFleet(String tables) {
		this.data.put("fleet", tables.lines().toList());
		this.text.append(tables);
	}

	void write(Path output) throws IOException {
		System.out.println(this.text);
		Path parent = output.toAbsolutePath().getParent();
		if (parent != null) {
			Files.createDirectories(parent);
		}
		Files.writeString(output, JsonWriter.standard().write(this.data).toJsonString());
		System.out.println("Written as JSON to " + output);
	}

	private static String processor() throws IOException {
		Path description = Path.of("/proc/cpuinfo");
		if (!Files.isReadable(description)) {
			return System.getProperty("os.arch");
		}
		return Files.readAllLines(description)
			.stream()
			.filter((line) -> line.startsWith("model name"))
			.map((line) -> line.substring(line.indexOf(':') + 2))
			.findFirst()
			.orElse(System.getProperty("os.arch"));
	}

}
