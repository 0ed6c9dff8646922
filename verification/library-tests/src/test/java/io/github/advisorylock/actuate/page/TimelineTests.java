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
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.github.advisorylock.actuate.JobRegistry.RunPeriod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Timeline}.
 */
class TimelineTests {

	private static final Instant NOW = Instant.parse("2026-11-22T10:00:00Z");

	@Test
	void fortyInstancesAreToldApartByLetterAndByColourWithPattern() {
		List<RunPeriod> periods = IntStream.range(0, 40).mapToObj((i) -> period("host-" + i, 40 - i, 0)).toList();
		String drawn = draw(Duration.ofHours(1), periods);
		assertThat(drawn).contains("<b>A</b> host-0", "<b>Z</b> host-25", "<b>AA</b> host-26", "<b>AN</b> host-39");
		assertThat(legend(drawn)).hasSize(40);
		assertThat(legend(drawn).subList(0, 32)).doesNotHaveDuplicates();
	}

	@Test
	void laneIsALinkAndSaysInWordsWhatItShows() {
		assertThat(draw(Duration.ofHours(1), List.of(period("one", 30, 1), period("two", 20, 0))))
			.contains("<a class=\"key\" href=\"?view=job&amp;key=~id\">shop/report</a>",
					"aria-label=\"shop/report: 6 runs, 1 not executed, by A, B\"", "class=\"failed\"")
			.containsSubsequence("<details", "<th scope=\"row\">shop/report</th>", "A one", "B two");
	}

	@Test
	void turnsOfOneInstanceAreOneRowOfTheTable() {
		String table = draw(Duration.ofHours(1),
				List.of(period("one", 30, 0), period("one", 20, 1), period("two", 10, 0), period("one", 5, 0)));
		assertThat(table.substring(table.indexOf("<tbody>")).split("<tr>")).hasSize(4);
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT15M", "PT1H", "PT6H", "P1D", "P7D", "P30D" })
	void axisHasFewLabelsWhateverItsLength(Duration length) {
		String drawn = draw(length, List.of(period("one", 1, 0)));
		int labels = drawn.split("class=\"mark").length - 1;
		int minor = drawn.split("class=\"mark minor").length - 1;
		assertThat(labels).isBetween(3, 8);
		assertThat(labels - minor).isBetween(2, 4);
	}

	@Test
	void laneOfNoRunsIsNotDrawn() {
		assertThat(draw(Duration.ofHours(1), List.of())).contains("No runs in this time.");
	}

	private static List<String> legend(String drawn) {
		String legend = drawn.substring(drawn.indexOf("<ul class=\"legend\">"));
		return List.of(legend.substring(0, legend.indexOf("</ul>")).split("<li>"))
			.stream()
			.skip(1)
			.map((item) -> item.substring(0, item.indexOf("<b>")))
			.toList();
	}

	private static String draw(Duration length, List<RunPeriod> periods) {
		return new Timeline(new Times(NOW), length, Map.of("shop/report", "?view=job&key=~id")).draw(periods).markup();
	}

	private static RunPeriod period(String instance, int minutesAgo, int failures) {
		Instant start = NOW.minus(Duration.ofMinutes(minutesAgo));
		return new RunPeriod("shop", "report", instance, start, start.plusSeconds(30), 3, failures, false);
	}

}
