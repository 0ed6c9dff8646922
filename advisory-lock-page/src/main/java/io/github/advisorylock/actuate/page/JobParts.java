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
import java.util.Locale;
import java.util.Objects;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * What views tell of a job.
 *
 * @param times tells times
 */
record JobParts(Times times) {

	static String name(JobDescriptor job) {
		return name(job.namespace(), job.key());
	}

	static String name(String namespace, String key) {
		return AdvisoryLockKey.display(namespace.isEmpty() ? key : namespace + "/" + key);
	}

	static String lock(LockDescriptor lock) {
		String key = lock.key();
		return (key != null) ? name((lock.namespace() != null) ? lock.namespace() : "", key)
				: "advisory lock " + lock.number();
	}

	static Html link(String id, String key, @Nullable String manager) {
		return link(PageQuery.ofJob(id, manager), key);
	}

	static Html link(String address, String key) {
		return Html.of("<a class=\"key\" href=\"%s\">%s</a>", address, AdvisoryLockKey.display(key));
	}

	/**
	 * Return where the job is: its method, namespace and database.
	 */
	static Html place(JobDescriptor job) {
		String manager = job.transactionManager();
		return Html.of("<small class=\"place\"><span title=\"%s\">%s</span> <span>%s%s</span></small>", job.target(),
				shortName(job.target()), AdvisoryLockKey.display(job.namespace()),
				(manager != null) ? " (" + AdvisoryLockKey.display(manager) + ")" : "");
	}

	/**
	 * Return class and method, with a place between them where the line may break.
	 */
	static Html shortName(@Nullable String target) {
		if (target == null) {
			return Html.NONE;
		}
		int method = target.lastIndexOf('.');
		int type = Math.max(target.lastIndexOf('.', method - 1), target.lastIndexOf('$', method - 1));
		return Html.of("%s.<wbr>%s", target.substring(type + 1, method), target.substring(method + 1));
	}

	/**
	 * Return the state with what goes with it: since when and where it runs, who paused
	 * it and why.
	 */
	Html state(JobDescriptor job) {
		String word = (job.state().equals("failing") && job.failures() > 1) ? "failing " + job.failures() + " times"
				: job.state();
		return Html.of("%s%s", View.badge(job.state(), word), switch (job.state()) {
			case "running" -> Html.of("%s%s", running(job), open(job.openTick(), true));
			case "paused" -> Html.with(job.paused(), this::paused);
			default -> open(job.openTick(), false);
		});
	}

	private Html paused(PauseDescriptor paused) {
		return Html.of("%s%s",
				Boolean.TRUE.equals(paused.all()) ? new Html(" <small>with everything</small>") : Html.NONE,
				by(paused));
	}

	private Html by(PauseDescriptor paused) {
		return Html.of(" <small>by %s%s</small>%s", paused.by(),
				Html.with(paused.since(), (since) -> Html.of(", %s ago", this.times.since(since))),
				Html.with(paused.reason(), (reason) -> Html.of(" <q>%s</q>", reason)));
	}

	private Html running(JobDescriptor job) {
		Instant since = job.runningSince();
		return (job.instance() == null) ? holders(job.holders())
				: Html.of(" <span class=\"holder\">on %s%s</span>", job.instance(),
						(since != null) ? Html.of(" <small>for %s</small>", this.times.since(since)) : Html.NONE);
	}

	/**
	 * Return which attempt comes next for a tick that is not completed, or is under way.
	 */
	Html open(@Nullable TickDescriptor open, boolean running) {
		return Html.with(open, (tick) -> {
			Instant retryAt = tick.retryAt();
			return Html.of(" <small class=\"open\">attempt %s for %s%s</small>",
					running ? tick.attempts() : tick.attempts() + 1, this.times.at(tick.tick()),
					(retryAt != null && !running) ? Html.of(" at %s", this.times.at(retryAt)) : Html.NONE);
		});
	}

	Html holders(List<HolderDescriptor> holders) {
		return Html.each(holders, this::holder);
	}

	Html holder(HolderDescriptor holder) {
		Instant since = holder.since();
		return Html.of(" <span class=\"holder\" title=\"%s %s %s\">%s%s</span>", process(holder.pid()), holder.state(),
				holder.query(), who(holder),
				(since != null) ? Html.of(" <small>for %s</small>", this.times.since(since)) : Html.NONE);
	}

	static String who(HolderDescriptor holder) {
		String application = Objects.toString(holder.application(), "");
		return (holder.instance() != null) ? holder.instance()
				: application.isEmpty() ? process(holder.pid()) : application;
	}

	private static String process(int pid) {
		return (pid == 0) ? "prepared transaction" : "server process " + pid;
	}

