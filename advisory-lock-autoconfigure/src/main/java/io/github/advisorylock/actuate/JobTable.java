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
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RescheduledDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a moment: those of the methods of this instance, and those that are only
 * recorded. The state of a job is decided where it is recorded; of what is not, only its
 * lock is known.
 */
final class JobTable {

	/**
	 * The states of jobs.
	 */
	static final List<String> STATES = List.of("running", "waiting", "paused", "failing", "overdue", "idle");

	private static final String RUNNING = "running";

	private static final String WAITING = "waiting";

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
	 * Return how many may hold the key of a job at a time, as its methods here have it,
	 * or as others say.
	 */
	private int permits(JobId id, @Nullable RecordedJob job) {
		return methods(id).stream()
			.mapToInt((method) -> method.operation().permits())
			.max()
			.orElse((job != null) ? job.permits() : 1);
	}

	/**
	 * Return what is locked for a job: its key, and where several may hold that, also the
	 * permits that only other instances have.
	 */
	List<AdvisoryLockKey> locks(JobId id, @Nullable RecordedJob job) {
		return permits(key(id), (permits(id, job) > 1) ? AdvisoryLockKey.MAX_PERMITS : 1);
	}

	private static List<AdvisoryLockKey> permits(AdvisoryLockKey key, int count) {
		return IntStream.rangeClosed(1, count).mapToObj(key::permit).toList();
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
		boolean template = isTemplate(id) || (job != null && job.template());
		AdvisoryLockKey key = template ? null : key(id);
		RunDescriptor lastRun = (job != null) ? job.lastRun() : null;
		List<AdvisoryLockKey> wanted = (key != null) ? locks(id, job) : List.of();
		int permits = permits(id, job);
		List<HolderDescriptor> holders = locks.holders(wanted, lastRun);
		List<WaiterDescriptor> waiters = locks.waiters(wanted);
		PauseDescriptor paused = paused(method, job);
		TickDescriptor open = openTick(method, job);
		boolean changed = method != null && !method.operation().changes().all().isEmpty();
		Instant nextHere = (method != null) ? this.schedules.next(method.method(), changed) : null;
		RescheduledDescriptor rescheduled = (job != null) ? job.rescheduled() : null;
		Instant next = nextAfter(job, locks.time());
		List<ScheduleDescriptor> schedules = (method != null) ? this.schedules.of(method.method())
				: (job != null) ? job.schedules() : List.of();
		if (next == null && nextHere == null) {
			next = RecordedSchedule.next(schedules, rescheduled, locks.time());
		}
		return new JobDescriptor(id.key(), id.namespace(),
				(method != null) ? method(method) : (job != null) ? job.target() : null,
				(method != null) ? method.operation().scope() : (job != null) ? job.scope() : null,
				(method != null) ? method.operation().once(this.application.session().getAsBoolean()) : null,
				(permits > 1) ? permits : null, schedules, state(holders, waiters, paused, job),
				(next != null) ? next : nextHere, lastRun,
				attempt(holders, lastRun, (catchUp(method, job) != null) ? open : null, locks.time()),
				(method != null) ? this.counter.of(method.operation().method()) : Map.of(), holders, waiters, paused,
				rescheduled,
				problems(id, key, paused, job, differsElsewhere(permits, wanted, locks, (method != null) ? job : null)),
				actions(method, job, paused, holders, locks), nextHere, (job != null) ? job.lastTick() : null, open,
				(job != null) ? job.completedAt() : null, keys, null, null);
	}

	/**
	 * Return what is planned next as far as it is not over: a tick that nobody has
	 * completed stays planned.
	 */
	private static @Nullable Instant nextAfter(@Nullable RecordedJob job, Instant now) {
		Instant next = (job != null) ? job.nextAt() : null;
		return (next != null && next.isAfter(now)) ? next : null;
	}

	/**
	 * Return the state that is recorded, but for a pause by a property of this instance.
	 * A key that runs once has none, only its last run.
	 */
	private static String state(List<HolderDescriptor> holders, List<WaiterDescriptor> waiters,
			@Nullable PauseDescriptor paused, @Nullable RecordedJob job) {
		String state = (job != null) ? job.state() : null;
		if (state == null) {
			boolean failed = job != null && !job.problems().isEmpty();
			state = !holders.isEmpty() ? RUNNING : !waiters.isEmpty() ? WAITING : failed ? "failing" : "idle";
		}
		return (paused != null && !state.equals(RUNNING) && !state.equals(WAITING)) ? "paused" : state;
	}

	/**
	 * A run in scope {@code TRANSACTION} has written nothing yet that others can see. It
	 * is the one after those that are known of its tick, if that may be tried again by
	 * now: else somebody runs the job by hand.
	 */
	private static @Nullable Integer attempt(List<HolderDescriptor> holders, @Nullable RunDescriptor lastRun,
			@Nullable TickDescriptor open, Instant now) {
		if (holders.isEmpty()) {
			return null;
		}
		if (lastRun != null && lastRun.finishedAt() == null) {
			return lastRun.attempt();
		}
		if (open == null || open.givenUp() != null) {
			return null;
		}
		Instant retryAt = open.retryAt();
		return (retryAt == null || !retryAt.isAfter(now)) ? Integer.valueOf(open.attempts() + 1) : null;
	}

