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

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What an instance writes of its runs: one line for each event, in a file of its own that
 * is only appended to, so that what a killed process has written is there.
 */
final class History implements AutoCloseable {

	private static final Path UPTIME = Path.of("/proc/uptime");

	private static final Path STATISTICS = Path.of("/proc/stat");

	private static final String START = "btime ";

	private final OutputStream file;

	private final String instance;

	private final AtomicLong runs = new AtomicLong();

	History(Path file, String instance) throws IOException {
		this.file = new FileOutputStream(file.toFile(), true);
		this.instance = instance;
	}

	/**
	 * Return the name of a run that begins.
	 */
	String nextRun() {
		return this.instance + "#" + this.runs.incrementAndGet();
	}

	/**
	 * Write an event.
	 */
	void write(Event.Kind kind, String run, String key, @Nullable Instant tick, @Nullable Long token) {
		Event event = new Event(kind, run, this.instance, key, tick, token, uptime(), System.currentTimeMillis(),
				Jvm.isOnVirtualThread());
		synchronized (this.file) {
			try {
				this.file.write((event.toLine() + "\n").getBytes(StandardCharsets.UTF_8));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/**
	 * Return the milliseconds since the machine was started: a clock that all processes
	 * share, and that nobody's wrong clock moves.
	 */
	static long uptime() {
		try {
			String line = Files.readString(UPTIME);
			return Math.round(Double.parseDouble(line.substring(0, line.indexOf(' '))) * 1000);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return the time by that clock.
	 */
	static Instant now() {
		try (Stream<String> lines = Files.lines(STATISTICS)) {
			long start = lines.filter((line) -> line.startsWith(START))
				.mapToLong((line) -> Long.parseLong(line.substring(START.length())))
				.findFirst()
				.orElseThrow();
			return Instant.ofEpochSecond(start).plusMillis(uptime());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.file.close();
	}

}
