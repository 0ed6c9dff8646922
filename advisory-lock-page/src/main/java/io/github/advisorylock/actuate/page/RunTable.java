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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.RunsDescriptor;

/**
 * The runs of one job, some at a time.
 *
 * @param times tells times
 * @param query what is asked for
 * @param links leads to what others know of a run
 */
record RunTable(Times times, PageQuery query, RunLinks links) {

	private static final String KEY = "Key";

	private static final List<String> LABELS = List.of("Started", "Outcome", "Tick", "Attempt", "Took", "Instance",
			"Error");

	/**
	 * Write runs of a job; those of a template each with its key, which has a view of its
	 * own.
	 */
	Html write(JobDescriptor job, RunsDescriptor runs) {
		List<String> labels = new ArrayList<>(LABELS);
		if (job.keys() != null || runs.runs().stream().anyMatch((run) -> run.key() != null)) {
			labels.add(1, KEY);
		}
		return Html.of("%s%s%s", filter(),
				runs.runs().isEmpty() ? new Html("<p class=\"empty\">No such run is known.</p>")
						: View.table("runs", "Runs", labels,
								Html.each(runs.runs(), (run) -> row(job, run, labels.contains(KEY)))),
				View.pages(this.query, (runs.matching() + runs.size() - 1) / Math.max(1, runs.size())));
	}

	private Html filter() {
		return Html.of(
				"""
						<form class="filter" method="get" autocomplete="off"><input type="hidden" name="view" value="job"><input type="hidden"
						name="key" value="%s"><label>Outcome <select name="outcome">%s%s</select></label>
						<label>Sort by <select name="sort">%s%s</select></label><button type="submit">Show</button></form>
						""",
				this.query.key(), View.option("", "any", this.query.outcome().isEmpty()),
				Html.each(PageQuery.OUTCOMES,
						(outcome) -> View.option(outcome, outcome.toLowerCase(Locale.ROOT),
								outcome.equals(this.query.outcome()))),
				View.option("", "latest", this.query.sort().isEmpty()),
				View.option("duration", "longest", this.query.sort().equals("duration")));
	}

	private Html row(JobDescriptor job, RunDescriptor run, boolean keys) {
		Duration duration = run.duration();
		String key = (run.key() != null) ? run.key() : job.key();
		return Html.of("<tr data-outcome=\"%s\">%s%s%s%s%s%s%s%s</tr>",
				(run.outcome() != null) ? run.outcome() : "RUNNING",
				View.cell("started", "Started",
						Html.of("%s %s", this.times.at(run.startedAt()), this.links.of(key, run))),
				keys ? View.cell("run-key", KEY, link(job, key)) : Html.NONE,
				View.cell("outcome", "Outcome", JobParts.outcome(run.outcome())),
				View.cell("tick", "Tick", this.times.at(run.tick())), View.cell("count", "Attempt", run.attempt()),
				View.cell("count", "Took",
						(duration != null) ? Times.text(duration) : this.times.since(run.startedAt()) + " so far"),
				View.cell("instance", "Instance",
						Html.of("%s <small>token %s</small>", run.instance(), run.fencingToken())),
				View.cell("error", "Error", error(run)));
	}

	private static Html link(JobDescriptor job, String key) {
		String name = job.namespace().isEmpty() ? key : job.namespace() + "/" + key;
		return JobParts.link(PageQuery.ofJob(name, job.transactionManager()), key);
	}

	private static Html error(RunDescriptor run) {
		Html stack = Html.with(run.stackTrace(), (trace) -> Html
			.of("<details><summary>Stack trace</summary><pre tabindex=\"0\">%s</pre></details>", trace));
		return (run.error() == null) ? stack : Html.of("<div><code>%s</code>%s</div>", run.error(), stack);
	}

}
