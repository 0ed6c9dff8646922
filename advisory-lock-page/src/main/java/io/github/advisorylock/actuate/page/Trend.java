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

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The last runs of a job as bars: how long they took by their height, how they ended by
 * their shape and colour.
 *
 * @param outcomes the first letters of how they ended, latest last
 * @param durations how long they took in milliseconds, -1 where that is not known
 */
record Trend(String outcomes, List<Long> durations) {

	private static final Map<Character, String> WORDS = words();

	private static final int TOP = 24;

	/**
	 * Draw them in the width of a cell.
	 */
	Html small() {
		if (this.outcomes.isEmpty()) {
			return Html.NONE;
		}
		int width = 4 * this.outcomes.length();
		Html bars = Html.each(WORDS.keySet(), this::bars);
		return Html
			.of("<svg class=\"trend\" role=\"img\" aria-label=\"Last runs: %s\" width=\"%s\" height=\"24\" preserveAspectRatio=\"none\" viewBox=\"0 0 %s 24\">"
					+ "<title>%s</title>%s</svg>", label(), width, width, label(), bars);
	}

	private Html bars(char letter) {
		StringBuilder path = new StringBuilder();
		for (int i = 0; i < this.outcomes.length(); i++) {
			if (this.outcomes.charAt(i) == letter) {
				path.append('M').append(4 * i + 2).append(' ').append(span(letter, i));
			}
		}
		return path.isEmpty() ? Html.NONE : Html.of("<path class=\"%s\" d=\"%s\"/>", letter, path);
	}

	/**
	 * What did not end well goes from top to bottom, and can't be overlooked; what was
	 * abandoned has no lower half.
	 */
	private String span(char letter, int i) {
		return switch (letter) {
			case 'F' -> "0V" + TOP;
			case 'A' -> "0V" + TOP / 2;
			default -> String.format(Locale.ROOT, "%.1fV%s", TOP - 3 - height(i) * (TOP - 9), TOP);
		};
	}

	/**
	 * Return the height of a bar, from 0 to 1.
	 */
	private double height(int i) {
		long longest = longest();
		return (duration(i) >= 0 && longest > 0) ? (double) duration(i) / longest : 0.3;
	}

	private long duration(int i) {
		return (i < this.durations.size()) ? this.durations.get(i) : -1;
	}

	private long longest() {
		return this.durations.stream().mapToLong(Long::longValue).max().orElse(0);
	}

	/**
	 * Draw them with an axis, over the width of the page.
	 * @param median how long a run takes, {@code null} if that is not known
	 */
	Html large(@Nullable Duration median) {
		long longest = longest();
		if (this.outcomes.isEmpty() || longest == 0) {
			return Html.NONE;
		}
		double width = 100.0 / Math.max(20, this.outcomes.length());
		StringBuilder bars = new StringBuilder();
		for (int i = 0; i < this.outcomes.length(); i++) {
			long duration = duration(i);
			char letter = this.outcomes.charAt(i);
			double height = Math.max(2, height(i) * 100);
			bars.append(Html.of(
					"<rect class=\"%s\" x=\"%s%%\" width=\"%s%%\" y=\"%s%%\" height=\"%s%%\"><title>%s%s</title></rect>",
					letter, percent(i * width), percent(width * 0.7), percent(100 - height), percent(height),
					WORDS.getOrDefault(letter, ""),
					(duration >= 0) ? " in " + Times.text(Duration.ofMillis(duration)) : ""));
		}
		return Html.of("<figure class=\"chart\"><figcaption><span>%s</span><span>%s</span></figcaption>"
				+ "<svg role=\"img\" aria-label=\"How long the last runs took: %s\" width=\"100%%\" height=\"96\">%s%s</svg></figure>",
				"longest " + Times.text(Duration.ofMillis(longest)),
				(median != null) ? "dashed: median " + Times.text(median) : "", label(), new Html(bars.toString()),
				median(median, longest));
	}

	private static Html median(@Nullable Duration median, long longest) {
		return Html.with(median, (time) -> {
			String y = percent(100 - 100.0 * time.toMillis() / longest);
			return Html.of("<line class=\"median\" x1=\"0\" x2=\"100%%\" y1=\"%s%%\" y2=\"%s%%\"/>", y, y);
		});
	}

	static String percent(double percent) {
		return String.format(Locale.ROOT, "%.2f", percent);
	}

	/**
	 * Return how many ended how.
	 */
	String label() {
		return WORDS.entrySet()
			.stream()
			.map((word) -> this.outcomes.chars().filter((letter) -> letter == word.getKey()).count() + " "
					+ word.getValue())
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
