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

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The rules for the work of which several runs may be under way.
 */
final class PermitRules {

	private final List<Run> runs;

	private final List<Disturbance> disturbances;

	/**
	 * Create the rules.
	 * @param runs all runs, in the order of their begin
	 * @param disturbances what was done to the instances
	 */
	PermitRules(List<Run> runs, List<Disturbance> disturbances) {
		this.runs = runs;
		this.disturbances = disturbances;
	}

	/**
	 * Return of which work there were never as many runs at a time as there are permits.
	 */
	static List<String> missing(List<Run> runs) {
		return promises().filter((promise) -> {
			List<Run> ofPermits = of(promise, runs);
			return ofPermits.stream().noneMatch((run) -> atWork(ofPermits, run.begin()).size() >= Promise.PERMITS);
		}).map((promise) -> "Never " + Promise.PERMITS + " at a time: " + promise.key()).toList();
	}

	/**
	 * At no moment there are more runs than permits, without those whose locks a fault
	 * had ended: as for two runs of a key.
	 */
	List<String> violations() {
		List<String> violations = new ArrayList<>();
		promises().map((promise) -> of(promise, this.runs)).forEach((ofPermits) -> {
			for (Run run : ofPermits) {
				List<Run> atWork = atWork(ofPermits, run.begin());
				if (atWork.stream().filter((other) -> !isExcused(other, run.begin())).count() > Promise.PERMITS) {
					violations.add("More than " + Promise.PERMITS + " at a time: " + atWork);
				}
			}
		});
		return violations;
	}

	private boolean isExcused(Run run, long moment) {
		return run.goesOnAfter(moment) <= Checker.NOTICE
				&& this.disturbances.stream().anyMatch((fault) -> fault.mayHaveEndedLockOf(run, moment));
	}

	private static Stream<Promise> promises() {
		return Stream.of(Promise.values()).filter(Promise::hasPermits);
	}

	private static List<Run> of(Promise promise, List<Run> runs) {
		return runs.stream().filter(promise::isRunBy).toList();
	}

	/**
	 * Return which runs were under way at a moment, not those that ended just then.
	 */
	private static List<Run> atWork(List<Run> runs, long moment) {
		return runs.stream().filter((run) -> run.begin() <= moment && moment < run.end()).toList();
	}

}
