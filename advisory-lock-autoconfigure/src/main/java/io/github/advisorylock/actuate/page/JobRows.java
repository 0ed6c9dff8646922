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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * The table of jobs, a row for each.
 *
 * @param times tells times
 * @param writable whether jobs can be paused and run from here
 */
record JobRows(Times times, boolean writable) {

	Html table(List<JobDescriptor> jobs) {
		return Html.of(
				"""
						<table id="jobs"><thead><tr><th scope="col">Job</th><th scope="col">Method</th><th scope="col">Schedule</th>
						<th scope="col">Next</th><th scope="col">Last run</th><th scope="col">Took</th><th scope="col">Last 60 runs</th>
						<th scope="col">Held by</th><th scope="col">Waiting</th><th scope="col">Skips here</th>%s</tr></thead>
						<tbody>%s</tbody></table>
						""",
				this.writable ? new Html("<th scope=\"col\">Actions</th>") : Html.NONE,
				jobs.stream().map(this::row).collect(Html.joining()));
	}

	private Html row(JobDescriptor job) {
		return Html.of(
				"""
						<tr data-key="%s" data-state="%s" data-id="%s" data-manager="%s"><td class="key" data-label="Job">%s</td>
						<td class="method" data-label="Method"><span title="%s">%s</span></td>
						<td class="schedule" data-label="Schedule">%s</td><td class="next" data-label="Next">%s</td>
						<td class="last" data-label="Last run">%s</td><td class="duration" data-label="Took">%s</td>
						<td class="runs" data-label="Last 60 runs">%s</td><td class="holder" data-label="Held by">%s</td>
						<td class="waiters" data-label="Waiting">%s</td><td class="skips" data-label="Skips here">%s</td>%s</tr>
						""",
				PageQuery.name(job), job.state(), job.id(), job.transactionManager(), key(job), job.target(),
				shortName(job.target()), schedules(job), this.times.at(job.next()), last(job), duration(job.lastRun()),
				Sparkline.of(job.history()), holders(job), waiters(job), skips(job.outcomes()),
				this.writable ? actions(job) : Html.NONE);
	}

	private Html key(JobDescriptor job) {
		PauseDescriptor paused = job.paused();
		Html badge = (paused != null)
				? Html.of(" <span class=\"badge paused\" title=\"by %s\">paused</span>", paused.by()) : Html.NONE;
		return Html.of("<a href=\"%s\">%s</a>%s <small>%s</small>%s", PageQuery.of(job.id()),
				AdvisoryLockKey.display(job.key()), badge, place(job), keys(job.keys()));
	}

	private static String place(JobDescriptor job) {
		String manager = job.transactionManager();
		return AdvisoryLockKey.display(job.namespace())
				+ ((manager != null) ? " (" + AdvisoryLockKey.display(manager) + ")" : "");
	}

	private static Html keys(@Nullable KeysDescriptor keys) {
		if (keys == null) {
			return Html.NONE;
		}
		return Html.of("%s%s", keys("keys, latest", keys.count(), keys.latest()),
				keys("failed and have not run since, latest", keys.failureCount(), keys.failed()));
	}

	private static Html keys(String what, int count, List<KeyDescriptor> some) {
		Html links = some.stream()
			.map((key) -> Html.of(" <a href=\"%s\" title=\"%s\">%s</a>", PageQuery.of(key.id()), key.error(),
					AdvisoryLockKey.display(key.key())))
			.collect(Html.joining());
		return (count > 0) ? Html.of("<br><small class=\"keys\">%s %s%s</small>", count, what, links) : Html.NONE;
	}

	private Html schedules(JobDescriptor job) {
		return job.schedules()
			.stream()
			.map(JobRows::schedule)
			.map((schedule) -> Html.of("<span>%s</span>", schedule))
			.collect(Html.joining());
	}

	private static Html schedule(ScheduleDescriptor schedule) {
		Duration interval = schedule.interval();
		if (interval != null) {
			return Html.of("%s %s", schedule.type().equals("fixedDelay") ? "after" : "every", Times.text(interval));
		}
		return Html.of("<code>%s</code> <small>%s</small>", schedule.expression(), schedule.zone());
	}

