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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The rules for members, of which each looks at a calm time: who lives is counted, nobody
 * leads more shards than its share, each shard is led, and members take turns at ticks.
 */
final class MemberRules {

	/**
	 * How long after something has happened members are counted right, and lead their
	 * shares: a server needs ten seconds to miss a client, and a member a heartbeat.
	 */
	static final long SETTLE = 20_000;

	/**
	 * In which time each shard is worked on.
	 */
	static final long ROUND = 5_000;

	/**
	 * Who begins a tick sooner has its turn: the others begin 50 ms late at the soonest.
	 */
	static final long TURN = 45;

	/**
	 * The time between two ticks whose turns are looked at.
	 */
	private static final Duration PERIOD = Duration.ofSeconds(3);

	private final List<Event> events;

	private final Map<String, List<Long>> lives = new HashMap<>();

	private final List<long[]> unrest = new ArrayList<>();

	private final List<Disturbance> disturbances;

	private final Map<Act, Integer> acts;

	private final List<String> violations = new ArrayList<>();

	/**
	 * Create the rules.
	 * @param events all histories, in the order of time
	 * @param disturbances what was done to the instances
	 * @param acts is told what was looked at
	 * @param end when the instances were told to stop
	 */
	MemberRules(List<Event> events, List<Disturbance> disturbances, Map<Act, Integer> acts, long end) {
		this.events = events.stream().filter((event) -> event.at() <= end).toList();
		this.disturbances = disturbances;
		this.acts = acts;
		this.events.stream()
			.collect(Collectors.groupingBy(Event::instance))
			.forEach((instance, said) -> this.lives.put(instance,
					List.of(said.get(0).at(), said.get(said.size() - 1).at())));
		this.lives.values().stream().flatMap(Collection::stream).forEach((moment) -> disturb(moment - SETTLE, moment));
		Set<String> drained = new HashSet<>();
		this.events.stream()
			.filter((event) -> (event.kind() == Event.Kind.DRAINED) ? drained.add(event.key())
					: event.kind() == Event.Kind.DRAIN_ENDED && drained.remove(event.key()))
			.forEach((event) -> disturb(event.at(), event.at()));
		disturbances.stream()
			.filter((disturbance) -> disturbance.fault().changesMembers())
			.forEach((disturbance) -> disturb(disturbance.begin(), disturbance.end()));
	}

	private void disturb(long begin, long end) {
		this.unrest.add(new long[] { begin, end + SETTLE });
	}

	List<String> violations() {
		Set<String> drained = new HashSet<>();
		Map<String, Event> leaders = new HashMap<>();
		List<Event> round = new ArrayList<>();
		Event tick = null;
		for (Event event : this.events) {
			switch (event.kind()) {
				case DRAINED -> drained.add(event.key());
				case DRAIN_ENDED -> drained.remove(event.key());
				case MEMBERS -> checkCount(event, living(event.at(), drained));
				case START -> {
					if (OperatedJob.isShard(event.key())) {
						Event before = leaders.put(event.key(), event);
						if (before != null && !before.instance().equals(event.instance())) {
							Act.count(this.acts, Act.HANDOVER);
						}
						round.add(event);
						round.removeIf((start) -> start.at() < event.at() - ROUND);
						checkShares(event, round, living(event.at(), drained));
					}
					else if (event.key().equals(Job.REMEMBERED)) {
						checkTurns(tick, event, living(event.at(), drained));
						tick = event;
					}
				}
				default -> {
				}
			}
		}
		return this.violations;
	}

	private long living(long moment, Set<String> drained) {
		return this.lives.entrySet()
			.stream()
			.filter((life) -> !drained.contains(life.getKey()) && life.getValue().get(0) <= moment
					&& moment <= life.getValue().get(1))
			.count();
	}

	private boolean isCalm(long from, long to) {
		return this.unrest.stream().noneMatch((unrest) -> unrest[0] <= to && from <= unrest[1]);
	}

	private void checkCount(Event event, long living) {
		Long count = event.token();
		if (count == null || !isCalm(event.at(), event.at())) {
			return;
		}
		Act.count(this.acts, Act.COUNT);
		if (count != living) {
			this.violations.add("Counted " + count + " members instead of " + living + ": " + event.toLine());
		}
	}

	private void checkShares(Event event, List<Event> round, long living) {
		if (!isCalm(event.at() - ROUND, event.at())) {
			return;
		}
		Act.count(this.acts, Act.SHARE);
		Map<String, Set<String>> led = round.stream()
			.collect(Collectors.groupingBy(Event::instance, Collectors.mapping(Event::key, Collectors.toSet())));
		long share = (OperatedJob.SHARDS + living - 1) / living;
		Set<String> own = led.getOrDefault(event.instance(), Set.of());
		if (own.size() > share) {
			this.violations.add("Leads " + own + ", more than its share of " + share + ": " + event.toLine());
		}
		long all = led.values().stream().flatMap(Set::stream).distinct().count();
		if (all < OperatedJob.SHARDS) {
			this.violations.add("Only " + all + " shards are led at " + event.at() + ": " + led);
		}
	}

	/**
	 * A clock that is wrong spoils turns, too.
	 */
	private void checkTurns(@Nullable Event before, Event event, long living) {
		if (before == null || living < 2 || !Objects.equals(event.tick(), tick(before).plus(PERIOD)) || !hasTurn(before)
				|| !hasTurn(event) || !isCalm(before.at(), event.at())
				|| this.disturbances.stream().anyMatch((fault) -> fault.mayHaveStoppedWork(before.at(), event.at()))) {
			return;
		}
		Act.count(this.acts, Act.TURN);
		if (event.instance().equals(before.instance())) {
			this.violations.add("Had two turns, one after the other: " + before.toLine() + " and " + event.toLine());
		}
	}

	private static boolean hasTurn(Event start) {
		return start.wall() - tick(start).toEpochMilli() < TURN;
	}

	private static Instant tick(Event start) {
		return Objects.requireNonNull(start.tick());
	}

}
