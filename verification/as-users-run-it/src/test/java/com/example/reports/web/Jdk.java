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

package com.example.reports.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * A Java that is there.
 *
 * @param java its command
 * @param feature its version, as 17
 */
record Jdk(Path java, int feature) {

	private static final Path INSTALLED = Path.of("/usr/lib/jvm");

	private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

	private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

	/**
	 * Return those that {@code -Dinstances.java} names, else the one that runs the tests
	 * and the newest one that is installed, in the order of their versions.
	 */
	static List<Jdk> all() {
		String named = System.getProperty("instances.java");
		if (StringUtils.hasText(named)) {
			return Arrays.stream(named.split(",")).map((java) -> of(Path.of(java.trim()))).toList();
		}
		TreeMap<Integer, Jdk> found = new TreeMap<>();
		newest().ifPresent((jdk) -> found.put(jdk.feature(), jdk));
		Jdk own = of(Path.of(System.getProperty("java.home"), "bin", "java"));
		found.put(own.feature(), own);
		return List.copyOf(found.values());
	}

	/**
	 * Return the newest of them.
	 */
	static Jdk latest() {
		return all().stream().max(Comparator.comparing(Jdk::feature)).orElseThrow();
	}

	boolean hasVirtualThreads() {
		return this.feature >= FIRST_WITH_VIRTUAL_THREADS;
	}

	private static Optional<Jdk> newest() {
		if (!Files.isDirectory(INSTALLED)) {
			return Optional.empty();
		}
		try (Stream<Path> folders = Files.list(INSTALLED)) {
			return folders.map((folder) -> folder.resolve("bin/java"))
				.filter((java) -> Files.isExecutable(java) && Files.exists(release(java)))
				.map(Jdk::of)
				.max(Comparator.comparing(Jdk::feature));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Jdk of(Path java) {
		try {
			Matcher version = VERSION.matcher(Files.readString(release(java)));
			Assert.state(version.find(), () -> "No version of Java stands in " + release(java));
			return new Jdk(java, Integer.parseInt(version.group(1)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Path release(Path java) {
		return java.getParent().resolveSibling("release");
	}

	@Override
	public String toString() {
		return "Java " + this.feature;
	}

}
