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
import java.util.Arrays;
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
 * A command of Maven that a document names.
 *
 * @param text the command, on one line
 */
record MavenCommand(String text) {

	private static final String FLEET = "mvn verify -Pbenchmarks -pl benchmarks -am -DskipTests -Dbenchmarks.parts=fleet";

	private static final String BENCHMARKS = "mvn verify -Pbenchmarks -pl benchmarks -am -DskipTests";

	private static final String FAULTS = "mvn verify -Pfaults -pl faults -am -Dtest='io/github/advisorylock/faults/*Tests' -Dpostgres=embedded";

	private static final String KILLED = "mvn verify -Pchaos -Dtest.groups=chaos -Dpostgres=embedded -Dsoak=PT30S -Dkills=15 -Dtakeover=1";

	/**
	 * What CI runs in the place of a command, and above it why it does not run that as it
	 * stands.
	 */
	private static final Map<String, String> IN_CI = Map.ofEntries(
			// goes on after a failure, and does not depend on a Docker engine
			Map.entry("mvn verify", "mvn verify --fail-at-end -Dpostgres=embedded"),
			// measures for most of an hour
			Map.entry(BENCHMARKS, BENCHMARKS + " -Dquick=true -Dpostgres=embedded"),
			// measures for hours
			Map.entry(FLEET, FLEET + " -Dquick=true"),
			// the other tests have been run before
			Map.entry("mvn verify -Pbrowser -pl sample-app -am",
					"mvn verify -pl sample-app -am -Pbrowser -Dtest.groups=browser -Dpostgres=embedded"),
			// half of its instances on another Java
			Map.entry(FAULTS, FAULTS + " -Dfaults.java=$java_of_instances"),
			// for less long
			Map.entry("mvn verify -Pchaos", KILLED),
			Map.entry("mvn verify -Pchaos -Dtest=TakeoverTests -Dtakeover=10", KILLED),
			// only what the application that moves depends on
			Map.entry("mvn install -DskipTests",
					"mvn -q install -DskipTests -pl advisory-lock-starter,advisory-lock-rewrite -am"));

	/**
	 * No commands: what one of any goal builds along, and one that changes the sources.
	 */
	private static final Set<String> NEVER_RUN = Set.of("mvn -pl", "mvn spring-javaformat:apply");

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

	private static final Pattern CI = Pattern.compile("mvn -B [^|>&)\n]*");

	private static final Pattern OPTION = Pattern.compile("(?<![\\w-])-(D|P)([a-z][\\w.-]*)");

	private static final Pattern TESTS = Pattern.compile("-Dtest=([\\w,]+)");

	MavenCommand {
		text = text.replaceAll("\\s+", " ").strip();
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

	static Set<String> namesOfExceptions() {
		return Stream.concat(IN_CI.keySet().stream(), NEVER_RUN.stream()).collect(Collectors.toSet());
	}

	/**
	 * CI runs it with the same words, in whatever order, or what stands for it.
	 */
	void check() {
		if (!NEVER_RUN.contains(this.text)) {
			assertThat(commandsOfCi()).as("CI runs '%s'", this.text)
				.contains(words(IN_CI.getOrDefault(this.text, this.text)));
		}
		checkOptions(this.text);
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

	private static Set<String> words(String command) {
		return Arrays.stream(command.split(" "))
			.map((word) -> word.replace("'", ""))
			.filter((word) -> !word.isEmpty() && !word.equals("-B"))
			.collect(Collectors.toSet());
	}

	private static List<Set<String>> commandsOfCi() {
		String script = Documentation.read(Path.of(".ci/run")).replace("\\\n", " ");
		return CI.matcher(script).results().map(MatchResult::group).map(MavenCommand::words).toList();
	}

	private static String poms() {
		return read(Documentation.ROOT, 2, "pom.xml").collect(Collectors.joining());
	}

	private static boolean isReadBySource(String property) {
		Pattern reading = Pattern
			.compile("(\\.get(Property|Integer|Long|Boolean)|\\b(property|list))\\(\"%1$s\"|String [A-Z_]+ = \"%1$s\""
				.formatted(Pattern.quote(property)));
		return SOURCES.stream().anyMatch((source) -> reading.matcher(source).find());
	}

	private static Stream<Path> modules() {
		return list(Documentation.ROOT, 1).filter((path) -> Files.isDirectory(path.resolve("src")));
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
