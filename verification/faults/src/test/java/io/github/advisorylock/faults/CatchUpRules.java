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
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The rules for the ticks that any instance makes up for.
 */
final class CatchUpRules {

	/**
	 * How long after a failure a tick is not tried again.
	 */
	static final long BACK_OFF = 30_000;

	/**
	 * For how long a tick is made up for.
	 */
	private static final long CATCH_UP = 58_000;

	/**
	 * In so much time without a fault somebody makes up for a tick.
	 */
	private static final long MADE_UP = 20_000;

	private final List<Run> runs;

	private final List<Run> ofTicks;

	private final Set<String> written;

	private final List<Disturbance> disturbances;

	private final long end;

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param runs all runs
	 * @param written the names of those that have left an effect
	 * @param disturbances what was done to the instances
	 * @param end when the instances were told to stop
	 */
	CatchUpRules(List<Run> runs, Set<String> written, List<Disturbance> disturbances, long end) {
		this.runs = runs;
		this.ofTicks = runs.stream().filter(Promise.CATCH_UP::isRunBy).filter((run) -> run.tick() != null).toList();
		this.written = written;
		this.disturbances = disturbances;
		this.end = end;
	}

	List<String> violations() {
		checkBackOff();
		checkCatchUp();
		checkRetries();
		return this.violations;
	}

	/**
	 * Where a failure is in the ledger, the next attempt of the tick has to wait.
	 */
	private void checkBackOff() {
		Map<Instant, Run> failed = new HashMap<>();
		for (Run run : this.ofTicks) {
			Instant tick = run.tick();
			if (tick == null) {
				continue;
			}
			Run before = failed.get(tick);
			if (before != null && run.begin() - before.end() < BACK_OFF - PromiseRules.EARLY
					&& !isDisturbed(before.begin(), before.end() + PromiseRules.EARLY)) {
				this.violations.add("Tried again too soon: " + before + " and " + run);
			}
			if (run.isFailed()) {
				failed.put(tick, run);
			}
		}
	}

	/**
	 * From the first one on each tick, or a later one, is executed while it is made up
	 * for: one that has failed where there was no fault in all that time, others where
	 * there was none for a while.
	 */
	private void checkCatchUp() {
		if (this.ofTicks.isEmpty()) {
			return;
		}
		List<Long> offsets = new ArrayList<>(
				this.runs.stream().filter((run) -> run.tick() != null).map(CatchUpRules::offset).toList());
		Collections.sort(offsets);
		// Most instances have the right time
		long offset = offsets.get(offsets.size() / 2);
		long period = Promise.CATCH_UP_PERIOD.toMillis();
		long first = ((this.ofTicks.get(0).begin() + offset) / period + 1) * period;
		for (long tick = first; tick - offset + CATCH_UP <= this.end - Disturbance.RECOVERY; tick += period) {
			long from = tick - offset;
			long planned = tick;
			boolean executed = this.ofTicks.stream()
				.anyMatch((run) -> (millis(run.tick()) == planned
						|| (millis(run.tick()) > planned && run.begin() < from + CATCH_UP))
						&& (this.written.contains(run.name()) || mayBeLost(run)));
			boolean failed = this.ofTicks.stream().anyMatch((run) -> millis(run.tick()) == planned && run.isFailed());
			if (!executed && quiet(from, from + CATCH_UP) >= (failed ? CATCH_UP : MADE_UP)) {
				this.violations.add("Nobody made up for " + Instant.ofEpochMilli(tick));
			}
		}
	}

	/**
	 * A tick that fails is given up after some attempts, unless a fault may have kept the
	 * ledger from hearing of one.
	 */
	private void checkRetries() {
		Map<Instant, List<Run>> attempts = new HashMap<>();
		for (Run run : this.runs) {
			Instant tick = run.tick();
			if (tick != null && Promise.RETRIED.isRunBy(run)) {
				attempts.computeIfAbsent(tick, (key) -> new ArrayList<>()).add(run);
			}
		}
		for (List<Run> ofTick : attempts.values()) {
			if (ofTick.size() > 1 + Promise.MAX_RETRIES
					&& !isDisturbed(ofTick.get(0).begin(), ofTick.get(ofTick.size() - 1).begin())) {
				this.violations.add("Tried too often: " + ofTick);
			}
		}
	}

	private static long offset(Run run) {
		return millis(run.tick()) + run.lateness() - run.begin();
	}

	private static long millis(@Nullable Instant tick) {
		return (tick != null) ? tick.toEpochMilli() : 0;
	}

	/**
	 * Return the longest time between two moments in which there was no fault, and none
	 * from which the server had to recover.
	 */
	private long quiet(long from, long to) {
		long longest = 0;
		for (long moment = from; moment < to; moment += 100) {
			long begin = moment;
			while (moment < to && !isDisturbed(moment, moment)) {
				moment += 100;
			}
			longest = Math.max(longest, Math.min(moment, to) - begin);
		}
		return longest;
	}

	private boolean isDisturbed(long from, long to) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayHaveStoppedWork(from, to));
	}

	private boolean mayBeLost(Run run) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayLoseCommitOf(run.end()));
	}

}
