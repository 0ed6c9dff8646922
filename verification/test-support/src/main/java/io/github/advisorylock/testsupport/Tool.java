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
import java.util.Arrays;

import org.junit.jupiter.api.Assumptions;

import org.springframework.util.Assert;

/**
 * A program that a test needs and a machine may lack. The test is skipped there, but
 * fails where {@code TEST_TOOLS=required} is in the environment: {@code .ci/run} installs
 * them all.
 */
public final class Tool {

	private Tool() {
	}

	/**
	 * Skip the test unless a command can be run.
	 * @param command the command, which ends with 0 if the program will do
	 */
	public static void assumeRuns(String... command) {
		boolean there = runs(command);
		if ("required".equals(System.getenv("TEST_TOOLS"))) {
			Assert.state(there, () -> "This machine lacks what is needed for " + Arrays.toString(command));
		}
		Assumptions.assumeTrue(there, () -> "This machine lacks what is needed for " + Arrays.toString(command));
	}

	private static boolean runs(String... command) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			process.getInputStream().transferTo(OutputStream.nullOutputStream());
			return process.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
