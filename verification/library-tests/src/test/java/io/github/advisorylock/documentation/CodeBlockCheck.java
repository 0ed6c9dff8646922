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

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.xml.parsers.DocumentBuilderFactory;

import io.github.advisorylock.testsupport.TestPostgres;
import net.minidev.json.parser.JSONParser;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * Compiles, binds, runs or looks up what a block says, as its language needs.
 */
final class CodeBlockCheck {

	private static final String PREFIX = "advisory-lock";

	private static final Set<String> COMMANDS = Set.of("mvn", "git", "cd", "curl", "java", "psql");

	private static final Pattern COORDINATES = Pattern.compile("['\"]([\\w.-]+:[\\w.-]+:[\\w.-]+)['\"]");

	private CodeBlockCheck() {
	}

	static void check(CodeBlock block) throws Exception {
		switch (block.language()) {
			case "java" ->
				assertThat(SnippetCompiler.compile(List.of(List.of(block.text())))).as(block.toString()).isEmpty();
			case "diff" ->
				assertThat(SnippetCompiler.compile(List.of(List.of(changed(block))))).as(block.toString()).isEmpty();
			case "yaml" -> checkYaml(block);
			case "sql" -> checkSql(block);
			case "groovy" -> checkGroovy(block);
			// run by KeyVectorsTests, which knows what they shall say
			case "javascript", "python" -> assertThat(block.place()).startsWith("docs/keys.md:");
			case "json" ->
				assertThatCode(() -> new JSONParser(JSONParser.MODE_RFC4627).parse(block.text())).as(block.toString())
					.doesNotThrowAnyException();
			case "xml" -> checkXml(block);
			case "shell" ->
				assertThat(block.text().lines()).isNotEmpty().allSatisfy((line) -> checkCommand(block, line));
			case "console" -> assertThat(block.text().lines().filter((line) -> line.startsWith("$ "))).isNotEmpty()
				.allSatisfy((line) -> checkCommand(block, line.substring(2)));
			default -> throw new AssertionError("No check for the language of " + block);
		}
	}

	private static String ledgerTables() throws IOException {
		return new ClassPathResource("io/github/advisorylock/ledger/R__advisory_lock_ledger.sql")
			.getContentAsString(StandardCharsets.UTF_8);
	}

	private static void checkYaml(CodeBlock block) throws IOException {
		List<PropertySource<?>> yaml = new YamlPropertySourceLoader().load(block.place(),
				new ByteArrayResource(block.text().getBytes(StandardCharsets.UTF_8)));
		assertThat(yaml).isNotEmpty();
		for (PropertySource<?> document : yaml) {
			assertThat(((EnumerablePropertySource<?>) document).getPropertyNames()).isNotEmpty()
				.filteredOn((name) -> name.startsWith(PREFIX))
				.allMatch(ConfigurationMetadata::knows, "is a property of the library");
			bind(document);
		}
	}

	private static void bind(PropertySource<?> document) {
		MutablePropertySources sources = new MutablePropertySources();
		sources.addFirst(document);
		new Binder(ConfigurationPropertySources.from(sources)).bindOrCreate(PREFIX,
				Bindable.of(ConfigurationMetadata.type("")), new NoUnboundElementsBindHandler(BindHandler.DEFAULT));
	}

	/**
	 * Return what a difference makes.
	 */
	static String changed(CodeBlock difference) {
		return difference.text()
			.lines()
			.filter((line) -> !line.startsWith("-"))
			.map((line) -> line.isEmpty() ? line : line.substring(1))
			.collect(Collectors.joining("\n"));
	}

	/**
	 * What belongs to a session, or is a file of its own, is run by those who have them.
	 */
	private static void checkSql(CodeBlock block) throws IOException {
		if (block.use().isEmpty()) {
			TestPostgres.execute(ledgerTables());
			TestPostgres.execute(block.text());
		}
	}

	private static void checkXml(CodeBlock block) throws Exception {
		Element project = parse(Documentation.read(Path.of("pom.xml"))).getDocumentElement();
		Element shown = parse(block.text().startsWith("<?xml") ? block.text() : "<some>" + block.text() + "</some>")
			.getDocumentElement();
		NodeList parents = shown.getElementsByTagName("parent");
		if (parents.getLength() > 0) {
			assertThat(text((Element) parents.item(0), "version")).isEqualTo(text(project, "spring-boot.version"));
		}
		NodeList dependencies = shown.getElementsByTagName("dependency");
		List<String> coordinates = IntStream.range(0, dependencies.getLength())
			.mapToObj((i) -> (Element) dependencies.item(i))
			.map((dependency) -> text(dependency, "groupId") + ":" + text(dependency, "artifactId") + ":"
					+ text(dependency, "version"))
			.toList();
		// The rest of what an application needs is tried where it is built
		checkCoordinates(coordinates, isPartOfApplication(block));
	}

	private static boolean isPartOfApplication(CodeBlock block) {
		return Documentation.codeBlocks()
			.stream()
			.anyMatch((other) -> other.isFile() && other.document().equals(block.document()));
	}

	private static void checkGroovy(CodeBlock block) throws Exception {
		checkCoordinates(
				COORDINATES.matcher(block.text()).results().map((coordinates) -> coordinates.group(1)).toList(), false);
	}

	/**
	 * There is something of ours, and it is what is built here.
	 */
	private static void checkCoordinates(List<String> coordinates, boolean others) throws Exception {
		List<String> ours = coordinates.stream().filter((artifact) -> artifact.contains("advisory")).toList();
		assertThat(others || !ours.isEmpty()).as("something of ours in %s", coordinates).isTrue();
		assertThat(ours).isSubsetOf(built());
	}

	/**
	 * Return the coordinates of the modules of this build.
	 */
	static List<String> built() throws Exception {
		Element project = parse(Documentation.read(Path.of("pom.xml"))).getDocumentElement();
		return Arrays.stream(text(project, "modules").split("\\s+"))
			.map((module) -> text(project, "groupId") + ":" + module + ":" + text(project, "version"))
			.toList();
	}

	/**
	 * What beginners type is taken from their guide and run as it stands there.
	 */
	private static void checkCommand(CodeBlock block, String line) {
		String command = line.strip();
		assertThat(COMMANDS).contains(command.split(" ")[0]);
		if (command.startsWith("mvn ") && !block.place().startsWith("docs/getting-started.md")) {
			MavenCommand.checkOptions(command);
		}
		if (command.startsWith("curl ") && !block.place().startsWith("docs/endpoint.md")) {
			String document = block.place().replaceFirst(":.*", "");
			assertThat(Documentation.read(Path.of(".ci/from-an-empty-folder.sh")))
				.as("the requests of %s are made by the build", document)
				.contains("commands " + document + " curl");
		}
	}

	private static Document parse(String xml) throws Exception {
		return DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
	}

	private static String text(Element parent, String name) {
		Node element = parent.getElementsByTagName(name).item(0);
		return (element != null) ? element.getTextContent().strip() : "";
	}

}
