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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the README and the other documents: what they show works.
 */
@Tag("gate")
class ReadmeTests {

	private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>.*?</dependency>");

	private static final Set<String> JAVA = Set.of("java", "diff");

	@Test
	void javaCompiles() throws Exception {
		Map<String, List<String>> programs = blocks(JAVA::contains)
			// Tests that are shown are compiled in the module that has what they need
			.filter((block) -> !block.place().startsWith("docs/testing.md"))
			.collect(Collectors.groupingBy((block) -> block.isFile() ? block.document() : block.place(),
					Collectors.mapping(ReadmeTests::java, Collectors.toList())));
		assertThat(SnippetCompiler.compile(programs.values())).isEmpty();
	}

	private static String java(CodeBlock block) {
		return block.language().equals("diff") ? CodeBlockCheck.changed(block) : block.text();
	}

	@ParameterizedTest
	@MethodSource("otherBlocks")
	void codeBlockDoesWhatItsLanguageSays(CodeBlock block) throws Exception {
		CodeBlockCheck.check(block);
	}

	/**
	 * There is no Gradle that could build it wherever this is built.
	 */
	@Test
	void gradleBuildHasWhatThatOfMavenHas() {
		String maven = blocks("docs/getting-started.md", "xml").get(0);
		String gradle = blocks("docs/getting-started.md", "groovy").get(0);
		assertThat(found(gradle, "id 'org.springframework.boot' version '([^']+)'"))
			.isEqualTo(found(maven, "(?s)<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>([^<]+)<"))
			.hasSize(1);
		assertThat(found(gradle, "\\w*(?:mplementation|nly) '([^']+)'")).isEqualTo(DEPENDENCY.matcher(maven)
			.results()
			.map((dependency) -> String.join(":",
					found(dependency.group(), "<(?:groupId|artifactId|version)>([^<]+)<")))
			.toList());
		assertThat(gradle).containsSubsequence("mavenLocal()",
				"platform(org.springframework.boot.gradle.plugin.SpringBootPlugin.BOM_COORDINATES)");
	}

	@Test
	void coordinatesThatTextNamesAreThoseOfTheBuild() throws Exception {
		assertThat(found(String.join("\n", Documentation.documents().values()),
				"(io\\.github\\.advisorylock:[\\w-]+:[\\w.-]*\\w)"))
			.hasSizeGreaterThan(2)
			.isSubsetOf(CodeBlockCheck.built());
	}

	private static List<String> found(String text, String pattern) {
		return Pattern.compile(pattern).matcher(text).results().map((match) -> match.group(1)).toList();
	}

	@Test
	void readmeShowsEachLanguageThatReadersNeed() {
		assertThat(List.of("java", "xml", "shell"))
			.allSatisfy((language) -> assertThat(blocks("README.md", language)).isNotEmpty());
	}

	@Test
	void queryShowsNumberOfKeyAndNameOfItsHolder() throws SQLException {
		String query = blocks("docs/operating.md", "sql").get(0).replace(";", "");
		String number = Long.toString(AdvisoryLockKey.of("shop", "nightly-report").value());
		try (Connection holder = TestPostgres.open(); Statement statement = holder.createStatement()) {
			statement.execute("SET application_name = 'al:seen'; SELECT pg_advisory_lock(" + number + ")");
			assertThat(TestPostgres
				.query("SELECT number || ' ' || application_name || ' ' || granted FROM (" + query + ") locks"))
				.contains(number + " al:seen true");
		}
	}

