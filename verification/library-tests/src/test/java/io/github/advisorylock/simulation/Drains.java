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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.advisorylock.jdbc.LockSession;

/**
 * Which instances operators have drained, and what must hold of these.
 */
final class Drains {

	private static final Set<String> RECORDED = Set.of("orders", "reports", "prices");

	private static final Duration HANDED_OVER = Duration.ofSeconds(25);

	private final Simulation simulation;

	private final SimulatedServer server;

	private final List<SimulatedInstance> instances;

	private final Map<SimulatedInstance, Act> acts = new HashMap<>();

	Drains(Simulation simulation, SimulatedServer server, List<SimulatedInstance> instances) {
		this.simulation = simulation;
		this.server = server;
		this.instances = instances;
	}

	/**
	 * Drain an instance, or resume it. What tells it may get lost.
	 */
	void act(SimulatedInstance instance, boolean drains) {
		this.acts.keySet().removeIf(SimulatedInstance::isDead);
		if (isDrained(instance) != drains) {
			this.acts.put(instance, new Act(drains, this.simulation.now()));
			this.server.ledger().drain(instance.name(), drains);
			if (this.simulation.chance(500)) {
				this.server.tell(LockSession.CANCEL_CHANNEL, "instance");
			}
		}
	}

	private boolean isDrained(SimulatedInstance instance) {
		return this.acts.getOrDefault(instance, Act.NONE).drains;
	}

	/**
	 * Return how many instances live and do all that they can.
	 */
	long working() {
		return this.instances.stream()
			.filter((instance) -> !instance.isDead() && !isDrained(instance)
					&& !instance.knowsOfDrainAt(Long.MAX_VALUE))
			.count();
	}

	/**
	 * Look at a run that begins.
	 * @param called when its call came
	 */
	void begun(SimulatedInstance instance, String key, long called) {
		Act act = this.acts.getOrDefault(instance, Act.NONE);
		check(!instance.knowsOfDrainAt(called), "58: a drained instance begins no guarded run");
		check(!act.drains || act.time > called || !RECORDED.contains(key),
				"58: a drained instance begins no recorded run, whatever it knows");
	}

	void gained(SimulatedInstance instance) {
		check(!instance.knowsOfDrainAt(this.simulation.now() - HANDED_OVER.toNanos()),
				"58: a drained instance begins to lead no role");
	}

	/**
	 * Look at what must have come to pass in a calm that has lasted for a time.
	 */
	void checkCalm(Duration time) {
		long before = this.simulation.now() - time.toNanos();
		for (SimulatedInstance instance : this.instances) {
			Act act = this.acts.getOrDefault(instance, Act.NONE);
			if (instance.isDead() || instance.isFrozen() || instance.isStopping() || act.time > before) {
				continue;
			}
			check(instance.knowsOfDrainAt(Long.MAX_VALUE) == act.drains, "58: an instance learns that it is drained");
			check(!act.drains || (!instance.isLeading() && instance.shards().isEmpty()),
					"58: a drained instance leads no role");
		}
	}

	private void check(boolean kept, String promise) {
		if (!kept) {
			this.simulation.violate(promise);
		}
	}

	private record Act(boolean drains, long time) {

		private static final Act NONE = new Act(false, 0);

	}

}
