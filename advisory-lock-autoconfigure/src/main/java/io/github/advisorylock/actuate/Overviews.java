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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.OverviewDescriptor.RunningDescriptor;

/**
 * Says in few words what a list of everything holds.
 */
final class Overviews {

	private Overviews() {
	}

	static OverviewDescriptor of(AdvisoryLocksDescriptor all) {
		Map<String, Integer> states = new LinkedHashMap<>();
		List.of("running", "waiting", "paused", "failing", "overdue", "idle").forEach((state) -> states.put(state, 0));
		Map<Problem, List<ProblemDescriptor>> problems = new EnumMap<>(Problem.class);
		for (JobDescriptor job : all.jobs()) {
			states.merge(job.state(), 1, Integer::sum);
			job.problems()
				.forEach((problem) -> problems.computeIfAbsent(problem, (absent) -> new ArrayList<>())
					.add(new ProblemDescriptor(job.key(), job.namespace(), job.id(),
							(job.lastRun() != null) ? job.lastRun().finishedAt() : null, null, job.failures(),
							(job.lastRun() != null) ? job.lastRun().error() : null, job.transactionManager())));
		}
		List<RunningDescriptor> running = all.jobs()
			.stream()
			.filter((job) -> job.state().equals("running"))
			.map((job) -> new RunningDescriptor(job.key(), job.namespace(), job.id(), job.instance(),
					job.runningSince(), job.waiters().size(), job.transactionManager()))
			.sorted(Comparator.comparing(RunningDescriptor::since, Comparator.nullsLast(Comparator.naturalOrder())))
			.toList();
		Map<String, Integer> instances = new LinkedHashMap<>();
		List.of("alive", "stopped", "vanished").forEach((state) -> instances.put(state, 0));
		all.instances()
			.stream()
			.map(InstanceDescriptor::state)
			.forEach((state) -> instances.merge(state, 1, Integer::sum));
		List<ProblemGroup> groups = problems.entrySet()
			.stream()
			.map((entry) -> new ProblemGroup(entry.getKey(), entry.getValue().size(),
					entry.getValue().stream().limit(5).toList()))
			.toList();
		return new OverviewDescriptor(all.time(), all.clockSkew(), all.instance(), all.namespace(), all.database(),
				all.ledger(), all.jobCount(), states, groups.stream().mapToInt(ProblemGroup::count).sum(), groups,
				running.size(), running.stream().limit(20).toList(), all.leaders(), instances,
				all.instances().stream().limit(50).toList(), all.lockCount(),
				all.locks().stream().mapToInt((lock) -> lock.waiters().size()).sum());
	}

}
