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

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.Tool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.util.StreamUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the keys and numbers of {@code docs/key-vectors.json}, and for the formulas
 * of {@code docs/keys.md}: everybody makes the same number of a name.
 */
@Tag("gate")
class KeyVectorsTests {

	private static final Path VECTORS = Path.of("docs/key-vectors.json");

	private static final List<Map<String, Object>> ALL = JsonPath.read(Documentation.read(VECTORS), "$");

	private static final String NODE = """
			;
			const vectors = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
			for (const vector of vectors.filter((vector) => vector.format === 'sha256')) {
			  console.log(keyNumber(vector.namespace, vector.name).toString());
			}
			for (const vector of vectors.filter((vector) => vector.format === 'permit')) {
			  console.log(permitNumber(keyNumber(vector.namespace, vector.name), vector.permit).toString());
			}
			""";

	private static final String PYTHON = """

			import json, sys
			vectors = json.loads(sys.stdin.buffer.read().decode("utf-8"))
			for vector in vectors:
			    if vector["format"] == "sha256":
			        print(key_number(vector["namespace"], vector["name"]))
			for vector in vectors:
			    if vector["format"] == "permit":
			        print(permit_number(key_number(vector["namespace"], vector["name"]), vector["permit"]))
			""";

	@Test
	void thereAreVectorsOfEachFormatAndSign() {
		assertThat(ALL).extracting((vector) -> vector.get("format"))
			.contains("sha256", "pair", "tag", "permit", "pair-permit");
		assertThat(numbers()).hasSizeGreaterThan(15).anyMatch((number) -> number.startsWith("-"));
		assertThat(vectors("sha256")).anyMatch((vector) -> text(vector, "namespace").isEmpty())
			.anyMatch((vector) -> text(vector, "name").length() >= 1000)
			.anyMatch((vector) -> !StandardCharsets.US_ASCII.newEncoder().canEncode(text(vector, "name")));
	}

	@Test
	void javaMakesTheNumbers() {
		for (Map<String, Object> vector : ALL) {
			AdvisoryLockKey key = key(vector);
			if (key.isPair()) {
				assertThat(List.of(key.classId(), key.objectId())).as(vector.toString()).isEqualTo(vector.get("pair"));
			}
			else {
				assertThat(Long.toString(key.value())).as(vector.toString()).isEqualTo(vector.get("number"));
			}
		}
	}

	@Test
	void sqlOfDocumentMakesTheNumbers() {
		String formula = block("sql", "AS number;");
		assertThat(vectors("sha256").stream().map((vector) -> {
			AdvisoryLockKey key = key(vector);
			String text = key.namespace().isEmpty() ? key.name() : key.namespace() + "/" + key.name();
			return TestPostgres.query(formula.replace("'shop/nightly-report'", literal(text))).get(0);
		}).toList()).isEqualTo(numbers());
		String pairs = block("sql", "AS object_id").replace(";", "");
		assertThat(vectors("pair").stream()
			.map((vector) -> TestPostgres
				.query("SELECT '[' || class_id || ',' || object_id || ']' FROM ("
						+ pairs.replace("'shop'", literal(text(vector, "namespace")))
							.replace("'nightly-report'", literal(text(vector, "name")))
						+ ") pair")
				.get(0))
			.toList()).isEqualTo(vectors("pair").stream().map((vector) -> vector.get("pair").toString()).toList());
	}

	@Test
	void sqlOfDocumentMakesThePermits() {
		List<Map<String, Object>> permits = vectors("permit");
		assertThat(permits).hasSizeGreaterThan(10);
		for (Map<String, Object> vector : permits) {
			long number = AdvisoryLockKey.of(text(vector, "namespace"), text(vector, "name")).value();
			assertThat(permitBySql("permit_number", vector, Long.toString(number))).as(vector.toString())
				.isEqualTo(text(vector, "number"));
		}
	}

	@Test
	void sqlOfDocumentMakesThePermitsOfPairs() {
		List<Map<String, Object>> permits = vectors("pair-permit");
		assertThat(permits).hasSizeGreaterThan(5);
		for (Map<String, Object> vector : permits) {
			AdvisoryLockKey key = AdvisoryLockKeyFactory.pair()
				.createKey(text(vector, "namespace"), text(vector, "name"));
			assertThat("[" + key.classId() + ","
					+ permitBySql("permit_object_id", vector, key.classId() + "," + key.objectId()) + "]")
				.as(vector.toString())
				.isEqualTo(vector.get("pair").toString());
		}
	}

