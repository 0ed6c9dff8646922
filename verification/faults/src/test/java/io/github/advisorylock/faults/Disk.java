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
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A small file system in memory, which can be full.
 */
final class Disk implements AutoCloseable {

	private static final String OPTIONS = "size=320m,mode=777";

	private static final int PIECE = 65_536;

	private static final boolean POSSIBLE = probe();

	private final Path directory;

	/**
	 * Create a disk.
	 */
	Disk(Path directory) throws IOException {
		this.directory = Files.createDirectories(directory);
		Command.run("mount", "-t", "tmpfs", "-o", OPTIONS, "tmpfs", directory.toString());
	}

	/**
	 * Return whether this machine lets us mount one.
	 */
	static boolean isPossible() {
		return POSSIBLE;
	}

	private static boolean probe() {
		return Command.works("d=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d");
	}

	/**
	 * Write until there is no room left.
	 */
	void fill() {
		byte[] piece = new byte[PIECE];
		try (OutputStream file = Files.newOutputStream(filler())) {
			while (true) {
				file.write(piece);
			}
		}
		catch (IOException ex) {
			// full
		}
	}

	/**
	 * Make room.
	 */
	void free() {
		try {
			Files.deleteIfExists(filler());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Path filler() {
		return this.directory.resolve("filler");
	}

	@Override
	public void close() {
		Command.run("umount", "--lazy", this.directory.toString());
	}

}
