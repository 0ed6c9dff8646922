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

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ArrayList;

import org.jspecify.annotations.Nullable;

/**
 * The rules for the work that the timers of all instances call, and that runs once in an
 * interval.
 */
final class IntervalRules {

	/**
	 * Two runs begin no closer than this, of a hundred parts of the interval.
	 */
	private static final long CLOSEST = 90;

	/**
	 * And no further from each other than this.
	 */
	private static final long FURTHEST = 110;

	/**
	 * How much sooner than promised a run may seem to begin that is counted from the end
	 * of the one before: both moments are read from a clock that goes on each 10 ms.
	 */
	private static final long RESOLUTION = 50;

	private final List<Run> runs;

	private final List<Disturbance> disturbances;

	private final long end;

	/**
	 * When each instance was seen last before the end.
	 */
	private final Map<String, Long> seen = new HashMap<>();

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param events all histories
	 * @param runs the runs that they tell of
	 * @param disturbances what was done to the instances
	 * @param end when the instances were told to stop
	 */
	IntervalRules(List<Event> events, List<Run> runs, List<Disturbance> disturbances, long end) {
		this.runs = runs;
		this.disturbances = disturbances;
		this.end = end;
		events.forEach((event) -> this.seen.merge(event.instance(), Math.min(event.at(), end), Math::max));
	}

	List<String> violations() {
		check(Promise.RATE);
		check(Promise.DELAY);
		return this.violations;
	}

	private void check(Promise promise) {
		List<Run> ofTimer = this.runs.stream().filter(promise::isRunBy).toList();
		Run before = null;
		Run executed = null;
		for (Run run : ofTimer) {
			checkNotTooSoon(promise, executed, run);
			if (before != null) {
				checkNotTooLate(promise, before, run.begin());
			}
			before = run;
			executed = run.isDone() ? run : executed;
		}
		if (before != null) {
			checkNotTooLate(promise, before, this.end - Disturbance.RECOVERY);
		}
	}

	/**
	 * Others run in the interval of a run that was executed only if its instance has
	 * stopped, which it may do for some time, or a fault has ended its memory. A run
	 * writes its begin later than the interval begins.
	 */
	private void checkNotTooSoon(Promise promise, @Nullable Run executed, Run run) {
		if (executed == null) {
			return;
		}
		long from = (promise == Promise.RATE) ? executed.begin() - PromiseRules.EARLY : executed.end() - RESOLUTION;
		boolean stopping = run.begin() > this.seen.getOrDefault(executed.instance(), 0L) - Disturbance.RECOVERY;
		if (run.begin() - from < part(CLOSEST) && !stopping
				&& this.disturbances.stream().noneMatch((fault) -> fault.mayRepeatTicksBetween(from, run.begin()))) {
			this.violations.add("Twice in an interval: " + executed + " and " + run);
		}
	}

	/**
	 * However a run has ended, the next one follows.
	 */
	private void checkNotTooLate(Promise promise, Run before, long next) {
		long from = (promise == Promise.RATE) ? before.begin() : before.end();
		if (next - from > part(FURTHEST) + PromiseRules.BUSY && this.disturbances.stream()
			.noneMatch((disturbance) -> disturbance.mayHaveStoppedWork(before.begin(), next))) {
			this.violations.add("Nobody ran for " + (next - from) + " ms: " + before);
		}
	}

	private static long part(long percent) {
		return Promise.TIMER.toMillis() * percent / 100;
	}

}
