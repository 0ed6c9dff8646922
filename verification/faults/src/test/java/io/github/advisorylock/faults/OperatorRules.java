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
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The rules for what operators do: a drained instance begins nothing, nor does a backfill
 * that was cancelled, and no last tick goes back.
 */
final class OperatorRules {

	/**
	 * How much later than the answer a run may tell of its begin that had its lock or its
	 * tick before. 160 ms later did the latest one of an hour.
	 */
	static final long UNDER_WAY = 500;

	/**
	 * How much later the tick may begin that a backfill was at, where a fault may have
	 * kept it from its connection: 640 ms after the answer did one whose server had just
	 * been started again.
	 */
	static final long HELD_UP = 5_000;

	/**
	 * Until an instance hears that it is drained, where another one was asked.
	 */
	static final long HEARD = 13_000;

	private final List<Event> events;

	private final Set<String> recorded;

	private final List<Disturbance> disturbances;

	private final Map<Act, Integer> acts;

	/**
	 * Create the rules.
	 * @param events all histories, in the order of time
	 * @param recorded the keys whose runs the ledger records
	 * @param disturbances what was done to the instances
	 * @param acts is told what was looked at
	 */
	OperatorRules(List<Event> events, Set<String> recorded, List<Disturbance> disturbances, Map<Act, Integer> acts) {
		this.events = events;
		this.recorded = recorded;
		this.disturbances = disturbances;
		this.acts = acts;
	}

	List<String> violations() {
		List<String> violations = new ArrayList<>();
		Map<String, Event> drained = new HashMap<>();
		Set<Event> counted = new HashSet<>();
		Event cancelled = null;
		int begun = 0;
		Event last = null;
		for (Event event : this.events) {
			switch (event.kind()) {
				case DRAINED -> drained.put(event.key(), event);
				case DRAIN_ENDED -> drained.remove(event.key());
				case TRIED -> {
					Event drain = drained.get(event.instance());
					if (drain != null && counted.add(drain)) {
						Act.count(this.acts, Act.DRAIN);
					}
				}
				case CANCELLED -> {
					cancelled = event;
					begun = 0;
					Act.count(this.acts, Act.CANCELLED_BACKFILL);
				}
				case BACKFILLING -> cancelled = null;
				case LAST_TICK -> {
					if (last != null && isBefore(event.tick(), last.tick()) && !isExcused(last, event)) {
						violations.add("The last tick went back: " + last.toLine() + " and " + event.toLine());
					}
					last = event;
				}
				case START -> {
					Event drain = drained.get(event.instance());
					if (drain != null && isAfter(event, drain, isHeardOf(drain, event) ? 0 : HEARD)) {
						violations.add("Begun though drained: " + event.toLine());
					}
					if (cancelled != null && event.key().equals(OperatedJob.BACKFILLED) && OperatedJob.isOver(event)) {
						begun++;
						if (isAfter(event, cancelled, heldUp(cancelled, event))
								|| (begun > 1 && !isExcused(cancelled, event))) {
							violations.add("Begun though cancelled: " + event.toLine());
						}
					}
				}
				default -> {
				}
			}
		}
		return violations;
	}

	private static boolean isBefore(@Nullable Instant tick, @Nullable Instant other) {
		return tick != null && other != null && tick.isBefore(other);
	}

	/**
	 * The asked instance obeys at once. Another one begins no run that the ledger
	 * records.
	 */
	private boolean isHeardOf(Event drain, Event start) {
		return drain.instance().equals(start.instance()) || this.recorded.contains(start.key());
	}

	private boolean isAfter(Event start, Event answer, long heard) {
		return start.at() > answer.at() + heard + UNDER_WAY && !isExcused(answer, start);
	}

	private long heldUp(Event from, Event to) {
		return faultsBetween(from, to).findAny().isPresent() ? HELD_UP : 0;
	}

	/**
	 * What was committed may be lost, and an instance that stood still tells late.
	 */
	private boolean isExcused(Event from, Event to) {
		return faultsBetween(from, to).anyMatch((fault) -> fault.losesCommits() || fault == Fault.FROZEN_INSTANCE);
	}

	private Stream<Fault> faultsBetween(Event from, Event to) {
		return this.disturbances.stream()
			.filter((fault) -> fault.mayHaveStoppedWork(from.at(), to.at()))
			.map(Disturbance::fault);
	}

}
