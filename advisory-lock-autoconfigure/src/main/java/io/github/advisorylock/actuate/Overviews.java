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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.JobRegistry.JobSummary;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.actuate.OverviewDescriptor.RunningDescriptor;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.monitor.LockActivity;
import org.jspecify.annotations.Nullable;

/**
 * Says in few words what a list of everything holds.
 */
final class Overviews {

	private static final List<String> JOB_STATES = List.of("running", "waiting", "paused", "failing", "overdue",
			"idle");

	private static final List<String> INSTANCE_STATES = List.of("alive", "stopped", "vanished");

	private static final Duration MOST_SKEW = Duration.ofSeconds(5);

	private static final int MOST_INSTANCES = 50;

	private static final int LATEST = 5;

	private Overviews() {
	}

	/**
	 * Put together what the database and this instance know.
	 */
	static OverviewDescriptor of(LockActivity activity, String namespace, JobSummary jobs, LockTable locks,
			Function<JobId, AdvisoryLockKey> keys, List<ProblemGroup> own, List<InstanceDescriptor> instances,
			List<LeaderDescriptor> leaders) {
		Map<String, Integer> states = counts(JOB_STATES);
		states.putAll(jobs.states());
		List<ProblemGroup> problems = Stream.of(own.stream(), jobs.problems().stream(), ofInstances(instances))
			.flatMap(Function.identity())
			.sorted(Comparator.comparing(ProblemGroup::problem))
			.toList();
		Map<String, Integer> instanceStates = counts(INSTANCE_STATES);
		instances.forEach((instance) -> instanceStates.merge(instance.state(), 1, Integer::sum));
		return new OverviewDescriptor(activity.time(), activity.skew().truncatedTo(ChronoUnit.MILLIS),
				InstanceName.get(), namespace, activity.database(), true,
				states.values().stream().mapToInt(Integer::intValue).sum(), states,
				problems.stream().mapToInt(ProblemGroup::count).sum(), problems, states.getOrDefault("running", 0),
				jobs.running().stream().map((job) -> running(job, locks, keys)).toList(), leaders, instanceStates,
				instances.stream().limit(MOST_INSTANCES).toList(), jobs.pauses().get(namespace), activity.total(),
				(int) activity.entries().stream().filter((entry) -> !entry.granted()).count(), null);
	}

	private static Map<String, Integer> counts(List<String> names) {
		Map<String, Integer> counts = new LinkedHashMap<>();
		names.forEach((name) -> counts.put(name, 0));
		return counts;
	}

	private static RunningDescriptor running(ProblemDescriptor job, LockTable locks,
			Function<JobId, AdvisoryLockKey> keys) {
		AdvisoryLockKey key = keys.apply(new JobId(job.namespace(), job.name()));
		HolderDescriptor holder = locks.holders(key).stream().findFirst().orElse(null);
		return new RunningDescriptor(job.name(), job.namespace(), String.valueOf(job.id()),
				(holder != null) ? holder.instance() : null,
				(job.since() != null) ? job.since() : (holder != null) ? holder.since() : null,
				locks.waiters(key).size(), null);
	}

	private static Stream<ProblemGroup> ofInstances(List<InstanceDescriptor> instances) {
		return Stream
			.of(group(Problem.INSTANCE_VANISHED, instances, (one) -> one.state().equals("vanished"), (one) -> null),
					group(Problem.CLOCK_SKEW, instances, Overviews::isSkewed, (one) -> String.valueOf(one.clockSkew())))
			.filter((group) -> group.count() > 0);
	}

	private static boolean isSkewed(InstanceDescriptor instance) {
		Duration skew = instance.clockSkew();
		return instance.state().equals("alive") && skew != null && skew.abs().compareTo(MOST_SKEW) > 0;
	}

	private static ProblemGroup group(Problem problem, List<InstanceDescriptor> instances,
			Predicate<InstanceDescriptor> has, Function<InstanceDescriptor, @Nullable String> detail) {
		List<InstanceDescriptor> some = instances.stream().filter(has).toList();
		return new ProblemGroup(problem, some.size(),
				some.stream()
					.limit(LATEST)
					.map((one) -> new ProblemDescriptor(one.instance(), one.namespace(), null, one.seenAt(),
							one.instance(), null, detail.apply(one), null))
					.toList());
	}

	/**
	 * Put together what two databases know.
	 */
	static OverviewDescriptor merge(OverviewDescriptor one, OverviewDescriptor other) {
		Map<Problem, ProblemGroup> problems = new EnumMap<>(Problem.class);
		Stream.concat(one.problems().stream(), other.problems().stream())
			.forEach((group) -> problems.merge(group.problem(), group, Overviews::merge));
		List<InstanceDescriptor> instances = InstanceDescriptor.merge(one.instances(), other.instances());
		Map<String, Integer> instanceStates = counts(INSTANCE_STATES);
		instances.forEach((instance) -> instanceStates.merge(instance.state(), 1, Integer::sum));
		Map<String, Integer> states = new LinkedHashMap<>(one.states());
		other.states().forEach((state, count) -> states.merge(state, count, Integer::sum));
		return new OverviewDescriptor(one.time(), one.clockSkew(), one.instance(), one.namespace(), one.database(),
				one.ledger() || other.ledger(), one.jobCount() + other.jobCount(), states,
				problems.values().stream().mapToInt(ProblemGroup::count).sum(), List.copyOf(problems.values()),
				one.runningCount() + other.runningCount(),
				Stream.concat(one.running().stream(), other.running().stream()).toList(),
				Stream.concat(one.leaders().stream(), other.leaders().stream()).toList(), instanceStates, instances,
				(one.paused() != null) ? one.paused() : other.paused(), Math.max(one.lockCount(), other.lockCount()),
				Math.max(one.waiterCount(), other.waiterCount()),
				Stream.of(one.databases(), other.databases()).filter(Objects::nonNull).flatMap(List::stream).toList());
	}

	private static ProblemGroup merge(ProblemGroup one, ProblemGroup other) {
		return new ProblemGroup(one.problem(), one.count() + other.count(), Stream
			.concat(one.latest().stream(), other.latest().stream())
			.sorted(Comparator.comparing(ProblemDescriptor::since, Comparator.nullsLast(Comparator.reverseOrder())))
			.limit(LATEST)
			.toList());
	}

	/**
	 * Put together what a list of everything holds, which is short where there is no
	 * ledger.
	 */
	static OverviewDescriptor of(AdvisoryLocksDescriptor all) {
		Map<String, Integer> states = counts(JOB_STATES);
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
		Map<String, Integer> instances = counts(INSTANCE_STATES);
		all.instances()
			.stream()
			.map(InstanceDescriptor::state)
			.forEach((state) -> instances.merge(state, 1, Integer::sum));
		List<ProblemGroup> groups = problems.entrySet()
			.stream()
			.map((entry) -> new ProblemGroup(entry.getKey(), entry.getValue().size(),
					entry.getValue().stream().limit(LATEST).toList()))
			.toList();
		return new OverviewDescriptor(all.time(), all.clockSkew(), all.instance(), all.namespace(), all.database(),
				all.ledger(), all.jobCount(), states, groups.stream().mapToInt(ProblemGroup::count).sum(), groups,
				running.size(), running.stream().limit(20).toList(), all.leaders(), instances,
				all.instances().stream().limit(MOST_INSTANCES).toList(), null, all.lockCount(),
				all.locks().stream().mapToInt((lock) -> lock.waiters().size()).sum(), null);
	}

}
