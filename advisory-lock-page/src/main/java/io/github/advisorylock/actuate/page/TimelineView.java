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
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.JobRegistry.RunPeriod;

/**
 * When which instance ran which job.
 */
final class TimelineView {

	private static final int SLOTS = 400;

	private static final int MOST_LANES = 50;

	private TimelineView() {
	}

	static View of(View.Context context) {
		PageQuery query = context.query();
		AdvisoryLocksDescriptor all = context.source()
			.getLocks(query.text(), query.state(), query.page(), Math.min(MOST_LANES, context.rows()),
					context.showValues());
		Html filter = Html.of(
				"""
						<form class="filter" method="get" autocomplete="off" role="search"><input type="hidden" name="view" value="timeline">
						<input type="hidden" name="range" value="%s"><label>Key or method <input name="q" type="search"
						value="%s"></label><button type="submit">Show</button></form>%s
						""",
				query.range(), query.text(), zoom(query));
		return new View("Timeline", About.of(all),
				Html.of("%s%s%s", filter, draw(context, new Times(all.time()), all.jobs()),
						View.pages(query, (all.matching() + all.size() - 1) / all.size())));
	}

	/**
	 * Return links to how far the timeline can go back.
	 */
	static Html zoom(PageQuery query) {
		return Html.of("<nav class=\"zoom\" aria-label=\"Range\">%s%s</nav>", zoom(query, "", "Fit"),
				Html.each(PageQuery.RANGES.keySet(), (range) -> zoom(query, range, range)));
	}

	private static Html zoom(PageQuery query, String range, String text) {
		return Html.of("<a href=\"%s\"%s>%s</a>", query.with("range", range),
				range.equals(query.range()) ? new Html(" aria-current=\"true\"") : Html.NONE, text);
	}

	static Html draw(View.Context context, Times times, List<JobDescriptor> jobs) {
		Duration asked = PageQuery.RANGES.get(context.query().range());
		Duration length = (asked != null) ? asked : context.timeline();
		List<RunPeriod> periods = periods(context.source(), jobs, length);
		if (asked == null) {
			Duration fit = fit(periods, times.now(), length);
			periods = fit.equals(length) ? periods : periods(context.source(), jobs, fit);
			length = fit;
		}
		return new Timeline(times, length,
				jobs.stream()
					.collect(Collectors.toMap(JobParts::name,
							(job) -> PageQuery.ofJob(job.id(), job.transactionManager()), (one, same) -> one)))
			.draw(periods);
	}

	private static List<RunPeriod> periods(AdvisoryLocksSource source, List<JobDescriptor> jobs, Duration length) {
		return source.getPeriods(jobs, length, length.dividedBy(SLOTS));
	}

	/**
	 * Return the shortest range that has all there is.
	 */
	private static Duration fit(List<RunPeriod> periods, Instant now, Duration longest) {
		Duration needed = periods.stream()
			.map(RunPeriod::startedAt)
			.min(Comparator.naturalOrder())
			.map((first) -> Duration.between(first, now))
			.orElse(longest);
		return PageQuery.RANGES.values()
			.stream()
			.filter((range) -> range.compareTo(needed) >= 0 && range.compareTo(longest) < 0)
			.findFirst()
			.orElse(longest);
	}

}
