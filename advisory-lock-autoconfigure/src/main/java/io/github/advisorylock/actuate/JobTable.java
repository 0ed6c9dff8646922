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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.ledger.JobName;
import io.github.advisorylock.ledger.JobRepository.JobHistory;
import io.github.advisorylock.ledger.JobRepository.KeysOfTemplate;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import io.github.advisorylock.ledger.RunOutcome;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a moment: those of the methods of this instance, and those that only the
 * ledger knows.
 */
final class JobTable {

	private static final Duration RECENT = Duration.ofHours(1);

	/**
	 * The order of jobs.
	 */
	static final Comparator<JobName> ORDER = Comparator.comparing(JobName::namespace).thenComparing(JobName::key);

	private final GuardedApplication application;

	private final MethodSchedules schedules;

	private final CallCounts counts;

	private final Redaction redaction;

	private final Map<JobName, List<SingleRunnerMethod>> methods;

	JobTable(GuardedApplication application, CallCounts counts, Redaction redaction) {
		this.application = application;
		this.schedules = application.schedules();
		this.counts = counts;
		this.redaction = redaction;
		this.methods = application.methods()
			.get()
			.stream()
			.collect(Collectors.groupingBy(JobTable::name, () -> new TreeMap<>(ORDER), Collectors.toList()));
	}

	/**
	 * Describe one job.
	 * @param name its name
	 * @param locks the locks of the moment
	 * @param history what the ledger knows of it, {@code null} if nothing
	 * @param keys the keys that were made from it, {@code null} if there are none
	 * @return its methods on this instance, or the job without a method
	 */
	List<JobDescriptor> describe(JobName name, LockTable locks, @Nullable JobHistory history,
			@Nullable KeysOfTemplate keys) {
		List<SingleRunnerMethod> methods = this.methods.getOrDefault(name, List.of());
		if (methods.isEmpty()) {
			return List.of(describe(name, null, locks, history, keys));
		}
		return methods.stream().map((method) -> describe(name, method, locks, history, keys)).toList();
	}

	/**
	 * Return the names of the jobs of the methods of this instance.
	 */
	Set<JobName> names() {
		return this.methods.keySet();
	}

	/**
	 * Return the numbers of the locks of the methods and roles of this instance.
	 */
	Set<LockNumber> numbers() {
		Set<LockNumber> numbers = new LinkedHashSet<>();
		this.methods.values().forEach((methods) -> methods.forEach((method) -> {
			AdvisoryLockKey key = method.fixedKey();
			if (key != null) {
				numbers.add(LockNumber.of(key));
			}
		}));
		ownKeys().keySet().forEach((key) -> numbers.add(LockNumber.of(key)));
		return numbers;
	}

	/**
	 * Return whether a name is that of a method whose key depends on arguments.
	 */
	boolean isTemplate(JobName name) {
		return this.methods.getOrDefault(name, List.of()).stream().anyMatch((method) -> method.fixedKey() == null);
	}

	/**
	 * Return the numbers of the locks of one job: none where its key depends on
	 * arguments.
	 */
	Set<LockNumber> numbers(JobName name) {
		List<SingleRunnerMethod> methods = this.methods.getOrDefault(name, List.of());
		AdvisoryLockKey key = methods.isEmpty() ? key(name) : methods.get(0).fixedKey();
		return (key != null) ? Set.of(LockNumber.of(key)) : Set.of();
	}

	/**
	 * Give names to locks.
	 * @param locks the locks
	 * @param histories jobs that may hold them, in addition to those of the methods
	 */
	void nameLocks(LockTable locks, Collection<JobHistory> histories) {
		for (JobHistory history : histories) {
			locks.name(key(JobName.of(history.job())), Kind.JOB, running(history));
		}
		this.methods.values().forEach((methods) -> methods.forEach((method) -> {
			AdvisoryLockKey key = method.fixedKey();
			if (key != null) {
				locks.name(key, Kind.JOB, null);
			}
		}));
		ownKeys().forEach((key, kind) -> locks.name(key, kind, null));
		locks.nameByHolders(this.application.settings().namespace(), this.application.settings().keyFactory());
	}

	private Map<AdvisoryLockKey, Kind> ownKeys() {
		Map<AdvisoryLockKey, Kind> keys = new LinkedHashMap<>();
		String namespace = this.application.settings().namespace();
		this.application.roles()
			.get()
			.forEach((role) -> keys.put(key(new JobName(namespace, LeaderElection.KEY_PREFIX + role)), Kind.LEADER));
		keys.put(key(new JobName(namespace, PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY)), Kind.LIBRARY);
		return keys;
	}