	/**
	 * Ask for the permit of a vector as the document says, with its number in place of
	 * the one that stands there.
	 */
	private static String permitBySql(String column, Map<String, Object> vector, String number) {
		String sql = block("sql", "AS " + column).replace(";", "")
			.replaceFirst("'-?\\d+(,-?\\d+)?'", "'" + number + "'")
			.replace("generate_series(1, 3)", "generate_series(" + permit(vector) + ", " + permit(vector) + ")");
		assertThat(sql).contains("'" + number + "'");
		List<String> permits = TestPostgres.query("SELECT " + column + " FROM (" + sql + ") p");
		assertThat(permits).hasSize(1);
		return permits.get(0);
	}

	@Test
	void statementOfDocumentTakesOnePermitThatIsFree() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "nightly-report");
		String take = block("sql", "AS permit_taken").replace(";", "");
		for (int permit = 1; permit <= 3; permit++) {
			assertThat(take).contains("(" + key.permit(permit).value() + ") THEN " + permit);
		}
		try (ForeignSession first = ForeignSession.holding(key)) {
			assertThat(TestPostgres.query(take.replace("pg_try_advisory_lock", "pg_try_advisory_xact_lock")))
				.containsExactly("2");
			assertThat(first.unlock(key)).isTrue();
		}
	}

	@Test
	void lockThatSqlOfDocumentTakesIsThatOfTheName() {
		String take = block("sql", "pg_try_advisory_lock(").lines().findFirst().orElseThrow();
		assertThat(take).contains("(" + AdvisoryLockKey.of("shop", "nightly-report").value() + ")");
	}

	@Test
	void tagsCanBeReadInLockTable() {
		try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.ofTag("JOB", "MAIL"))) {
			assertThat(TestPostgres.query(block("sql", "'escape'").replace(";", ""))).contains("JOB\\000MAIL");
		}
	}

	@Test
	void nodeMakesTheNumbers() throws Exception {
		assertThat(run(block("javascript", "keyNumber") + NODE, "node", "-e")).isEqualTo(numbersAndPermits());
	}

	@Test
	void pythonMakesTheNumbers() throws Exception {
		assertThat(run(block("python", "key_number") + PYTHON, "python3", "-c")).isEqualTo(numbersAndPermits());
	}

	/**
	 * Run a script on the vectors, if the program is there: {@code .ci/run} sees to that.
	 */
	private static List<String> run(String script, String program, String option) throws Exception {
		Tool.assumeRuns(program, "--version");
		Process process = new ProcessBuilder(program, option, script).redirectErrorStream(true).start();
		try (OutputStream input = process.getOutputStream()) {
			input.write(Documentation.read(VECTORS).getBytes(StandardCharsets.UTF_8));
		}
		String output = StreamUtils.copyToString(process.getInputStream(), StandardCharsets.UTF_8);
		assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
		assertThat(process.exitValue()).as(output).isZero();
		return output.lines().toList();
	}

	private static AdvisoryLockKey key(Map<String, Object> vector) {
		return switch (text(vector, "format")) {
			case "sha256" -> AdvisoryLockKeyFactory.sha256().createKey(text(vector, "namespace"), text(vector, "name"));
			case "pair" -> AdvisoryLockKeyFactory.pair().createKey(text(vector, "namespace"), text(vector, "name"));
			case "permit" -> AdvisoryLockKeyFactory.sha256()
				.createKey(text(vector, "namespace"), text(vector, "name"))
				.permit(permit(vector));
			case "pair-permit" -> AdvisoryLockKeyFactory.pair()
				.createKey(text(vector, "namespace"), text(vector, "name"))
				.permit(permit(vector));
			case "tag" -> AdvisoryLockKey.ofTag(text(vector, "high"), text(vector, "low"));
			default -> throw new IllegalArgumentException(vector.toString());
		};
	}

	private static int permit(Map<String, Object> vector) {
		return Integer.parseInt(text(vector, "permit"));
	}

	private static List<Map<String, Object>> vectors(String format) {
		return ALL.stream().filter((vector) -> format.equals(vector.get("format"))).toList();
	}

	private static List<String> numbers() {
		return vectors("sha256").stream().map((vector) -> text(vector, "number")).toList();
	}

	private static List<String> numbersAndPermits() {
		return Stream.concat(vectors("sha256").stream(), vectors("permit").stream())
			.map((vector) -> text(vector, "number"))
			.toList();
	}

	private static String text(Map<String, Object> vector, String field) {
		return String.valueOf(vector.get(field));
	}

	private static String literal(String text) {
		return "'" + text.replace("'", "''") + "'";
	}

	private static String block(String language, String content) {
		return Documentation.codeBlocks()
			.stream()
			.filter((block) -> block.place().startsWith("docs/keys.md") && block.language().equals(language))
			.map(CodeBlock::text)
			.filter((text) -> text.contains(content))
			.collect(Collectors.joining("\n"));
	}

}
