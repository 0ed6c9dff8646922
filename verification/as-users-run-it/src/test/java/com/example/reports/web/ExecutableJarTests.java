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

package com.example.reports.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the application as an executable jar, in a JVM for each instance.
 */
class ExecutableJarTests {

	private static final List<String> JAR = List.of("-jar", Instance.JAR.toString());

	/**
	 * The tick of a runner that is killed before the others ask for it is free again.
	 */
	private static final String AT_ONCE = "advisory-lock.spread=0";

	private static final String[] JOBS = { "nightly-report", "export" };

	private final Database database = Database.create();

	@TempDir
	private Path folder;

	static Stream<Platform> platforms() {
		return Jdk.all()
			.stream()
			.flatMap((jdk) -> jdk.hasVirtualThreads() ? Stream.of(new Platform(jdk, false), new Platform(jdk, true))
					: Stream.of(new Platform(jdk, false)));
	}

	@ParameterizedTest
	@MethodSource("platforms")
	void eachTickRunsOnceAndOneInstanceLeadsUntilItIsKilled(Platform platform) {
		String threads = "spring.threads.virtual.enabled=" + platform.virtual();
		try (Instance one = Instance.start(this.folder, platform.jdk(), this.database, "one", JAR, threads, AT_ONCE);
				Instance two = Instance.start(this.folder, platform.jdk(), this.database, "two", JAR, threads,
						AT_ONCE)) {
			one.awaitStart();
			two.awaitStart();
			long together = this.database.now();
			assertThatTheyRun(together, 4);
			assertThat(this.database.holders("leader:dispatcher")).hasSize(1);
			assertThat(this.database.instances("dispatcher", together)).hasSize(1);
			assertThatLockIsSeen("export");
			boolean firstLeads = this.database.instances("dispatcher", together).contains("one");
			Instance killed = firstLeads ? one : two;
			Instance left = firstLeads ? two : one;
			killed.process().kill();
			long alone = this.database.now();
			assertThatTheyRun(alone, 2);
			assertThat(this.database.instances("dispatcher", alone)).containsExactly(left.name());
			assertThat(this.database.instances("export", alone)).containsExactly(left.name());
			assertThat(this.database.lockSessions()).hasSize(1);
			assertThatNothingIsWrong(killed);
			assertThatNothingIsWrong(left);
		}
	}

	/**
	 * The jar is extracted, and started with an archive of classes that a first run has
	 * made, and with beans that the build has defined.
	 */
	@ParameterizedTest
	@MethodSource("jdks")
	void extractedJarRunsWithArchiveOfClassesAndBeansOfTheBuild(Jdk jdk) {
		Path extracted = this.folder.resolve("extracted");
		run(jdk, "extract", "-Djarmode=tools", "-jar", Instance.JAR.toString(), "extract", "--destination",
				extracted.toString());
		Path jar = extracted.resolve(Instance.JAR.getFileName());
		Path archive = this.folder.resolve("application.jsa");
		List<String> options = List.of("-Dspring.aot.enabled=true", "-Dspring.datasource.url=" + this.database.url());
		run(jdk, "training", options, "-XX:ArchiveClassesAtExit=" + archive, "-Dspring.context.exit=onRefresh", "-jar",
				jar.toString());
		assertThat(archive).isNotEmptyFile();
		assertThat(this.database.lockSessions()).isEmpty();
		assertThat(this.database.now()).isZero();
		try (Instance one = Instance.start(this.folder, jdk, this.database, "one",
				List.of("-XX:SharedArchiveFile=" + archive, "-Dspring.aot.enabled=true", "-jar", jar.toString()))) {
			one.awaitStart();
			assertThat(one.process().lines()).anyMatch((line) -> line.contains("Starting AOT-processed "));
			assertThatTheyRun(0, 2);
			assertThatNothingIsWrong(one);
		}
	}

	@Test
	void stoppedContextHoldsNothingAndRunsAgainWhenItIsStarted() {
		try (Instance one = Instance.start(this.folder, Jdk.latest(), this.database, "one", JAR, "console=true")) {
			one.awaitStart();
			assertThatTheyRun(0, 1);
			one.process().tell("stop");
			one.process().awaitLine("The context is stopped");
			assertThat(this.database.holders("leader:dispatcher")).isEmpty();
			long stopped = this.database.now();
			one.process().tell("start");
			one.process().awaitLine("The context is started again");
			assertThatTheyRun(stopped, 2);
			assertThat(this.database.lockSessions()).hasSize(1);
			assertThatNothingIsWrong(one);
		}
	}

