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

package io.github.advisorylock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.ledger.jdbc.SimulatedSchedules;
import org.jspecify.annotations.Nullable;

/**
 * Which schedules operators have given jobs, and what must hold of these.
 */
final class Schedules {

	private static final List<String> CRONS = List.of(SimulatedMethods.CRON, "30 */2 * * * *", "15 1-59/2 * * * *",
			"0 */3 * * * *");

	static final CronTicks IN_CODE = new CronTicks(SimulatedMethods.CRON, ZoneOffset.UTC);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final Map<String, Act> acts = new HashMap<>();

	Schedules(Simulation simulation, SimulatedServer server) {
		this.simulation = simulation;
		this.server = server;
	}

	private SimulatedSchedules rows() {
		return this.server.ledger().schedules();
	}

	private CronTicks.Changes changes(String key) {
		return rows().of(SimulatedInstance.NAMESPACE, key);
	}

	/**
	 * Give a job another schedule, or its own one. What tells that may get lost.
	 */
	void act(String key) {
		int choice = (int) this.simulation.random(0, CRONS.size());
		Instant now = this.server.clock();
		this.acts.put(key, new Act(changes(key), this.simulation.now()));
		rows().reschedule(SimulatedInstance.NAMESPACE, key, (choice > 0) ? CRONS.get(choice) : null, now);
		if (this.simulation.chance(500)) {
			this.server.tell(LockSession.CANCEL_CHANNEL, "schedule");
		}
	}

	/**
	 * Return whether a job has never had another schedule.
	 */
	boolean isInCode(String key) {
		return changes(key).all().isEmpty();
	}

	/**
	 * Return the tick that was due at a time, {@code null} if another one has come soon
	 * after it.
	 */
	@Nullable Instant due(String key, Instant time, Duration soon) {
		CronTicks ticks = Objects.requireNonNull(changes(key).ticks(IN_CODE));
		Instant tick = ticks.latestAt(time);
		Instant next = Objects.requireNonNull(ticks.nextAfter(tick));
		return next.isAfter(tick.plus(soon)) ? tick : null;
	}

	/**
	 * Look at a run that begins.
	 * @param called when its call came
	 */
	void begun(String key, Instant tick, long called) {
		Act act = this.acts.get(key);
		boolean before = act != null && act.time >= called && isPlanned(act.before, tick);
		if (!before && !isPlanned(changes(key), tick)) {
			this.simulation
				.violate("58: none runs a tick of a schedule that does not hold then: '" + key + "' of " + tick);
		}
	}

	private static boolean isPlanned(CronTicks.Changes changes, Instant tick) {
		CronTicks planned = IN_CODE;
		for (CronTicks.Change change : changes.all()) {
			if (!change.from().isAfter(tick)) {
				planned = (change.ticks() != null) ? change.ticks() : IN_CODE;
			}
		}
		return planned.has(tick);
	}

	/**
	 * The latest act.
	 *
	 * @param before the schedules before
	 * @param time when it came
	 */
	private record Act(CronTicks.Changes before, long time) {

	}

}