	private Html last(JobDescriptor job) {
		RunDescriptor run = job.lastRun();
		Html completed = (job.completedAt() != null)
				? Html.of(" <small>completed %s</small>", this.times.at(job.completedAt())) : Html.NONE;
		if (run == null) {
			return completed;
		}
		String outcome = (run.outcome() != null) ? run.outcome() : "RUNNING";
		return Html.of("%s <span class=\"badge %s\" title=\"%s\">%s</span>%s%s", this.times.at(run.startedAt()),
				outcome, (run.error() != null) ? run.error() : run.instance(), outcome, completed,
				open(job.openTick(), run.outcome() == null));
	}

	/**
	 * Return which attempt comes next for a tick that is not completed, or is under way.
	 */
	private Html open(@Nullable TickDescriptor open, boolean running) {
		if (open == null) {
			return Html.NONE;
		}
		Instant retryAt = open.retryAt();
		return Html.of("<br><small class=\"open\">attempt %s for %s%s</small>",
				running ? open.attempts() : open.attempts() + 1, this.times.at(open.tick()),
				(retryAt != null && !running) ? Html.of(" at %s", this.times.at(retryAt)) : Html.NONE);
	}

	private String duration(@Nullable RunDescriptor run) {
		Duration duration = (run != null) ? run.duration() : null;
		return (duration != null) ? Times.text(duration) : "";
	}

	private Html holders(JobDescriptor job) {
		return job.holders().stream().map(this::holder).collect(Html.joining());
	}

	Html holder(HolderDescriptor holder) {
		Instant since = holder.since();
		String who = (holder.instance() != null) ? holder.instance()
				: (holder.application() != null && !holder.application().isEmpty()) ? holder.application()
						: "somebody else";
		return Html.of("<span title=\"server process %s %s %s\">%s%s</span>", holder.pid(), holder.state(),
				holder.query(), who,
				(since != null) ? Html.of(" <small>for %s</small>", this.times.since(since)) : Html.NONE);
	}

	private Html waiters(JobDescriptor job) {
		if (job.waiters().isEmpty()) {
			return Html.NONE;
		}
		return Html.of("%s <small>longest %s</small>", job.waiters().size(), Times.text(longest(job.waiters())));
	}

	static Duration longest(List<WaiterDescriptor> waiters) {
		return waiters.stream()
			.map(WaiterDescriptor::waiting)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
	}

	private static String skips(Map<String, Long> outcomes) {
		return outcomes.entrySet()
			.stream()
			.filter((entry) -> !entry.getKey().equals("EXECUTED") && !entry.getKey().equals("FAILED"))
			.map((entry) -> entry.getKey() + " " + entry.getValue())
			.collect(Collectors.joining(", "));
	}

	private static Html actions(JobDescriptor job) {
		List<Html> buttons = new ArrayList<>();
		PauseDescriptor paused = job.paused();
		if (job.actions().contains("running") && paused == null) {
			buttons.add(button(job, "running", "Run now"));
		}
		if (job.actions().contains("paused") && paused == null) {
			buttons.add(button(job, "paused", "Pause"));
		}
		if (job.actions().contains("resumed") && paused != null && paused.since() != null) {
			buttons.add(button(job, "resumed", "Resume"));
		}
		if (job.actions().contains("tick-undone")) {
			buttons.add(button(job, "tick-undone", "Undo tick"));
		}
		if (job.actions().contains("cancelled")) {
			buttons.add(button(job, "cancelled", "Cancel run"));
		}
		if (job.actions().contains("freed")) {
			buttons.add(button(job, "freed", "Free lock"));
		}
		if (job.actions().contains("forgotten")) {
			buttons.add(button(job, "forgotten", "Forget"));
		}
		return Html.of("<td class=\"actions\" data-label=\"Actions\">%s</td>",
				buttons.stream().collect(Html.joining()));
	}

	private static Html button(JobDescriptor job, String state, String text) {
		return Html.of("<button type=\"button\" data-state=\"%s\" aria-label=\"%s %s\">%s</button>", state, text,
				AdvisoryLockKey.display(job.key()), text);
	}

	/**
	 * Return class and method, with a place between them where the line may break.
	 */
	private static Html shortName(@Nullable String target) {
		if (target == null) {
			return Html.NONE;
		}
		int method = target.lastIndexOf('.');
		int type = Math.max(target.lastIndexOf('.', method - 1), target.lastIndexOf('$', method - 1));
		return Html.of("%s.<wbr>%s", target.substring(type + 1, method), target.substring(method + 1));
	}

}
