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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

	void addLatency(LatencyResults results) {
		this.data.put("latency", results.toMaps());
		this.text.append("%nLatency of a call, a JVM for each%n".formatted()).append(results.format());
	}

	void addTurns(Map<String, TurnsMeasurement.Result> results) {
		addTurns("turns", "Latency of a call, all calls in turns in one JVM", results);
	}

	void addMeters(Map<String, TurnsMeasurement.Result> results) {
		addTurns("meters", "Latency of a call with meters, all in turns in one JVM (target for meters 1.03)", results);
	}

	void addLedger(Map<String, TurnsMeasurement.Result> results) {
		addTurns("ledger",
				"Latency of recorded calls, all in turns in one JVM (targets: PER_TICK in TRANSACTION that inserts 2.5, in SESSION beside ShedLock 1)",
				results);
	}

	private void addTurns(String name, String title, Map<String, TurnsMeasurement.Result> results) {
		Map<String, Object> rows = new LinkedHashMap<>();
		this.text.append("%n%s%n".formatted(title));
		this.text.append("%-60s %-30s %s%n".formatted("", "p50 us (min .. max)", "ratio (min .. max)"));
		results.forEach((call, result) -> {
			rows.put(call, Map.of("p50Micros", result.micros().toMap(), "ratio", result.ratio().toMap()));
			this.text.append(
					"%-60s %-30s %s%n".formatted(call, result.micros().format("%.2f"), result.ratio().format("%.3f")));
		});
		this.data.put(name, rows);
	}

	void addCrowd(Map<String, Double> results) {
		this.data.put("callsPerSecondOf64Threads", results);
		this.text.append("%nCalls per second of 64 threads over one connection, round trips 1 ms longer%n".formatted());
		double first = results.values().iterator().next();
		results.forEach(
				(call, calls) -> this.text.append("%-60s %,.0f (%.1f times)%n".formatted(call, calls, calls / first)));
	}

	void addRoundTrips(Map<String, Double> results) {
		this.data.put("roundTripsPerCall", results);
		this.text.append("%nRound trips per call%n".formatted());
		results.forEach((call, trips) -> this.text.append("%-60s %.2f%n".formatted(call, trips)));
	}

	void addWal(Map<String, ServerCosts.WalCost> results) {
		Map<String, Object> rows = new LinkedHashMap<>();
		this.text.append("%nWAL per call (target 0, but for runs that are recorded)%n".formatted());
		this.text.append("%-60s %-30s %-30s %s%n".formatted("", "bytes (min .. max)", "idle as long", "xids"));
		results.forEach((call, cost) -> {
			rows.put(call, cost.toMap());
			this.text.append("%-60s %-30s %-30s %.2f%n".formatted(call, cost.bytes().format("%.2f"),
					cost.idleBytes().format("%.2f"), cost.transactionIds().median()));
		});
		this.data.put("wal", rows);
	}

	void addStartup(Map<StartupVariant, List<StartupMeasurement.Start>> results) {
		this.text.append("%nStart-up in ms (target: less than 100 added)%n".formatted());
		this.text.append("%-60s %-30s %-12s %-30s %s%n".formatted("", "by the clock (min .. max)", "added",
				"processor time (min .. max)", "added"));
		Map<String, Object> rows = new LinkedHashMap<>();
		results.forEach((variant, starts) -> {
			StartupVariant baseline = variant.baseline();
			List<StartupMeasurement.Start> compared = (baseline != null) ? results.getOrDefault(baseline, starts)
					: starts;
			Spread elapsed = Spread.of(starts.stream().map(StartupMeasurement.Start::elapsed).toList());
			Spread processors = Spread.of(starts.stream().map(StartupMeasurement.Start::processors).toList());
			double added = elapsed.median()
					- Spread.of(compared.stream().map(StartupMeasurement.Start::elapsed).toList()).median();
			double addedProcessors = processors.median()
					- Spread.of(compared.stream().map(StartupMeasurement.Start::processors).toList()).median();
			rows.put(variant.name(), Map.of("millis", elapsed.toMap(), "processorMillis", processors.toMap(),
					"addedMillis", added, "addedProcessorMillis", addedProcessors));
			this.text.append("%-60s %-30s %-12.0f %-30s %.0f%n".formatted(variant.description(), elapsed.format("%.0f"),
					added, processors.format("%.0f"), addedProcessors));
		});
		this.data.put("startup", rows);
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
