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

import org.jspecify.annotations.Nullable;

/**
 * The rules for what operators do: a drained instance begins nothing, nor does a backfill
 * that was cancelled, and no last tick goes back.
 */
final class OperatorRules {

	/**
	 * How much later than the answer a run may tell of its begin that had its lock
	 * before.
	 */
	static final long UNDER_WAY = 1_000;

	private final List<Event> events;

	private final List<Disturbance> disturbances;

	/**
	 * Create the rules.
	 * @param events all histories, in the order of time
	 * @param disturbances what was done to the instances
	 */
	OperatorRules(List<Event> events, List<Disturbance> disturbances) {
		this.events = events;
		this.disturbances = disturbances;
	}

	List<String> violations() {
		List<String> violations = new ArrayList<>();
		Map<String, Event> drained = new HashMap<>();
		Event cancelled = null;
		Event last = null;
		for (Event event : this.events) {
			switch (event.kind()) {
				case DRAINED -> drained.put(event.instance(), event);
				case DRAIN_ENDED -> drained.remove(event.instance());
				case CANCELLED -> cancelled = event;
				case BACKFILLING -> cancelled = null;
				case LAST_TICK -> {
					if (last != null && isBefore(event.tick(), last.tick()) && !isExcused(last, event)) {
						violations.add("The last tick went back: " + last.toLine() + " and " + event.toLine());
					}
					last = event;
				}
				case START -> {
					Event drain = drained.get(event.instance());
					if (drain != null && isAfter(event, drain)) {
						violations.add("Begun though drained: " + event.toLine());
					}
					if (cancelled != null && event.key().equals(OperatedJob.BACKFILLED) && isAfter(event, cancelled)
							&& isBefore(event.tick(), Instant.ofEpochMilli(cancelled.wall()).minusSeconds(600))) {
						violations.add("Begun though cancelled: " + event.toLine());
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

	private boolean isAfter(Event start, Event answer) {
		return start.at() > answer.at() + UNDER_WAY && !isExcused(answer, start);
	}

	/**
	 * What was committed may be lost, and an instance that stood still tells late.
	 */
	private boolean isExcused(Event from, Event to) {
		return this.disturbances.stream()
			.filter((fault) -> fault.fault().losesCommits() || fault.fault() == Fault.FROZEN_INSTANCE)
			.anyMatch((fault) -> fault.mayHaveStoppedWork(from.at(), to.at()));
	}

}