	/**
	 * Developer tools put the classes of the application into a class loader of each
	 * start, and work from a class path only.
	 */
	@Test
	void restartOfDeveloperToolsLeavesOneApplication() throws IOException {
		Path classes = Files.createDirectories(this.folder.resolve("classes"));
		copy(Path.of(System.getProperty("application.classes")), classes);
		List<String> classPath = new ArrayList<>(List.of(classes.toString()));
		Stream.of(System.getProperty("java.class.path").split(":"))
			.filter((entry) -> entry.endsWith(".jar") && !entry.contains("as-users-run-it"))
			.forEach(classPath::add);
		try (Instance one = Instance.start(this.folder, Jdk.latest(), this.database, "one",
				List.of("-cp", String.join(":", classPath), "com.example.reports.ReportsApplication"),
				"spring.devtools.restart.poll-interval=200ms", "spring.devtools.restart.quiet-period=100ms",
				"spring.main.web-application-type=none", "spring.devtools.livereload.enabled=false")) {
			one.awaitStart();
			assertThatTheyRun(0, 1);
			Files.writeString(classes.resolve("changed.properties"), "changed=true");
			Awaitility.await()
				.atMost(Instance.PATIENCE)
				.until(() -> one.process().lines().stream().filter((line) -> line.contains("Started ")).count() == 2);
			assertThatTheyRun(this.database.now(), 2);
			assertThat(this.database.lockSessions()).hasSize(1);
			assertThatNothingIsWrong(one);
		}
	}

	static List<Jdk> jdks() {
		return Jdk.all();
	}

	/**
	 * Make sure that all jobs are run for some ticks, each for each tick once, and that a
	 * leader works.
	 */
	private void assertThatTheyRun(long since, int ticks) {
		Awaitility.await().atMost(Instance.PATIENCE).untilAsserted(() -> {
			for (String job : JOBS) {
				assertThat(this.database.ticks(job, since)).as(job).isGreaterThanOrEqualTo(ticks);
			}
			assertThat(this.database.instances("dispatcher", since)).isNotEmpty();
		});
		for (String job : JOBS) {
			assertThat(this.database.doubles(job)).as(job).isEmpty();
		}
	}

	private static void assertThatNothingIsWrong(Instance instance) {
		assertThat(instance.problems()).as(() -> String.join("\n", instance.process().lines())).isEmpty();
	}

	private void assertThatLockIsSeen(String key) {
		List<String> holders = new ArrayList<>();
		Awaitility.await().atMost(Instance.PATIENCE).until(() -> {
			holders.clear();
			holders.addAll(this.database.holders(key));
			return !holders.isEmpty();
		});
		assertThat(holders).hasSize(1);
		assertThat(this.database.lockSessions()).containsAll(holders);
	}

	private void run(Jdk jdk, String log, String... arguments) {
		run(jdk, log, List.of(), arguments);
	}

	private void run(Jdk jdk, String log, List<String> options, String... arguments) {
		List<String> command = new ArrayList<>(Instance.command(jdk));
		command.addAll(options);
		command.addAll(List.of(arguments));
		try (JavaProcess process = JavaProcess.run(this.folder.resolve(log + ".log"), Map.of(), command)) {
			assertThat(process.awaitEnd()).as(() -> String.join("\n", process.lines())).isZero();
		}
	}

	private static void copy(Path from, Path to) throws IOException {
		try (Stream<Path> files = Files.walk(from)) {
			for (Path file : files.filter(Files::isRegularFile).toList()) {
				Path copied = to.resolve(from.relativize(file));
				Files.createDirectories(copied.getParent());
				Files.copy(file, copied);
			}
		}
	}

	/**
	 * What an instance runs on.
	 *
	 * @param jdk the Java
	 * @param virtual whether jobs run on virtual threads
	 */
	record Platform(Jdk jdk, boolean virtual) {

		@Override
		public String toString() {
			return this.jdk + (this.virtual ? ", virtual threads" : "");
		}

	}

}
