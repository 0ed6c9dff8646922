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

package io.github.advisorylock.actuate;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.LockInstance;

import org.springframework.util.StringUtils;

/**
 * An answer as documents show it: indented, and with fixed values for what differs from
 * run to run.
 */
final class TranscriptText {

	private static final int WIDTH = 130;

	private static final Map<Pattern, String> FIXED = Map.of(Pattern.compile("(\"next(?:Here)?\": )\"[^\"]+\""),
			"$1\"2026-03-02T02:00:00Z\"", Pattern.compile("\"20[^\"]+Z\"(?<!T02:00:00Z\")"),
			"\"2026-03-01T09:15:00.123Z\"", Pattern.compile("\"-?PT[^\"]+\""), "\"PT0.012S\"",
			Pattern.compile("(\"durations\": )\\[\\d+\\]"), "$1[12]", Pattern.compile("(\"pid\": )\\d+"), "$14711",
			Pattern.compile("(\"fencingToken\": )\\d+"), "$142", Pattern.compile("(\"client\": )\"[^\"]+\""),
			"$1\"10.0.0.5:51234\"", Pattern.compile("(\"(?:user|database)\": )\"[^\"]+\""), "$1\"shop\"");

	private TranscriptText() {
	}

	/**
	 * Return the text of an answer, whose first line may be JSON.
	 */
	static String of(String answer) {
		String first = answer.lines().findFirst().orElse("");
		return first.startsWith("{") ? json(first) + answer.substring(first.length()) : answer;
	}

	private static String json(String answer) {
		String text = print(JsonPath.<Object>read(answer, "$"), "").replace(new LockInstance(null).name(), "shop-1:1")
			.replace("io.github.advisorylock.actuate.EndpointTranscriptTests$Jobs", "com.example.shop.Jobs")
			.replaceAll("\"al:shop@[^\"]+\"", "\"al:shop@shop-1:1\"");
		for (Map.Entry<Pattern, String> fixed : FIXED.entrySet()) {
			text = fixed.getKey().matcher(text).replaceAll(fixed.getValue());
		}
		text = text.replaceAll("(\"clockSkewBetween\": \\[[^,]+, )\"[^\"]+\"", "$1\"PT0.015S\"");
		return text;
	}

	private static String print(Object value, String indent) {
		if (value instanceof Map<?, ?> map) {
			return print("{",
					map.entrySet()
						.stream()
						.map((entry) -> "\"" + entry.getKey() + "\": " + print(entry.getValue(), indent + "  "))
						.toList(),
					"}", indent);
		}
		if (value instanceof List<?> list) {
			return print("[", list.stream().map((element) -> print(element, indent + "  ")).toList(), "]", indent);
		}
		return (value instanceof String text) ? "\"" + StringUtils.replace(text, "\"", "\\\"") + "\""
				: String.valueOf(value);
	}

	/**
	 * Print on one line what fits there and has no objects in it.
	 */
	private static String print(String open, List<String> parts, String close, String indent) {
		String line = open + String.join(", ", parts) + close;
		if (line.length() + indent.length() < WIDTH && line.indexOf('{', 1) < 0) {
			return line;
		}
		return parts.stream()
			.map((part) -> indent + "  " + part)
			.collect(Collectors.joining(",\n", open + "\n", "\n" + indent + close));
	}

}
