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

package io.github.advisorylock.actuate.page;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The outcomes of the last runs as a row of bars, told apart by height and by colour.
 */
final class Sparkline {

	private static final Map<Character, String> WORDS = words();

	private Sparkline() {
	}

	/**
	 * Draw outcomes.
	 * @param outcomes their first letters, latest last
	 */
	static Html of(String outcomes) {
		if (outcomes.isEmpty()) {
			return Html.NONE;
		}
		Html bars = WORDS.keySet().stream().map((letter) -> bars(outcomes, letter)).collect(Html.joining());
		return Html.of(
				"<svg class=\"runs\" role=\"img\" aria-label=\"%s\" width=\"%s\" height=\"16\" viewBox=\"0 0 %s 16\" "
						+ "preserveAspectRatio=\"none\"><title>%s</title>%s</svg>",
				label(outcomes), 3 * outcomes.length(), 4 * outcomes.length(), label(outcomes), bars);
	}

	private static Html bars(String outcomes, char letter) {
		StringBuilder path = new StringBuilder();
		for (int i = 0; i < outcomes.length(); i++) {
			if (outcomes.charAt(i) == letter) {
				path.append('M').append(4 * i + 2).append(' ').append(span(letter));
			}
		}
		return path.isEmpty() ? Html.NONE : Html.of("<path class=\"%s\" d=\"%s\"/>", letter, path);
	}

	private static String span(char letter) {
		return switch (letter) {
			case 'E' -> "8V15";
			case 'A' -> "1V8";
			case 'R' -> "12V15";
			default -> "1V15";
		};
	}

	private static String label(String outcomes) {
		return WORDS.entrySet()
			.stream()
			.map((word) -> outcomes.chars().filter((letter) -> letter == word.getKey()).count() + " " + word.getValue())
			.filter((count) -> !count.startsWith("0 "))
			.collect(Collectors.joining(", "));
	}

	private static Map<Character, String> words() {
		Map<Character, String> words = new LinkedHashMap<>();
		words.put('E', "executed");
		words.put('F', "failed");
		words.put('A', "abandoned");
		words.put('R', "running");
		return words;
	}

}
