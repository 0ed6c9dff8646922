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

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sentences about the library's behaviour: a table names tests for each,
 * and each assertion of a model stands in the row of one.
 */
@Tag("gate")
class BehaviourTests {

	private static final Path DOCUMENT = Path.of("docs/behaviour.md");

	private static final Pattern SENTENCE = Pattern.compile("(?m)^(\\d+)\\. (.+(?:\\n {3,}.+)*)");

	private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\| ([^|]*)\\|([^|]*)\\|$");

	private static final Pattern TEST = Pattern.compile("`(\\w+Tests)(?:\\.(\\w+))?`");

	private static final Pattern ASSERTION = Pattern.compile("`(\\w+): (\\w+)`");

	private static final Pattern DECLARATION = Pattern.compile("(?m)^assert (\\w+)");

	@Test
	void sentencesAreNumberedOneByOne() {
		List<Integer> numbers = numbers(sentences());
		assertThat(numbers).isNotEmpty().isEqualTo(IntStream.rangeClosed(1, numbers.size()).boxed().toList());
	}

	@Test
	void sentenceHasRowThatNamesTestsThatExist() {
		Map<String, String> tests = Documentation.tests();
		assertThat(numbers(rows())).isEqualTo(numbers(sentences()));
		assertThat(rows()).isNotEmpty().allSatisfy((row) -> {
			List<MatchResult> named = TEST.matcher(row.group(2)).results().toList();
			assertThat(named).as(row.group()).isNotEmpty().allSatisfy((test) -> {
				String method = (test.group(2) != null) ? "void " + test.group(2) + "(" : "class " + test.group(1);
				assertThat(tests.get(test.group(1))).as(test.group()).isNotNull().contains(method);
			});
			assertThat(TEST.matcher(row.group(2)).replaceAll("").replaceAll("[, ]", "")).as(row.group()).isEmpty();
		});
	}

	@Test
	void sentenceNamesNoTest() {
		assertThat(sentences()).noneMatch((sentence) -> TEST.matcher(sentence.group(2)).find());
	}

	@Test
	void rowsNameEachAssertionOfAModelAndNoOther() {
		Set<String> named = rows().stream()
			.flatMap((row) -> ASSERTION.matcher(row.group(3)).results())
			.map((assertion) -> "verification/models/" + assertion.group(1) + ".als: assert " + assertion.group(2))
			.collect(Collectors.toSet());
		assertThat(named).isNotEmpty().isEqualTo(assertions());
	}

	@ParameterizedTest
	@ValueSource(strings = { "annotation", "choosing", "connections", "leaders", "ledger", "webhooks" })
	void guideToWhatModelsPromiseLinksToTheSentences(String guide) {
		assertThat(Documentation.read(Path.of("docs", guide + ".md"))).contains("](behaviour.md");
	}

	private static Set<String> assertions() {
		Set<String> assertions = new TreeSet<>();
		Documentation.models()
			.forEach((model, text) -> DECLARATION.matcher(text)
				.results()
				.forEach((assertion) -> assertions.add(model + ": assert " + assertion.group(1))));
		return assertions;
	}

	private static List<MatchResult> sentences() {
		return SENTENCE.matcher(Documentation.read(DOCUMENT)).results().toList();
	}

	private static List<MatchResult> rows() {
		return ROW.matcher(Documentation.read(DOCUMENT)).results().toList();
	}

	private static List<Integer> numbers(List<MatchResult> numbered) {
		return numbered.stream().map((one) -> Integer.valueOf(one.group(1))).toList();
	}

}
