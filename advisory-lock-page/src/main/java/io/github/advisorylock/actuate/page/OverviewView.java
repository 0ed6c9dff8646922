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

import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.OverviewDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.OverviewDescriptor.RunningDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * What needs an operator now, and what goes on.
 *
 * @param times tells times
 * @param writable whether there are buttons
 */
record OverviewView(Times times, boolean writable) {

	private static final int MOST_INSTANCES = 8;

	static View of(View.Context context) {
		OverviewDescriptor all = context.source().getOverview(context.showValues());
		return new View("Overview", About.of(all),
				new OverviewView(new Times(all.time()), context.writable()).write(all));
	}

	private Html write(OverviewDescriptor all) {
		return Html.of("%s%s%s<div class=\"cards\">%s%s%s</div>", problems(all), tiles(all),
				all.ledger() ? new JobParts(this.times).all(all.namespace(), all.paused(), this.writable) : Html.NONE,
				View.section("running", "Running now", running(all)),
				View.section("instances", "Instances", instances(all)),
				View.section("leaders", "Leaders", leaders(all)));
	}

	private Html problems(OverviewDescriptor all) {
		return View.section("problems", "What needs you now",
				all.problems().isEmpty()
						? Html.of("<p class=\"fine\">%sNothing needs you now.</p>", View.icon("EXECUTED"))
						: Html.of("<ul class=\"problems\">%s</ul>", Html.each(all.problems(), this::group)));
	}

	private Html group(ProblemGroup group) {
		Problem problem = group.problem();
		int more = group.count() - group.latest().size();
		return Html.of("<li class=\"problem %s\" data-problem=\"%s\"><h3>%s%s</h3><ul>%s</ul>%s</li>", problem, problem,
				View.icon(icon(problem)), title(problem, group.count()),
				Html.each(group.latest(), (one) -> item(problem, one)),
				(more > 0) ? Html.of("<p><a href=\"%s\">%s more</a></p>", where(problem), more) : Html.NONE);
	}

	private static String icon(Problem problem) {
		return switch (problem) {
			case PAUSED, FAILED, ABANDONED -> problem.name();
			case OVERDUE -> "overdue";
			default -> "warning";
		};
	}

	private static String where(Problem problem) {
		return switch (problem) {
			case FAILED, ABANDONED -> "?view=jobs&state=failing";
			case OVERDUE -> "?view=jobs&state=overdue";
			case PAUSED -> "?view=jobs&state=paused";
			case INSTANCE_VANISHED, CLOCK_SKEW -> "?view=instances";
			default -> "?view=jobs&state=problem";
		};
	}

	private static String title(Problem problem, int count) {
		boolean one = count == 1;
		return count + switch (problem) {
			case LOST -> (one ? " job" : " jobs") + " lost the lock in mid-run";
			case FAILED -> (one ? " job" : " jobs") + " failed";
			case ABANDONED -> one ? " job was abandoned in mid-run" : " jobs were abandoned in mid-run";
			case OVERDUE -> one ? " job is overdue" : " jobs are overdue";
			case FUTURE_TICK ->
				one ? " job is held back by a tick in the future" : " jobs are held back by ticks in the future";
			case SHARED_KEY -> one ? " key is that of several methods" : " keys are those of several methods";
			case INSTANCE_VANISHED -> one ? " instance vanished" : " instances vanished";
			case CLOCK_SKEW -> one ? " clock differs from the database's" : " clocks differ from the database's";
			case PAUSED -> one ? " job is paused" : " jobs are paused";
		};
	}

	private Html item(Problem problem, ProblemDescriptor one) {
		boolean job = one.id() != null;
		return Html.of("<li data-key=\"%s\" data-id=\"%s\">%s%s%s%s%s</li>", JobParts.name(one.namespace(), one.name()),
				job ? one.id() : one.name(),
				job ? JobParts.link(String.valueOf(one.id()), one.name(), one.transactionManager())
						: Html.of("<a class=\"key\" href=\"?view=instances\">%s</a>", one.name()),
				(one.failures() != null && one.failures() > 1 && problem == Problem.FAILED)
						? Html.of(" <b>%s times in a row</b>", one.failures()) : Html.NONE,
				Html.with(one.since(),
						(since) -> Html.of(" <small>%s ago, %s</small>", this.times.since(since),
								this.times.at(since))),
				Html.with(job ? one.instance() : null, (instance) -> Html.of(" <small>on %s</small>", instance)),
				Html.with(one.detail(), (detail) -> Html.of(" <code>%s</code>", detail)));
	}

