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

package io.github.advisorylock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The project's files, as tests that run in a module see them.
 */
final class Documentation {

	static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

	private Documentation() {
	}

	static List<CodeBlock> codeBlocks() {
		return files().flatMap((file) -> CodeBlock.parse(ROOT.relativize(file).toString(), read(file)).stream())
			.toList();
	}

	/**
	 * Return the documents for users and contributors, each with its path.
	 */
	static Map<Path, String> documents() {
		Map<Path, String> documents = new TreeMap<>();
		files().forEach((file) -> documents.put(ROOT.relativize(file), read(file)));
		return documents;
	}

	/**
	 * Return the sources of all tests, by the names of their classes.
	 */
	static Map<String, String> tests() {
		Map<String, String> tests = new TreeMap<>();
		for (Path module : list(ROOT, 2)) {
			for (Path file : list(module.resolve("src/test/java"), Integer.MAX_VALUE)) {
				String name = file.getFileName().toString();
				if (name.endsWith("Tests.java")) {
					tests.put(name.replace(".java", ""), read(file));
				}
			}
		}
		return tests;
	}

	/**
	 * Return where the sources of the jars begin.
	 */
	static List<Path> sources() {
		return list(ROOT, 1).stream()
			.filter((module) -> module.getFileName().toString().matches("advisory-lock-(?!test|rewrite).*"))
			.map((module) -> module.resolve("src/main/java"))
			.filter(Files::isDirectory)
			.toList();
	}

	/**
	 * Return the models of what is promised, by their paths.
	 */
	static Map<String, String> models() {
		Map<String, String> models = new TreeMap<>();
		for (Path file : list(ROOT.resolve("verification/models"), 1)) {
			if (file.toString().endsWith(".als")) {
				models.put(ROOT.relativize(file).toString(), read(file));
			}
		}
		return models;
	}

	static String read(Path file) {
		try {
			return Files.readString(ROOT.resolve(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<Path> files() {
		Stream<Path> others = Stream.concat(
				Stream.of("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md").map(ROOT::resolve),
				list(ROOT.resolve("verification"), 2).stream().filter((file) -> file.endsWith("README.md")));
		return Stream.concat(others, list(ROOT.resolve("docs"), Integer.MAX_VALUE).stream()
			.filter((file) -> file.toString().endsWith(".md")));
	}

	private static List<Path> list(Path directory, int depth) {
		if (!Files.isDirectory(directory)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(directory, depth)) {
			return files.sorted().toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
