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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.OverviewDescriptor.JobsDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * All jobs, in a table that is searched, sorted and paged.
 *
 * @param parts tells of jobs
 * @param query what is asked for
 * @param writable whether there are buttons
 */
record JobsView(JobParts parts, PageQuery query, boolean writable) {

	private static final Map<String, String> SORTS = sorts();

	static View of(View.Context context) {
		PageQuery query = context.query();
		JobsDescriptor all = context.source()
			.getJobs(query.text(), query.state(), query.sort().isEmpty() ? null : query.sort(), query.page(),
					context.rows(), context.showValues());
		JobsView view = new JobsView(new JobParts(new Times(all.time())), query, context.writable());
		return new View("Jobs", new About(all.time(), all.instance(), all.namespace(), List.of(), all.ledger()),
				view.write(all));
	}

	private Html write(JobsDescriptor all) {
		int pages = (all.matching() + all.size() - 1) / all.size();
		return Html.of("%s%s<p id=\"count\">%s of %s jobs%s</p>%s%s", filter(),
				all.ledger() ? this.parts.all(all.namespace(), all.paused(), this.writable) : Html.NONE, all.matching(),
				all.jobCount(), this.writable ? "" : ", read-only",
				all.jobs().isEmpty()
						? Html.of("<p class=\"empty\">%s</p>", (all.jobCount() == 0)
								? "There are no jobs yet: put @SingleRunner on a method." : "No job is like that.")
						: table(all),
				View.pages(this.query, pages));
	}

	private Html filter() {
		return Html.of(
				"""
						<form class="filter" method="get" autocomplete="off" role="search"><input type="hidden" name="view" value="jobs">
						<label>Key or method <input name="q" type="search" value="%s"></label>
						<label>State <select name="state">%s</select></label>
						<label>Sort by <select name="sort">%s</select></label><button type="submit">Show</button></form>
						""",
				this.query.text(),
				Html.each(AdvisoryLocksSource.STATES,
						(state) -> View.option(state, state, state.equals(this.query.state()))),
				Html.each(SORTS.entrySet(), (sort) -> View.option(sort.getKey(), sort.getValue(),
						sort.getKey().equals(this.query.sort()))));
	}

	private Html table(JobsDescriptor all) {
		List<Html> heads = new ArrayList<>();
		heads.add(head("Job", "key"));
		heads.add(head("State", "failures"));
		heads.add(head("Next", "next"));
		heads.add(head("Last run", "last"));
		heads.add(head("Duration", "duration"));
		if (this.writable) {
			heads.add(new Html("<th scope=\"col\" class=\"actions\">Actions</th>"));
		}
		return Html.of("<table id=\"jobs\"><caption>Jobs</caption><thead><tr>%s</tr></thead><tbody>%s</tbody></table>",
				heads.stream().collect(Html.joining()), Html.each(all.jobs(), this::row));
	}

	private Html head(String text, String sort) {
		boolean sorted = this.query.sort().equals(sort) || (this.query.sort().isEmpty() && sort.equals("key"));
		String order = List.of("key", "next").contains(sort) ? "ascending" : "descending";
		return Html.of("<th scope=\"col\"%s><a href=\"%s\">%s</a></th>",
				sorted ? Html.of(" aria-sort=\"%s\"", order) : Html.NONE,
				this.query.with("sort", sort.equals("key") ? "" : sort), text);
	}

	private Html row(JobDescriptor job) {
		return Html.of(
				"""
						<tr data-key="%s" data-state="%s" data-id="%s" data-manager="%s"><th scope="row" class="job">%s%s%s</th>%s%s%s%s%s</tr>
						""",
				JobParts.name(job), job.state(), job.id(), job.transactionManager(),
				JobParts.link(job.id(), job.key(), job.transactionManager()), JobParts.place(job),
				Html.with(job.keys(), (keys) -> keys(keys, job.transactionManager())),
				View.cell("state", "State", Html.of("%s%s", this.parts.state(job), this.parts.waiters(job.waiters()))),
				View.cell("next", "Next", Html.of("%s %s", this.parts.times().at(job.next()), JobParts.schedules(job))),
				View.cell("last", "Last run", this.parts.last(job)),
				View.cell("duration", "Duration",
						Html.of("%s%s", new Trend(job.history(), job.durations()).small(), JobParts.figures(job))),
				this.writable ? View.cell("actions", "Actions", JobParts.actions(job, false)) : Html.NONE);
	}

	private Html keys(KeysDescriptor keys, @Nullable String manager) {
		return Html.of("%s%s", this.parts.keys("keys, latest", keys.count(), keys.latest(), manager),
				this.parts.keys("failed and not run since, latest", keys.failureCount(), keys.failed(), manager));
	}

	private static Map<String, String> sorts() {
		Map<String, String> sorts = new LinkedHashMap<>();
		sorts.put("", "key");
		sorts.put("next", "next");
		sorts.put("last", "last run");
		sorts.put("duration", "duration");
		sorts.put("failures", "failures");
		return sorts;
	}

}
