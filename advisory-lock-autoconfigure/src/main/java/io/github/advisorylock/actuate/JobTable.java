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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedFacts;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a moment: those of the methods of this instance, and those that are only
 * recorded. The one place where the state of a job and its problems are decided.
 */
final class JobTable {

	/**
	 * The states of jobs.
	 */
	static final List<String> STATES = List.of("running", "waiting", "paused", "failing", "overdue", "idle");

	private static final String EXECUTED = "EXECUTED";

	private final GuardedApplication application;

	private final CallCounter counter;

	private final MethodSchedules schedules;

	private final Map<JobId, List<SingleRunnerMethod>> methods;

	JobTable(GuardedApplication application, CallCounter counter) {
		this.application = application;
		this.counter = counter;
		this.schedules = new MethodSchedules(application.tasks().get(), application.placeholders());
		this.methods = application.methods()
			.get()
			.stream()
			.collect(Collectors.groupingBy(JobTable::id, TreeMap::new, Collectors.toList()));
	}

	/**
	 * Return the jobs of the methods of this instance.
	 */
	Set<JobId> ids() {
		return this.methods.keySet();
	}

	private List<SingleRunnerMethod> methods(JobId id) {
		return this.methods.getOrDefault(id, List.of());
	}

	/**
	 * Return whether a job is that of a method whose key depends on arguments.
	 */
	boolean isTemplate(JobId id) {
		return methods(id).stream().anyMatch((method) -> method.fixedKey() == null);
	}

	AdvisoryLockKey key(JobId id) {
		List<SingleRunnerMethod> methods = methods(id);
		AdvisoryLockKey key = methods.isEmpty() ? null : methods.get(0).fixedKey();
		return (key != null) ? key : this.application.keyFactory().createKey(id.namespace(), id.key());
	}

	/**
	 * Describe one job.
	 * @param id what tells it from others
	 * @param locks the locks of the moment
	 * @param job what is recorded of it, {@code null} if nothing
	 * @param keys the keys that were made from it, {@code null} if there are none
	 * @return its methods on this instance, or the job without a method
	 */
	List<JobDescriptor> describe(JobId id, LockTable locks, @Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		List<SingleRunnerMethod> methods = methods(id);
		return methods.isEmpty() ? List.of(describe(id, null, locks, job, keys))
				: methods.stream().map((method) -> describe(id, method, locks, job, keys)).toList();
	}

	private JobDescriptor describe(JobId id, @Nullable SingleRunnerMethod method, LockTable locks,
			@Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		boolean template = isTemplate(id) || (method == null && keys != null);
		AdvisoryLockKey key = template ? null : key(id);
		RunDescriptor lastRun = (job != null) ? job.lastRun() : null;
		List<HolderDescriptor> holders = (key != null) ? locks.holders(key, lastRun) : List.of();
		List<WaiterDescriptor> waiters = (key != null) ? locks.waiters(key) : List.of();
		PauseDescriptor paused = paused(method, job);
		RecordedFacts facts = (job != null) ? job.facts() : null;
		boolean overdue = holders.isEmpty() && job != null && job.overdue().test(operation(method, job));
		TickDescriptor open = openTick(method, job);
		Instant nextHere = (method != null) ? this.schedules.next(method.method()) : null;
		Instant next = (facts != null) ? facts.schedule().next(locks.time(), facts.startedAt(), facts.finishedAt())
				: null;
		return new JobDescriptor(id.key(), id.namespace(),
				(method != null) ? method(method) : (facts != null) ? facts.target() : null,
				(method != null) ? method.operation().scope() : (facts != null) ? facts.scope() : null,
				(method != null) ? this.schedules.of(method.method())
						: (facts != null) ? facts.schedule().schedules() : List.of(),
				state(holders, waiters, paused, job, overdue), (next != null) ? next : nextHere, lastRun,
				attempt(holders, lastRun, open),
				(method != null) ? this.counter.of(method.operation().method()) : Map.of(), holders, waiters, paused,
				problems(id, key, locks, overdue, holders, paused, job, keys),
				actions(method, job, paused, holders, locks), nextHere, (job != null) ? job.lastTick() : null, open,
				(job != null) ? job.completedAt() : null, keys, null);
	}

	private static String state(List<HolderDescriptor> holders, List<WaiterDescriptor> waiters,
			@Nullable PauseDescriptor paused, @Nullable RecordedJob job, boolean overdue) {
		if (!holders.isEmpty()) {
			return "running";
		}
		if (!waiters.isEmpty()) {
			return "waiting";
		}
		if (paused != null) {
			return "paused";
		}
		String last = (job != null) ? job.lastOutcome() : null;
		if (last != null && !last.equals(EXECUTED)) {
			return "failing";
		}
		return overdue ? "overdue" : "idle";
	}

	/**
	 * A run in scope {@code TRANSACTION} has written nothing yet that others can see: it
	 * is the one after those that are known of its tick.
	 */
	private static @Nullable Integer attempt(List<HolderDescriptor> holders, @Nullable RunDescriptor lastRun,
			@Nullable TickDescriptor open) {
		if (holders.isEmpty()) {
			return null;
		}
		if (lastRun != null && lastRun.finishedAt() == null) {
			return lastRun.attempt();
		}
		return (open != null) ? Integer.valueOf(open.attempts() + 1) : null;
	}

