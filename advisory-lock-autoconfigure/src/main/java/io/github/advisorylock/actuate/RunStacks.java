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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunningDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.StackDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RemoteStack;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.jdbc.RunLedger.RunStack;
import io.github.advisorylock.monitor.LockHolders;
import io.github.advisorylock.monitor.LockHolders.Activity;
import io.github.advisorylock.monitor.LockHolders.Holder;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * Where runs hang. Each instance knows the threads of its own runs, and the server what
 * their connections do; other instances are asked where there are records.
 */
final class RunStacks {

	/**
	 * A bit less than the five seconds in which there is an answer.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(4700);

	private static final Activity NOTHING = new Activity(null, null, List.of());

	private final GuardedApplication application;

	private final JobRegistry records;

	private final LockHolders holders;

	private final Redaction redaction;

	/**
	 * Create it.
	 * @param application knows the runs of this instance
	 * @param records asks other instances
	 * @param holders knows who holds locks, and what connections do
	 * @param redaction hides values
	 */
	RunStacks(GuardedApplication application, JobRegistry records, LockHolders holders, Redaction redaction) {
		this.application = application;
		this.records = records;
		this.holders = holders;
		this.redaction = redaction;
	}

	/**
	 * Return what each holder of a lock does.
	 */
	StackDescriptor describe(AdvisoryLockKey key) {
		LockNumber number = LockNumber.of(key);
		List<Holder> found = this.holders.find(number);
		List<RunStack> own = this.application.stacks().apply(key);
		List<Holder> others = found.stream()
			.filter((holder) -> own.isEmpty() || !isNamed(InstanceName.get(), holder.instance()))
			.toList();
		List<RemoteStack> answers = ask(number, others);
		List<RunningDescriptor> runs = new ArrayList<>();
		own.forEach((stack) -> runs.add(describe(InstanceName.get(), stack)));
		if (answers != null) {
			answers.forEach((answer) -> runs.add(describe(answer.instance(), answer.stack())));
		}
		others.stream()
			.filter((holder) -> answers == null
					|| answers.stream().noneMatch((answer) -> isNamed(answer.instance(), holder.instance())))
			.forEach((holder) -> runs.add(describeSilent(holder, answers != null)));
		return new StackDescriptor(InstanceName.get(), key.name(), key.namespace(), List.copyOf(runs));
	}

	/**
	 * Ask the other instances.
	 * @return what they answered, {@code null} if they can't be asked
	 */
	private @Nullable List<RemoteStack> ask(LockNumber number, List<Holder> others) {
		Set<String> wanted = others.stream()
			.flatMap((holder) -> Stream.ofNullable(holder.instance()))
			.collect(Collectors.toSet());
		return wanted.isEmpty() ? List.of() : this.records.ask(number, this.holders::wake, (answered) -> {
			Set<String> missing = new HashSet<>(wanted);
			missing.removeIf((end) -> answered.stream().anyMatch((name) -> isNamed(name, end)));
			return missing.isEmpty();
		}, PATIENCE);
	}

	/**
	 * Connections have the end of the name of their instance in theirs.
	 */
	private static boolean isNamed(String name, @Nullable String end) {
		return end != null && name.endsWith(end);
	}

	private RunningDescriptor describe(String instance, RunStack stack) {
		Thread.State state = stack.state();
		Integer pid = (stack.process() != 0) ? stack.process() : null;
		Activity activity = activity(pid);
		boolean running = stack.thread() != null;
		return new RunningDescriptor(instance, stack.thread(), (state != null) ? state.name() : null, pid,
				activity.state(), this.redaction.query(activity.query()), activity.waitsFor(),
				running ? this.redaction.frames(stack.frames()) : null,
				running ? null : "no thread runs under the lock: 'tryAcquire' has handed it over, or its run is over");
	}

	private RunningDescriptor describeSilent(Holder holder, boolean asked) {
		String instance = holder.instance();
		Activity activity = activity(holder.pid());
		String reason = asked ? " within 5 s" : ": without the ledger, an instance knows its own runs only";
		String error = (instance != null) ? "no answer from " + instance + reason : describeStranger(holder);
		return new RunningDescriptor(instance, null, null, holder.pid(), activity.state(),
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
