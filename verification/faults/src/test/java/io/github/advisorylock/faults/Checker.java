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

package io.github.advisorylock.faults;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Judges what has happened by what instances wrote themselves and what is in the
 * database, and by nothing that a scheduler says of itself.
 */
final class Checker {

	/**
	 * For how long a run may go on that has lost its lock with its connection: two
	 * heartbeats until it is noticed, as documented, and time to stop on a busy machine.
	 */
	static final long NOTICE = 8_000;

	private final List<Event> events;

	private final List<Run> runs;

	private final List<Effect> effects;

	private final Set<Execution> recorded;

	private final List<Disturbance> disturbances;

	private final List<String> violations = new ArrayList<>();

	private final List<Overlap> overlaps = new ArrayList<>();

	private final boolean virtual;

	private final long end;

	private int pairs;

	private int excusable;

	/**
	 * Create a checker.
	 * @param events all histories
	 * @param effects what the runs have left
	 * @param recorded what the ledger counts as executed
	 * @param disturbances what was done to them
	 * @param virtual whether their threads are virtual
	 * @param end when the instances were told to stop
	 */
	Checker(List<Event> events, List<Effect> effects, Collection<Execution> recorded, List<Disturbance> disturbances,
			boolean virtual, long end) {
		this.events = events;
		this.runs = Run.of(events);
		this.effects = effects;
		this.recorded = new HashSet<>(recorded);
		if (this.recorded.size() != recorded.size()) {
			this.violations.add("Executed twice, says the ledger: " + twice(recorded));
		}
		this.disturbances = disturbances;
		this.virtual = virtual;
		this.end = end;
	}

	/**
	 * Check.
	 * @param expected what has to be executed
	 */
	Findings check(Collection<Execution> expected) {
		checkThreads();
		countPairs();
		checkOverlaps();
		checkTokens();
		this.violations.addAll(new RememberedTicks(this.runs, this.disturbances, this.end).violations());
		this.violations.addAll(new UndisturbedWork(this.events, this.runs, this.disturbances, this.end).violations());
		checkEffects();
		checkNothingIsLost(expected);
		return new Findings(this.violations, this.runs.size(), this.recorded.size(), this.overlaps, this.pairs,
				this.excusable);
	}

	private void checkThreads() {
		this.runs.stream()
			.filter((run) -> run.isVirtual() != this.virtual)
			// A tick that is made up for runs on a thread of the library
			.filter((run) -> run.isVirtual() || Stream.of(Promise.values())
				.noneMatch((promise) -> promise.isMadeUpFor() && promise.isRunBy(run)))
			.forEach((run) -> this.violations
				.add("On a " + (this.virtual ? "platform" : "virtual") + " thread: " + run));
	}

	/**
	 * Count the pairs of runs that follow one another, and for how many of them there
	 * would have been an excuse.
	 */
	private void countPairs() {
		for (List<Run> ofKey : by(Run::key).values()) {
			for (int i = 1; i < ofKey.size(); i++) {
				Run run = ofKey.get(i - 1);
				Run next = ofKey.get(i);
				this.pairs++;
				if (excuse(run, next.begin()).isPresent() || excuse(next, next.begin()).isPresent()) {
					this.excusable++;
				}
			}
		}
	}

	private void checkOverlaps() {
		for (List<Run> ofLock : by((run) -> Promise.lockOf(run.key())).values()) {
			for (int i = 0; i < ofLock.size(); i++) {
				Run run = ofLock.get(i);
				for (int j = i + 1; j < ofLock.size() && ofLock.get(j).begin() < run.end(); j++) {
					if (!Promise.mayRunBeside(run, ofLock.get(j))) {
						checkOverlap(run, ofLock.get(j));
					}
				}
			}
		}
	}

	/**
	 * Who goes on without the lock is the first to begin, or who came to begin after a
	 * fault had ended the lock and somebody else had taken it: the lower token tells, or
	 * its failure where it has none.
	 */
	private void checkOverlap(Run first, Run second) {
		boolean secondIsLate = (Promise.isInTransaction(second.key()) && second.token() == null)
				? excuse(first, second.begin()).isEmpty() && mayHaveBegunWithoutLock(second)
				: hasLowerToken(second, first);
		Run late = secondIsLate ? second : first;
		long beside = late.goesOnAfter(second.begin());
		Optional<Disturbance> excuse = excuse(late, second.begin());
		if (excuse.isPresent() && beside <= NOTICE) {
			this.overlaps.add(new Overlap(excuse.get().fault(), beside));
		}
		else {
			this.violations.add("Two at a time: " + first + " and " + second);
		}
	}

	private Optional<Disturbance> excuse(Run run, long moment) {
		return this.disturbances.stream()
			.filter((disturbance) -> disturbance.mayHaveEndedLockOf(run, moment))
			.reduce((earlier, later) -> later);
	}

