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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the tables of the documents have a row for each property, with its default.
 */
class PropertyTableTests {

	private static final Pattern ROW = Pattern
		.compile("^\\| `((?:advisory-lock|management\\.endpoint)\\.[^`]+)` \\| (?:`([^`]*)`)?");

	@Test
	void eachPropertyHasARowWithItsDefault() {
		Map<String, String> properties = properties();
		Set<String> missing = new TreeSet<>(properties.keySet());
		List<String> problems = new ArrayList<>();
		Documentation.documents().forEach((file, text) -> {
			List<String> lines = text.lines().toList();
			for (int i = 0; i < lines.size(); i++) {
				Matcher row = ROW.matcher(lines.get(i));
				if (row.find()) {
					missing.remove(row.group(1));
					String place = file + ":" + (i + 1) + ": `" + row.group(1) + "` ";
					String value = Objects.toString(row.group(2), "");
					String expected = properties.get(row.group(1));
					if (expected == null) {
						problems.add(place + "is no property: remove the row, or correct its name");
					}
					else if (!expected.equals(value) && !row.group(1).startsWith("advisory-lock.jobs.")) {
						problems.add(place + "has default '" + expected + "', and the row says '" + value + "'");
					}
				}
			}
		});
		missing.forEach((name) -> problems.add("docs/properties.md, or another table: no row begins with | `" + name
				+ "` | and its default '" + properties.get(name) + "'"));
		assertThat(problems).isEmpty();
	}

	/**
	 * Return the default of each property; those of a job are set for its key.
	 */
	private static Map<String, String> properties() {
		Map<String, String> properties = new TreeMap<>(ConfigurationMetadata.defaults());
		properties.remove("advisory-lock.jobs");
		Arrays.stream(ConfigurationMetadata.type("$Job").getRecordComponents())
			.forEach((property) -> properties
				.put("advisory-lock.jobs.<key>." + DataObjectPropertyName.toDashedForm(property.getName()), ""));
		return properties;
	}

}
