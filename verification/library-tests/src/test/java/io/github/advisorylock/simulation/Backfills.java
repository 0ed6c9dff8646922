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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;

/**
 * Which ticks operators have had backfilled, and what must hold of these.
 */
final class Backfills {

	private static final Duration OVER = Duration.ofMinutes(5);

	private static final Duration OLDEST = Duration.ofMinutes(25);

	/**
	 * For how long what has happened to an instance may show.
	 */
	private static final Duration CALM = Duration.ofMinutes(3);

	private static final Duration SPAN = Duration.ofMinutes(6);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final Schedules schedules;

	private final Map<String, Set<Instant>> executed = new HashMap<>();

	private final Map<String, Set<Instant>> asked = new HashMap<>();

	private final Map<SimulatedInstance, Instant> latest = new HashMap<>();

	private final Map<String, Long> cancelled = new HashMap<>();

	Backfills(Simulation simulation, SimulatedServer server, Schedules schedules) {
		this.simulation = simulation;
		this.server = server;
		this.schedules = schedules;
	}

	/**
	 * Have an instance backfill some ticks that are long over, and maybe end that before
	 * its next run.
	 */
	void act(SimulatedInstance instance, String key) {
		Instant from = this.server.clock()
			.minusNanos(this.simulation.random(OVER.plus(SPAN).toNanos(), OLDEST.toNanos()));
		instance.backfill(key, from, from.plus(SPAN));
		if (this.simulation.chance(300)) {
			this.simulation.at(this.simulation.now() + this.simulation.random(0, SPAN.toNanos() / 10), () -> 0L,
					() -> cancel(key));
		}
	}

	private void cancel(String key) {
		if (this.server.ledger().cancelBackfill(key)) {
			this.cancelled.put(key, this.simulation.now());
		}
	}

	void begins(SimulatedInstance instance) {
		this.latest.remove(instance);
	}

	/**
	 * Note that a tick has stopped the backfill of an instance.
	 */
	void stopped(SimulatedInstance instance) {
		this.latest.put(instance, Instant.MAX);
	}

	/**
	 * Look at a tick whose run is about to be called.
	 */
	void called(SimulatedInstance instance, String key, Instant tick) {
		Instant before = this.latest.put(instance, tick);
		check(before == null || !tick.isBefore(before), "58: ticks are backfilled oldest first, until one fails");
		this.asked.computeIfAbsent(key, (first) -> new HashSet<>()).add(tick);
	}

	/**
	 * Look at a run that begins.
	 * @param called when its call came
	 */
	void begun(SimulatedInstance instance, String key, Instant tick, long called) {
		Long end = this.cancelled.get(key);
		check(end == null || end >= called || this.server.ledger().isBackfilled(key, tick, instance.name()),
				"58: a backfill that was cancelled begins no run");
		check(!isExecuted(key, tick), "58: a tick that was executed is left out by a backfill");
	}

	/**
	 * Note a run that was executed.
	 * @return whether it may be one of a tick before the last one
	 */
	boolean executed(String key, Instant tick) {
		check(this.executed.computeIfAbsent(key, (first) -> new HashSet<>()).add(tick),
				"58: a tick is backfilled once: '" + key + "' of " + tick);
		return this.asked.getOrDefault(key, Set.of()).contains(tick);
	}

	private boolean isExecuted(String key, Instant tick) {
		return this.executed.getOrDefault(key, Set.of()).contains(tick);
	}

	/**
	 * Look at a backfill that was answered.
	 */
	void ended(String key, Instant from, Instant to, LockOutcome outcome) {
		check(outcome != LockOutcome.BUSY, "58: a backfill waits for its turn");
		Instant tick = Schedules.IN_CODE.nextAfter(from.minusNanos(1));
		while (outcome == LockOutcome.EXECUTED && this.schedules.isInCode(key) && tick != null && tick.isBefore(to)) {
			check(isExecuted(key, tick), "58: a backfill has run each of its ticks: '" + key + "' of " + tick);
			tick = Schedules.IN_CODE.nextAfter(tick);
		}
	}

	/**
	 * Look at a backfill that has failed: in the calm by its job, by the loss of a lock,
	 * or as one that can't begin or go on.
	 */
	void failed(SimulatedInstance instance, RuntimeException failure) {
		boolean expected = failure instanceof SimulatedInstance.JobFailed || failure instanceof LockLostException
				|| failure instanceof CancellationException
				|| String.valueOf(failure.getMessage()).matches("(Failed to backfill|The lock is lost).*");
		check(expected || instance.disturbed() > this.simulation.now() - CALM.toNanos(),
				"58: a backfill fails by nothing else than its job: " + failure);
	}

	private void check(boolean kept, String promise) {
		if (!kept) {
			this.simulation.violate(promise);
		}
	}

}
