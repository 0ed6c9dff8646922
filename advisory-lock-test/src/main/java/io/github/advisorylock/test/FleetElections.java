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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which instance of a fleet leads which role.
 */
final class FleetElections {

	/**
	 * For how long a leader may believe in itself that does not get an answer, and a
	 * tenth more.
	 */
	private static final Duration TRUST = Duration.ofMillis(5500);

	/**
	 * How often followers look.
	 */
	private static final Duration LOOK = Duration.ofMillis(3500);

	private static final Duration REST = Duration.ofSeconds(30);

	private final Fleet fleet;

	private final Map<String, Role> roles = new LinkedHashMap<>();

	private long terms;

	FleetElections(Fleet fleet) {
		this.fleet = fleet;
	}

	void clear() {
		this.roles.clear();
	}

	/**
	 * Return the elections as an instance sees them.
	 */
	LeaderElection of(FleetInstance instance) {
		return new OfInstance(instance);
	}

	OptionalInt leaderOf(String role) {
		Role known = this.roles.get(role);
		FleetInstance leader = (known != null) ? known.leader : null;
		return (leader != null) ? OptionalInt.of(leader.number()) : OptionalInt.empty();
	}

	/**
	 * The server has freed the roles of an instance.
	 */
	void gone(FleetInstance instance) {
		for (Map.Entry<String, Role> role : this.roles.entrySet()) {
			if (role.getValue().leader == instance) {
				lose(role.getKey(), role.getValue());
				electAfter(role.getKey(), TRUST.plus(this.fleet.time().upTo(LOOK)));
			}
		}
	}

	/**
	 * An instance hands its roles over.
	 */
	void resign(FleetInstance instance) {
		this.roles.keySet().forEach((role) -> resign(instance, role));
	}

	private void resign(FleetInstance instance, String name) {
		Role role = this.roles.computeIfAbsent(name, (none) -> new Role());
		role.resting.put(instance, this.fleet.now().plus(REST));
		if (role.leader == instance) {
			lose(name, role);
			electAfter(name, this.fleet.time().upTo(LOOK));
		}
	}

	private void lose(String name, Role role) {
		FleetInstance leader = role.leader;
		role.leader = null;
		if (leader != null && !leader.hasEnded()) {
			this.fleet.log(leader + " leads '" + name + "' no more");
			leader.context().publishEvent(new LeadershipLostEvent(name, role.term));
		}
	}

	private void electAfter(String name, Duration delay) {
		Role role = this.roles.get(name);
		if (role != null && !role.electing) {
			role.electing = true;
			this.fleet.time().at(this.fleet.now().plus(delay), null, () -> elect(name, role));
		}
	}

	private void elect(String name, Role role) {
		role.electing = false;
		Instant now = this.fleet.now();
		role.candidates.removeIf((candidate) -> !candidate.isLive());
		List<FleetInstance> eligible = role.candidates.stream()
			.filter((candidate) -> candidate.mayBegin() && !this.fleet.isDatabaseDown()
					&& !role.resting.getOrDefault(candidate, now).isAfter(now))
			.toList();
		if (!eligible.isEmpty()) {
			FleetInstance leader = eligible
				.get((int) (this.fleet.time().upTo(Duration.ofMillis(eligible.size() * 1000L)).toMillis() / 1000));
			role.leader = leader;
			role.term = ++this.terms;
			this.fleet.log(leader + " leads '" + name + "'");
			leader.context().publishEvent(new LeadershipGainedEvent(name, role.term));
			leader.context().getBean(LeaderOnlyMethods.class).callOnElection(name);
		}
		else if (!role.candidates.isEmpty()) {
			electAfter(name, LOOK);
		}
	}

	/**
	 * One role.
	 */
	private static final class Role {

		private final List<FleetInstance> candidates = new ArrayList<>();

		private final Map<FleetInstance, Instant> resting = new HashMap<>();

		private @Nullable FleetInstance leader;

		private long term;

		private boolean electing;

	}

	/**
	 * What one instance sees of all that.
	 */
	private final class OfInstance implements LeaderElection {

		private final FleetInstance instance;

		private OfInstance(FleetInstance instance) {
			this.instance = instance;
		}

		@Override
		public boolean isLeader(String name) {
			Assert.isTrue(LeaderElection.isRole(name),
					() -> "'role' must be the name of a role, and is '" + name + "'");
			this.instance.asks();
			Role role = FleetElections.this.roles.computeIfAbsent(name, (none) -> new Role());
			if (this.instance.number() != Fleet.TEST && !role.candidates.contains(this.instance)) {
				role.candidates.add(this.instance);
				if (role.leader == null) {
					electAfter(name, Duration.ZERO);
				}
			}
			return role.leader == this.instance;
		}

		@Override
		public OptionalLong term(String name) {
			return isLeader(name) ? OptionalLong.of(FleetElections.this.roles.get(name).term) : OptionalLong.empty();
		}

		@Override
		public void resign(String name) {
			FleetElections.this.resign(this.instance, name);
		}

	}

}
