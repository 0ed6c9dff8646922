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

package io.github.advisorylock.benchmarks.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Instances in a few JVMs.
 */
final class Fleet implements AutoCloseable {

	private final List<Process> processes = new ArrayList<>();

	private final List<BufferedReader> answers = new ArrayList<>();

	private final List<PrintWriter> questions = new ArrayList<>();

	private final int instances;

	private final long heap;

	private final double startSeconds;

	/**
	 * Start a fleet.
	 * @param instances how many instances there are
	 * @param jvms in how many JVMs
	 * @param url where their pools lead to
	 * @param properties further properties of each instance
	 */
	Fleet(int instances, int jvms, String url, String... properties) throws IOException {
		this.instances = instances;
		long begin = System.nanoTime();
		for (int i = 0; i < jvms; i++) {
			launch(instances / jvms + ((i < instances % jvms) ? 1 : 0), url, properties);
		}
		AtomicLong heap = new AtomicLong();
		ask(null, (line) -> heap.addAndGet(number("heap ", line)));
		this.heap = heap.get();
		this.startSeconds = (System.nanoTime() - begin) / 1e9;
	}

	private static long number(String name, String line) {
		Assert.state(line.startsWith(name), line);
		return Long.parseLong(line.substring(name.length()));
	}

	private void launch(int share, String url, String... properties) throws IOException {
		List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"),
				"-Xmx1500m", "-Xss256k", "-classpath", System.getProperty("java.class.path"),
				InstanceJvm.class.getName(), Integer.toString(share), url));
		command.addAll(List.of(properties));
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
		this.processes.add(process);
		this.answers.add(process.inputReader());
		this.questions.add(new PrintWriter(process.outputWriter(), true));
	}

	/**
	 * Ask all JVMs at once.
	 * @param question what to ask, or {@code null} to hear what they say anyway
	 * @param lines is told what they say
	 */
	private synchronized void ask(@Nullable String question, Consumer<String> lines) {
		if (question != null) {
			this.questions.forEach((jvm) -> jvm.println(question));
		}
		List<CompletableFuture<List<String>>> heard = this.answers.stream()
			.map((jvm) -> CompletableFuture.supplyAsync(() -> hear(jvm)))
			.toList();
		heard.forEach((answer) -> answer.join().forEach(lines));
	}

	private static List<String> hear(BufferedReader jvm) {
		List<String> lines = new ArrayList<>();
		try {
			for (String line = jvm.readLine(); !InstanceJvm.DONE.equals(line); line = jvm.readLine()) {
				Assert.state(line != null, () -> "A JVM of the fleet has ended: " + lines);
				lines.add(line);
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return lines;
	}

	/**
	 * Return the heap that an instance takes when it has started, in bytes.
	 */
	long heapOfInstance() {
		return this.heap / this.instances;
	}

	int instances() {
		return this.instances;
	}

	double startSeconds() {
		return this.startSeconds;
	}

	/**
	 * Have instances lead.
	 * @param roles how many roles there are
	 */
	void elect(int roles) {
		AtomicLong leaders = new AtomicLong();
		while (leaders.get() != roles) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
			leaders.set(0);
			ask(InstanceJvm.ELECT + roles, (line) -> leaders.addAndGet(number("leaders ", line)));
		}
	}

	/**
	 * Have each instance hold a lock from now on.
	 */
	void hold() {
		ask(InstanceJvm.HOLD, (line) -> number("nothing else ", line));
	}

	/**
	 * Have all instances want the same jobs at one instant, and see that they share them.
	 * @return what they say of it
	 */
	Round play(Use use, int jobs) {
		Round round = new Round(jobs);
		Call call = new Call(use, jobs, Instant.now(), System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500));
		ask(call.format(), round::hear);
		round.check(use, this.instances);
		return round;
	}

	@Override
	public void close() throws IOException {
		this.questions.forEach(PrintWriter::close);
		for (Process process : this.processes) {
			process.onExit().orTimeout(2, TimeUnit.MINUTES).join();
		}
	}

}
