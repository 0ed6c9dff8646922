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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the links between documents.
 */
@Tag("gate")
class DocumentLinksTests {

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:\\s]*)(?:#([^)\\s]*))?\\)");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

	@Test
	void linkLeadsToFileAndHeading() {
		Map<Path, String> documents = Documentation.documents();
		List<String> broken = new ArrayList<>();
		documents.forEach((file, text) -> LINK.matcher(text).results().forEach((link) -> {
			Path target = link.group(1).isEmpty() ? file : file.resolveSibling(link.group(1)).normalize();
			String anchor = link.group(2);
			if (!Files.exists(Documentation.ROOT.resolve(target))
					|| (anchor != null && !anchors(documents.getOrDefault(target, "")).contains(anchor))) {
				broken.add(file + ": " + link.group());
			}
		}));
		assertThat(broken).isEmpty();
	}

	@Test
	void documentIsReachedFromTheReadme() {
		Map<Path, String> documents = Documentation.documents();
		List<Path> reached = new ArrayList<>(List.of(Path.of("README.md")));
		for (int i = 0; i < reached.size(); i++) {
			Path file = reached.get(i);
			LINK.matcher(documents.getOrDefault(file, ""))
				.results()
				.map((link) -> file.resolveSibling(link.group(1)).normalize())
				.filter((target) -> documents.containsKey(target) && !reached.contains(target))
				.distinct()
				.forEach(reached::add);
		}
		assertThat(reached).containsExactlyInAnyOrderElementsOf(documents.keySet());
	}

	/**
	 * Names of headings as GitHub makes them.
	 */
	private static List<String> anchors(String document) {
		return HEADING.matcher(document)
			.results()
			.map((heading) -> heading.group(1)
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\p{L}\\p{N}_ -]", "")
				.replace(' ', '-'))
			.toList();
	}

}
