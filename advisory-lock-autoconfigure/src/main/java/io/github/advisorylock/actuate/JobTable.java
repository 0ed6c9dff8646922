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
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.actuate.JobRegistry.OwnJob;
import io.github.advisorylock.actuate.JobRegistry.RecordedFacts;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a moment: those of the methods of this instance, and those that are only
 * recorded.
 */
final class JobTable {

	/**
	 * How far ahead of the database's clock a tick is one of the future.
	 */
	private static final Duration FUTURE = Duration.ofMinutes(1);

	private static final int MOST_PROBLEMS = 5;

	private final GuardedApplication application;

	private final Collection<String> recordKeys;

	private final CallCounter counter;

	private final MethodSchedules schedules;

	private final Map<JobId, List<SingleRunnerMethod>> methods;

	JobTable(GuardedApplication application, Collection<String> recordKeys, CallCounter counter) {
		this.application = application;
		this.recordKeys = recordKeys;
		this.counter = counter;
		this.schedules = new MethodSchedules(application.tasks().get(), application.placeholders());
		this.methods = application.methods()
			.get()
			.stream()
			.collect(Collectors.groupingBy(JobTable::id, TreeMap::new, Collectors.toList()));
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
		if (methods.isEmpty()) {
			return List.of(describe(id, null, locks, job, keys));
		}
		return methods.stream().map((method) -> describe(id, method, locks, job, keys)).toList();
	}

	/**
	 * Return the jobs of the methods of this instance.
	 */
	Set<JobId> ids() {
		return this.methods.keySet();
	}

	/**
	 * Return the jobs of the methods of this instance with what only it knows.
	 */
	List<OwnJob> own() {
		return this.methods.entrySet().stream().map((entry) -> own(entry.getKey(), entry.getValue())).toList();
	}

	private OwnJob own(JobId id, List<SingleRunnerMethod> methods) {
		SingleRunnerMethod method = methods.get(0);
		AdvisoryLockKey key = method.fixedKey();
		return new OwnJob(id, methods.stream().map(JobTable::target).collect(Collectors.joining(" ")), key,
				methods.stream().anyMatch((one) -> one.operation().paused()),
				methods.size() > 1 || (key != null && this.counter.hasLost(key)));
	}

	/**
	 * Return the problems that only this instance knows, what weighs most first.
	 */
	List<ProblemGroup> problems() {
		List<OwnJob> own = own();
		return Stream
			.of(group(Problem.LOST, own, (job) -> job.key() != null && this.counter.hasLost(job.key())),
					group(Problem.SHARED_KEY, own, (job) -> methods(job.id()).size() > 1))
			.filter((group) -> group.count() > 0)
			.toList();
	}

	private static ProblemGroup group(Problem problem, List<OwnJob> own, Predicate<OwnJob> has) {
		List<OwnJob> jobs = own.stream().filter(has).toList();
		return new ProblemGroup(problem, jobs.size(),
				jobs.stream()
					.limit(MOST_PROBLEMS)
					.map((job) -> new ProblemDescriptor(job.id().key(), job.id().namespace(), job.id().text(), null,
							InstanceName.get(), null, job.target(), null))
					.toList());
	}

	private List<SingleRunnerMethod> methods(JobId id) {
		return this.methods.getOrDefault(id, List.of());
	}

	/**
	 * Return the numbers of the locks of the methods and roles of this instance.
	 */
	Set<LockNumber> numbers() {
		Set<LockNumber> numbers = new LinkedHashSet<>();
		knownKeys().keySet().forEach((key) -> numbers.add(LockNumber.of(key)));
		return numbers;
	}

	/**
	 * Return whether a job is that of a method whose key depends on arguments.
	 */
	boolean isTemplate(JobId id) {
		return methods(id).stream().anyMatch((method) -> method.fixedKey() == null);
	}

	/**
	 * Return the numbers of the locks of one job: none where its key depends on
	 * arguments.
	 */
	Set<LockNumber> numbers(JobId id) {
		List<SingleRunnerMethod> methods = methods(id);
		AdvisoryLockKey key = methods.isEmpty() ? key(id) : methods.get(0).fixedKey();
		return (key != null) ? Set.of(LockNumber.of(key)) : Set.of();
	}

	/**
	 * Give names to locks.
	 * @param locks the locks
	 * @param jobs jobs that may hold them, in addition to those of the methods
	 */
	void nameLocks(LockTable locks, Collection<RecordedJob> jobs) {
		jobs.forEach((job) -> locks.name(key(job.id()), Kind.JOB, job.lastRun(), target(job)));
		knownKeys().forEach(
				(key, kind) -> locks.name(key, kind, null, (kind == Kind.JOB) ? target(methods(JobId.of(key))) : null));
		locks.nameByHolders(this.application.namespace(), this.application.keyFactory());
	}

	private @Nullable String target(RecordedJob job) {
		String target = target(methods(job.id()));
		return (target != null) ? target : job.facts().target();
	}

	private static @Nullable String target(List<SingleRunnerMethod> methods) {
		return methods.isEmpty() ? null : target(methods.get(0));
	}

	/**
	 * Give names to those locks that have none yet: those of others that are recorded,
	 * and those that this instance holds.
	 */
	void nameOtherLocks(LockTable locks, JobRegistry records) {
		locks.nameHolds(this.application.holds().get());
		Set<String> unnamed = locks.unnamed();
		if (!unnamed.isEmpty()) {
			locks.nameOwners(records.owners(unnamed));
		}
	}

