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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules for the ticks that instances remember without a ledger: each is run, and none
 * is run twice.
 */
final class RememberedTicks {

	/**
	 * The time between two of these ticks.
	 */
	private static final long PERIOD = 3_000;

	/**
	 * For how long instances remember a tick: half the time to the next one.
	 */
	static final long MEMORY = PERIOD / 2;

	private final List<Run> runs;

	private final List<Disturbance> disturbances;

	private final long end;

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param runs all runs
	 * @param disturbances what was done to the instances
	 * @param end when the instances were told to stop
	 */
	RememberedTicks(List<Run> runs, List<Disturbance> disturbances, long end) {
		this.runs = runs.stream().filter((run) -> run.key().equals(Job.REMEMBERED)).toList();
		this.disturbances = disturbances;
		this.end = end;
	}

	List<String> violations() {
		checkRepeated();
		checkMissed();
		return this.violations;
	}

	/**
	 * A tick that was run to its end is not run again as long as the one lives that did,
	 * by a call that comes while it is remembered.
	 */
	private void checkRepeated() {
		Map<Instant, Run> ended = new HashMap<>();
		for (Run run : this.runs) {
			Instant tick = run.tick();
			if (tick == null) {
				this.violations.add("A tick that is none: " + run);
				continue;
			}
			Run first = ended.get(tick);
			if (first != null && run.lateness() < MEMORY && !isDisturbed(first.begin(), run.begin())) {
				this.violations.add("Run twice though nothing had happened: " + first + " and " + run);
			}
			if (run.isEnded()) {
				ended.put(tick, run);
			}
		}
	}

	private boolean isDisturbed(long from, long to) {
		return this.disturbances.stream().anyMatch((disturbance) -> disturbance.mayRepeatTicksBetween(from, to));
	}

	/**
	 * From the first tick on, each is run to its end by an instance, unless there was a
	 * fault at that time, or the tick before was still being run: a call that finds the
	 * lock taken is skipped. The last ticks are not asked for, as the instances stop
	 * then.
	 */
	private void checkMissed() {
		Set<Instant> ended = new HashSet<>();
		List<Long> offsets = new ArrayList<>();
		for (Run run : this.runs) {
			Instant tick = run.tick();
			if (tick != null) {
				offsets.add(tick.toEpochMilli() + run.lateness() - run.begin());
				if (run.isEnded()) {
					ended.add(tick);
				}
			}
		}
		if (offsets.isEmpty()) {
			return;
		}
		offsets.sort(null);
		// Most instances have the right time: a few may have a wrong clock
		long offset = offsets.get(offsets.size() / 2);
		long first = ((this.runs.get(0).begin() + offset) / PERIOD + 1) * PERIOD;
		for (long tick = first; tick - offset <= this.end - Disturbance.RECOVERY; tick += PERIOD) {
			long moment = tick - offset;
			if (!ended.contains(Instant.ofEpochMilli(tick)) && !isBusy(moment) && this.disturbances.stream()
				.noneMatch((disturbance) -> disturbance.mayHaveStoppedWork(moment, moment + PERIOD))) {
				this.violations.add("Nobody ran the remembered tick " + Instant.ofEpochMilli(tick));
			}
		}
	}

	private boolean isBusy(long moment) {
		return this.runs.stream().anyMatch((run) -> run.begin() < moment + PERIOD && run.end() > moment);
	}

}
