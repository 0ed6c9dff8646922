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

package io.github.advisorylock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SampleApplication} in JVMs of their own, one of which is killed in the
 * middle of the report; for two minutes, or as long as {@code -Dsoak} says.
 */
@Tag("chaos")
class SoakTests {

	private static final Duration DURATION = Duration.parse(System.getProperty("soak", "PT2M"));

	private static final int TICK = 5;

	private static final Pattern URL = Pattern.compile("jdbc:postgresql:\\S+");

	@TempDir
	private Path directory;

	private final List<JavaProcess> instances = new ArrayList<>();

	@AfterEach
	void stop() throws InterruptedException {
		for (JavaProcess instance : this.instances) {
			instance.close();
		}
	}

	@Test
	void reportRunsOnceEachTickAndGoesOnElsewhereWhenItsInstanceIsKilled() throws Exception {
		JavaProcess one = start();
		JavaProcess two = start();
		String url = databaseOf(one);
		awaitStart(one);
		awaitStart(two);
		OffsetDateTime from = now(url);
		awaitDatabaseClock(url, from.plus(DURATION.dividedBy(2)));
		long killed = killInMidReport();
		OffsetDateTime kill = now(url);
		Run next = awaitRunAfter(url, kill);
		assertThat(next.instance()).doesNotEndWith(":" + killed);
		awaitStart(start());
		awaitDatabaseClock(url, from.plus(DURATION));
		check(runs(url, from), kill);
		print(kill);
	}

	/**
	 * Each tick has its run, the next one after the kill too, but for the one whose run
	 * was killed, and for those that came while a run took longer than the time between
	 * two, on a machine with other work; none has two, and no two runs overlap.
	 */
	private static void check(List<Run> runs, OffsetDateTime kill) {
		System.out.println("Runs: " + runs.size() + " in " + DURATION + ", on "
				+ runs.stream().map(Run::instance).distinct().toList());
		int outlasted = 0;
		for (int i = 1; i < runs.size(); i++) {
			Run before = runs.get(i - 1);
			Run run = runs.get(i);
			assertThat(run.started()).isAfterOrEqualTo(before.finished());
			boolean aroundKill = before.started().isBefore(kill) && run.started().isAfter(kill);
			long next = before.tick() + (aroundKill ? 2 : 1);
			assertThat(run.tick()).as(before + ", then " + run)
				.isBetween(next, Math.max(next, Run.tick(before.finished()) + 1));
			outlasted += (int) (run.tick() - next);
		}
		assertThat(runs).hasSizeGreaterThanOrEqualTo((int) DURATION.toSeconds() / TICK - 3 - outlasted);
	}

	private long killInMidReport() throws Exception {
		String holder = Awaitility.await()
			.pollInterval(Duration.ofMillis(100))
			.atMost(Patience.TIME)
			.until(this::instanceInMidReport, (pid) -> !pid.isEmpty());
		for (JavaProcess instance : this.instances) {
			if (holder.equals(Long.toString(instance.pid()))) {
				instance.kill();
				return instance.pid();
			}
		}
		throw new IllegalStateException("Nobody is in mid-report");
	}

	/**
	 * The pid of the instance whose last line on the report says that it is half done.
	 */
	private String instanceInMidReport() {
		for (JavaProcess instance : this.instances) {
			List<String> lines = instance.lines()
				.stream()
				.filter((line) -> line.contains("Report on instance") || line.contains("/nightly-report'"))
				.toList();
			if (!lines.isEmpty() && lines.get(lines.size() - 1).contains("45 of 90 days")) {
				return Long.toString(instance.pid());
			}
		}
		return "";
	}

	private void print(OffsetDateTime kill) {
		System.out.println("The log of all instances around the kill at " + kill + ":");
		this.instances.stream()
			.flatMap((instance) -> instance.lines().stream())
			.filter((line) -> line.contains(".run ") && line.contains("nightly-report")
					|| line.contains(" Report on instance "))
			.filter((line) -> {
				Duration distance = Duration.between(kill, OffsetDateTime.parse(line.substring(0, line.indexOf(' '))));
				return distance.abs().compareTo(Duration.ofSeconds(3 * TICK)) < 0;
			})
			.sorted(Comparator.naturalOrder())
			.map((line) -> line.replaceFirst("  INFO .* : ", "  "))
			.forEach(System.out::println);
	}

	private JavaProcess start() {
		JavaProcess instance = JavaProcess.start(this.directory.resolve("instance-" + this.instances.size() + ".log"),
				SampleApplication.class, "--sample.database.directory=" + this.directory.resolve("database"),
				"--server.port=0", "--sample.report.cron=*/5 * * * * *", "--sample.report.pause-per-day=20ms",
				"--advisory-lock.jobs.nightly-report.catch-up=1s");
		this.instances.add(instance);
		return instance;
	}

	private static void awaitStart(JavaProcess instance) {
		instance.awaitLine("Started SampleApplication");
	}

	private String databaseOf(JavaProcess instance) throws IOException {
		Matcher matcher = URL.matcher(instance.awaitLine("jdbc:postgresql:"));
		assertThat(matcher.find()).isTrue();
		String password = Files.readString(this.directory.resolve("database/password")).strip();
		return matcher.group() + "?user=postgres&password=" + password;
	}

	private static void awaitDatabaseClock(String url, OffsetDateTime time) {
		Awaitility.await()
			.atMost(DURATION.plusMinutes(1))
			.pollInterval(Duration.ofMillis(500))
			.until(() -> now(url).isAfter(time));
	}

	private static Run awaitRunAfter(String url, OffsetDateTime time) {
		return Awaitility.await().atMost(Patience.TIME).until(() -> runs(url, time), (runs) -> !runs.isEmpty()).get(0);
	}

	private static OffsetDateTime now(String url) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
			row.next();
			return row.getObject(1, OffsetDateTime.class);
		}
	}

	private static List<Run> runs(String url, OffsetDateTime from) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT instance, started_at, finished_at FROM report_run "
						+ "WHERE started_at > '" + from + "' ORDER BY started_at")) {
			List<Run> runs = new ArrayList<>();
			while (rows.next()) {
				runs.add(new Run(rows.getString(1), rows.getObject(2, OffsetDateTime.class),
						rows.getObject(3, OffsetDateTime.class)));
			}
			return runs;
		}
	}

	/**
	 * A run of the report.
	 */
	private record Run(String instance, OffsetDateTime started, OffsetDateTime finished) {

		/**
		 * The number of the tick that the run belongs to. A timer may fire a moment
		 * early.
		 */
		long tick() {
			return tick(this.started.plusNanos(100_000_000));
		}

		private static long tick(OffsetDateTime time) {
			return time.toEpochSecond() / TICK;
		}

	}

}