	private Map<AdvisoryLockKey, Kind> knownKeys() {
		Map<AdvisoryLockKey, Kind> keys = new LinkedHashMap<>();
		this.methods.values().forEach((methods) -> methods.forEach((method) -> {
			AdvisoryLockKey key = method.fixedKey();
			if (key != null) {
				keys.put(key, Kind.JOB);
				Instant tick = method.operation().rememberedTick(Instant.now());
				if (tick != null) {
					keys.putIfAbsent(PostgresAdvisoryLockTemplate.tickKey(key, tick), Kind.LIBRARY);
				}
			}
		}));
		String namespace = this.application.namespace();
		this.application.roles()
			.get()
			.forEach((role) -> keys.putIfAbsent(key(new JobId(namespace, LeaderElection.KEY_PREFIX + role)),
					Kind.LEADER));
		this.recordKeys.forEach((key) -> keys.putIfAbsent(AdvisoryLockKey.of(key), Kind.LIBRARY));
		return keys;
	}

	private JobDescriptor describe(JobId id, @Nullable SingleRunnerMethod method, LockTable locks,
			@Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		AdvisoryLockKey key = (method != null) ? method.fixedKey() : (keys != null) ? null : key(id);
		List<HolderDescriptor> holders = (key != null) ? locks.holders(key) : List.of();
		PauseDescriptor paused = paused(method, job);
		List<WaiterDescriptor> waiters = (key != null) ? locks.waiters(key) : List.of();
		RecordedFacts facts = (job != null) ? job.facts() : null;
		boolean overdue = isOverdue(method, job, holders);
		RunStatistics statistics = (job != null) ? RunStatistics.of(job.outcomes(), job.durations())
				: RunStatistics.NONE;
		Instant nextHere = (method != null) ? this.schedules.next(method.method()) : null;
		Instant next = (facts != null) ? facts.schedule().next(locks.time(), facts.startedAt(), facts.finishedAt())
				: null;
		return new JobDescriptor(id.key(), id.namespace(), id.text(),
				(method != null) ? target(method) : (facts != null) ? facts.target() : null,
				(method != null) ? method.operation().scope() : (facts != null) ? facts.scope() : null,
				(method != null) ? this.schedules.of(method.method())
						: (facts != null) ? facts.schedule().schedules() : List.of(),
				(next != null) ? next : nextHere, nextHere, state(holders, waiters, paused, job, overdue), paused,
				(job != null) ? job.lastTick() : null, openTick(method, job), (job != null) ? job.completedAt() : null,
				(job != null) ? job.lastRun() : null, (job != null) ? job.outcomes() : "",
				(method != null) ? this.counter.of(method.operation().method()) : Map.of(), holders, waiters,
				problems(id, key, locks, overdue, paused, job, keys), actions(method, job, paused, holders, locks),
				keys, statistics.failures(), statistics.median(), statistics.p95(), statistics.durations(),
				statistics.success(),
				holders.stream().map(HolderDescriptor::since).filter(Objects::nonNull).findFirst().orElse(null),
				holders.stream().map(HolderDescriptor::instance).filter(Objects::nonNull).findFirst().orElse(null),
				null);
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
		if (last != null && !last.equals("EXECUTED")) {
			return "failing";
		}
		return overdue ? "overdue" : "idle";
	}

	private static boolean isOverdue(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job,
			List<HolderDescriptor> holders) {
		return holders.isEmpty() && job != null && job.overdue().test(operation(method, job));
	}

	private static boolean isFutureTick(@Nullable RecordedJob job, LockTable locks) {
		Instant tick = (job != null) ? job.lastTick() : null;
		return tick != null && tick.isAfter(locks.time().plus(FUTURE));
	}

	private List<Problem> problems(JobId id, @Nullable AdvisoryLockKey key, LockTable locks, boolean overdue,
			@Nullable PauseDescriptor paused, @Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		Map<Problem, Boolean> problems = new EnumMap<>(Problem.class);
		problems.put(Problem.PAUSED, paused != null);
		problems.put(Problem.OVERDUE, overdue);
		problems.put(Problem.FUTURE_TICK, isFutureTick(job, locks));
		problems.put(Problem.FAILED, hasEnded(Problem.FAILED.name(), job, keys));
		problems.put(Problem.ABANDONED, hasEnded(Problem.ABANDONED.name(), job, keys));
		problems.put(Problem.LOST, key != null && this.counter.hasLost(key));
		problems.put(Problem.SHARED_KEY, methods(id).size() > 1);
		problems.values().removeIf((found) -> !found);
		return List.copyOf(problems.keySet());
	}

	private static boolean hasEnded(String outcome, @Nullable RecordedJob job, @Nullable KeysDescriptor keys) {
		return (job != null && outcome.equals(job.lastOutcome()))
				|| (keys != null && keys.failed().stream().anyMatch((key) -> outcome.equals(key.outcome())));
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
			actions.add(OperatorActions.FREED);
		}
		return actions;
	}

	AdvisoryLockKey key(JobId id) {
		return this.application.keyFactory().createKey(id.namespace(), id.key());
	}

	private static @Nullable PauseDescriptor paused(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		if (method != null && method.operation().paused()) {
			return new PauseDescriptor(null, "advisory-lock.jobs." + method.operation().keyTemplate() + ".paused", null,
					null);
		}
		return (job != null) ? job.paused() : null;
	}

	private static String target(SingleRunnerMethod method) {
		return method.method().getDeclaringClass().getName() + "." + method.method().getName();
	}

	private static JobId id(SingleRunnerMethod method) {
		AdvisoryLockKey key = method.fixedKey();
		return (key != null) ? JobId.of(key) : new JobId(method.namespace(), method.operation().keyTemplate());
	}

}
