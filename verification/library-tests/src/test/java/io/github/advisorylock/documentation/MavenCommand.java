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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the commands of Maven that documents name consist of.
 */
final class MavenCommand {

	/**
	 * Of plugins.
	 */
	private static final Set<String> PROPERTIES = Set.of("skipTests", "test", "jvm", "targetClasses", "targetTests",
			"rewrite.recipeArtifactCoordinates", "rewrite.activeRecipes");

	private static final List<String> SOURCES = modules()
		.flatMap((module) -> read(module.resolve("src"), Integer.MAX_VALUE, ".java"))
		.toList();

	private static final Pattern FENCED = Pattern.compile("(?ms)^ *(```+).*?^ *\\1$");

	private static final Pattern INLINE = Pattern.compile("`([^`]+)`");

	private static final Pattern OPTION = Pattern.compile("(?<![\\w-])-(D|P)([a-z][\\w.-]*)");

	private static final Pattern TESTS = Pattern.compile("-Dtest=([\\w,]+)");

	private MavenCommand() {
	}

	/**
	 * Return what documents say in the middle of a sentence, by places.
	 */
	static Map<String, List<String>> inline() {
		Map<String, List<String>> texts = new LinkedHashMap<>();
		Documentation.documents()
			.forEach((file, document) -> texts.put(file.toString(),
					INLINE.matcher(FENCED.matcher(document).replaceAll(""))
						.results()
						.map((match) -> match.group(1).replaceAll("\\s+", " "))
						.toList()));
		return texts;
	}

	/**
	 * The options of a text are known to a POM or to a source, and so are its tests.
	 */
	static void checkOptions(String text) {
		assertThat(OPTION.matcher(text).results().filter((option) -> !isKnown(option)).map(MatchResult::group))
			.as("options that nobody knows")
			.isEmpty();
		Set<String> tests = Documentation.tests().keySet();
		assertThat(TESTS.matcher(text)
			.results()
			.flatMap((named) -> Stream.of(named.group(1).split(",")))
			.filter((test) -> !tests.contains(test))).as("tests that do not exist").isEmpty();
	}

	private static boolean isKnown(MatchResult option) {
		String name = option.group(2);
		if (option.group(1).equals("P")) {
			return poms().contains("<id>" + name + "</id>");
		}
		return PROPERTIES.contains(name) || poms().contains("<" + name + ">") || poms().contains("${" + name + "}")
				|| isReadBySource(name);
	}

	private static String poms() {
		return read(Documentation.ROOT, 3, "pom.xml").collect(Collectors.joining());
	}

	private static boolean isReadBySource(String property) {
		Pattern reading = Pattern
			.compile("(\\.get(Property|Integer|Long|Boolean)|\\b(property|list))\\(\"%1$s\"|String [A-Z_]+ = \"%1$s\""
				.formatted(Pattern.quote(property)));
		return SOURCES.stream().anyMatch((source) -> reading.matcher(source).find());
	}

	private static Stream<Path> modules() {
		return list(Documentation.ROOT, 2).filter((path) -> Files.isDirectory(path.resolve("src")));
	}

	private static Stream<String> read(Path directory, int depth, String name) {
		return list(directory, depth).filter((file) -> file.toString().endsWith(name)).map(Documentation::read);
	}

	private static Stream<Path> list(Path directory, int depth) {
		try (Stream<Path> files = Files.walk(directory, depth)) {
			return files.toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
