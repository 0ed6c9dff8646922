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

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * Starts each application in a JVM of its own, in turns, and asks Spring Boot how long it
 * took from {@code SpringApplication.run} to the started event.
 */
final class StartupMeasurement implements AutoCloseable {

	private final Map<GeneratedBeans, Path> directories = new HashMap<>();

	private final String url;

	StartupMeasurement(String url) {
		this.url = url;
	}

	/**
	 * Return the times of each start, of one turn at least. Of several, the first is left
	 * out: it warms the caches of the operating system.
	 */
	Map<StartupVariant, List<Start>> run(int turns, List<StartupVariant> variants)
			throws IOException, InterruptedException, SQLException {
		if (variants.stream().anyMatch((variant) -> variant.starter().isRival())) {
			NightlyJobs.createTables(this.url);
		}
		Map<StartupVariant, List<Start>> result = new EnumMap<>(StartupVariant.class);
		for (int turn = 0; turn <= turns; turn++) {
			for (StartupVariant variant : variants) {
				Start start = start(variant);
				if (turn > 0 || turns == 0) {
					result.computeIfAbsent(variant, (absent) -> new ArrayList<>()).add(start);
				}
			}
		}
		return result;
	}

	private Start start(StartupVariant variant) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		command.add(ProcessHandle.current().info().command().orElse("java"));
		GeneratedBeans generated = variant.generated();
		String classPath = variant.starter().classPath();
		command.addAll(List.of("-classpath",
				(generated != null) ? directory(generated) + File.pathSeparator + classPath : classPath));
		command.add("-Dspring.datasource.url=" + this.url);
		command.add("-Dspring.application.name=startup");
		command.addAll(variant.starter().properties());
		if (variant == StartupVariant.STARTER_LEDGER) {
			command.add("-Dadvisory-lock.ledger.initialize-schema=always");
		}
		command.add(EmptyApplication.class.getName());
		command.addAll(variant.sources());
		if (generated != null) {
			command.add(GeneratedBeans.CONFIGURATION);
		}
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		List<String> lines;
		try (BufferedReader output = process.inputReader()) {
			lines = output.lines().toList();
		}
		Assert.state(process.waitFor() == 0, () -> "The application failed: " + lines);
		return lines.stream()
			.filter((line) -> line.startsWith(EmptyApplication.RESULT))
			.map((line) -> Start.parse(line.substring(EmptyApplication.RESULT.length())))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Return where the classes of an application are, which are compiled once.
	 */
	private Path directory(GeneratedBeans beans) throws IOException {
		Path known = this.directories.get(beans);
		if (known != null) {
			return known;
		}
		Path directory = Files.createTempDirectory("generated-beans");
		beans.compile(directory, Starter.OURS.classPath());
		this.directories.put(beans, directory);
		return directory;
	}

	@Override
	public void close() throws IOException {
		for (Path directory : this.directories.values()) {
			FileSystemUtils.deleteRecursively(directory);
		}
	}

	/**
	 * One start in milliseconds and megabytes: by the clock from
	 * {@code SpringApplication.run} on, and the time of all processors since the JVM
	 * began, which a busy machine changes less; the heap that is in use afterwards; and
	 * how many classes were loaded, which no machine changes.
	 */
	record Start(double elapsed, double processors, double heap, int classes) {

		static Start parse(String text) {
			String[] nanos = text.split(" ", -1);
			return new Start(Long.parseLong(nanos[0]) / 1e6, Long.parseLong(nanos[1]) / 1e6,
					Long.parseLong(nanos[2]) / 1048576.0, Integer.parseInt(nanos[3]));
		}

	}

}
