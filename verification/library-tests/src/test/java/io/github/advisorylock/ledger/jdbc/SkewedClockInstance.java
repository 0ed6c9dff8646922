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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.WrongClock;
import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A {@link SkewedClockApplication} in a JVM of its own, with a clock that is wrong.
 */
final class SkewedClockInstance implements AutoCloseable {

	private final Duration skew;

	private final Path log;

	private final Process process;

	private SkewedClockInstance(Duration skew, Path log, Process process) {
		this.skew = skew;
		this.log = log;
		this.process = process;
	}

	/**
	 * Start an instance.
	 * @param skew how far its clock is ahead
	 * @param cron its schedule
	 */
	static SkewedClockInstance start(Duration skew, Path directory, String cron) throws IOException {
		Path log = Files.createTempFile(directory, "ahead-by" + skew.toMillis(), ".log");
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", System.getProperty("java.class.path"),
				SkewedClockApplication.class.getName(), "--spring.datasource.url=" + TestPostgres.url(),
				"--spring.datasource.hikari.maximum-pool-size=2", "--cron=" + cron)
			.redirectErrorStream(true)
			.redirectOutput(log.toFile());
		builder.environment().putAll(WrongClock.environment(skew));
		return new SkewedClockInstance(skew, log, builder.start());
	}

	/**
	 * Wait until the instance is up, and make sure that its clock is as wrong as it is
	 * meant to be.
	 */
	void awaitStart() {
		String line = Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(100))
			.until(() -> lines().stream().filter((said) -> said.startsWith("Ahead by ")).findFirst().orElse(""),
					(said) -> !said.isEmpty() || !this.process.isAlive());
		assertThat(line).as(() -> this + " said " + lines()).isNotEmpty();
		long ahead = Long.parseLong(line.split(" ")[2]);
		assertThat(ahead).as("clock of " + this).isBetween(this.skew.toMillis() - 100, this.skew.toMillis() + 100);
	}

	long pid() {
		return this.process.pid();
	}

	/**
	 * Send the instance a signal, such as {@code STOP} or {@code CONT}.
	 */
	void signal(String name) throws IOException, InterruptedException {
		assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(pid())).start().waitFor()).isZero();
	}

	/**
	 * Count what the instance has skipped, by outcome.
	 */
	Map<String, Long> skips() {
		return lines().stream()
			.filter((line) -> line.startsWith("Skipped: "))
			.collect(Collectors.groupingBy((line) -> line.substring("Skipped: ".length()), Collectors.counting()));
	}

	/**
	 * Close the input, which is what the instance would see if this JVM died.
	 */
	@Override
	public void close() throws IOException, InterruptedException {
		this.process.getOutputStream().close();
		if (!this.process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)) {
			this.process.destroyForcibly();
		}
	}

	private List<String> lines() {
		try {
			return Files.readAllLines(this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public String toString() {
		return "instance whose clock is ahead by " + this.skew.toMillis() + " ms";
	}

}