	private List<Problem> problems(JobId id, @Nullable AdvisoryLockKey key, LockTable locks, boolean overdue,
			List<HolderDescriptor> holders, @Nullable PauseDescriptor paused, @Nullable RecordedJob job,
			@Nullable KeysDescriptor keys) {
		Instant executed = (job != null && EXECUTED.equals(job.lastOutcome())) ? job.facts().startedAt() : null;
		LockLostEvent.Reason lost = (key != null) ? this.counter.lossOf(key, executed) : null;
		Map<Problem, Boolean> problems = new EnumMap<>(Problem.class);
		problems.put(Problem.PAUSED, paused != null);
		problems.put(Problem.OVERDUE, overdue);
		problems.put(Problem.OVERRUN, job != null && isOverrun(holders, job, locks.time()));
		problems.put(Problem.FAILED, hasEnded(Problem.FAILED.name(), job, keys));
		problems.put(Problem.ABANDONED, hasEnded(Problem.ABANDONED.name(), job, keys));
		problems.put(Problem.LOST, lost == LockLostEvent.Reason.GONE);
		problems.put(Problem.MAX_RUN, lost == LockLostEvent.Reason.MAX_RUN);
		problems.put(Problem.SHARED_KEY, methods(id).size() > 1);
		problems.values().removeIf((found) -> !found);
		return List.copyOf(problems.keySet());
	}

	private static boolean hasEnded(String outcome, @Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		return (job != null && outcome.equals(job.lastOutcome()))
				|| (keys != null && keys.failed().stream().anyMatch((key) -> outcome.equals(key.outcome())));
	}

	/**
	 * A scheduler calls a {@code fixedDelay} method from the end of a run on.
	 */
	private static boolean isOverrun(List<HolderDescriptor> holders, RecordedJob job, Instant now) {
		return holders.stream().anyMatch((holder) -> {
			Instant since = holder.since();
			Instant next = (since != null) ? job.facts().schedule().next(since, since, null) : null;
			return next != null && next.isBefore(now);
		});
	}

	/**
	 * When a tick is tried again matters where somebody makes up for it.
	 */
	private static @Nullable TickDescriptor openTick(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		TickDescriptor open = (job != null) ? job.openTick() : null;
		return (open == null || operation(method, job).catchUp() != null) ? open
				: new TickDescriptor(open.tick(), open.attempts(), null);
	}

	private static LedgerOperation operation(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		return (method != null) ? method.operation().ledger()
				: (job != null) ? job.facts().operation() : LedgerOperation.NONE;
	}

	/**
	 * Return whether an open tick would be tried again, here or by instances that make up
	 * for it, which do so for the latest tick within its window.
	 */
	private static boolean isRetriable(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job,
			@Nullable PauseDescriptor paused, List<HolderDescriptor> holders, Instant now) {
		TickDescriptor open = (job != null) ? job.openTick() : null;
		if (open == null || paused != null || !holders.isEmpty()) {
			return false;
		}
		LedgerOperation operation = operation(method, job);
		if (method != null && operation.oncePerTick() && method.method().getParameterCount() == 0) {
			return true;
		}
		CronTicks ticks = operation.ticks();
		Duration window = operation.catchUp();
		return ticks != null && window != null && open.tick().equals(ticks.latestAt(now))
				&& now.isBefore(open.tick().plus(window));
	}

	private static List<String> actions(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job,
			@Nullable PauseDescriptor paused, List<HolderDescriptor> holders, LockTable locks) {
		List<String> actions = new ArrayList<>();
		if (method != null && method.fixedKey() != null && method.operation().ledger().recorded()
				&& method.method().getParameterCount() == 0) {
			actions.add(OperatorActions.RUNNING);
		}
		if (isRetriable(method, job, paused, holders, locks.time())) {
			actions.add(OperatorActions.RETRIED);
		}
		if (job != null) {
			actions.add(OperatorActions.PAUSED);
			actions.add(OperatorActions.RESUMED);
		}
		if (method == null && job != null && job.registered() && holders.isEmpty()) {
			actions.add(OperatorActions.FORGOTTEN);
		}
		if (holders.stream().anyMatch((holder) -> holder.instance() != null)) {
			actions.add(OperatorActions.CANCELLED);
		}
		return actions;
	}

	private static @Nullable PauseDescriptor paused(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		if (method != null && method.operation().paused()) {
			return new PauseDescriptor(null, "advisory-lock.jobs." + method.operation().keyTemplate() + ".paused", null,
					null);
		}
		return (job != null) ? job.paused() : null;
	}

	private static String method(SingleRunnerMethod method) {
		return method.method().getDeclaringClass().getName() + "." + method.method().getName();
	}

	private static JobId id(SingleRunnerMethod method) {
		AdvisoryLockKey key = method.fixedKey();
		return (key != null) ? JobId.of(key) : new JobId(method.namespace(), method.operation().keyTemplate());
	}

}