	Html waiters(List<WaiterDescriptor> waiters) {
		return waiters.isEmpty() ? Html.NONE : Html.of(" <small class=\"waiters\">%s waiting, longest %s</small>",
				waiters.size(), Times.text(longest(waiters)));
	}

	static Duration longest(List<WaiterDescriptor> waiters) {
		return waiters.stream()
			.map(WaiterDescriptor::waiting)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
	}

	static Html schedules(JobDescriptor job) {
		return Html.each(job.schedules(), (schedule) -> Html.of("<span class=\"schedule\" title=\"%s\">%s</span>",
				schedule.expression(), ScheduleText.of(schedule)));
	}

	Html last(JobDescriptor job) {
		Html completed = Html.with(job.completedAt(),
				(time) -> Html.of(" <small>completed %s</small>", this.times.at(time)));
		return Html.of("%s%s", Html.with(job.lastRun(), this::run), completed);
	}

	private Html run(RunDescriptor run) {
		Duration duration = run.duration();
		return Html.of("%s %s%s", outcome(run.outcome()), this.times.at(run.startedAt()),
				(duration != null) ? Html.of(" <small>took %s</small>", Times.text(duration)) : Html.NONE);
	}

	static Html outcome(@Nullable String outcome) {
		String name = (outcome != null) ? outcome : "RUNNING";
		return View.badge(name, name.toLowerCase(Locale.ROOT));
	}

	/**
	 * Return how long runs take, and how many of the last ones were executed.
	 */
	static Html figures(JobDescriptor job) {
		return Html.of("<small>%s%s%s</small>",
				Html.with(job.median(), (median) -> Html.of("median\u00a0%s, ", Times.text(median))),
				Html.with(job.p95(), (p95) -> Html.of("95\u00a0%% below\u00a0%s, ", Times.text(p95))),
				Html.with(job.success(), (success) -> Html.of("%s\u00a0%% executed", (int) Math.floor(success * 100))));
	}

	Html keys(String what, int count, List<KeyDescriptor> some, @Nullable String manager) {
		return (count > 0) ? Html.of("<small class=\"keys\">%s %s: %s</small>", count, what,
				Html.each(some, (key) -> Html.of("%s ", link(key.id(), key.key(), manager)))) : Html.NONE;
	}

	/**
	 * Return the buttons of a job, with a place for what became of it.
	 * @param all whether it is all of them, or those that are used day by day
	 */
	static Html actions(JobDescriptor job, boolean all) {
		List<Html> buttons = new ArrayList<>();
		boolean paused = job.paused() != null;
		if (!paused) {
			button(buttons, job, "running", "Run now");
			button(buttons, job, "retried", "Retry tick");
			button(buttons, job, "paused", "Pause");
		}
		else if (Objects.requireNonNull(job.paused()).since() != null) {
			button(buttons, job, "resumed", "Resume");
		}
		if (all) {
			button(buttons, job, "cancelled", "Cancel run");
			button(buttons, job, "freed", "Free lock");
			button(buttons, job, "forgotten", "Forget");
		}
		return buttons(buttons);
	}

	private static void button(List<Html> buttons, JobDescriptor job, String state, String text) {
		if (job.actions().contains(state)) {
			buttons.add(button(job.key(), state, text));
		}
	}

	/**
	 * Return whether all jobs of a namespace are paused, by whom and why, with the button
	 * that changes that.
	 * @param paused the pause of all of them, {@code null} if they are not
	 * @param writable whether there are buttons
	 */
	Html all(String namespace, @Nullable PauseDescriptor paused, boolean writable) {
		Html told = Html.with(paused,
				(pause) -> Html.of("<p>%s%s</p>", View.badge("paused", "Everything is paused"), by(pause)));
		Html button = (paused != null) ? button(namespace, "all-resumed", "Resume everything")
				: button(namespace, "all-paused", "Pause everything");
		return (paused == null && !writable) ? Html.NONE
				: Html.of("<div id=\"all\" data-id=\"*\" data-key=\"%s\">%s%s</div>",
						AdvisoryLockKey.display(namespace), told, writable ? buttons(List.of(button)) : Html.NONE);
	}

	static Html button(String key, String state, String text) {
		return Html.of("<button type=\"button\" data-state=\"%s\" aria-label=\"%s %s\">%s</button>", state, text,
				AdvisoryLockKey.display(key), text);
	}

	/**
	 * Return buttons with a place for what became of a press.
	 */
	static Html buttons(List<Html> buttons) {
		return Html.of("<div class=\"buttons actions\">%s</div><p class=\"said\" role=\"status\"></p>",
				buttons.stream().collect(Html.joining()));
	}

}
