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

package io.github.advisorylock.test;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@code docs/testing.md}: what it shows of Java is what tests of this module
 * consist of.
 */
class TestingDocumentTests {

	private static final Path DOCUMENT = Path.of("../docs/testing.md");

	private static final Path TESTS = Path.of("src/test/java");

	private static final Pattern JAVA = Pattern.compile("```java[^\n]*\n(.*?)```", Pattern.DOTALL);

	@Test
	void javaIsThatOfTests() throws IOException {
		List<List<String>> sources = sources();
		List<String> blocks = JAVA.matcher(Files.readString(DOCUMENT))
			.results()
			.map((MatchResult block) -> block.group(1))
			.toList();
		assertThat(blocks).hasSizeGreaterThanOrEqualTo(4)
			.allSatisfy((block) -> assertThat(sources).as(block).anyMatch((source) -> contains(source, lines(block))));
	}

	@Test
	void everyAssertionIsNamed() throws IOException {
		String document = Files.readString(DOCUMENT);
		assertThat(Stream.of(LockAssert.class.getDeclaredMethods())
			.filter((method) -> method.getReturnType() == LockAssert.class && Modifier.isPublic(method.getModifiers()))
			.map((method) -> method.getName())
			.distinct()).isNotEmpty().allSatisfy((name) -> assertThat(document).contains("`" + name));
	}

	private static List<List<String>> sources() throws IOException {
		List<List<String>> sources = new ArrayList<>();
		try (Stream<Path> files = Files.walk(TESTS)) {
			for (Path file : files.filter((file) -> file.toString().endsWith(".java")).toList()) {
				sources.add(lines(Files.readString(file)));
			}
		}
		return sources;
	}

	private static List<String> lines(String text) {
		return text.lines().map(String::strip).filter((line) -> !line.isEmpty()).toList();
	}

	/**
	 * Return whether lines are found one after the other, with others in between.
	 */
	private static boolean contains(List<String> source, List<String> lines) {
		int found = 0;
		for (String line : source) {
			found += (found < lines.size() && line.equals(lines.get(found))) ? 1 : 0;
		}
		return found == lines.size();
	}

}
