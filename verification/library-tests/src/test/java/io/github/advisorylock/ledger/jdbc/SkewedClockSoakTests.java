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

package io.github.advisorylock.ledger.jdbc;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@code @SingleRunner(once = PER_TICK)} in JVMs whose clocks differ; for two
 * minutes, or as long as {@code -Dsoak} says.
 */
@Tag("chaos")
class SkewedClockSoakTests {

	private static final Log logger = LogFactory.getLog(SkewedClockSoakTests.class);

	private static final Duration DURATION = Duration.parse(System.getProperty("soak", "PT2M"));

	private static final long GAP = SkewedClockApplication.GAP.toSeconds();

	private static final String EACH_SECOND = "* * * * * *";

	private static final String EVEN_SECONDS = "*/2 * * * * *";

	private static final String EFFECTS = "SELECT tick FROM " + SkewedClockApplication.TABLE
			+ " WHERE tick BETWEEN %d AND %d ORDER BY tick";

	private static final String RUNS = "SELECT extract(epoch FROM tick)::bigint FROM " + SkewedClockApplication.LEDGER
			+ "run WHERE outcome = 'EXECUTED' AND extract(epoch FROM tick) BETWEEN %d AND %d ORDER BY tick";

	@TempDir
	private Path directory;

	private final List<SkewedClockInstance> instances = new ArrayList<>();

	@BeforeEach
	void createTables() {
		TestPostgres.execute("DROP TABLE IF EXISTS " + SkewedClockApplication.TABLE);
		TestPostgres.execute(
				"CREATE TABLE " + SkewedClockApplication.TABLE + " (tick bigint, fencing_token bigint, pid bigint)");
		TestPostgres.execute("DO $$ BEGIN IF to_regclass('skewed_clock_schedule') IS NOT NULL THEN "
				+ "DELETE FROM skewed_clock_schedule; DELETE FROM skewed_clock_job; DELETE FROM skewed_clock_run; END IF; END $$");
	}

	@AfterEach
	void stopInstances() throws Exception {
		for (SkewedClockInstance instance : this.instances) {
			instance.close();
		}
	}

	@Test
	void tickRunsOnceOnClocksThatDifferAndNoneIsMissed() throws Exception {
		SkewedClockInstance ahead = start(Duration.ofMillis(300), EVEN_SECONDS);
		SkewedClockInstance right = start(Duration.ZERO, EVEN_SECONDS);
		SkewedClockInstance behind = start(Duration.ofSeconds(-2), EVEN_SECONDS);
		for (SkewedClockInstance instance : this.instances) {
			instance.awaitStart();
		}
		long first = now() / GAP * GAP + 2 * GAP;
		long last = first + DURATION.toSeconds() / GAP * GAP - GAP;
		awaitDatabaseClock(last + 3 * GAP);
		check(first, last);
		report(first, last);
		ahead.close();
		awaitRunsOf(right);
		right.close();
		check(first, awaitRunsOf(behind));
	}

	/**
	 * The instance that is ahead is at the next tick while the others are at this one.
	 */
	@Test
	void scheduleIsAnotherOneFromOneTickToTheNextWhereverAnInstanceIs() throws Exception {
		start(Duration.ofSeconds(5), EACH_SECOND).awaitStart();
		start(Duration.ZERO, EACH_SECOND).awaitStart();
		SkewedClockInstance stopped = start(Duration.ZERO, EACH_SECOND);
		stopped.awaitStart();
		awaitRunsOf(this.instances.get(0));
		stopped.signal("STOP");
		long from = reschedule("*/5 * * * * *");
		awaitDatabaseClock(from + 2);
		SkewedClockInstance late = start(Duration.ZERO, EACH_SECOND);
		late.awaitStart();
		stopped.signal("CONT");
		long last = from + DURATION.toSeconds();
		awaitDatabaseClock(last + 5);
		assertThat(longs(RUNS.formatted(from, last)))
			.isEqualTo(LongStream.rangeClosed(from, last).filter((tick) -> tick % 5 == 0).boxed().toList());
		assertThat(longs(RUNS.formatted(0, from - 1))).doesNotHaveDuplicates().endsWith(from - 2, from - 1);
		assertThat(stopped.skips()).containsKey("ALREADY_RAN");
		assertThat(late.skips()).containsOnlyKeys("ALREADY_RAN");
	}

	/**
	 * Give the job another schedule as an operator does.
	 * @return from when on it holds
	 */
	private static long reschedule(String cron) {
		AtomicLong from = new AtomicLong();
		LockContextRunner.create()
			.withPropertyValues("spring.application.name=" + SkewedClockApplication.NAME,
					"advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=" + SkewedClockApplication.LEDGER)
			.run((context) -> from.set(context.getBean(PostgresAdvisoryLockLedger.class)
				.reschedule(SkewedClockApplication.NAME, cron, null, "alice", null)
				.getEpochSecond()));
		return from.get();
	}

	/**
	 * Each tick has one effect and one run that ended well, and none has two.
	 */
	private static void check(long first, long last) {
		List<Long> ticks = LongStream.iterate(first, (tick) -> tick <= last, (tick) -> tick + GAP).boxed().toList();
		assertThat(effects(first, last)).as("ticks of effects").isEqualTo(ticks);
		assertThat(longs(RUNS.formatted(first, last))).as("ticks in the history").isEqualTo(ticks);
	}

	private void report(long first, long last) {
		for (SkewedClockInstance instance : this.instances) {
			logger.info(runsOf(instance, first, last).size() + " of " + ((last - first) / GAP + 1) + " ticks in "
					+ DURATION + " were run by the " + instance + "; skipped altogether: " + instance.skips());
		}
	}

	/**
	 * Wait until an instance has taken over, and return its last tick.
	 */
	private static long awaitRunsOf(SkewedClockInstance instance) {
		long from = now();
		List<Long> runs = Awaitility.await("runs of the " + instance)
			.atMost(Duration.ofSeconds(10 * GAP))
			.until(() -> runsOf(instance, from, Long.MAX_VALUE), (ticks) -> ticks.size() >= 3);
		return runs.get(runs.size() - 1);
	}

	private static List<Long> effects(long first, long last) {
		return longs(EFFECTS.formatted(first, last));
	}

	private static List<Long> runsOf(SkewedClockInstance instance, long first, long last) {
		return longs(EFFECTS.replace("WHERE", "WHERE pid = " + instance.pid() + " AND").formatted(first, last));
	}

	private static void awaitDatabaseClock(long second) {
		Awaitility.await()
			.atMost(DURATION.plusMinutes(1))
			.pollInterval(Duration.ofMillis(500))
			.until(() -> now() >= second);
	}

	private static long now() {
		return longs("SELECT extract(epoch FROM clock_timestamp())::bigint").get(0);
	}

	private static List<Long> longs(String query) {
		return TestPostgres.query(query).stream().map(Long::valueOf).toList();
	}

	private SkewedClockInstance start(Duration skew, String cron) throws IOException {
		SkewedClockInstance instance = SkewedClockInstance.start(skew, this.directory, cron);
		this.instances.add(instance);
		return instance;
	}

}
