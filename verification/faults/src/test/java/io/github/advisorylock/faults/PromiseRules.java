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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The rules for the work of each {@link Promise}. Those that are not here are the
 * checker's: one run of a lock at a time, but for those that share it.
 */
final class PromiseRules {

	/**
	 * How much later than promised something may be seen on a machine that is busy, in
	 * milliseconds.
	 */
	static final long BUSY = 5_000;

	/**
	 * How much sooner than promised: a run writes its begin later than it got its lock,
	 * so that the time to the next one looks shorter.
	 */
	static final long EARLY = 3_000;

	/**
	 * For how long a job may do nothing, not counting the time of the faults themselves.
	 */
	static final long PATIENCE = 60_000;

	private final List<Event> events;

	private final List<Run> runs;

	private final Set<String> written;

	private final List<Disturbance> disturbances;

	private final long end;

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param events all histories, in the order of time
	 * @param written the names of the runs that have left an effect
	 * @param disturbances what was done to the instances
	 * @param end when the instances were told to stop
	 */
	PromiseRules(List<Event> events, Set<String> written, List<Disturbance> disturbances, long end) {
		this.events = events;
		this.runs = Run.of(events);
		this.written = written;
		this.disturbances = disturbances;
		this.end = end;
	}

	/**
	 * Return which work was never done, but for that which is due once in a minute: a
	 * trial may be shorter.
	 */
	static List<String> missing(List<Run> runs) {
		List<String> missing = new ArrayList<>();
		Stream.of(Promise.values())
			.filter((promise) -> !promise.isMadeUpFor())
			.filter((promise) -> runs.stream().noneMatch((run) -> promise.isRunBy(run) && run.isEnded()))
			.forEach((promise) -> missing.add("Never done: " + promise.key()));
		missing.addAll(PermitRules.missing(runs));
		return missing;
	}

	List<String> violations() {
		checkEffects();
		checkOnce(Promise.THROWING);
		checkOnce(Promise.CATCH_UP);
		checkIntervals();
		checkWaits();
		checkPauses();
		this.violations.addAll(new CatchUpRules(this.runs, this.written, this.disturbances, this.end).violations());
		this.violations.addAll(new IntervalRules(this.events, this.runs, this.disturbances, this.end).violations());
		this.violations.addAll(new PermitRules(this.runs, this.disturbances).violations());
		Stream.of(Promise.values()).filter((promise) -> !promise.isMadeUpFor()).forEach(this::checkGoesOn);
		return this.violations;
	}

	/**
	 * A transaction has its effect if it was committed, and none if it was rolled back,
	 * whoever began it.
	 */
	private void checkEffects() {
		for (Run run : this.runs) {
			if (Promise.isInTransaction(run.key())) {
				boolean effect = this.written.contains(run.name());
				if (effect && (run.isFailed() || run.isRolledBack())) {
					this.violations.add("An effect though rolled back: " + run);
				}
				if (!effect && run.isDone() && !mayBeLost(run)) {
					this.violations.add("No effect though executed: " + run);
				}
			}
		}
	}

	private void checkOnce(Promise promise) {
		Map<Instant, Run> seen = new HashMap<>();
		for (Run run : of(promise)) {
			Instant tick = run.tick();
			Run other = (tick != null && this.written.contains(run.name())) ? seen.put(tick, run) : null;
			if (other != null) {
				this.violations.add("Two effects of a tick: " + other + " and " + run);
			}
		}
	}

	/**
	 * A run counts however it ends, unless a fault may have kept the ledger from hearing
	 * of it.
	 */
	private void checkIntervals() {
		Run before = null;
		for (Run run : of(Promise.INTERVAL)) {
			if (before != null && run.begin() - earliestBegin(before) < Promise.MIN_INTERVAL.toMillis()
					&& !isDisturbed(before.begin(), run.begin())) {
				this.violations.add("Sooner than the interval: " + before + " and " + run);
			}
			if (run.isDone() || run.isFailed()) {
				before = run;
			}
		}
	}

