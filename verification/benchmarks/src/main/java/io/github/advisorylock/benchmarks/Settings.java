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

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How thoroughly to measure, and what.
 */
record Settings(boolean quick, int rounds, int seconds, int startups, int calls, List<String> parts,
		List<Integer> fleets, Path output, @Nullable Path history) {

	static Settings fromSystemProperties() {
		boolean quick = Boolean.getBoolean("quick");
		return new Settings(quick, quick ? 1 : 3, quick ? 1 : 2, quick ? 0 : 11, quick ? 100 : 2000,
				list("benchmarks.parts", "cost,meters,takeover,schedulers,crowd,startup,methods,guard"),
				list("benchmarks.fleets", quick ? "3" : "3,30,300").stream().map(Integer::valueOf).toList(),
				Path.of(System.getProperty("benchmarks.output", "target/benchmarks.json")), historyFile());
	}

	private static @Nullable Path historyFile() {
		String value = property("benchmarks.history", "");
		return value.isEmpty() ? null : Path.of(value);
	}

	private static List<String> list(String name, String defaultValue) {
		return Arrays.stream(property(name, defaultValue).split(",")).filter((element) -> !element.isBlank()).toList();
	}

	private static String property(String name, String defaultValue) {
		String value = System.getProperty(name, "");
		return value.isBlank() ? defaultValue : value;
	}

}
