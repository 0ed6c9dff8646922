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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for intervals whose runner is killed while it remembers one: another instance
 * runs when it is called next, which is within an interval.
 */
@Tag("chaos")
class KilledPollTests {

	private static final Log logger = LogFactory.getLog(KilledPollTests.class);

	@TempDir
	private Path directory;

	private final List<JavaProcess> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() {
		this.instances.forEach(JavaProcess::close);
	}

	@ParameterizedTest
	@ValueSource(strings = { "polled-at-rate", "polled-with-delay" })
	void nextCallOfAnotherInstanceRuns(String key) {
		start();
		start();
		String memory = lockOf("advisory-lock:interval:" + key + "@0");
		JavaProcess victim = Awaitility.await().until(() -> runner(key, memory), Objects::nonNull);
		JavaProcess other = this.instances.get(1 - this.instances.indexOf(victim));
		long killed = System.currentTimeMillis();
		victim.kill();
		Awaitility.await().until(() -> !TestPostgres.locks().contains(memory));
		int said = lines(other, key).size();
		Awaitility.await().until(() -> lines(other, key).size() > said);
		String next = lines(other, key).get(said);
		assertThat(next).startsWith("Ran: " + key);
		long begin = Long.parseLong(next.substring(next.lastIndexOf(' ') + 1));
		logger
			.info("'" + key + "' began again " + (begin - killed) + " ms after its runner was killed; its interval is "
					+ Duration.parse(PollingApplication.INTERVAL).toMillis() + " ms");
	}

	private void start() {
		JavaProcess instance = JavaProcess.start(this.directory.resolve(this.instances.size() + ".log"),
				PollingApplication.class, "--spring.datasource.url=" + TestPostgres.url());
		this.instances.add(instance);
		instance.awaitLine("Started");
	}

	/**
	 * Return the instance that remembers the interval, once the other one was skipped in
	 * it.
	 */
	private @Nullable JavaProcess runner(String key, String memory) {
		List<JavaProcess> ran = this.instances.stream()
			.filter((instance) -> lines(instance, key).stream().reduce("", (one, next) -> next).startsWith("Ran: "))
			.toList();
		boolean skipped = this.instances.stream()
			.anyMatch((instance) -> lines(instance, key).stream().anyMatch((line) -> line.startsWith("Skipped: ")));
		return (ran.size() == 1 && skipped && TestPostgres.locks().contains(memory)) ? ran.get(0) : null;
	}

	private static String lockOf(String name) {
		return PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("polling", name)).replace(':', '/');
	}

	private static List<String> lines(JavaProcess instance, String key) {
		return instance.lines()
			.stream()
			.filter((line) -> line.startsWith("Ran: " + key) || line.startsWith("Skipped: " + key))
			.toList();
	}

}
