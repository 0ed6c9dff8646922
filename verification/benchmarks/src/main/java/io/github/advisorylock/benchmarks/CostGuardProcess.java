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

package io.github.advisorylock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.springframework.util.Assert;

/**
 * Runs {@link CostGuard} in a JVM of its own, on a server that nobody else uses.
 */
final class CostGuardProcess {

	/**
	 * Gives the instance a name of 20 characters, whatever number its process has: it is
	 * written to the server's log with each recorded run.
	 */
	private static final String WITH_NAME = "export HOSTNAME=$(printf \"%0$((19 - ${#$}))d\" 0); exec \"$@\"";

	private CostGuardProcess() {
	}

	/**
	 * Measure in a JVM of its own.
	 * @param countsOnly whether to leave out what a busy machine changes, ratios of
	 * processor time
	 */
	static List<CostGuard.Row> run(boolean countsOnly) throws IOException, InterruptedException {
		Assert.state(ProcessorClock.isSupported() || !"required".equals(System.getenv("TEST_TOOLS")),
				"Without /proc/self/schedstat nothing is known of processor time");
		Path results = Files.createTempFile("cost-guard", ".txt");
		try (BenchmarkServer server = BenchmarkServer.startQuiet()) {
			List<String> command = new ArrayList<>(List.of("sh", "-c", WITH_NAME, "sh"));
			command.add(ProcessHandle.current().info().command().orElse("java"));
			command.addAll(List.of("-classpath", System.getProperty("java.class.path")));
			// No heartbeat counts
			command.add("-Dadvisory-lock.session.heartbeat=1h");
			command.add("-Dadvisory-lock.session.dead-client-timeout=2h");
			for (String property : List.of(CostGuard.SLOWER, CostGuard.MORE_STATEMENTS)) {
				command.add("-D" + property + "=" + System.getProperty(property, ""));
			}
			command.add("-D" + CostGuard.COUNTS_ONLY + "=" + countsOnly);
			command.addAll(List.of(CostGuard.class.getName(), server.url(), results.toString()));
			int code = new ProcessBuilder(command).inheritIO().start().waitFor();
			Assert.state(code == 0, () -> "The guard ended with " + code);
			return Files.readAllLines(results).stream().map(CostGuard.Row::parse).toList();
		}
		finally {
			Files.delete(results);
		}
	}

}
