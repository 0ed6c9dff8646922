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
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * The rules for the time without a fault: no run is told of a loss, there is a leader
 * with a term, and each instance has its calls answered.
 */
final class UndisturbedWork {

	/**
	 * For how long there may be no leader, or nothing from an instance, not counting the
	 * time of the faults themselves.
	 */
	private static final long PATIENCE = 30_000;

	private final List<Event> events;

	private final List<Run> runs;

	private final List<Disturbance> disturbances;

	private final long end;

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param events all histories
	 * @param runs the runs that they tell of
	 * @param disturbances what was done to the instances
	 * @param end when the instances were told to stop
	 */
	UndisturbedWork(List<Event> events, List<Run> runs, List<Disturbance> disturbances, long end) {
		this.events = events;
		this.runs = runs;
		this.disturbances = disturbances.stream().sorted(Comparator.comparingLong(Disturbance::begin)).toList();
		this.end = end;
	}

	List<String> violations() {
		checkAlarms();
		checkLeaders();
		for (int place = 0; place < Fleet.SIZE; place++) {
			checkInstance(place);
		}
		return this.violations;
	}

	/**
	 * A run is told of a loss only if a fault has hit its instance.
	 */
	private void checkAlarms() {
		this.runs.stream()
			.filter(Run::isTold)
			.filter((run) -> this.disturbances.stream().noneMatch((disturbance) -> disturbance.mayHaveAlarmed(run)))
			.forEach((run) -> this.violations.add("Told of a loss though nothing had happened: " + run));
	}

	private void checkLeaders() {
		List<Run> leaders = this.runs.stream().filter((run) -> run.key().equals(Job.LEADER)).toList();
		if (leaders.isEmpty()) {
			return;
		}
		long last = leaders.get(0).begin();
		for (Run leader : leaders) {
			if (leader.token() == null) {
				this.violations.add("A leader without a term: " + leader);
			}
			checkGap("No leader", last, leader.begin(), (disturbance) -> true);
			last = Math.max(last, leader.end());
		}
		checkGap("No leader", last, this.end, (disturbance) -> true);
	}

	/**
	 * An instance that is killed is followed by another one in its place, so each place
	 * shows signs of life until the end.
	 */
	private void checkInstance(int place) {
		List<Long> signs = this.events.stream()
			.filter((event) -> event.instance().startsWith(Fleet.name(place)))
			.filter((event) -> event.kind() == Event.Kind.TRIED || event.kind() == Event.Kind.END)
			.map(Event::at)
			.sorted()
			.toList();
		for (int i = 0; i < signs.size(); i++) {
			long next = (i + 1 < signs.size()) ? signs.get(i + 1) : this.end;
			checkGap("Nothing from instance i" + place, signs.get(i), next,
					(disturbance) -> disturbance.hits(Fleet.name(place)));
		}
	}

	private void checkGap(String what, long from, long to, Predicate<Disturbance> counts) {
		long quiet = 0;
		long moment = from;
		for (Disturbance disturbance : this.disturbances) {
			if (counts.test(disturbance) && moment < to) {
				quiet += Math.max(0, Math.min(disturbance.begin(), to) - moment);
				moment = Math.max(moment, disturbance.end());
			}
		}
		quiet += Math.max(0, to - moment);
		if (quiet > PATIENCE) {
			this.violations.add(what + " from " + from + " to " + to + ", " + quiet + " ms of it without a fault");
		}
	}

}
