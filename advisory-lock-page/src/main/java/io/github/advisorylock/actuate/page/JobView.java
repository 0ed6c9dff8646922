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

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksSource.JobAtMoment;
import io.github.advisorylock.actuate.OverviewDescriptor.RunsDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.TicksDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * One job: its state, its schedule, its runs, and what can be done with it.
 *
 * @param context what it is made from
 * @param parts tells of jobs
 * @param job the job
 */
record JobView(View.Context context, JobParts parts, JobDescriptor job) {

	private static final int NEXT = 5;

	static View of(View.Context context) {
		JobAtMoment one = find(context);
		if (one == null) {
			return new View("Job", About.of(context.source().getMoment()),
					new Html("<p class=\"empty\">There is no such job, or there are several: "
							+ "<a href=\"?view=jobs\">look for it among all</a>.</p>"));
		}
		About about = About.of(one.moment());
		JobDescriptor job = one.job().job();
		JobView view = new JobView(context, new JobParts(new Times(about.time())), job);
		return new View(AdvisoryLockKey.display(job.key()), about, view.write(one.job().runs()));
	}

	/**
	 * What may mean several jobs is shown as none.
	 */
	private static @Nullable JobAtMoment find(View.Context context) {
		String key = Objects.toString(context.query().key(), "");
		try {
			return context.source().getJobAtMoment(key, context.query().manager(), context.showValues()).orElse(null);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private Html write(List<RunDescriptor> latest) {
		RunsDescriptor runs = runs();
		return Html.of(
				"""
						<div id="job" data-key="%s" data-id="%s" data-manager="%s" data-state="%s">%s%s</div><div class="cards">%s%s%s</div>%s%s%s
						""",
				JobParts.name(this.job), this.job.id(), manager(), this.job.state(), JobParts.place(this.job),
				this.context.writable() ? Html.of("<div class=\"actions\">%s</div>", JobParts.actions(this.job, true))
						: Html.NONE,
				View.section("now", "Now", facts()), View.section("schedule", "Schedule", schedule()),
				View.section("durations", "Last runs", durations(latest)), failure(latest),
				View.section("who", "Who ran it",
						Html.of("%s%s", TimelineView.zoom(this.context.query()),
								TimelineView.draw(this.context, this.parts.times(), List.of(this.job)))),
				View.section("all-runs", "Runs",
						new RunTable(this.parts.times(), this.context.query(), this.context.links()).write(this.job,
								runs)));
	}

	private Html facts() {
		return Html.of("<dl>%s%s%s%s%s%s</dl>", fact("State", this.parts.state(this.job)),
				fact("Last run", this.parts.last(this.job)),
				fact("Lock held by", this.parts.holders(this.job.holders())),
				fact("Waiting", this.parts.waiters(this.job.waiters())),
				Html.with(this.job.keys(), (keys) -> fact("Keys", Html.of("%s%s",
						this.parts.keys("keys, latest", keys.count(), keys.latest(), manager()), this.parts
							.keys("failed and not run since, latest", keys.failureCount(), keys.failed(), manager())))),
				here());
	}

	private @Nullable String manager() {
		return this.job.transactionManager();
	}

	private static Html fact(String name, Html value) {
		return value.markup().isEmpty() ? Html.NONE : Html.of("<dt>%s</dt><dd>%s</dd>", name, value);
	}

	/**
	 * Return what only the instance knows that answers.
	 */
	private Html here() {
		String counts = this.job.outcomes()
			.entrySet()
			.stream()
			.map((one) -> one.getValue() + " " + one.getKey().toLowerCase(Locale.ROOT).replace('_', ' '))
			.collect(Collectors.joining(", "));
		Html next = Html.with(this.job.nextHere(),
				(time) -> Html.of("calls it next at %s", this.parts.times().at(time)));
		return (counts.isEmpty() && next.markup().isEmpty()) ? Html.NONE
				: fact("On this instance",
						Html.of("<span class=\"here\">%s%s%s</span>", next,
								(counts.isEmpty() || next.markup().isEmpty()) ? "" : "; ",
								counts.isEmpty() ? "" : "calls since it started: " + counts));
	}

	private Html schedule() {
		TicksDescriptor ticks = this.context.source().getTicks(this.job.id(), manager()).orElse(null);
		Html words = this.job.schedules().isEmpty()
				? new Html("<p>No schedule is known: it runs when it is called.</p>")
				: Html.each(this.job.schedules(), this::schedule);
		return Html.of("%s%s", words, Html.with(ticks, this::missed));
	}

	private Html schedule(ScheduleDescriptor schedule) {
		List<Instant> next = ScheduleText.next(schedule, this.parts.times().now(), NEXT);
		if (next.isEmpty() && this.job.next() != null) {
			next = List.of(this.job.next());
		}
		return Html.of("<p class=\"words\">%s</p>%s<h3>Next times</h3><ol class=\"next\">%s</ol>",
				ScheduleText.of(schedule),
				Html.with(ScheduleText.words(Objects.toString(schedule.expression(), "")),
						(words) -> Html.of("<p><code>%s</code></p>", schedule.expression())),
				Html.each(next, (time) -> Html.of("<li>%s</li>", this.parts.times().at(time))));
	}

	private Html missed(TicksDescriptor ticks) {
		return Html.with(ticks.since(), (since) -> ticks.missed().isEmpty()
				? Html.of("<p>All %s ticks since %s were run.</p>", ticks.expected(), this.parts.times().at(since))
				: Html.of("<h3>%s %s of %s ticks since %s did not run</h3><ul id=\"missed\">%s</ul>",
						View.icon("warning"), ticks.missed().size(), ticks.expected(), this.parts.times().at(since),
						Html.each(ticks.missed().stream().limit(2 * NEXT).toList(),
								(tick) -> Html.of("<li>%s</li>", this.parts.times().at(tick)))));
	}

	private Html durations(List<RunDescriptor> latest) {
		boolean template = this.job.keys() != null || latest.stream().anyMatch((run) -> run.key() != null);
		Trend trend = new Trend(this.job.history(), this.job.durations());
		return this.job.history().isEmpty()
				? Html.of("<p class=\"empty\">%s</p>",
						template ? "Each key has runs of its own: see below." : "It has not run yet.")
				: Html.of("<p>%s</p><p>%s</p>%s", trend.label(), JobParts.figures(this.job),
						trend.large(this.job.median()));
	}

	/**
	 * Return why the last run failed, if it did, and what becomes of its tick.
	 */
	private Html failure(List<RunDescriptor> latest) {
		return latest.stream()
			.filter((run) -> run.outcome() != null)
			.limit(1)
			.filter((run) -> run.error() != null)
			.map((run) -> View.section("why", "Why the last run failed",
					Html.of("<p>%s on %s: <code>%s</code></p>%s%s", this.parts.times().at(run.startedAt()),
							run.instance(), run.error(), Html.with(run.tick(), this::fate),
							Html.with(run.stackTrace(), (trace) -> Html.of("<pre tabindex=\"0\">%s</pre>", trace)))))
			.collect(Html.joining());
	}

	/**
	 * Return what becomes of a tick whose run failed.
	 */
	private Html fate(Instant tick) {
		TickDescriptor open = this.job.openTick();
		return Html.of("<p class=\"fate\">%s</p>", (open != null && open.tick().equals(tick)) ? fate(open) : new Html(
				"A later tick was completed or " + "tried, so this one is not tried again: run the job now instead."));
	}

	private Html fate(TickDescriptor open) {
		boolean retriable = this.job.actions().contains("retried");
		if (this.job.paused() != null) {
			return new Html("Its tick is not completed, and waits until the job is resumed.");
		}
		if (open.retryAt() != null) {
			return Html.of("Its tick is not completed: attempt %s begins at %s%s.", open.attempts() + 1,
					this.parts.times().at(open.retryAt()), retriable ? ", or at once if you retry it" : "");
		}
		return new Html(retriable ? "Its tick is not completed, and tried again only if you retry it."
				: "Its tick is not completed.");
	}

	private RunsDescriptor runs() {
		PageQuery query = this.context.query();
		return this.context.source()
			.getRuns(this.job.id(), manager(), query.outcome().isEmpty() ? null : query.outcome(),
					query.sort().equals("duration") ? "duration" : null, query.page(), null, this.context.showValues())
			.orElse(new RunsDescriptor(0, 1, 1, "latest", List.of()));
	}

}
