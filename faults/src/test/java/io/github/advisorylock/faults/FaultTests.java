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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of real instances on a real server, to which everything happens that we can think
 * of: each kind of fault once, or as many as there is time for in
 * {@code -Dfaults.duration=PT55M}.
 */
class FaultTests {

	private static final Log logger = LogFactory.getLog(FaultTests.class);

	private static final Duration DURATION = Duration.parse(System.getProperty("faults.duration", "PT0S"));

	/**
	 * Faults that one fleet suffers before it is judged.
	 */
	private static final int LIFE = 32;

	private static final int FLEETS = 4;

	@TempDir(cleanup = CleanupMode.ON_SUCCESS)
	private Path directory;

	private final Report report = new Report();

	@Test
	void faultsAreSurvived() throws Exception {
		List<Fault> faults = new ArrayList<>(Arrays.stream(System.getProperty("faults.kinds", "").split(","))
			.filter((name) -> !name.isBlank())
			.map(Fault::valueOf)
			.toList());
		if (faults.isEmpty()) {
			faults.addAll(List.of(Fault.values()));
		}
		List<Fault> impossible = faults.stream().filter((fault) -> !Fleet.isPossible(fault)).toList();
		logger.info("Not possible on this machine, and skipped: " + impossible);
		if ("required".equals(System.getenv("ADVISORY_LOCK_TOOLS"))) {
			assertThat(impossible).as("faults that need a program")
				.isSubsetOf(Fault.CUT_NETWORK, Fault.CUT_IN, Fault.CUT_OUT, Fault.FULL_DISK);
		}
		faults.removeAll(impossible);
		boolean standby = faults.remove(Fault.LAGGING_STANDBY);
		List<Task> jobs = new ArrayList<>();
		if (DURATION.isZero()) {
			List<Fault> one = faults.stream().filter((fault) -> fault.ordinal() % 2 == 0).toList();
			List<Fault> other = faults.stream().filter((fault) -> fault.ordinal() % 2 == 1).toList();
			jobs.add(() -> new Trial(this.directory.resolve("one"), this.report).run(one, false, Instant.MAX));
			jobs.add(() -> {
				new Trial(this.directory.resolve("other"), this.report).run(other, false, Instant.MAX);
				if (standby) {
					suffersPromotion("standby");
				}
			});
		}
		else {
			Instant end = Instant.now().plus(DURATION);
			for (int i = 0; i < FLEETS; i++) {
				int fleet = i;
				jobs.add(() -> sufferUntil(end, fleet, faults));
			}
		}
		run(jobs);
		String table = this.report.toMarkdown();
		logger.info("\n" + table);
		Files.writeString(Path.of("target", "faults.md"), table);
		assertThat(this.report.violations()).isEmpty();
	}

	@Test
	void jobsWithoutLockAreFoundOut() throws Exception {
		try (Fleet fleet = new Fleet(this.directory.resolve("unguarded"), UnguardedContestant.class, false)) {
			fleet.startInstances();
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> fleet.effects().stream().map(Effect::tick).distinct().count() < fleet.effects().size());
			fleet.stopInstances();
			assertThat(new Checker(fleet.events(), fleet.effects(), List.of(), List.of()).check(List.of()).violations())
				.anyMatch((violation) -> violation.startsWith("Two at a time"))
				.anyMatch((violation) -> violation.startsWith("Two effects"));
		}
	}

	/**
	 * What is there while instances work is what must not be there when they have
	 * stopped.
	 */
	@Test
	void whatIsLeftBehindIsFoundOut() throws Exception {
		try (Fleet fleet = new Fleet(this.directory.resolve("working"), AdvisoryLockContestant.class, false)) {
			fleet.startInstances();
			fleet.awaitWorkAt(fleet.turn());
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.untilAsserted(() -> assertThat(fleet.leftovers(true)).anyMatch((found) -> found.startsWith("lock "))
					.anyMatch((found) -> found.startsWith("connection "))
					.anyMatch((found) -> found.startsWith("run ")));
			fleet.stopInstances();
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> assertThat(fleet.leftovers(true)).isEmpty());
		}
	}

	private void sufferUntil(Instant end, int fleet, List<Fault> faults) throws Exception {
		Random random = new Random(fleet);
		for (int life = 0; Instant.now().isBefore(end); life++) {
			List<Fault> order = new ArrayList<>();
			while (order.size() < LIFE) {
				order.addAll(faults);
			}
			Collections.shuffle(order, random);
			String name = "fleet" + fleet + "-" + life;
			new Trial(this.directory.resolve(name), this.report).run(order.subList(0, LIFE), false, end);
			if (life % 2 == 0 && Instant.now().isBefore(end)) {
				suffersPromotion(name + "-standby");
			}
		}
	}

	private void suffersPromotion(String name) throws Exception {
		new Trial(this.directory.resolve(name), this.report).run(List.of(Fault.LAGGING_STANDBY), true, Instant.MAX);
	}

	private static void run(List<Task> jobs) throws Exception {
		ExecutorService executor = Executors.newCachedThreadPool();
		try {
			List<Future<?>> futures = new ArrayList<>();
			for (Task job : jobs) {
				futures.add(executor.submit(() -> {
					job.run();
					return null;
				}));
			}
			ExecutionException failure = null;
			for (Future<?> future : futures) {
				try {
					future.get();
				}
				catch (ExecutionException ex) {
					failure = ex;
				}
			}
			if (failure != null) {
				throw failure;
			}
		}
		finally {
			executor.shutdown();
		}
	}

	/**
	 * What one thread does.
	 */
	private interface Task {

		void run() throws Exception;

	}

}
