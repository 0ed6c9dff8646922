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

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

import io.github.advisorylock.testsupport.TestServer;

/**
 * One contestant under all faults, one after the other, each on a fresh database with
 * fresh instances.
 */
final class RivalComparison {

	static final Duration PERIOD = Duration.ofSeconds(5);

	static final Duration CAP = Duration.ofSeconds(75);

	private static final Duration LENGTH = Duration.ofSeconds(2);

	private static final int INSTANCES = 3;

	private static final int KILLS = 3;

	private static final Duration FROZEN = Duration.ofSeconds(25);

	private final Rival rival;

	private final Path directory;

	private final Map<Fault, RivalVerdict> verdicts = new EnumMap<>(Fault.class);

	private final List<OptionalLong> takeovers = new ArrayList<>();

	private OptionalLong whileFrozen = OptionalLong.empty();

	RivalComparison(Rival rival, Path directory) {
		this.rival = rival;
		this.directory = directory;
	}

	/**
	 * Run all trials.
	 */
	void run() throws IOException {
		try (TestServer server = TestServer.start(this.directory.resolve("server"), Map.of("max_connections", "200"))) {
			for (Fault fault : Fault.values()) {
				Duration length = (fault == Fault.LONG_RUN) ? Duration.ofSeconds(20) : LENGTH;
				Path trialDirectory = this.directory.resolve("trial-" + fault.name().toLowerCase(Locale.ROOT));
				try (RivalTrial trial = new RivalTrial(this.rival, server, trialDirectory, PERIOD, length)) {
					trial.start(INSTANCES);
					// The first tick belongs to nobody: some instances are not ready for
					// it
					long from = System.currentTimeMillis() + PERIOD.toMillis();
					RivalTrial.sleepUntil(from);
					inject(fault, trial, server);
					this.verdicts.put(fault, trial.verdict(from, System.currentTimeMillis() - 3000));
				}
			}
		}
	}

	private void inject(Fault fault, RivalTrial trial, TestServer server) {
		switch (fault) {
			case KILLED -> kill(trial);
			case FROZEN -> freeze(trial);
			case LONG_RUN -> pass(Duration.ofSeconds(50));
			case SERVER_RESTART -> {
				trial.awaitRun(CAP);
				server.stop();
				pass(Duration.ofSeconds(3));
				server.start();
				pass(Duration.ofSeconds(40));
			}
			case TERMINATED -> {
				trial.awaitRun(CAP);
				trial.terminate();
				pass(Duration.ofSeconds(25));
			}
		}
	}

	private void kill(RivalTrial trial) {
		for (int i = 0; i < KILLS; i++) {
			Optional<RivalTrial.Member> victim = trial.awaitRun(CAP);
			if (victim.isEmpty()) {
				return;
			}
			long since = System.currentTimeMillis();
			victim.get().kill();
			OptionalLong takeover = trial.takeover(victim.get(), since, CAP);
			this.takeovers.add(takeover);
			victim.get().restart();
			if (takeover.isEmpty()) {
				// What it makes up for when its instance is back
				pass(Duration.ofSeconds(45));
				return;
			}
			pass(PERIOD);
		}
		pass(Duration.ofSeconds(15));
	}

	private void freeze(RivalTrial trial) {
		Optional<RivalTrial.Member> victim = trial.awaitRun(CAP);
		if (victim.isEmpty()) {
			return;
		}
		long since = System.currentTimeMillis();
		victim.get().signal("STOP");
		try {
			this.whileFrozen = trial.takeover(victim.get(), since, FROZEN);
			RivalTrial.sleepUntil(since + FROZEN.toMillis());
		}
		finally {
			victim.get().signal("CONT");
		}
		pass(Duration.ofSeconds(20));
	}

	private static void pass(Duration duration) {
		RivalTrial.sleepUntil(System.currentTimeMillis() + duration.toMillis());
	}

	/**
	 * Return the verdict of a fault.
	 */
	RivalVerdict verdict(Fault fault) {
		return this.verdicts.get(fault);
	}

	/**
	 * Return the row of the table.
	 */
	String row() {
		return "| " + String.join(" | ", this.rival.title(), sum(RivalVerdict::doubles),
				sum(RivalVerdict::lost) + " of "
						+ this.verdicts.values().stream().mapToInt(RivalVerdict::planned).sum(),
				takeover(), this.whileFrozen.isPresent() ? seconds(this.whileFrozen.getAsLong()) : "after it",
				this.rival.setup()) + " |";
	}

	static String head() {
		return "| | double runs | lost ticks | after `kill -9` runs again: median, worst | while frozen for "
				+ FROZEN.toSeconds() + " s | set up as |\n|---|---|---|---|---|---|";
	}

	private String sum(ToIntFunction<RivalVerdict> count) {
		int sum = this.verdicts.values().stream().mapToInt(count).sum();
		if (sum == 0) {
			return "0";
		}
		return this.verdicts.entrySet()
			.stream()
			.filter((entry) -> count.applyAsInt(entry.getValue()) > 0)
			.map((entry) -> entry.getKey().word + " " + count.applyAsInt(entry.getValue()))
			.collect(Collectors.joining(", ", sum + ": ", ""));
	}

	private String takeover() {
		if (this.takeovers.isEmpty()) {
			return "no run to kill";
		}
		if (this.takeovers.stream().anyMatch(OptionalLong::isEmpty)) {
			return "> " + CAP.toSeconds() + " s";
		}
		List<Long> sorted = this.takeovers.stream()
			.map(OptionalLong::getAsLong)
			.sorted(Comparator.naturalOrder())
			.toList();
		return seconds(sorted.get(sorted.size() / 2)) + ", " + seconds(sorted.get(sorted.size() - 1));
	}

	private static String seconds(long milliseconds) {
		return String.format(Locale.ROOT, "%.1f s", milliseconds / 1000.0);
	}

	/**
	 * What happens.
	 */
	enum Fault {

		/**
		 * The instance that runs is killed, three times.
		 */
		KILLED("killed"),

		/**
		 * The instance that runs is stopped for longer than a lease, and goes on.
		 */
		FROZEN("frozen"),

		/**
		 * A run takes longer than a lease.
		 */
		LONG_RUN("long"),

		/**
		 * The server is restarted.
		 */
		SERVER_RESTART("restart"),

		/**
		 * The server ends all connections.
		 */
		TERMINATED("terminated");

		private final String word;

		Fault(String word) {
			this.word = word;
		}

	}

}
