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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A clock that is wrong, for another JVM.
 */
public final class WrongClock {

	private static final Path LIBRARIES = Path.of("/usr/lib");

	private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

	private WrongClock() {
	}

	/**
	 * Return the variables that give a JVM its clock.
	 * @param skew how far the clock is ahead
	 */
	public static Map<String, String> environment(Duration skew) {
		// Both clocks: with the monotonic one left alone, waits of the JVM end at once
		return skew.isZero() ? Map.of()
				: Map.of("LD_PRELOAD", library().toString(), "FAKETIME", "%+.3f".formatted(skew.toMillis() / 1000.0));
	}

	/**
	 * Debian keeps it in the directory of the processor's architecture.
	 */
	private static Path library() {
		if (Files.isDirectory(LIBRARIES)) {
			try (Stream<Path> directories = Files.list(LIBRARIES)) {
				List<Path> found = directories.map((directory) -> directory.resolve(LIBRARY))
					.filter(Files::isReadable)
					.toList();
				if (!found.isEmpty()) {
					return found.get(0);
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		throw new IllegalStateException("This test needs a clock that can be wrong: 'apt-get install libfaketime', "
				+ "and then " + LIBRARIES + "/*/" + LIBRARY);
	}

}
