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
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.benchmarks.fleet.FleetMeasurement;
import io.github.advisorylock.benchmarks.fleet.LogInMeasurement;
import io.github.advisorylock.benchmarks.schedulers.SchedulersMeasurement;

import org.springframework.util.Assert;

/**
 * Measures everything in one run against one server.
 */
public final class Benchmarks {

	private Benchmarks() {
	}

	/**
	 * Run the benchmarks.
	 * @param args are not used, see {@link Settings} for the system properties
	 * @throws Exception if anything fails
	 */
	public static void main(String[] args) throws Exception {
		Settings settings = Settings.fromSystemProperties();
		try (BenchmarkServer server = BenchmarkServer.start(System.getProperty("postgres", "embedded"))) {
			Report report = new Report(server.query("SELECT pg_catalog.version()"));
			if (settings.parts().contains("cost")) {
				report.addCost(new CostMeasurement(server.url(), settings.quick()).run());
			}
			if (settings.parts().contains("meters")) {
				report.addMeters(new MetersMeasurement(server.url(), settings.calls()).run());
			}
			if (settings.parts().contains("takeover")) {
				report.addTakeover(new TakeoverMeasurement(server.url(), settings.quick() ? 1 : 10).run());
				report.addHandOver(HandOver.measure(server.url(), settings.quick() ? 3 : 50));
			}
			if (settings.parts().contains("schedulers")) {
				report.addSchedulers(schedulers(settings));
			}
			if (settings.parts().contains("crowd")) {
				report.addCrowd(new CrowdMeasurement(server.url(), Duration.ofSeconds(2L * settings.seconds())).run());
			}
			addStartup(report, settings, server.url());
			if (settings.parts().contains("logins")) {
				new LogInMeasurement(settings.fleets().stream().mapToInt(Integer::intValue).max().orElseThrow()).run();
			}
			FleetMeasurement fleets = new FleetMeasurement(settings.quick(), settings.fleets());
			if (settings.parts().contains("fleet")) {
				report.addFleet(fleets.run());
			}
			List<String> excesses = settings.parts().contains("guard") ? guard(report, settings) : List.of();
			report.addLoad("loadAfter");
			report.write(settings.output());
			Assert.state(fleets.errors().isEmpty(),
					() -> "Instances had errors: " + String.join("; ", fleets.errors()));
			Assert.state(excesses.isEmpty(), () -> "Calls do not cost what they did: " + String.join(" ", excesses));
		}
	}

	private static List<SchedulersMeasurement.Row> schedulers(Settings settings) throws Exception {
		try (BenchmarkServer server = BenchmarkServer.startQuiet()) {
			return new SchedulersMeasurement(server.url(), settings.quick()).run();
		}
	}

	private static List<String> guard(Report report, Settings settings)
			throws IOException, InterruptedException, SQLException {
		List<CostGuard.Row> rows = CostGuardProcess.run(settings.quick());
		report.addGuard(rows);
		List<String> excesses = new ArrayList<>();
		rows.stream()
			.filter((row) -> !row.differences().isEmpty())
			.forEach((row) -> excesses.add(row.cost().description() + ":" + row.differences()));
		Map<GuardedStart, Integer> classes = addedClasses();
		report.addGuardedStarts(classes);
		classes.forEach((start, added) -> {
			if (added > start.most()) {
				excesses.add("%s: %d classes, and not %d;".formatted(start.description(), added, start.most()));
			}
		});
		if (settings.history() != null && !settings.quick()) {
			excesses.addAll(judgeRatios(rows, settings.history()));
		}
		return excesses;
	}

	/**
	 * Judge the ratios by those of other nights, and remember them if none is too high:
	 * what has become dearer is red until somebody mends it or deletes the history.
	 */
	private static List<String> judgeRatios(List<CostGuard.Row> rows, Path file) throws IOException {
		Map<GuardedCost, Double> ratios = new EnumMap<>(GuardedCost.class);
		rows.stream().filter((row) -> row.ratio() > 0).forEach((row) -> ratios.put(row.cost(), row.ratio()));
		CostHistory history = CostHistory.read(file);
		List<String> excesses = history.excesses(ratios);
		if (excesses.isEmpty()) {
			history.with(ratios).write(file);
		}
		return excesses;
	}

	private static Map<GuardedStart, Integer> addedClasses() throws IOException, InterruptedException, SQLException {
		try (BenchmarkServer server = BenchmarkServer.startQuiet();
				StartupMeasurement startup = new StartupMeasurement(server.url())) {
			Map<StartupVariant, List<StartupMeasurement.Start>> starts = startup.run(0, GuardedStart.variants());
			Map<GuardedStart, Integer> classes = new EnumMap<>(GuardedStart.class);
			for (GuardedStart start : GuardedStart.values()) {
				classes.put(start, start.added(starts));
			}
			return classes;
		}
	}

	private static void addStartup(Report report, Settings settings, String url) throws Exception {
		try (StartupMeasurement startup = new StartupMeasurement(url)) {
			if (settings.parts().contains("startup")) {
				report.addStartup("startup",
						"Start-up (targets: with one method no more processor time than Quartz, a third of that without)",
						startup.run(settings.startups(), StartupVariant.ofFewMethods()));
			}
			if (settings.parts().contains("methods")) {
				report.addStartup("methods", "Start-up with 10,000 methods (target: 2,000 ms added)",
						startup.run(settings.startups(), StartupVariant.ofManyMethods(settings.quick())));
			}
		}
	}

}