	@Test
	void queriesShowWhatJobsNeedSomebodyAndHowManyAreInEachState() throws IOException {
		List<String> queries = blocks("docs/operating.md", "sql");
		String ddl = new ClassPathResource("io/github/advisorylock/ledger/R__advisory_lock_ledger.sql")
			.getContentAsString(StandardCharsets.UTF_8);
		TestPostgres.execute("DROP SCHEMA IF EXISTS documented CASCADE; CREATE SCHEMA documented; "
				+ "SET search_path TO documented; " + ddl
				+ "INSERT INTO advisory_lock_job (namespace, key, last_outcome, fencing_token, failures) VALUES "
				+ "('shop', 'good', 'EXECUTED', 1, 0), ('shop', 'bad', 'FAILED', 1, 2); "
				+ "INSERT INTO advisory_lock_run (namespace, key, scope, instance, fencing_token, started_at, finished_at, "
				+ "outcome, error) VALUES ('shop', 'bad', 'SESSION', 'a:1', 1, now(), now(), 'FAILED', 'no')");
		assertThat(documented("SELECT concat_ws(' ', key, state, problem, failures, instance, error) FROM ("
				+ queries.get(2).replace(";", "") + ") jobs"))
			.containsExactly("bad failing FAILED 2 a:1 no");
		assertThat(documented("SELECT state || ' ' || count FROM (" + queries.get(3).replace(";", "") + ") jobs"))
			.containsExactlyInAnyOrder("failing 1", "idle 1");
		TestPostgres.execute("DROP SCHEMA documented CASCADE");
	}

	private static List<String> documented(String query) {
		return TestPostgres.query(query.replace("advisory_lock_", "documented.advisory_lock_"));
	}

	@Test
	void queryCancelsTheRunOfKey() {
		String query = blocks("docs/operating.md", "sql").get(1);
		LockContextRunner.create()
			.withPropertyValues("spring.application.name=shop", "advisory-lock.session.heartbeat=200ms")
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				try (HeldLock other = operations.tryAcquire(LockRequest.of("other")).orElseThrow();
						HeldLock held = operations.tryAcquire(LockRequest.of("nightly-report")).orElseThrow()) {
					Awaitility.await().until(() -> {
						TestPostgres.execute(query);
						return !held.isHeld();
					});
					assertThat(other.isHeld()).isTrue();
				}
			});
	}

	@Test
	void starterPullsInWhatTheReadmeSays() {
		assertThat(requiredOf("advisory-lock-starter")).containsExactlyInAnyOrder("spring-boot-starter",
				"spring-boot-starter-jdbc", "advisory-lock-core", "advisory-lock-ledger", "advisory-lock-autoconfigure",
				"advisory-lock-page", "postgresql");
		assertThat(Stream.of("core", "ledger", "autoconfigure", "page")
			.flatMap((jar) -> requiredOf("advisory-lock-" + jar).stream())
			.filter((dependency) -> !dependency.startsWith("advisory-lock-")))
			.as("what is in spring-boot-starter-jdbc anyway")
			.containsOnly("spring-context", "spring-jdbc", "spring-boot-autoconfigure", "spring-boot-jdbc", "jspecify",
					"slf4j-api");
		assertThat(readme()).containsPattern(
				"The starter pulls in `spring-boot-starter`, `spring-boot-starter-jdbc` and the PostgreSQL driver");
	}

	static Stream<CodeBlock> otherBlocks() {
		return blocks(Predicate.not(JAVA::contains));
	}

	private static Stream<CodeBlock> blocks(Predicate<String> language) {
		return Documentation.codeBlocks().stream().filter((block) -> language.test(block.language()));
	}

	private static List<String> blocks(String document, String language) {
		return Documentation.codeBlocks()
			.stream()
			.filter((block) -> block.place().startsWith(document) && block.language().equals(language))
			.map(CodeBlock::text)
			.toList();
	}

	/**
	 * Return what comes along with a module, and is not optional, for tests or for
	 * plugins.
	 */
	private static List<String> requiredOf(String module) {
		String pom = Documentation.read(Path.of(module, "pom.xml")).replaceAll("(?s)<(build|profiles)>.*</\\1>", "");
		return DEPENDENCY.matcher(pom)
			.results()
			.map(MatchResult::group)
			.filter((dependency) -> !dependency.contains("<optional>true") && !dependency.contains("<scope>test")
					&& !dependency.contains("<scope>provided"))
			.map((dependency) -> dependency.replaceAll("(?s).*<artifactId>([^<]+)<.*", "$1"))
			.toList();
	}

	private static String readme() {
		return Documentation.read(Path.of("README.md"));
	}

}
