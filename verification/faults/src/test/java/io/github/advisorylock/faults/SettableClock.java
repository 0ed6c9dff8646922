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
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * The time of day of an instance, which can be set while it runs. Waits go on as they
 * would if somebody set the clock of its machine.
 */
final class SettableClock {

	private static final String SOURCE = "clock.c";

	private static final boolean POSSIBLE = Command.works("command -v cc");

	private final Path library;

	private final Path file;

	/**
	 * Create a clock that is right.
	 * @param directory has what belongs to a fleet
	 * @param instance whose clock it is
	 */
	SettableClock(Path directory, String instance) {
		this.library = directory.resolve("clock.so");
		this.file = directory.resolve(instance + ".clock");
		if (!Files.exists(this.library)) {
			compile(directory.resolve(SOURCE));
		}
		set(0);
	}

	/**
	 * Return whether this machine has a compiler for it.
	 */
	static boolean isPossible() {
		return POSSIBLE;
	}

	private void compile(Path copy) {
		try (InputStream source = SettableClock.class.getResourceAsStream("/" + SOURCE)) {
			Files.copy(Objects.requireNonNull(source), copy);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Command.run("cc", "-shared", "-fPIC", "-O2", "-o", this.library.toString(), copy.toString(), "-ldl");
	}

	/**
	 * Return the variables that give a JVM this clock.
	 */
	Map<String, String> environment() {
		return Map.of("LD_PRELOAD", this.library.toString(), "CLOCK_FILE", this.file.toString());
	}

	/**
	 * Set the clock.
	 * @param seconds how far it is ahead of the machine's
	 */
	void set(long seconds) {
		try (RandomAccessFile mapped = new RandomAccessFile(this.file.toFile(), "rw")) {
			mapped.writeLong(Long.reverseBytes(seconds));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
