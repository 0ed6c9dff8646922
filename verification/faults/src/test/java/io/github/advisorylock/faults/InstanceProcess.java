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
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.awaitility.Awaitility;

/**
 * The JVM of an {@link Instance}, with its history.
 */
final class InstanceProcess {

	/**
	 * Less than a run lasts, in milliseconds.
	 */
	private static final long FRESH = 150;

	private final String name;

	private final Process process;

	private final Path log;

	private final Path history;

	private final List<Event> events = new ArrayList<>();

	private long read;

	/**
	 * Start an instance.
	 * @param jvm what it runs on
	 * @param prefix the command to run the JVM with
	 * @param environment variables for its environment
	 * @param options options for the JVM
	 */
	InstanceProcess(Jvm jvm, Path directory, Class<? extends Contestant> contestant, ContestantSettings settings,
			Duration length, List<String> prefix, Map<String, String> environment, List<String> options) {
		this.name = settings.instance();
		this.log = directory.resolve(this.name + ".log");
		this.history = directory.resolve(this.name + ".history");
		List<String> command = new ArrayList<>(prefix);
		command.addAll(jvm.command(options));
		command.addAll(List.of(contestant.getName(), this.history.toString(), settings.url(), settings.user(),
				settings.password(), this.name, Long.toString(settings.period().toMillis()),
				Long.toString(length.toMillis())));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(this.log.toFile());
		builder.environment().putAll(environment);
		try {
			Files.createFile(this.history);
			this.process = builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String name() {
		return this.name;
	}

	/**
	 * Wait until the instance has started.
	 */
	void awaitStart() {
		Awaitility.await("start of " + this.name)
			.atMost(Duration.ofMinutes(10))
			.pollInterval(Duration.ofMillis(100))
			.failFast(() -> {
				if (!this.process.isAlive()) {
					throw new IllegalStateException(this.name + " has ended:\n" + Files.readString(this.log));
				}
			})
			.until(() -> Files.readString(this.log).contains(Instance.STARTED));
	}

	/**
	 * Have the runs of the instance interrupted.
	 */
	void interrupt() {
		try {
			this.process.getOutputStream().write((Instance.INTERRUPT + "\n").getBytes(StandardCharsets.UTF_8));
			this.process.getOutputStream().flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Send a signal.
	 */
	void signal(String signal) {
		Command.run("kill", "-" + signal, Long.toString(this.process.pid()));
	}

	/**
	 * Kill without a warning, and wait.
	 */
	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	/**
	 * Stop in order.
	 */
	void stop() throws IOException {
		this.process.getOutputStream().close();
	}

	/**
	 * Wait until the instance has stopped in order.
	 */
	void awaitStop() throws Exception {
		if (!this.process.waitFor(90, TimeUnit.SECONDS)) {
			signal("QUIT");
			this.process.waitFor(2, TimeUnit.SECONDS);
			kill();
			throw new IllegalStateException(this.name + " does not stop:\n" + Files.readString(this.log));
		}
	}

	/**
	 * Return whether a run of one of certain keys has just begun.
	 */
	boolean isAtWork(Predicate<String> keys) {
		long now = History.uptime();
		List<Event> said = events();
		for (int i = said.size() - 1; i >= 0 && now - said.get(i).at() < FRESH; i--) {
			if (said.get(i).kind() == Event.Kind.START && keys.test(said.get(i).key())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Return what the history says so far.
	 */
	List<Event> events() {
		try (RandomAccessFile file = new RandomAccessFile(this.history.toFile(), "r")) {
			byte[] bytes = new byte[(int) (file.length() - this.read)];
			file.seek(this.read);
			file.readFully(bytes);
			int end = bytes.length;
			while (end > 0 && bytes[end - 1] != '\n') {
				end--;
			}
			this.read += end;
			new String(bytes, 0, end, StandardCharsets.UTF_8).lines().map(Event::parse).forEach(this.events::add);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return this.events;
	}

}
