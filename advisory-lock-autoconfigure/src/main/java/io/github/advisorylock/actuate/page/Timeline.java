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
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.JobRegistry.RunPeriod;

/**
 * When which instance ran which job: a lane for each job, coloured by instance.
 *
 * @param now where the time axis ends
 * @param length how long it is
 */
record Timeline(Instant now, Duration length) {

	private static final int LANE = 30;

	private static final int MOST_LANES = 40;

	private static final int COLOURS = 8;

	private static final double NARROWEST = 0.25;

	private static final double LAST_LABEL = 88;

	private static final DateTimeFormatter HOUR = DateTimeFormatter.ofPattern("HH:mm", Locale.ROOT)
		.withZone(ZoneOffset.UTC);

	Html draw(List<RunPeriod> periods) {
		if (periods.isEmpty()) {
			return new Html("<section id=\"timeline\"><h2>Timeline</h2><p>No runs in this time.</p></section>");
		}
		Map<String, Integer> colours = colours(periods);
		Map<String, List<RunPeriod>> lanes = periods.stream()
			.collect(Collectors.groupingBy((period) -> PageQuery.name(period.namespace(), period.key()),
					LinkedHashMap::new, Collectors.toList()));
		List<String> names = lanes.keySet().stream().limit(MOST_LANES).toList();
		Html drawn = IntStream.range(0, names.size())
			.mapToObj((i) -> lane(names.get(i), lanes.getOrDefault(names.get(i), List.of()), i * LANE, colours))
			.collect(Html.joining());
		int height = names.size() * LANE;
		return Html.of(
				"""
						<section id="timeline"><h2>Timeline</h2><ul class="legend">%s</ul>
						<svg width="100%%" height="%s" role="img" aria-label="When which instance ran which job">%s%s</svg></section>
						""",
				legend(colours), height + 20, axis(height), drawn);
	}

	private static Map<String, Integer> colours(List<RunPeriod> periods) {
		Map<String, Integer> colours = new LinkedHashMap<>();
		periods.stream()
			.map(RunPeriod::instance)
			.distinct()
			.sorted()
			.forEach((instance) -> colours.put(instance, colours.size() % COLOURS));
		return colours;
	}

	private static Html legend(Map<String, Integer> colours) {
		return colours.entrySet()
			.stream()
			.map((colour) -> Html
				.of("<li><svg width=\"12\" height=\"12\"><rect class=\"i%s\" width=\"12\" height=\"12\"/>"
						+ "</svg> %s</li>", colour.getValue(), colour.getKey()))
			.collect(Html.joining());
	}

	private Html lane(String name, List<RunPeriod> periods, int y, Map<String, Integer> colours) {
		Html bars = periods.stream()
			.flatMap((period) -> bars(period, y + 16, colours.getOrDefault(period.instance(), 0)))
			.collect(Html.joining());
		return Html.of("<g class=\"lane\" data-key=\"%s\"><text x=\"0\" y=\"%s\">%s</text>%s</g>", name, y + 12, name,
				bars);
	}

	private Stream<Html> bars(RunPeriod period, int y, int colour) {
		double start = Math.max(0, Math.min(percent(period.startedAt()), 100 - NARROWEST));
		double width = Math.max(NARROWEST, Math.min(percent(period.finishedAt()), 100) - start);
		Html bar = Html.of(
				"<rect class=\"i%s\" data-instance=\"%s\" x=\"%s%%\" width=\"%s%%\" y=\"%s\" height=\"10\">"
						+ "<title>%s: %s runs, %s not executed, %s to %s UTC</title></rect>",
				colour, period.instance(), number(start), number(width), y, period.instance(), period.runs(),
				period.failures(), HOUR.format(period.startedAt()), HOUR.format(period.finishedAt()));
		Html earlier = (period.cut() && start > 0)
				? Html.of("<line class=\"cut\" x1=\"0\" x2=\"%s%%\" y1=\"%s\" y2=\"%s\">"
						+ "<title>earlier runs are not shown</title></line>", number(start), y + 5, y + 5)
				: Html.NONE;
		return (period.failures() == 0) ? Stream.of(earlier, bar)
				: Stream.of(earlier, bar,
						Html.of("<rect class=\"failed\" x=\"%s%%\" width=\"%s%%\" y=\"%s\" height=\"3\"/>",
								number(start), number(width), y + 10));
	}

	private Html axis(int height) {
		Duration step = Duration.ofMinutes(Math.max(10, this.length.toMinutes() / 6));
		Instant first = Instant.ofEpochSecond(
				this.now.minus(this.length).getEpochSecond() / step.toSeconds() * step.toSeconds() + step.toSeconds());
		return Stream.iterate(first, (time) -> time.isBefore(this.now), (time) -> time.plus(step))
			.map((time) -> Html.of(
					"<line x1=\"%s%%\" x2=\"%s%%\" y1=\"0\" y2=\"%s\"/>"
							+ "<text class=\"hour%s\" x=\"%s%%\" y=\"%s\">%s</text>",
					number(percent(time)), number(percent(time)), height, (percent(time) > LAST_LABEL) ? " last" : "",
					number(percent(time)), height + 14, HOUR.format(time)))
			.collect(Html.joining());
	}

	private double percent(Instant time) {
		return 100.0 - 100.0 * ChronoUnit.MILLIS.between(time, this.now) / this.length.toMillis();
	}

	private static String number(double percent) {
		return String.format(Locale.ROOT, "%.2f", percent);
	}

}
