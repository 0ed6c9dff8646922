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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Instances of one contestant on a database of their own, under one kind of fault.
 */
final class RivalTrial implements AutoCloseable {

	private static final String USER = "postgres";

	private final Rival rival;

	private final TestServer server;

	private final Path directory;

	private final Duration period;

	private final Duration length;

	private final List<Member> members = new ArrayList<>();

	private int processes;

	RivalTrial(Rival rival, TestServer server, Path directory, Duration period, Duration length) {
		this.rival = rival;
		this.server = server;
		this.directory = directory;
		this.period = period;
		this.length = length;
	}

	/**
	 * Start the instances, and wait until they are up: the first alone, since some
	 * contestants can't create their tables from two at a time.
	 */
	void start(int instances) throws IOException {
		Files.createDirectories(this.directory);
		String database = database();
		this.server.execute("CREATE DATABASE " + database);
		TestPostgres.execute(url(database) + "?user=" + USER, RecordedWork.TABLE);
		for (int i = 1; i <= instances; i++) {
			this.members.add(new Member("instance-" + i));
			if (i == 1) {
				awaitStart(this.members.get(0).process);
			}
		}
		this.members.forEach((member) -> awaitStart(member.process));
	}

	/**
	 * Wait until a process says that it is up, on a busy machine too.
	 */
	static void awaitStart(JavaProcess process) {
		Awaitility.await()
			.atMost(Duration.ofMinutes(4))
			.pollInterval(Duration.ofMillis(100))
			.until(process::lines, (lines) -> lines.contains(Instance.STARTED));
	}

	private String database() {
		return this.directory.getFileName().toString().replace('-', '_');
	}

	private String url(String database) {
		return "jdbc:postgresql://127.0.0.1:" + this.server.port() + "/" + database;
	}

	/**
	 * Return the arguments of one more process.
	 */
	List<String> arguments(String instance) {
		Path history = this.directory.resolve("history-" + this.processes++ + ".txt");
		return List.of(this.rival.contestant().getName(), history.toString(), url(database()), USER, USER, instance,
				Long.toString(this.period.toMillis()), Long.toString(this.length.toMillis()));
	}

	/**
	 * Create the database only, for instances that others start.
	 */
	void createDatabase() throws IOException {
		start(0);
	}

	/**
	 * Wait until a run has been under way for half a second, and return who runs it.
	 * @return nobody when no run begins within the given time
	 */
	Optional<Member> awaitRun(Duration atMost) {
		long after = System.currentTimeMillis();
		Optional<Event> start = await(atMost, (event) -> event.wall() > after);
		start.ifPresent((event) -> sleepUntil(event.wall() + 500));
		return start.map((event) -> member(event.instance()));
	}

	/**
	 * Return how many milliseconds after the given time a run began somewhere else.
	 */
	OptionalLong takeover(Member victim, long since, Duration atMost) {
		return await(atMost, (event) -> event.wall() > since && !event.instance().equals(victim.name))
			.map((event) -> OptionalLong.of(event.wall() - since))
			.orElse(OptionalLong.empty());
	}

	private Optional<Event> await(Duration atMost, Predicate<Event> condition) {
		try {
			return Awaitility.await()
				.atMost(atMost)
				.pollInterval(Duration.ofMillis(50))
				.until(() -> histories().stream()
					.flatMap(List::stream)
					.filter((event) -> event.kind() == Event.Kind.START)
					.filter(condition)
					.min(Comparator.comparingLong(Event::wall)), Optional::isPresent);
		}
		catch (ConditionTimeoutException ex) {
			return Optional.empty();
		}
	}

	private Member member(String name) {
		return this.members.stream().filter((member) -> member.name.equals(name)).findFirst().orElseThrow();
	}

	/**
	 * End all connections that the contestant and its runs have.
	 */
	void terminate() {
		this.server.query(
				"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '" + database() + "'");
	}

	/**
	 * Return what the processes have written, each on its own.
	 */
	List<List<Event>> histories() {
		try (Stream<Path> files = Files.list(this.directory)) {
			List<List<Event>> histories = new ArrayList<>();
			for (Path file : files.filter((path) -> path.getFileName().toString().startsWith("history")).toList()) {
				String text = Files.readString(file);
				histories.add(text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Event::parse).toList());
			}
			return histories;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Judge what they have written so far.
	 */
	RivalVerdict verdict(long from, long to) {
		return RivalVerdict.of(histories(), this.period, from, to);
	}

	/**
	 * Let time pass that is part of what is measured.
	 */
	static void sleepUntil(long time) {
		try {
			Thread.sleep(Math.max(0, time - System.currentTimeMillis()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.members.forEach((member) -> member.process.kill());
	}

	/**
	 * An instance, which may be started again.
	 */
	final class Member {

		private final String name;

		private JavaProcess process;

		private Member(String name) {
			this.name = name;
			this.process = launch();
		}

		private JavaProcess launch() {
			List<String> arguments = arguments(this.name);
			return JavaProcess.start(RivalTrial.this.directory.resolve("log-" + RivalTrial.this.processes + ".txt"),
					Instance.class, arguments.toArray(String[]::new));
		}

		void kill() {
			this.process.kill();
		}

		/**
		 * Start it again under its name, and wait until it is up.
		 */
		void restart() {
			this.process = launch();
			awaitStart(this.process);
		}

		/**
		 * Send a signal that Java has no method for.
		 */
		void signal(String signal) {
			try {
				new ProcessBuilder("kill", "-" + signal, Long.toString(this.process.pid())).start().waitFor();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
