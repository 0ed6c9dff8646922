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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LedgerRun;
import io.github.advisorylock.RunOutcome;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.JobHistory;
import io.github.advisorylock.jdbc.JobName;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a moment: those of the methods of this instance, and those that only the
 * ledger knows.
 */
final class JobTable {

	private static final Duration RECENT = Duration.ofHours(1);

	private final GuardedApplication application;

	private final MethodSchedules schedules;

	private final CallCounts counts;

	private final LockTable locks;

	private final Redaction redaction;

	JobTable(GuardedApplication application, CallCounts counts, LockTable locks, Redaction redaction) {
		this.application = application;
		this.schedules = application.schedules();
		this.counts = counts;
		this.locks = locks;
		this.redaction = redaction;
	}

	List<JobDescriptor> describe(List<JobHistory> histories) {
		Collection<SingleRunnerMethod> methods = this.application.methods().get();
		Map<JobName, JobHistory> known = new HashMap<>();
		histories.forEach((history) -> known.put(JobName.of(history.job()), history));
		nameLocks(methods, known);
		List<JobDescriptor> jobs = new ArrayList<>();
		Map<JobName, Long> users = new HashMap<>();
		methods.forEach((method) -> users.merge(name(method), 1L, Long::sum));
		for (SingleRunnerMethod method : methods) {
			JobName name = name(method);
			Long sharing = users.get(name);
			jobs.add(describe(name, method, known.get(name), sharing != null && sharing > 1));
		}
		known.forEach((name, history) -> {
			if (!users.containsKey(name)) {
				jobs.add(describe(name, null, history, false));
			}
		});
		return jobs;
	}

	private void nameLocks(Collection<SingleRunnerMethod> methods, Map<JobName, JobHistory> known) {
		for (SingleRunnerMethod method : methods) {
			AdvisoryLockKey key = method.fixedKey();
			if (key != null) {
				this.locks.name(key, Kind.JOB, running(known.get(name(method))));
			}
		}
		known.forEach((name, history) -> this.locks.name(key(name), Kind.JOB, running(history)));
		String namespace = this.application.settings().namespace();
		this.application.roles()
			.get()
			.forEach((role) -> this.locks.name(key(new JobName(namespace, LeaderElection.KEY_PREFIX + role)),
					Kind.LEADER, null));
		this.locks.name(key(new JobName(namespace, PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY)), Kind.LIBRARY, null);
		this.locks.nameByHolders(namespace, this.application.settings().keyFactory());
	}

	private JobDescriptor describe(JobName name, @Nullable SingleRunnerMethod method, @Nullable JobHistory history,
			boolean sharedKey) {
		AdvisoryLockKey key = (method != null) ? method.fixedKey() : key(name);
		List<HolderDescriptor> holders = (key != null) ? this.locks.holders(key) : List.of();
		PauseDescriptor paused = paused(method, history);
		LedgerRun lastRun = (history != null) ? history.lastRun() : null;
		return new JobDescriptor(name.key(), name.namespace(), (method != null) ? target(method) : null,
				(method != null) ? method.operation().scope() : null,
				(method != null) ? this.schedules.of(method.method()) : List.of(),
				(method != null) ? this.schedules.next(method.method()) : null,
				!holders.isEmpty() ? "running" : (paused != null) ? "paused" : "idle", paused,
				(history != null) ? history.job().lastTick() : null,
				(lastRun != null) ? describe(lastRun, this.redaction) : null,
				(history != null) ? history.outcomes() : "",
				(method != null) ? this.counts.of(method.operation().method()) : Map.of(), holders,
				(key != null) ? this.locks.waiters(key) : List.of(),
				problems(key, paused, lastRun, holders.isEmpty() && isOverdue(method, history), sharedKey),
				actions(method, history));
	}

	static RunDescriptor describe(LedgerRun run, Redaction redaction) {
		Instant finishedAt = run.finishedAt();
		RunOutcome outcome = run.outcome();
		return new RunDescriptor(run.tick(), run.instance(), run.fencingToken(), run.startedAt(), finishedAt,
				(finishedAt != null) ? Duration.between(run.startedAt(), finishedAt) : null,
				(outcome != null) ? outcome.name() : null, redaction.error(run.error()));
	}

	private List<Problem> problems(@Nullable AdvisoryLockKey key, @Nullable PauseDescriptor paused,
			@Nullable LedgerRun lastRun, boolean overdue, boolean sharedKey) {
		List<Problem> problems = new ArrayList<>();
		if (paused != null) {
			problems.add(Problem.PAUSED);
		}
		if (overdue) {
			problems.add(Problem.OVERDUE);
		}
		if (lastRun != null && lastRun.outcome() == RunOutcome.FAILED) {
			problems.add(Problem.FAILED);
		}
		if (lastRun != null && lastRun.outcome() == RunOutcome.ABANDONED) {
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
				&& method.operation().ledger().overdueTick(Instant.now(), history.job()) != null;
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

	private AdvisoryLockKey key(JobName name) {
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
