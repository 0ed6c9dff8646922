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
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.leader.UnguardedLeaderElection;
import org.jspecify.annotations.Nullable;

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

	/**
	 * Knows what roles may be called, and into how many shards they may be divided.
	 */
	private static final LeaderElection NAMES = new UnguardedLeaderElection();

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
		FleetInstance leader = known(role).leader;
		return (leader != null) ? OptionalInt.of(leader.number()) : OptionalInt.empty();
	}

	/**
	 * The server has freed the roles of an instance.
	 */
	void gone(FleetInstance instance) {
		for (Role role : List.copyOf(this.roles.values())) {
			if (role.leader == instance) {
				lose(role);
				electAfter(role, TRUST.plus(this.fleet.time().upTo(LOOK)));
			}
		}
	}

	/**
	 * An instance hands its roles over.
	 */
	void resign(FleetInstance instance) {
		List.copyOf(this.roles.values()).forEach((role) -> resign(instance, role));
	}

	private void resign(FleetInstance instance, Role role) {
		role.resting.put(instance, this.fleet.now().plus(REST));
		if (role.shards > 0) {
			balanceAfter(role, REST.plus(LOOK));
		}
		if (role.leader == instance) {
			giveUp(role);
		}
	}

	private void giveUp(Role role) {
		lose(role);
		electAfter(role, this.fleet.time().upTo(LOOK));
	}

	private void lose(Role role) {
		FleetInstance leader = role.leader;
		role.leader = null;
		if (leader != null && !leader.hasEnded()) {
			this.fleet.log(leader + " leads '" + role.name + "' no more");
			leader.context().publishEvent(new LeadershipLostEvent(role.name, role.term));
		}
	}

	private void electAfter(Role role, Duration delay) {
		if (!role.electing) {
			role.electing = true;
			this.fleet.time().at(this.fleet.now().plus(delay), null, () -> elect(role));
		}
	}

	private void elect(Role role) {
		role.electing = false;
		Instant now = this.fleet.now();
		role.candidates.removeIf((candidate) -> !candidate.isLive());
		List<FleetInstance> eligible = role.candidates.stream()
			.filter((candidate) -> candidate.mayBegin() && !this.fleet.isDatabaseDown()
					&& !role.isLeftToOthersBy(candidate, now))
			.filter((candidate) -> role.shards == 0 || held(candidate, role.undivided).size() < share(role))
			.toList();
		if (role.leader == null && !eligible.isEmpty()) {
			FleetInstance leader = eligible
				.get((int) (this.fleet.time().upTo(Duration.ofSeconds(eligible.size())).toMillis() / 1000));
			role.leader = leader;
			role.term = ++this.terms;
			this.fleet.log(leader + " leads '" + role.name + "'");
			leader.context().getBean(LeaderOnlyMethods.class).callOnElection(role.name);
			leader.context().publishEvent(new LeadershipGainedEvent(role.name, role.term));
		}
		else if (role.leader == null && !role.candidates.isEmpty()) {
			electAfter(role, LOOK);
		}
	}

	/**
	 * Return the shards of a role that an instance leads.
	 */
	private List<Role> held(FleetInstance instance, String role) {
		return parts(role).stream().filter((shard) -> shard.leader == instance).toList();
	}

	private List<Role> parts(String role) {
		return this.roles.values().stream().filter((part) -> part.shards > 0 && part.undivided.equals(role)).toList();
	}

	private Role known(String name) {
		return this.roles.computeIfAbsent(name, Role::new);
	}

	/**
	 * Who has left a shard to others has no share for as long, nor has whoever is frozen.
	 */
	private int share(Role role) {
		Instant now = this.fleet.now();
		List<Role> parts = parts(role.undivided);
		int members = (int) Math.max(1,
				role.candidates.stream()
					.filter((candidate) -> candidate.mayBegin()
							&& parts.stream().noneMatch((part) -> part.isLeftToOthersBy(candidate, now)))
					.count());
		return (role.shards + members - 1) / members;
	}

	/**
	 * Have those that lead more shards than their share, since an instance has joined or
	 * is back, give up what is above.
	 */
	private void balance(Role role) {
		for (FleetInstance instance : List.copyOf(role.candidates)) {
			held(instance, role.undivided).stream().skip(share(role)).forEach(this::giveUp);
		}
	}

	Set<Integer> shardsOf(String role, FleetInstance instance) {
		return held(instance, role).stream()
			.map((shard) -> Integer.valueOf(shard.name.substring(shard.name.indexOf('#') + 1)))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Have an instance run for a role, or for a shard of one.
	 */
	private Role join(FleetInstance instance, Role role) {
		if (instance.number() != Fleet.TEST && !role.candidates.contains(instance)) {
			role.candidates.add(instance);
			if (role.leader == null) {
				electAfter(role, Duration.ZERO);
			}
			else if (role.name.endsWith("#0")) {
				balanceAfter(role, LOOK);
			}
		}
		return role;
	}

	/**
	 * An instance whose machine was frozen runs for its roles again.
	 */
	void thawed(FleetInstance instance) {
		this.roles.values()
			.stream()
			.filter((role) -> role.shards > 0 && role.candidates.contains(instance))
			.forEach((role) -> balanceAfter(role, LOOK));
	}

	private void balanceAfter(Role role, Duration time) {
		this.fleet.time().at(this.fleet.now().plus(time), null, () -> balance(role));
	}

	/**
	 * One role.
	 */
	private static final class Role {

		private final String name;

		private final List<FleetInstance> candidates = new ArrayList<>();

		private final Map<FleetInstance, Instant> resting = new HashMap<>();

		private @Nullable FleetInstance leader;

		private long term;

		private boolean electing;

		/**
		 * Of how many shards it is one, 0 if the role is not divided.
		 */
		private int shards;

		/**
		 * The name of the role that it is a shard of, else its own.
		 */
		private String undivided;

		private Role(String name) {
			this.name = name;
			this.undivided = name;
		}

		private boolean isLeftToOthersBy(FleetInstance instance, Instant now) {
			return this.resting.getOrDefault(instance, now).isAfter(now);
		}

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
			this.instance.asks();
			return NAMES.isLeader(name) && join(this.instance, known(name)).leader == this.instance;
		}

		@Override
		public OptionalLong term(String name) {
			NAMES.isLeader(name);
			Role role = join(this.instance, known(name));
			return (role.leader == this.instance) ? OptionalLong.of(role.term) : OptionalLong.empty();
		}

		@Override
		public Set<Integer> shards(String name, int number) {
			for (int shard : NAMES.shards(name, number)) {
				Role role = known(name + "#" + shard);
				role.shards = Math.max(role.shards, number);
				role.undivided = name;
				join(this.instance, role);
			}
			return shardsOf(name, this.instance);
		}

		@Override
		public void resign(String name) {
			List<Role> shards = parts(name);
			(shards.isEmpty() ? List.of(known(name)) : shards)
				.forEach((role) -> FleetElections.this.resign(this.instance, role));
		}

	}

}
