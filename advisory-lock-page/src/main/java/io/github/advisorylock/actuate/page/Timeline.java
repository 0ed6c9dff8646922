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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.JobRegistry.RunPeriod;

/**
 * When which instance ran which job: a lane for each job. An instance is told apart by a
 * letter, by a colour, and where the colours come again by a pattern.
 *
 * @param times tells times, and where the axis ends
 * @param length how long it is
 * @param addresses the address of each job by its name
 */
record Timeline(Times times, Duration length, Map<String, String> addresses) {

	private static final int COLOURS = 8;

	private static final int PATTERNS = 4;

	private static final double NARROWEST = 0.3;

	/**
	 * How far apart letters are, in percent of the axis.
	 */
	private static final double LETTER = 3;

	private static final int MOST_LABELS = 8;

	private static final int MOST_ROWS = 500;

	private static final List<Duration> STEPS = Stream.of(2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 5760)
		.map(Duration::ofMinutes)
		.toList();

	private static final DateTimeFormatter HOUR = DateTimeFormatter.ofPattern("HH:mm", Locale.ROOT)
		.withZone(ZoneOffset.UTC);

	private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("MM-dd", Locale.ROOT)
		.withZone(ZoneOffset.UTC);

	Html draw(List<RunPeriod> periods) {
		if (periods.isEmpty()) {
			return new Html("<p class=\"empty\">No runs in this time.</p>");
		}
		Map<String, Integer> instances = instances(periods);
		Map<String, List<RunPeriod>> lanes = periods.stream()
			.collect(Collectors.groupingBy((period) -> JobParts.name(period.namespace(), period.key()),
					LinkedHashMap::new, Collectors.toList()));
		return Html.of("""
				<div class="timeline"><div class="axis" aria-hidden="true"><svg width="100%%" height="18">%s</svg></div>
				<ul class="lanes">%s</ul></div>%s%s
				""", labels(), Html.each(lanes.entrySet(), (lane) -> lane(lane.getKey(), lane.getValue(), instances)),
				legend(instances), text(lanes, instances));
	}

	private static Map<String, Integer> instances(List<RunPeriod> periods) {
		Map<String, Integer> instances = new LinkedHashMap<>();
		periods.stream()
			.sorted(Comparator.comparing(RunPeriod::startedAt).thenComparing(RunPeriod::instance))
			.forEach((period) -> instances.putIfAbsent(period.instance(), instances.size()));
		return instances;
	}

	private static Html legend(Map<String, Integer> instances) {
		Html items = Html.each(instances.entrySet(),
				(instance) -> Html.of(
						"<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\">%s</svg><b>%s</b> %s</li>",
						bar(instance.getValue(), "0", "100", 0, 14, ""), letter(instance.getValue()),
						instance.getKey()));
		return Html.of("<h2>Instances</h2><ul class=\"legend\">%s</ul>", items);
	}

	static String letter(int number) {
		String last = String.valueOf((char) ('A' + number % 26));
		return (number < 26) ? last : letter(number / 26 - 1) + last;
	}

	private static Html bar(int number, String x, String width, int y, int height, String title) {
		String place = "x=\"" + x + "%\" width=\"" + width + "%\" y=\"" + y + "\" height=\"" + height + "\"";
		int pattern = number / COLOURS % PATTERNS;
		Html text = title.isEmpty() ? Html.NONE : Html.of("<title>%s</title>", title);
		return Html.of("<rect class=\"i%s\" %s>%s</rect>%s", number % COLOURS, new Html(place), text, (pattern == 0)
				? Html.NONE : Html.of("<rect class=\"pattern\" fill=\"url(#p%s)\" %s/>", pattern, new Html(place)));
	}

	private Html lane(String name, List<RunPeriod> periods, Map<String, Integer> instances) {
		List<Html> drawn = new ArrayList<>();
		String before = "";
		double free = -LETTER;
		for (RunPeriod period : periods) {
			double start = start(period);
			drawn.add(bars(period, start, instances.getOrDefault(period.instance(), 0)));
			if (!period.instance().equals(before) && start >= free) {
				drawn.add(Html.of("<text%s x=\"%s%%\" y=\"10\">%s</text>",
						(start > 100 - LETTER) ? new Html(" class=\"last\"") : Html.NONE,
						(start > 100 - LETTER) ? "100" : Trend.percent(start),
						letter(instances.getOrDefault(period.instance(), 0))));
				free = start + LETTER;
				before = period.instance();
			}
		}
		return Html.of("""
				<li class="lane" data-key="%s"><span class="name">%s</span><svg width="100%%" height="30" role="img"
				aria-label="%s: %s">%s%s</svg></li>
				""", name, link(name), name, summary(periods, instances), grid(),
				drawn.stream().collect(Html.joining()));
	}

	private Html link(String name) {
		String address = this.addresses.get(name);
		return (address != null) ? JobParts.link(address, name) : Html.of("%s", name);
	}

	private static String summary(List<RunPeriod> periods, Map<String, Integer> instances) {
		int runs = periods.stream().mapToInt(RunPeriod::runs).sum();
		int failures = periods.stream().mapToInt(RunPeriod::failures).sum();
		String by = periods.stream()
			.map(RunPeriod::instance)
			.distinct()
			.limit(5)
			.map((instance) -> letter(instances.getOrDefault(instance, 0)))
			.collect(Collectors.joining(", "));
		return runs + " runs, " + failures + " not executed, by " + by;
	}

