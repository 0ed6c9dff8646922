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

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link MavenCommand}, and for the options and tests that documents name
 * within their sentences.
 */
@Tag("gate")
class MavenCommandTests {

	private static final Pattern TEST = Pattern.compile("(\\w*Tests)(?:\\.(\\w+))?");

	/**
	 * What any test is called, and those of Spring Integration.
	 */
	private static final Set<String> NO_TESTS_OF_OURS = Set.of("XTests", "JdbcLockRegistryTests",
			"JdbcLockRegistryDelegateTests", "JdbcLockRegistryDifferentClientTests",
			"JdbcLockRegistryLeaderInitiatorTests", "LockRegistryLeaderInitiatorTests");

	@Test
	void optionsWithinSentencesAreKnown() {
		assertThat(inline("-D", "-P", "mvn ")).hasSizeGreaterThan(20).allSatisfy(MavenCommand::checkOptions);
	}

	/**
	 * Those that are an ending only are all tests that have it.
	 */
	@Test
	void testsWithinSentencesExist() {
		Map<String, String> sources = Documentation.tests();
		List<MatchResult> named = inline("").stream()
			.map(TEST::matcher)
			.filter(Matcher::matches)
			.map(Matcher::toMatchResult)
			.filter((test) -> !NO_TESTS_OF_OURS.contains(test.group(1)))
			.toList();
		assertThat(named).hasSizeGreaterThan(20);
		assertThat(named.stream().filter((test) -> !exists(test, sources)).map(MatchResult::group)).isEmpty();
	}

	private static boolean exists(MatchResult test, Map<String, String> sources) {
		return sources.entrySet()
			.stream()
			.anyMatch((source) -> source.getKey().endsWith(test.group(1))
					&& (test.group(2) == null || source.getValue().contains("void " + test.group(2) + "(")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "-Dunknown", "-Punknown", "-Dtest=UnknownTests", "-Dbenchmarks.part=fleet" })
	void optionThatNobodyKnowsIsRefused(String option) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> MavenCommand.checkOptions("with " + option))
			.withMessageContaining(option.replaceFirst("-Dtest=", "").replaceFirst("=.*", ""));
	}

	private static List<String> inline(String... beginnings) {
		return MavenCommand.inline()
			.values()
			.stream()
			.flatMap(Collection::stream)
			.filter((text) -> Stream.of(beginnings).anyMatch(text::startsWith))
			.toList();
	}

}
