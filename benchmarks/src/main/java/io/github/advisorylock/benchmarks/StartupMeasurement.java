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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.springframework.util.Assert;

/**
 * Starts each application in a JVM of its own, in turns, and asks Spring Boot how long it
 * took from {@code SpringApplication.run} to the started event.
 */
final class StartupMeasurement {

	/**
	 * What brings Micrometer, which most applications of this size do not have.
	 */
	private static final String METERS = ".*(micrometer-(core|jakarta9|registry)"
			+ "|starter-micrometer|boot-micrometer|prometheus-metrics|HdrHistogram|LatencyUtils).*";

	/**
	 * What brings rivals, which would have Spring Boot and the library configure more.
	 */
	private static final String RIVALS = ".*(spring-(integration|messaging)|reactor-core|reactive-streams|shedlock)-.*";

	private final String url;

	StartupMeasurement(String url) {
		this.url = url;
	}

	/**
	 * Return the times of each start. The first turn is left out: it warms the caches of
	 * the operating system.
	 */
	Map<StartupVariant, List<Start>> run(int turns) throws IOException, InterruptedException {
		Map<StartupVariant, List<Start>> result = new EnumMap<>(StartupVariant.class);
		for (int turn = 0; turn <= turns; turn++) {
			for (StartupVariant variant : StartupVariant.values()) {
				Start start = start(variant);
				if (turn > 0) {
					result.computeIfAbsent(variant, (absent) -> new ArrayList<>()).add(start);
				}
			}
		}
		return result;
	}

	private Start start(StartupVariant variant) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		command.add(ProcessHandle.current().info().command().orElse("java"));
		command.addAll(List.of("-classpath", classPath(variant.starter()), "-Dspring.datasource.url=" + this.url));
		command.add("-Dspring.application.name=startup");
		command.add(EmptyApplication.class.getName());
		command.addAll(variant.sources());
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

	private static String classPath(boolean starter) {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((element) -> starter || !element.matches(".*advisory-lock-(autoconfigure|starter).*"))
			.filter((element) -> !element.matches(METERS) && !element.matches(RIVALS))
			.collect(Collectors.joining(File.pathSeparator));
	}

	/**
	 * One start in milliseconds: by the clock from {@code SpringApplication.run} on, and
	 * the time of all processors since the JVM began, which a busy machine changes less.
	 */
	record Start(double elapsed, double processors) {

		static Start parse(String text) {
			String[] nanos = text.split(" ", -1);
			return new Start(Long.parseLong(nanos[0]) / 1e6, Long.parseLong(nanos[1]) / 1e6);
		}

	}

}
