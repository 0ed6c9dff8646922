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

package io.github.advisorylock.testsupport;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM of its own, to be stopped or killed.
 */
public final class JavaProcess implements AutoCloseable {

	private final Process process;

	private final Path log;

	private JavaProcess(Process process, Path log) {
		this.process = process;
		this.log = log;
	}

	/**
	 * Start a class of the test class path, which logs to the given file.
	 */
	public static JavaProcess start(Path log, Class<?> main, String... arguments) {
		return start(log, Map.of(), main, arguments);
	}

	/**
	 * As {@link #start(Path, Class, String...)}, with variables in the environment.
	 */
	public static JavaProcess start(Path log, Map<String, String> environment, Class<?> main, String... arguments) {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		List<String> command = Stream
			.concat(Stream.of(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
					System.getProperty("java.class.path"), main.getName()), Stream.of(arguments))
			.toList();
		return run(log, environment, command);
	}

	/**
	 * Run a command that is a JVM, which logs to the given file.
	 */
	public static JavaProcess run(Path log, Map<String, String> environment, List<String> command) {
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
		builder.environment().putAll(environment);
		try {
			return new JavaProcess(builder.start(), log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public List<String> lines() {
		try {
			return Files.readAllLines(this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return the first line with the given text, once there is one: on a busy machine an
	 * application may take a minute to start.
	 */
	public String awaitLine(String text) {
		return Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.pollInterval(Duration.ofMillis(50))
			.until(() -> lines().stream().filter((line) -> line.contains(text)).findFirst().orElse(""),
					(line) -> !line.isEmpty());
	}

	/**
	 * Write a line to its standard input.
	 */
	public void tell(String line) {
		try {
			OutputStream input = this.process.getOutputStream();
			input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
			input.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Wait until it ends by itself.
	 * @return its exit code
	 */
	public int awaitEnd() {
		assertThat(this.process.onExit()).succeedsWithin(Duration.ofSeconds(60));
		return this.process.exitValue();
	}

	/**
	 * Ask to stop, as Ctrl-C and service managers do, and wait.
	 */
	public void stop() {
		this.process.destroy();
		assertThat(this.process.onExit()).succeedsWithin(Duration.ofSeconds(40));
	}

	/**
	 * Kill without a warning, and wait.
	 */
	public void kill() {
		this.process.destroyForcibly();
		assertThat(this.process.onExit()).succeedsWithin(Patience.TIME);
	}

	public long pid() {
		return this.process.pid();
	}

	@Override
	public void close() {
		if (this.process.isAlive()) {
			stop();
		}
	}

}
