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
import java.nio.charset.StandardCharsets;

/**
 * A program of the machine.
 */
final class Command {

	private Command() {
	}

	/**
	 * Return whether a shell can run a command.
	 */
	static boolean works(String command) {
		try {
			run("sh", "-c", command);
			return true;
		}
		catch (IllegalStateException | UncheckedIOException ex) {
			return false;
		}
	}

	/**
	 * Run a command, which must end with 0.
	 */
	static void run(String... command) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			int code = process.waitFor();
			if (code != 0) {
				throw new IllegalStateException(
						String.join(" ", command) + " ended with " + code + ": " + output.strip());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