	private static boolean hasLowerToken(Run run, Run other) {
		Long token = run.token();
		Long others = other.token();
		return token != null && others != null && token < others;
	}

	/**
	 * Of two runs the later has the higher token, unless the first was at work when the
	 * second began: then who came first can't be told from outside. Nor can it of a run
	 * whose lock a fault had ended, maybe before it came to begin: its lower token is
	 * what gives it away, and it must not count.
	 */
	private void checkTokens() {
		for (List<Run> ofKey : by(Run::key).values()) {
			Run highest = null;
			for (Run run : ofKey) {
				Long token = run.token();
				if (token == null || mayHaveBegunWithoutLock(run)) {
					continue;
				}
				Long before = (highest != null) ? highest.token() : null;
				if (highest != null && before != null && highest.end() <= run.begin()) {
					boolean sameTerm = Job.isLed(run.key()) && run.instance().equals(highest.instance());
					if (sameTerm ? token < before : token <= before) {
						this.violations.add("Tokens do not rise: " + highest + " and " + run);
					}
				}
				if (before == null || token >= before) {
					highest = run;
				}
			}
		}
	}

	private boolean mayHaveBegunWithoutLock(Run run) {
		return !run.isEnded() && excuse(run, run.begin()).isPresent();
	}

	private void checkEffects() {
		Map<String, Run> named = this.runs.stream().collect(Collectors.toMap(Run::name, (run) -> run));
		Map<Execution, List<Effect>> byExecution = this.effects.stream()
			.collect(Collectors.groupingBy((effect) -> new Execution(effect.job(), effect.tick())));
		byExecution.forEach((execution, found) -> {
			long unexcused = found.stream().filter((effect) -> {
				Run run = named.get(effect.run());
				// In scope SESSION a standby may have the effect, and not the ledger's
				// row
				return run == null || Job.isTransaction(execution.key()) || (run.isDone() && !mayBeLost(run));
			}).count();
			if (unexcused > 1) {
				this.violations.add("Two effects: " + found);
			}
			for (Effect effect : found) {
				if (!named.containsKey(effect.run())) {
					this.violations.add("An effect of nobody: " + effect);
				}
			}
			if (Job.isTransaction(execution.key()) && !this.recorded.contains(execution)) {
				this.violations.add("An effect that is not in the ledger: " + found);
			}
		});
		for (Execution execution : this.recorded) {
			if (!byExecution.containsKey(execution)) {
				this.violations.add("In the ledger, without an effect: " + execution);
			}
		}
		Map<Execution, Run> done = new HashMap<>();
		for (Run run : this.runs) {
			Instant tick = run.tick();
			if (!run.isDone() || tick == null || !run.key().contains(":")) {
				continue;
			}
			Execution execution = new Execution(run.key(), tick);
			checkNotBegunAfter(run);
			Run other = done.put(execution, run);
			if (other != null && !mayBeLost(other)) {
				this.violations.add("Executed twice: " + other + " and " + run);
			}
			if (!this.recorded.contains(execution) && !mayBeLost(run)) {
				this.violations.add("Said to be executed, and not in the ledger: " + run);
			}
		}
	}

	/**
	 * What was executed is not begun again: a run that begins after the end of the work
	 * got the lock before the commit, from which on the ledger tells.
	 */
	private void checkNotBegunAfter(Run executed) {
		this.runs.stream()
			.filter((run) -> run.key().equals(executed.key()) && Objects.equals(run.tick(), executed.tick()))
			.filter((run) -> run != executed && run.begin() >= executed.end() && !mayBeLost(executed)
					&& excuse(run, run.begin()).isEmpty())
			.forEach((run) -> this.violations.add("Begun though executed: " + executed + " and " + run));
	}

	private void checkNothingIsLost(Collection<Execution> expected) {
		Set<Execution> lost = lost(expected);
		if (!lost.isEmpty()) {
			this.violations.add("Never executed: " + lost);
		}
	}

	/**
	 * Return what was to be executed and was not, but for what a server has lost.
	 */
	Set<Execution> lost(Collection<Execution> expected) {
		Set<Execution> lost = new HashSet<>(expected);
		lost.removeAll(this.recorded);
		for (Run run : this.runs) {
			Instant tick = run.tick();
			if (tick != null && run.isDone() && mayBeLost(run)) {
				lost.remove(new Execution(run.key(), tick));
			}
		}
		return lost;
	}

	private boolean mayBeLost(Run run) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayLoseCommitOf(run.end()));
	}

	private Map<String, List<Run>> by(Function<Run, String> name) {
		return this.runs.stream().collect(Collectors.groupingBy(name, TreeMap::new, Collectors.toList()));
	}

	private static List<Execution> twice(Collection<Execution> recorded) {
		Set<Execution> seen = new HashSet<>();
		return recorded.stream().filter((execution) -> !seen.add(execution)).toList();
	}

}
