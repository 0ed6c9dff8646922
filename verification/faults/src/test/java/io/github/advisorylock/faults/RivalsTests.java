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

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The adapters of the rivals work, the checker sees when nobody guards, and on request
 * all are put to the same faults.
 */
class RivalsTests {

	private static final String RIVALS = "faults.rivals";

	/**
	 * Contestants that are tried side by side.
	 */
	private static final int LANES = 3;

	@TempDir
	private Path directory;

	@Test
	void withoutFaultEachRunsEachTickOnce() throws Exception {
		Map<Rival, RivalTrial> trials = new EnumMap<>(Rival.class);
		List<JavaProcess> processes = new ArrayList<>();
		try (TestServer server = TestServer.start(this.directory.resolve("server"), Map.of("max_connections", "400"))) {
			for (Rival rival : Rival.values()) {
				RivalTrial trial = new RivalTrial(rival, server, this.directory.resolve("trial-" + rival.ordinal()),
						RivalComparison.PERIOD, Duration.ofSeconds(2));
				trial.createDatabase();
				trials.put(rival, trial);
			}
			try {
				for (String instance : List.of("instance-1", "instance-2")) {
					processes.add(JavaProcess.start(this.directory.resolve(instance), RivalCrowd.class,
							trials.values()
								.stream()
								.flatMap((trial) -> trial.arguments(instance).stream())
								.toArray(String[]::new)));
					// The first creates the tables
					processes.forEach(RivalTrial::awaitStart);
				}
				long from = System.currentTimeMillis() + RivalComparison.PERIOD.toMillis();
				long to = from + 2 * RivalComparison.PERIOD.toMillis();
				RivalTrial.sleepUntil(to);
				Awaitility.await()
					.atMost(Duration.ofMinutes(2))
					.untilAsserted(
							() -> assertThat(trials.entrySet()).filteredOn((trial) -> !runs(trial.getValue(), from))
								.extracting(Map.Entry::getKey)
								.isEmpty());
				trials.forEach((rival, trial) -> assertVerdict(rival, trial.verdict(from, to)));
			}
			finally {
				processes.forEach(JavaProcess::kill);
			}
		}
	}

	/**
	 * Return whether there were two ticks in a row without a loss. On a busy machine some
	 * rivals lose one now and then.
	 */
	private static boolean runs(RivalTrial trial, long from) {
		long period = RivalComparison.PERIOD.toMillis();
		for (long begin = from; begin + 2 * period <= System.currentTimeMillis(); begin += period) {
			if (trial.verdict(begin, begin + 2 * period).lost() == 0) {
				return true;
			}
		}
		return false;
	}

	private static void assertVerdict(Rival rival, RivalVerdict verdict) {
		switch (rival) {
			case UNGUARDED -> assertThat(verdict.doubles()).as("double runs of " + rival).isPositive();
			// A poll that is late schedules several ticks, which run side by side
			case JOBRUNR -> assertThat(verdict.repeats()).as("ticks of " + rival + " that ran twice").isZero();
			default -> assertThat(verdict.doubles()).as("double runs of " + rival + ": " + verdict).isZero();
		}
	}

	/**
	 * With {@code true} all of them, or those whose names are given, separated by commas.
	 */
	@Test
	@Tag("rivals")
	void underFaultsOursNeverRunsTwice() throws Exception {
		Map<Rival, RivalComparison> comparisons = new EnumMap<>(Rival.class);
		List<Future<?>> futures = new ArrayList<>();
		ExecutorService lanes = Executors.newFixedThreadPool(LANES);
		System.out.println(RivalComparison.head());
		try {
			for (Rival rival : chosen()) {
				RivalComparison comparison = new RivalComparison(rival,
						Files.createDirectories(this.directory.resolve("rival-" + rival.ordinal())));
				comparisons.put(rival, comparison);
				futures.add(lanes.submit(() -> {
					comparison.run();
					// At once: whatever happens to the others
					System.out.println(comparison.row());
					return null;
				}));
			}
			for (Future<?> future : futures) {
				future.get();
			}
		}
		finally {
			lanes.shutdownNow();
		}
		comparisons.forEach(RivalsTests::assertComparison);
	}

	/**
	 * A name that nobody has is an error: nothing would be tried.
	 */
	private static List<Rival> chosen() {
		String names = System.getProperty(RIVALS, "true");
		return names.equals("true") ? List.of(Rival.values())
				: Stream.of(names.split(",")).map(String::strip).map(Rival::valueOf).distinct().toList();
	}

	private static void assertComparison(Rival rival, RivalComparison comparison) {
		for (RivalComparison.Fault fault : RivalComparison.Fault.values()) {
			RivalVerdict verdict = comparison.verdict(fault);
			int doubles = verdict.doubles();
			switch (rival) {
				case ADVISORY_LOCK, ADVISORY_LOCK_LEDGER -> {
					// The lock has gone with the connection of a run that goes on: its
					// commit fails, and the tick is made up for.
					// Work on a connection of its own is done twice then
					if (fault != RivalComparison.Fault.TERMINATED) {
						assertThat(doubles).as(rival + " under " + fault + ": " + verdict).isZero();
					}
				}
				case UNGUARDED -> assertThat(doubles).as("without a lock under " + fault).isPositive();
				default -> {
					// theirs are told, not judged
				}
			}
		}
	}

}