	private JobDescriptor describe(JobName name, @Nullable SingleRunnerMethod method, LockTable locks,
			@Nullable JobHistory history, @Nullable KeysOfTemplate keys) {
		AdvisoryLockKey key = (method != null) ? method.fixedKey() : (keys != null) ? null : key(name);
		List<HolderDescriptor> holders = (key != null) ? locks.holders(key) : List.of();
		PauseDescriptor paused = paused(method, history);
		LedgerRun lastRun = (history != null) ? history.lastRun() : null;
		return new JobDescriptor(name.key(), name.namespace(), JobId.of(name), (method != null) ? target(method) : null,
				(method != null) ? method.operation().scope() : null,
				(method != null) ? this.schedules.of(method.method()) : List.of(),
				(method != null) ? this.schedules.next(method.method()) : null,
				!holders.isEmpty() ? "running" : (paused != null) ? "paused" : "idle", paused,
				(history != null) ? history.job().lastTick() : null,
				(lastRun != null) ? describe(lastRun, this.redaction) : null,
				(history != null) ? history.outcomes() : "",
				(method != null) ? this.counts.of(method.operation().method()) : Map.of(), holders,
				(key != null) ? locks.waiters(key) : List.of(),
				problems(key, paused, lastOutcome(history), holders.isEmpty() && isOverdue(method, history),
						this.methods.getOrDefault(name, List.of()).size() > 1),
				actions(method, history), (keys != null) ? describe(keys) : null);
	}

	private static KeysDescriptor describe(KeysOfTemplate keys) {
		return new KeysDescriptor(keys.count(), keys.latest().stream().map(JobTable::describe).toList());
	}

	private static KeyDescriptor describe(LedgerJob job) {
		RunOutcome outcome = job.lastOutcome();
		return new KeyDescriptor(job.key(), JobId.of(JobName.of(job)), job.lastStartedAt(),
				(outcome != null) ? outcome.name() : null);
	}

	private static @Nullable RunOutcome lastOutcome(@Nullable JobHistory history) {
		LedgerRun lastRun = (history != null) ? history.lastRun() : null;
		return (lastRun != null) ? lastRun.outcome() : (history != null) ? history.job().lastOutcome() : null;
	}

	static RunDescriptor describe(LedgerRun run, Redaction redaction) {
		Instant finishedAt = run.finishedAt();
		RunOutcome outcome = run.outcome();
		return new RunDescriptor(run.tick(), run.instance(), run.fencingToken(), run.startedAt(), finishedAt,
				(finishedAt != null) ? Duration.between(run.startedAt(), finishedAt) : null,
				(outcome != null) ? outcome.name() : null, redaction.error(run.errorClass(), run.error()));
	}

	private List<Problem> problems(@Nullable AdvisoryLockKey key, @Nullable PauseDescriptor paused,
			@Nullable RunOutcome lastOutcome, boolean overdue, boolean sharedKey) {
		List<Problem> problems = new ArrayList<>();
		if (paused != null) {
			problems.add(Problem.PAUSED);
		}
		if (overdue) {
			problems.add(Problem.OVERDUE);
		}
		if (lastOutcome == RunOutcome.FAILED) {
			problems.add(Problem.FAILED);
		}
		if (lastOutcome == RunOutcome.ABANDONED) {
			problems.add(Problem.ABANDONED);
		}
		Instant loss = (key != null) ? this.counts.lastLoss(key) : null;
		if (loss != null && loss.isAfter(Instant.now().minus(RECENT))) {
			problems.add(Problem.LOST);
		}
		if (sharedKey) {
			problems.add(Problem.SHARED_KEY);
		}
		return problems;
	}

	private static boolean isOverdue(@Nullable SingleRunnerMethod method, @Nullable JobHistory history) {
		return method != null && history != null
				&& history.job().overdueTick(method.operation().ledger(), Instant.now()) != null;
	}

	private static List<String> actions(@Nullable SingleRunnerMethod method, @Nullable JobHistory history) {
		List<String> actions = new ArrayList<>();
		if (method != null && method.fixedKey() != null && method.operation().ledger().recorded()
				&& method.method().getParameterCount() == 0) {
			actions.add(JobActions.RUNNING);
		}
		if (history != null) {
			actions.add(JobActions.PAUSED);
			actions.add(JobActions.RESUMED);
		}
		return actions;
	}

	AdvisoryLockKey key(JobName name) {
		return this.application.settings().keyFactory().createKey(name.namespace(), name.key());
	}

	private static @Nullable PauseDescriptor paused(@Nullable SingleRunnerMethod method, @Nullable JobHistory history) {
		if (method != null && method.operation().paused()) {
			return new PauseDescriptor(null, "advisory-lock.jobs." + method.operation().keyTemplate() + ".paused");
		}
		if (history == null || !history.job().isPaused()) {
			return null;
		}
		String by = history.job().pausedBy();
		return new PauseDescriptor(history.job().pausedAt(), (by != null) ? by : "unknown");
	}

	private static LockTable.@Nullable RunningRun running(@Nullable JobHistory history) {
		LedgerRun run = (history != null) ? history.lastRun() : null;
		return (run != null && run.finishedAt() == null) ? new LockTable.RunningRun(run.instance(), run.startedAt())
				: null;
	}

	private static String target(SingleRunnerMethod method) {
		return method.method().getDeclaringClass().getName() + "." + method.method().getName();
	}

	private static JobName name(SingleRunnerMethod method) {
		AdvisoryLockKey key = method.fixedKey();
		return (key != null) ? JobName.of(key) : new JobName(method.namespace(), method.operation().keyTemplate());
	}

}