	private double start(RunPeriod period) {
		return Math.max(0, Math.min(percent(period.startedAt()), 100 - NARROWEST));
	}

	private Html bars(RunPeriod period, double start, int instance) {
		double width = Math.max(NARROWEST, Math.min(percent(period.finishedAt()), 100) - start);
		String title = "%s %s: %s runs, %s not executed, %s to %s UTC".formatted(letter(instance), period.instance(),
				period.runs(), period.failures(), HOUR.format(period.startedAt()), HOUR.format(period.finishedAt()));
		Html earlier = (period.cut() && start > 0)
				? Html.of("<line class=\"cut\" x1=\"0\" x2=\"%s%%\" y1=\"18\" y2=\"18\">"
						+ "<title>earlier runs are not shown</title></line>", Trend.percent(start))
				: Html.NONE;
		Html failed = (period.failures() == 0) ? Html.NONE
				: Html.of("<rect class=\"failed\" x=\"%s%%\" width=\"%s%%\" y=\"25\" height=\"4\"/>",
						Trend.percent(start), Trend.percent(width));
		return Html.of("%s%s%s", earlier, bar(instance, Trend.percent(start), Trend.percent(width), 13, 11, title),
				failed);
	}

	private List<Instant> marks() {
		Duration step = STEPS.stream()
			.filter((one) -> one.multipliedBy(MOST_LABELS).compareTo(this.length) >= 0)
			.findFirst()
			.orElse(STEPS.get(STEPS.size() - 1));
		Instant start = this.times.now().minus(this.length);
		Instant first = Instant.ofEpochSecond((start.getEpochSecond() / step.toSeconds() + 1) * step.toSeconds());
		return Stream.iterate(first, (time) -> time.isBefore(this.times.now()), (time) -> time.plus(step)).toList();
	}

	private Html grid() {
		return Html.each(marks(), (time) -> Html.of("<line x1=\"%s%%\" x2=\"%s%%\" y1=\"0\" y2=\"30\"/>",
				Trend.percent(percent(time)), Trend.percent(percent(time))));
	}

	/**
	 * Every other label is left out where there is little room.
	 */
	private Html labels() {
		List<Instant> marks = marks();
		boolean days = this.length.compareTo(Duration.ofDays(2)) > 0;
		List<Html> labels = new ArrayList<>();
		for (int i = 0; i < marks.size(); i++) {
			double percent = percent(marks.get(i));
			String place = (percent < 4) ? " first" : (percent > 96) ? " last" : "";
			labels.add(Html.of("<text class=\"mark%s%s\" x=\"%s%%\" y=\"13\" data-at=\"%s\">%s</text>",
					(i % 2 == 1) ? " minor" : "", place, Trend.percent(percent), marks.get(i),
					(days ? DAY : HOUR).format(marks.get(i))));
		}
		return labels.stream().collect(Html.joining());
	}

	/**
	 * Return the same in words: who ran which job in turn.
	 */
	private Html text(Map<String, List<RunPeriod>> lanes, Map<String, Integer> instances) {
		List<RunPeriod> turns = lanes.values().stream().flatMap((lane) -> turns(lane).stream()).toList();
		Html rows = Html.each(turns.subList(0, Math.min(turns.size(), MOST_ROWS)),
				(turn) -> Html.of("<tr><th scope=\"row\">%s</th>%s%s%s%s%s</tr>",
						JobParts.name(turn.namespace(), turn.key()),
						View.cell("instance", "Instance",
								letter(instances.getOrDefault(turn.instance(), 0)) + " " + turn.instance()),
						View.cell("from", "From", this.times.at(turn.startedAt())),
						View.cell("to", "To", this.times.at(turn.finishedAt())),
						View.cell("count", "Runs", turn.runs()), View.cell("count", "Not executed", turn.failures())));
		return Html.of("<details id=\"timeline-text\"><summary>The same as a table</summary>%s</details>", View
			.table("turns", "Who ran what", List.of("Job", "Instance", "From", "To", "Runs", "Not executed"), rows));
	}

	/**
	 * Put periods together in which no other instance had its turn.
	 */
	private static List<RunPeriod> turns(List<RunPeriod> lane) {
		List<RunPeriod> turns = new ArrayList<>();
		for (RunPeriod period : lane) {
			RunPeriod last = turns.isEmpty() ? null : turns.get(turns.size() - 1);
			if (last == null || !last.instance().equals(period.instance())) {
				turns.add(period);
				continue;
			}
			Instant end = last.finishedAt().isAfter(period.finishedAt()) ? last.finishedAt() : period.finishedAt();
			turns.set(turns.size() - 1, new RunPeriod(last.namespace(), last.key(), last.instance(), last.startedAt(),
					end, last.runs() + period.runs(), last.failures() + period.failures(), last.cut()));
		}
		return turns;
	}

	private double percent(Instant time) {
		return 100.0 - 100.0 * ChronoUnit.MILLIS.between(time, this.times.now()) / this.length.toMillis();
	}

}
