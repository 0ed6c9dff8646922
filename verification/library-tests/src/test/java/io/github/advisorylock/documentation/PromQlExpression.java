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

import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The names in an expression of PromQL. Knows no more of the language than these
 * documents need.
 */
record PromQlExpression(String text) {

	private static final Pattern RANGE = Pattern.compile("\\[[^]]*]|\\boffset \\w+");

	private static final Pattern STRING = Pattern.compile("\"[^\"]*\"");

	private static final Pattern GROUPING = Pattern
		.compile("\\b(?:by|on|without|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");

	private static final Pattern SELECTOR = Pattern.compile("\\b([a-zA-Z_:][\\w:]*+)\\s*+(?:\\{([^}]*)})?+(?!\\()");

	private static final Pattern LABEL = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)");

	private static final Pattern VARIABLE_QUERY = Pattern.compile("label_values\\((.*),\\s*(\\w+)\\)");

	private static final Set<String> WORDS = Set.of("and", "or", "unless", "bool");

	/**
	 * Return the expression of a variable of a dashboard: the label stands as if it were
	 * selected.
	 */
	static PromQlExpression ofVariable(String query) {
		Matcher matcher = VARIABLE_QUERY.matcher(query);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("Not a query for the values of a label: " + query);
		}
		return new PromQlExpression("max by (" + matcher.group(2) + ") (" + matcher.group(1) + ")");
	}

	/**
	 * Return the metrics with the labels that they are selected by.
	 */
	List<Selector> selectors() {
		return SELECTOR.matcher(GROUPING.matcher(bare()).replaceAll(" "))
			.results()
			.filter((match) -> !WORDS.contains(match.group(1)))
			.map((match) -> new Selector(match.group(1),
					(match.group(2) != null) ? labels(LABEL, match.group(2)) : Set.of()))
			.toList();
	}

	/**
	 * Return the labels that the expression groups by.
	 */
	Set<String> groupings() {
		return GROUPING.matcher(bare())
			.results()
			.flatMap((match) -> Stream.of(match.group(1).split(",")))
			.map(String::trim)
			.filter((label) -> !label.isEmpty())
			.collect(Collectors.toSet());
	}

	private String bare() {
		return STRING.matcher(RANGE.matcher(this.text).replaceAll("")).replaceAll("");
	}

	private static Set<String> labels(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((MatchResult match) -> match.group(1)).collect(Collectors.toSet());
	}

	/**
	 * A metric and the labels that choose its series.
	 */
	record Selector(String metric, Set<String> labels) {

	}

}
