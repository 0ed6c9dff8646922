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

package io.github.advisorylock.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;

/**
 * What needs an operator, by its kind.
 */
final class Problems {

	private static final Duration MOST_SKEW = Duration.ofSeconds(5);

	private static final int LATEST = 5;

	private static final Comparator<ProblemDescriptor> LATEST_FIRST = Comparator.comparing(ProblemDescriptor::since,
			Comparator.nullsLast(Comparator.reverseOrder()));

	private final Map<Problem, List<ProblemDescriptor>> found = new TreeMap<>();

	static List<ProblemGroup> of(List<JobDescriptor> jobs, List<InstanceDescriptor> instances,
			List<ProblemDescriptor> differing, List<ProblemDescriptor> unlike) {
		Problems problems = new Problems();
		jobs.forEach((job) -> job.problems().forEach((problem) -> problems.add(problem, describe(problem, job))));
		instances.forEach((instance) -> problems.add(instance, instances));
		differing.forEach((one) -> problems.add(Problem.SCHEDULES_DIFFER, one));
		unlike.forEach((one) -> problems.add(Problem.MEMBERS_DIFFER, one));
		return problems.found.entrySet()
			.stream()
			.map((entry) -> new ProblemGroup(entry.getKey(), entry.getValue().size(),
					entry.getValue().stream().sorted(LATEST_FIRST).limit(LATEST).toList()))
			.toList();
	}

	private void add(Problem problem, ProblemDescriptor one) {
		this.found.computeIfAbsent(problem, (absent) -> new ArrayList<>()).add(one);
	}

	private void add(InstanceDescriptor one, List<InstanceDescriptor> instances) {
		Duration skew = one.clockSkew();
		if (one.state().equals("vanished") && !isReplaced(one, instances)) {
			add(Problem.INSTANCE_VANISHED,
					new ProblemDescriptor(null, one.namespace(), one.seenAt(), one.instance(), null));
		}
		else if (one.state().equals("alive") && skew != null && skew.abs().compareTo(MOST_SKEW) > 0) {
			add(Problem.CLOCK_SKEW,
					new ProblemDescriptor(null, one.namespace(), one.seenAt(), one.instance(), skew.toString()));
		}
	}

	/**
	 * An instance that has vanished is replaced when as many have started since as have
	 * vanished.
	 */
	private static boolean isReplaced(InstanceDescriptor vanished, List<InstanceDescriptor> instances) {
		long started = instances.stream()
			.filter((one) -> one.state().equals("alive") && one.startedAt().isAfter(vanished.seenAt()))
			.count();
		long before = instances.stream()
			.filter((one) -> one.state().equals("vanished") && !one.seenAt().isBefore(vanished.seenAt()))
			.count();
		return started >= before;
	}

	private static ProblemDescriptor describe(Problem problem, JobDescriptor job) {
		PauseDescriptor paused = job.paused();
		return switch (problem) {
			case FAILED, ABANDONED -> ofRun(job);
			case PAUSED -> new ProblemDescriptor(job.key(), job.namespace(), (paused != null) ? paused.since() : null,
					null, (paused != null) ? by(paused) : null);
			default -> {
				HolderDescriptor holder = job.holders().stream().findFirst().orElse(null);
				yield new ProblemDescriptor(job.key(), job.namespace(), (holder != null) ? holder.since() : null,
						(holder != null) ? holder.instance() : null, null);
			}
		};
	}

	private static ProblemDescriptor ofRun(JobDescriptor job) {
		RunDescriptor run = job.lastRun();
		return (run != null)
				? new ProblemDescriptor(job.key(), job.namespace(), run.finishedAt(), run.instance(),
						(run.key() == null) ? run.error()
								: (run.error() == null) ? run.key() : run.key() + ": " + run.error())
				: new ProblemDescriptor(job.key(), job.namespace(), null, null, null);
	}

	private static String by(PauseDescriptor paused) {
		return "by " + paused.by() + ((paused.reason() != null) ? ": " + paused.reason() : "");
	}

}