	/**
	 * Return when the ledger may have noted the begin of a run: since its call came, and
	 * the first words of the run may be much later.
	 */
	private long earliestBegin(Run run) {
		return this.events.stream()
			.filter((event) -> event.kind() == Event.Kind.WAITED && event.at() <= run.begin()
					&& event.key().equals(run.key()) && event.instance().equals(run.instance()))
			.mapToLong((event) -> event.at() - Objects.requireNonNull(event.token()))
			.reduce(run.begin() - EARLY, (earlier, later) -> later);
	}

	/**
	 * A call gives up when it has waited, neither sooner nor much later. When an instance
	 * stops its calls give up at once, and one that comes up has everything to load.
	 */
	private void checkWaits() {
		Map<String, Long> begins = new HashMap<>();
		Map<String, Long> ends = new HashMap<>();
		this.events.forEach((event) -> begins.merge(event.instance(), event.at(), Math::min));
		this.events.forEach((event) -> ends.merge(event.instance(), Math.min(event.at(), this.end), Math::max));
		long wait = Promise.WAIT.toMillis();
		for (Event event : this.events) {
			Long waited = event.token();
			if (waited == null) {
				continue;
			}
			boolean disturbed = isDisturbed(event.at() - waited, event.at());
			boolean loading = event.at() - waited < begins.getOrDefault(event.instance(), 0L) + Disturbance.RECOVERY;
			boolean waits = event.key().startsWith("wait-") || event.key().equals(Promise.SHARED_WRITE.key())
					|| event.key().equals(Promise.PERMIT_SESSION.key());
			if (event.kind() == Event.Kind.WAITED || event.kind() == Event.Kind.GAVE_UP) {
				if (waited > (waits ? wait : 0) + BUSY && !disturbed && !loading) {
					this.violations.add("Waited for " + waited + " ms: " + event.toLine());
				}
			}
			if (event.kind() == Event.Kind.GAVE_UP && waits && waited < wait - 200 && !disturbed
					&& event.at() < ends.getOrDefault(event.instance(), 0L) - Disturbance.RECOVERY) {
				this.violations.add("Gave up after " + waited + " ms: " + event.toLine());
			}
		}
	}

	private void checkPauses() {
		String key = Promise.PAUSED.key();
		Event paused = null;
		for (Event event : this.events) {
			if (!event.key().equals(key)) {
				continue;
			}
			switch (event.kind()) {
				case PAUSED -> paused = event;
				case RESUMED -> paused = null;
				case START -> {
					if (paused != null && event.at() > paused.at() + EARLY && !isDisturbed(paused.at(), event.at())) {
						this.violations.add("Begun though paused: " + event.toLine());
					}
				}
				default -> {
				}
			}
		}
	}

	private void checkGoesOn(Promise promise) {
		List<Run> ended = of(promise).stream().filter(Run::isEnded).toList();
		for (int i = 0; i < ended.size(); i++) {
			long from = ended.get(i).end();
			long to = (i + 1 < ended.size()) ? ended.get(i + 1).begin() : this.end;
			long quiet = Math.max(0, to - from) - faultsBetween(from, to);
			if (quiet > PATIENCE) {
				this.violations.add("Nothing of " + promise.key() + " from " + from + " to " + to + ", " + quiet
						+ " ms of it without a fault");
			}
		}
	}

	private long faultsBetween(long from, long to) {
		return this.disturbances.stream()
			.mapToLong((fault) -> Math.max(0, Math.min(fault.end(), to) - Math.max(fault.begin(), from)))
			.sum();
	}

	private List<Run> of(Promise promise) {
		return this.runs.stream().filter(promise::isRunBy).toList();
	}

	private boolean isDisturbed(long from, long to) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayHaveStoppedWork(from, to));
	}

	private boolean mayBeLost(Run run) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayLoseCommitOf(run.end()));
	}

}
