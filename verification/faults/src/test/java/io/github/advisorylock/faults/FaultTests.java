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
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of real instances on a real server, to which everything happens that we can think
 * of: each kind of fault once, or as many as there is time for in
 * {@code -Dfaults.duration=PT55M}. Every other fleet is on virtual threads, where
 * {@code -Dfaults.java=} names a {@code java} that has them, or the tests run on one.
 */
class FaultTests {

	private static final Log logger = LogFactory.getLog(FaultTests.class);

	private static final Duration DURATION = Duration.parse(System.getProperty("faults.duration", "PT0S"));

	private static final String KINDS = System.getProperty("faults.kinds", "");

	/**
	 * Of a hundred pairs of runs that follow one another, as many at most may have an
	 * excuse. 4 had in six minutes, 9 where each kind came once and runs were few.
	 */
	private static final int EXCUSABLE = 20;

	/**
	 * Faults that one fleet suffers before it is judged.
	 */
	private static final int LIFE = 32;

	private static final int FLEETS = Integer.getInteger("faults.fleets", 4);

	@TempDir(cleanup = CleanupMode.ON_SUCCESS)
	private Path directory;

	private final Report report = new Report();

	/**
	 * What a machine does not allow is skipped, and told, but where everything is to be
	 * there.
	 */
	@ParameterizedTest
	@EnumSource
	void faultIsPossibleHere(Fault fault) {
		boolean possible = Fleet.isPossible(fault);
		if ("required".equals(System.getenv("TEST_TOOLS"))) {
			assertThat(possible).as("%s can be done on this machine", fault).isTrue();
		}
		Assumptions.assumeTrue(possible, () -> "This machine lacks what is needed for " + fault);
	}

	@Test
	void faultsAreSurvived() throws Exception {
		List<Fault> faults = kinds().stream().filter(Fleet::isPossible).toList();
		List<Fault> onOneServer = faults.stream().filter((fault) -> fault != Fault.LAGGING_STANDBY).toList();
		boolean standby = faults.contains(Fault.LAGGING_STANDBY);
		List<Task> jobs = new ArrayList<>();
		if (DURATION.isZero()) {
			for (int i = 0; i < 2; i++) {
				Setup setup = Setup.of(i);
				String name = "fleet" + i;
				jobs.add(() -> {
					suffer(setup, name, onOneServer, Instant.MAX);
					if (standby) {
						sufferPromotion(setup, name + "-standby");
					}
				});
			}
		}
		else {
			Instant end = Instant.now().plus(DURATION);
			for (int i = 0; i < FLEETS; i++) {
				int fleet = i;
				jobs.add(() -> sufferUntil(end, fleet, onOneServer, standby));
			}
		}
		try {
			run(jobs);
		}
		finally {
			String table = this.report.toMarkdown();
			logger.info("\n" + table);
			Files.writeString(Path.of("target", "faults.md"), table);
		}
		assertThat(this.report.violations()).isEmpty();
		assertThat(this.report.shortcomings(faults, acts(), isChosen() ? 100 : EXCUSABLE)).isEmpty();
	}

	/**
	 * What operators have to have done. A short trial may have no calm time.
	 */
	private static List<Act> acts() {
		return Stream.of(Act.values()).filter((act) -> !act.needsCalm() || !(isChosen() || DURATION.isZero())).toList();
	}

	private static boolean isChosen() {
		return !KINDS.isBlank();
	}

	private static List<Fault> kinds() {
		return isChosen() ? Stream.of(KINDS.split(",")).map(Fault::valueOf).toList() : List.of(Fault.values());
	}

	@Test
	void jobsWithoutLockAreFoundOut() throws Exception {
		try (Fleet fleet = new Fleet(Setup.plain(), this.directory.resolve("unguarded"), UnguardedContestant.class,
				false)) {
			fleet.startInstances();
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> fleet.database().effects().stream().map(Effect::tick).distinct().count() < fleet.database()
					.effects()
					.size());
			long end = History.uptime();
			fleet.stopInstances();
			assertThat(new Checker(fleet.events(), fleet.database().effects(), List.of(), List.of(), false, end)
				.check(List.of())
				.violations()).anyMatch((violation) -> violation.startsWith("Two at a time"))
				.anyMatch((violation) -> violation.startsWith("Two effects"));
		}
	}

	/**
	 * What is there while instances work is what must not be there when they have
	 * stopped.
	 */
	@Test
	void whatIsLeftBehindIsFoundOut() throws Exception {
		try (Fleet fleet = new Fleet(Setup.plain(), this.directory.resolve("working"), AdvisoryLockContestant.class,
				false)) {
			fleet.startInstances();
			fleet.awaitWorkFor(Fault.KILLED_INSTANCE);
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.untilAsserted(() -> assertThat(fleet.database().leftovers(true))
					.anyMatch((found) -> found.startsWith("lock "))
					.anyMatch((found) -> found.startsWith("connection "))
					.anyMatch((found) -> found.startsWith("run ")));
			fleet.stopInstances();
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> assertThat(fleet.database().leftovers(true)).isEmpty());
		}
	}

	/**
	 * Has each fault once, however long that takes, and then as many as there is time
	 * for.
	 */
	private void sufferUntil(Instant end, int fleet, List<Fault> faults, boolean standby) throws Exception {
		Random random = new Random(fleet);
		Setup setup = Setup.of(fleet);
		for (int life = 0; life == 0 || Instant.now().isBefore(end); life++) {
			String name = "fleet" + fleet + "-" + life;
			if (standby && life % 2 == 0) {
				sufferPromotion(setup, name + "-standby");
			}
			List<Fault> order = new ArrayList<>();
			while (order.size() < LIFE) {
				order.addAll(faults);
			}
			Collections.shuffle(order, random);
			suffer(setup, name, (life == 0) ? order.stream().distinct().toList() : order.subList(0, LIFE),
					(life == 0) ? Instant.MAX : end);
		}
	}

	private void suffer(Setup setup, String name, List<Fault> faults, Instant end) throws Exception {
		new Trial(setup, this.directory.resolve(name), this.report).run(faults, false, end);
	}

	private void sufferPromotion(Setup setup, String name) throws Exception {
		new Trial(setup, this.directory.resolve(name), this.report).run(List.of(Fault.LAGGING_STANDBY), true,
				Instant.MAX);
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