	private List<Problem> problems(JobId id, @Nullable AdvisoryLockKey key, @Nullable PauseDescriptor paused,
			@Nullable RecordedJob job, boolean differsElsewhere) {
		LockLostEvent.Reason lost = (key != null) ? this.counter.lossOf(key, (job != null) ? job.executedAt() : null)
				: null;
		Set<Problem> problems = EnumSet.noneOf(Problem.class);
		if (job != null) {
			problems.addAll(job.problems());
		}
		if (paused != null) {
			problems.add(Problem.PAUSED);
		}
		if (lost != null) {
			problems.add((lost == LockLostEvent.Reason.MAX_RUN) ? Problem.MAX_RUN : Problem.LOST);
		}
		if (differsElsewhere) {
			problems.add(Problem.PERMITS);
		}
		if (methods(id).size() > 1) {
			problems.add(Problem.SHARED_KEY);
		}
		return List.copyOf(problems);
	}

	/**
	 * Return whether another instance lets another number hold the key: one that there is
	 * none of here is held, or the instance that has started last has told the ledger.
	 */
	private static boolean differsElsewhere(int permits, List<AdvisoryLockKey> wanted, LockTable locks,
			@Nullable RecordedJob job) {
		boolean heldBeyond = wanted.size() > permits
				&& !locks.holders(wanted.subList(permits, wanted.size()), null).isEmpty();
		boolean told = !wanted.isEmpty() && job != null && job.registered() && job.permits() != permits;
		return heldBeyond || told;
	}

	/**
	 * When a tick is tried again matters where somebody makes up for it.
	 */
	private static @Nullable TickDescriptor openTick(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		TickDescriptor open = (job != null) ? job.openTick() : null;
		return (open == null || catchUp(method, job) != null) ? open
				: new TickDescriptor(open.tick(), open.attempts(), null, null);
	}

	private static @Nullable Duration catchUp(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job) {
		return (method != null) ? method.operation().ledger().catchUp() : (job != null) ? job.catchUp() : null;
	}

	/**
	 * Return whether an open tick would be tried again, here or by instances that make up
	 * for it, which do so for the latest tick within its window.
	 */
	private static boolean isRetriable(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job,
			@Nullable PauseDescriptor paused, List<HolderDescriptor> holders, Instant now) {
		TickDescriptor open = (job != null) ? job.openTick() : null;
		if (job == null || open == null || paused != null || !holders.isEmpty()) {
			return false;
		}
		if (method != null && method.operation().ledger().oncePerTick() && method.method().getParameterCount() == 0) {
			return true;
		}
		Duration window = catchUp(method, job);
		return window != null && now.isBefore(open.tick().plus(window))
				&& (job.nextAt() == null || nextAfter(job, now) != null);
	}

	private static List<String> actions(@Nullable SingleRunnerMethod method, @Nullable RecordedJob job,
			@Nullable PauseDescriptor paused, List<HolderDescriptor> holders, LockTable locks) {
		List<String> actions = new ArrayList<>();
		if (method != null && method.fixedKey() != null && method.operation().ledger().recorded()
				&& method.method().getParameterCount() == 0) {
			actions.add(OperatorActions.RUNNING);
			if (paused == null && method.operation().ticks(Instant.now()) != null) {
				actions.add(OperatorActions.BACKFILLED);
			}
		}
		if (isRetriable(method, job, paused, holders, locks.time())) {
			actions.add(OperatorActions.RETRIED);
		}
		if (job != null && job.recorded() && !job.template()) {
			actions.add(OperatorActions.PAUSED);
			actions.add(OperatorActions.RESUMED);
			if (job.schedules().size() == 1) {
				actions.add(OperatorActions.RESCHEDULED);
			}
		}
		if (method == null && job != null && job.registered() && holders.isEmpty()) {
			actions.add(OperatorActions.FORGOTTEN);
		}
		if (isCancellable(method, holders)) {
			actions.add(OperatorActions.CANCELLED);
		}
		return actions;
	}

	/**
	 * Tell why something that operators want is none of the actions of a job.
	 */
	static String whyNot(JobDescriptor job, String state) {
		String key = AdvisoryLockKey.display(job.key());
		return switch (state) {
			case OperatorActions.RUNNING ->
				"Failed to run '" + key + "' now: this instance has no method of that key which is "
						+ "recorded in the ledger and takes no arguments";
			case OperatorActions.RETRIED ->
				"Failed to retry a tick of '" + key + "': it has none that was tried and not completed, or it "
						+ "runs, or is paused, or no instance would try that tick again";
			case OperatorActions.BACKFILLED -> "Failed to backfill '" + key
					+ "': it is paused, or this instance has no method of that key that the ledger records, with one "
					+ "cron schedule, without arguments, and with 'once' as PER_TICK or AUTO";
			case OperatorActions.PAUSED, OperatorActions.RESUMED ->
				"Failed to change '" + key + "': it is not recorded in the ledger";
			case OperatorActions.FORGOTTEN -> "Failed to forget '" + key
					+ "': it runs, or has a method on this instance, or is not recorded in the ledger";
			default ->
				"Unknown state '" + AdvisoryLockKey.display(state) + "': choose '" + OperatorActions.RUNNING + "', '"
						+ OperatorActions.RETRIED + "', '" + OperatorActions.PAUSED + "', '" + OperatorActions.RESUMED
						+ "', '" + OperatorActions.RESCHEDULED + "', '" + OperatorActions.FORGOTTEN + "', '"
						+ OperatorActions.BACKFILLED + "' or '" + OperatorActions.CANCELLED + "'";
		};
	}

	/**
	 * Which of several runs is meant can't be said.
	 */
	private static boolean isCancellable(@Nullable SingleRunnerMethod method, List<HolderDescriptor> holders) {
		boolean several = method != null && method.operation().permits() > 1 && holders.size() > 1;
		return !several && holders.stream().anyMatch((holder) -> holder.instance() != null);
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
