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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.DatabaseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * What an operator should look at.
 *
 * @param times tells times
 */
record Problems(Times times) {

	private static final Duration TOLERATED_SKEW = Duration.ofSeconds(1);

	/**
	 * How many problems are listed.
	 */
	static final int MOST = 20;

	Html list(AdvisoryLocksDescriptor all) {
		List<Html> problems = new ArrayList<>();
		List<DatabaseDescriptor> databases = all.databases();
		if (databases == null) {
			addSkew(all.instance(), all.clockSkew(), "the database", problems);
		}
		else {
			databases.forEach((database) -> addSkew(all.instance(), database.clockSkew(),
					"database " + database.database() + " of " + database.transactionManager(), problems));
		}
		for (JobDescriptor job : all.jobs()) {
			job.problems().forEach((problem) -> problems.add(item(job, problem)));
		}
		if (problems.isEmpty()) {
			return new Html("<section id=\"problems\"><h2>Problems</h2><p>No problems.</p></section>");
		}
		int count = problems.size() + Math.max(0, all.matching() - all.jobs().size());
		int more = count - Math.min(MOST, problems.size());
		return Html.of("<section id=\"problems\" class=\"some\"><h2>Problems (%s)</h2><ul>%s</ul>%s</section>", count,
				problems.stream().limit(MOST).collect(Html.joining()),
				(more > 0) ? Html.of("<p><a href=\"?state=problem\">%s more</a></p>", more) : Html.NONE);
	}

	private static void addSkew(String instance, Duration skew, String database, List<Html> problems) {
		if (skew.abs().compareTo(TOLERATED_SKEW) > 0) {
			problems.add(Html.of("<li data-problem=\"CLOCK_SKEW\">The clock of %s is %s %s that of %s.</li>", instance,
					Times.text(skew.abs()), skew.isNegative() ? "ahead of" : "behind", database));
		}
	}

	private Html item(JobDescriptor job, Problem problem) {
		return Html.of("<li data-problem=\"%s\" data-key=\"%s\" data-id=\"%s\"><a href=\"%s\">%s</a> %s</li>", problem,
				PageQuery.name(job), job.id(), PageQuery.of(job.id()), AdvisoryLockKey.display(job.key()),
				text(job, problem));
	}

	private Html text(JobDescriptor job, Problem problem) {
		return switch (problem) {
			case PAUSED -> paused(job.paused());
			case FAILED -> lastRun("failed", job, Problem.FAILED);
			case ABANDONED -> lastRun("was abandoned", job, Problem.ABANDONED);
			case FUTURE_TICK -> Html.of("does not run: its last completed tick, %s, is in the future, undo it",
					(job.lastTick() != null) ? this.times.at(job.lastTick()) : "");
			case OVERDUE -> Html.of("is overdue: its last completed tick is %s",
					(job.lastTick() != null) ? this.times.at(job.lastTick()) : "unknown");
			case LOST -> new Html("lost its lock in mid-run on this instance within the last hour");
			case SHARED_KEY -> new Html("is the key of several methods");
		};
	}

	private Html paused(@Nullable PauseDescriptor paused) {
		if (paused == null || paused.since() == null) {
			return Html.of("is paused by %s", (paused != null) ? paused.by() : "");
		}
		return Html.of("is paused since %s by %s", this.times.at(paused.since()), paused.by());
	}

	private Html lastRun(String what, JobDescriptor job, Problem problem) {
		RunDescriptor run = job.lastRun();
		if (run == null || !problem.name().equals(run.outcome())) {
			return lastKey(what, job.keys(), problem);
		}
		return Html.of("%s%s at %s on %s %s", what,
				(run.attempt() != null && run.attempt() > 1) ? Html.of(" in attempt %s", run.attempt()) : Html.NONE,
				this.times.at(run.startedAt()), run.instance(), error(run.error()));
	}

	private Html lastKey(String what, @Nullable KeysDescriptor keys, Problem problem) {
		List<KeyDescriptor> failed = (keys != null) ? keys.failed() : List.of();
		return failed.stream()
			.filter((key) -> problem.name().equals(key.outcome()))
			.limit(1)
			.map((key) -> Html.of("%s for %s of its keys, last for <a href=\"%s\">%s</a> at %s %s", what,
					(keys != null) ? keys.failureCount() : 0, PageQuery.of(key.id()),
					AdvisoryLockKey.display(key.key()), this.times.at(key.startedAt()), error(key.error())))
			.collect(Html.joining());
	}

	private static Html error(@Nullable String error) {
		return (error != null) ? Html.of("<code>%s</code>", error) : Html.NONE;
	}

}
