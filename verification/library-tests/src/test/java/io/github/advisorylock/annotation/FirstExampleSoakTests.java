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

package io.github.advisorylock.annotation;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.WrongClock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the first example of the README in JVMs of their own, whose clocks differ by
 * as many milliseconds as said: each tick is run once, by one of them, in either scope.
 * For 60 ticks, or as long as {@code -Dsoak} says.
 */
@Tag("chaos")
class FirstExampleSoakTests {

	private static final Log logger = LogFactory.getLog(FirstExampleSoakTests.class);

	private static final Duration DURATION = Duration.parse(System.getProperty("soak", "PT2M"));

	private static final long GAP = FirstExampleApplication.GAP.toSeconds();

	@TempDir
	private Path directory;

	private final List<JavaProcess> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() {
		this.instances.forEach(JavaProcess::close);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0 0", "0 300", "0 -300", "0 0 300 300 -300" })
	void everyTickRunsOnce(String clocks) {
		for (String skew : clocks.split(" ")) {
			start(Duration.ofMillis(Long.parseLong(skew)));
		}
		long first = Instant.now().getEpochSecond() / GAP * GAP + 2 * GAP;
		long last = first + DURATION.toSeconds() / GAP * GAP - GAP;
		Awaitility.await()
			.atMost(DURATION.plusMinutes(1))
			.pollInterval(Duration.ofMillis(500))
			.until(() -> Instant.now().getEpochSecond() > last + GAP);
		report(clocks);
		for (LockScope scope : LockScope.values()) {
			assertThat(runs(scope, first, last)).as("ticks in scope " + scope)
				.isEqualTo(LongStream.iterate(first, (tick) -> tick <= last, (tick) -> tick + GAP).boxed().toList());
		}
	}

	/**
	 * One after the other: five at a time need minutes on a small machine.
	 */
	private void start(Duration skew) {
		JavaProcess instance = JavaProcess.start(this.directory.resolve(this.instances.size() + ".log"),
				WrongClock.environment(skew), FirstExampleApplication.class,
				"--spring.datasource.url=" + TestPostgres.url());
		this.instances.add(instance);
		instance.awaitLine("Started");
	}

	private List<Long> runs(LockScope scope, long first, long last) {
		String said = "Ran: " + scope + " ";
		return lines().filter((line) -> line.startsWith(said))
			.map((line) -> Long.valueOf(line.substring(said.length())))
			.filter((tick) -> first <= tick && tick <= last)
			.sorted()
			.toList();
	}

	private void report(String clocks) {
		logger.info("Clocks ahead by " + clocks + " ms: " + count("Ran: TRANSACTION") + " and " + count("Ran: SESSION")
				+ " runs, skipped " + count("Skipped: BUSY") + " as busy and " + count("Skipped: ALREADY_RAN")
				+ " as run already");
	}

	private long count(String start) {
		return lines().filter((line) -> line.startsWith(start)).count();
	}

	private Stream<String> lines() {
		return this.instances.stream().flatMap((instance) -> instance.lines().stream());
	}

}