	private static Html tiles(OverviewDescriptor all) {
		Html states = Html.each(all.states().entrySet(), (state) -> tile(state.getKey(), state.getKey(),
				state.getValue(), "?view=jobs&state=" + state.getKey(), state.getValue() == 0));
		return Html.of("<ul class=\"tiles\" aria-label=\"Jobs and locks\">%s%s</ul>", states,
				tile("lock", (all.waiterCount() > 0) ? "locks, " + all.waiterCount() + " waiting" : "locks",
						all.lockCount() - all.waiterCount(), "?view=locks", false));
	}

	private static Html tile(String icon, String text, int count, String address, boolean none) {
		return Html.of("<li class=\"%s\"><a href=\"%s\"><b>%s</b> %s%s</a></li>", none ? "none" : icon, address, count,
				View.icon(icon), text);
	}

	private Html running(OverviewDescriptor all) {
		int more = all.runningCount() - all.running().size();
		return all.running().isEmpty() ? new Html("<p class=\"empty\">Nothing runs at the moment.</p>") : Html.of(
				"<ul class=\"rows\">%s</ul>%s", Html.each(all.running(), this::running),
				(more > 0) ? Html.of("<p><a href=\"?view=jobs&amp;state=running\">%s more</a></p>", more) : Html.NONE);
	}

	private Html running(RunningDescriptor job) {
		return Html.of("<li>%s %s%s</li>", JobParts.link(job.id(), job.key(), job.transactionManager()),
				on(job.instance(), Html.with(job.since(), (since) -> Html.of(" for %s", this.times.since(since)))),
				(job.waiters() > 0) ? Html.of(" <small>%s waiting</small>", job.waiters()) : Html.NONE);
	}

	private static Html on(@Nullable String instance, Html since) {
		return Html.of("<small>%s%s</small>",
				Html.with(instance, (name) -> Html.of("on <span class=\"instance\">%s</span>", name)), since);
	}

	private Html instances(OverviewDescriptor all) {
		if (all.instances().isEmpty()) {
			return new Html("<p class=\"empty\">No instance is known.</p>");
		}
		Map<String, Integer> counts = all.instanceStates();
		Html badges = Html.each(counts.entrySet(), (state) -> (state.getValue() == 0) ? Html.NONE
				: Html.of("%s ", View.badge(state.getKey(), state.getValue() + " " + state.getKey())));
		return Html.of("<p>%s</p><ul class=\"rows\">%s</ul><p><a href=\"?view=instances\">All instances</a></p>",
				badges, Html.each(all.instances().stream().limit(MOST_INSTANCES).toList(), this::instance));
	}

	private Html instance(InstanceDescriptor one) {
		return Html.of("<li class=\"%s\">%s<span class=\"instance\">%s</span> <small>%s %s%s</small></li>", one.state(),
				View.icon(one.state()), one.instance(), one.state(),
				(one.endedAt() != null) ? this.times.since(one.endedAt()) + " ago"
						: "for " + this.times.since(one.startedAt()),
				Html.with(one.version(), (version) -> Html.of(", version %s", version)));
	}

	private Html leaders(OverviewDescriptor all) {
		return all.leaders().isEmpty() ? new Html("<p class=\"empty\">There are no roles with a leader.</p>")
				: Html.of("<ul class=\"rows\">%s</ul>", Html.each(all.leaders(), this::leader));
	}

	private Html leader(LeaderDescriptor leader) {
		return Html.of("<li>%s<b>%s</b> %s</li>", View.icon("leader"), AdvisoryLockKey.display(leader.role()),
				(leader.instance() == null) ? View.badge("failing", "nobody leads") : on(leader.instance(),
						Html.with(leader.since(), (since) -> Html.of(" for %s", this.times.since(since)))));
	}

}
