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
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunningDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.StackDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RemoteStack;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.monitor.LockHolders;
import io.github.advisorylock.monitor.LockHolders.Activity;
import io.github.advisorylock.monitor.LockHolders.Holder;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * Where runs hang. Each instance knows the threads of its own runs, and the server what
 * their connections do; other instances are asked where there are records.
 *
 * @param application knows the runs of this instance
 * @param records asks other instances
 * @param holders knows who holds locks, and what connections do
 * @param redaction hides values
 */
record RunStacks(GuardedApplication application, JobRegistry records, LockHolders holders, Redaction redaction) {

	/**
	 * A bit less than the five seconds in which there is an answer.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(4700);

	private static final Activity NOTHING = new Activity(null, null, List.of());

	/**
	 * Return what each holder of a key does, whichever of its permits it has: other
	 * instances may have more of them than this one.
	 */
	StackDescriptor describe(AdvisoryLockKey key) {
		List<LockNumber> locks = IntStream.rangeClosed(1, AdvisoryLockKey.MAX_PERMITS)
			.mapToObj((permit) -> LockNumber.of(key.permit(permit)))
			.toList();
		List<Holder> holders = this.holders.find(locks, key.namespace());
		List<RemoteStack> own = this.application.stacks()
			.apply(key)
			.stream()
			.map((stack) -> new RemoteStack(this.application.threads().instance().name(), stack))
			.toList();
		List<RemoteStack> answers = hasAll(holders, own) ? List.of()
				: this.records.ask(LockNumber.of(key), this.holders::wake,
						(answered) -> hasAll(remaining(holders, locks, key.namespace()), join(own, answered)),
						PATIENCE);
		List<RemoteStack> known = join(own, (answers != null) ? answers : List.of());
		List<RunningDescriptor> runs = new ArrayList<>();
		RunDescriptor last = this.records.job(JobId.of(key), this.redaction)
			.map(JobRegistry.RecordedJob::lastRun)
			.orElse(null);
		known.forEach((run) -> runs.add(describe(run.instance(), run.stack(),
				holders.stream()
					.filter((holder) -> isOf(run, holder))
					.map((holder) -> ActSubject.since(holder, last))
					.filter(Objects::nonNull)
					.findFirst()
					.orElse(null))));
		silent(remaining(holders, locks, key.namespace()), known)
			.forEach((holder) -> runs.add(describeSilent(holder, ActSubject.since(holder, last), answers != null)));
		return new StackDescriptor(this.application.threads().instance().name(), key.name(), key.namespace(),
				List.copyOf(runs));
	}

	/**
	 * This instance answers its own question, too. What it knows at once counts.
	 */
	private static List<RemoteStack> join(List<RemoteStack> own, List<RemoteStack> answers) {
		List<RemoteStack> others = new ArrayList<>(answers);
		own.forEach((run) -> removeFirst(others, run::isSame));
		return Stream.concat(own.stream(), others.stream()).toList();
	}

	/**
	 * Return who holds still. Who has begun since the question may not be in the answers.
	 */
	private List<Holder> remaining(List<Holder> holders, List<LockNumber> locks, String namespace) {
		List<Holder> now = new ArrayList<>(this.holders.find(locks, namespace));
		return holders.stream().filter(now::remove).toList();
	}

	/**
	 * Return whether all instances among some holders have said what they do.
	 */
	private static boolean hasAll(List<Holder> holders, List<RemoteStack> known) {
		return silent(holders, known).stream().allMatch((holder) -> holder.instance() == null);
	}

	/**
	 * Return those holders of which it is not known what they do.
	 */
	private static List<Holder> silent(List<Holder> holders, List<RemoteStack> known) {
		List<Holder> silent = new ArrayList<>(holders);
		known.forEach((run) -> removeFirst(silent, (holder) -> isOf(run, holder)));
		return silent;
	}

	private static boolean isOf(RemoteStack run, Holder holder) {
		int process = run.stack().process();
		return (process != 0) ? Integer.valueOf(process).equals(holder.pid())
				: isNamed(run.instance(), holder.instance());
	}

	private static <T> void removeFirst(List<T> list, Predicate<T> condition) {
		list.stream().filter(condition).findFirst().ifPresent(list::remove);
	}

	/**
	 * Connections have the end of the name of their instance in theirs.
	 */
	private static boolean isNamed(String name, @Nullable String end) {
		return end != null && name.endsWith(end);
	}

	private RunningDescriptor describe(String instance, Run.Stack stack, @Nullable Instant since) {
		Thread.State state = stack.state();
		Integer pid = (stack.process() != 0) ? stack.process() : null;
		Activity activity = activity(pid);
		boolean running = stack.thread() != null;
		return new RunningDescriptor(instance, stack.thread(), (state != null) ? state.name() : null, since, pid,
				activity.state(), this.redaction.query(activity.query()), activity.waitsFor(),
				running ? this.redaction.frames(stack.frames()) : null,
				running ? null : "no thread runs under the lock: 'tryAcquire' has handed it over, or its run is over");
	}

	private RunningDescriptor describeSilent(Holder holder, @Nullable Instant since, boolean asked) {
		String instance = holder.instance();
		Activity activity = activity(holder.pid());
		String reason = asked ? " within 5 s" : ": without the ledger, an instance knows its own runs only";
		String error = (instance != null) ? "no answer from " + instance + reason : describeStranger(holder);
		return new RunningDescriptor(instance, null, null, since, holder.pid(), activity.state(),
				this.redaction.query(activity.query()), activity.waitsFor(), null, error);
	}

	private static String describeStranger(Holder holder) {
		return (holder.pid() != null)
				? "server process " + holder.pid() + " of role '" + holder.role()
						+ "' is no instance of an application with this library"
				: "a prepared transaction holds the lock"
						+ ((holder.prepared() != null) ? ": " + holder.prepared() : "");
	}

	private Activity activity(@Nullable Integer pid) {
		return (pid != null) ? this.holders.activity(pid).orElse(NOTHING) : NOTHING;
	}

}
