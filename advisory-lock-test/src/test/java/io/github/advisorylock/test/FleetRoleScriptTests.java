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
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Ledgers;
import io.github.advisorylock.test.fleet.Relays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for who leads what in a fleet whose instances come and go by chance: what leaders
 * on PostgreSQL keep.
 */
@Tag("gate")
@FleetTest(Relays.class)
@ContextConfiguration(classes = FleetApplication.class)
class FleetRoleScriptTests {

	private static final int SHARDS = 8;

	/**
	 * The time that a vanished leader trusts itself, and the time to the next look.
	 */
	private static final Duration BOUND = Duration.ofSeconds(10);

	@MockitoBean
	private Ledgers ledgers;

	static LongStream seeds() {
		return LongStream.rangeClosed(1, 12);
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void eachRoleAndShardIsLedByOneAndInTime(long seed, Fleet fleet) {
		fleet.end();
		fleet.begin(3, Instant.parse("2026-10-24T00:00:00Z"), seed);
		Random random = new Random(seed);
		Set<Integer> frozen = new HashSet<>();
		for (int i = 0; i < 12; i++) {
			act(fleet, random, frozen);
			advance(fleet, BOUND.plusSeconds(1));
			if (fleet.instances().size() > frozen.size()) {
				assertThat(fleet.leaderOf("outbox")).as("leader at %s", fleet.now()).isNotIn(frozen);
			}
			if (random.nextInt(3) == 0) {
				advance(fleet, Duration.ofMinutes(1));
				assertSettled(fleet, frozen);
			}
		}
	}

	private static void act(Fleet fleet, Random random, Set<Integer> frozen) {
		int instance = random.nextInt(4);
		if (!fleet.instances().contains(instance)) {
			if (instance < 3 || fleet.instances().contains(2)) {
				fleet.start(instance);
			}
			return;
		}
		switch (random.nextInt(4)) {
			case 0 -> {
				fleet.kill(instance);
				frozen.remove(instance);
			}
			case 1 -> {
				if (!frozen.contains(instance)) {
					fleet.stop(instance);
				}
			}
			case 2 -> fleet.loseSession(instance);
			default -> {
				if (frozen.remove(instance)) {
					fleet.thaw(instance);
				}
				else {
					fleet.freeze(instance);
					frozen.add(instance);
					advance(fleet, BOUND);
				}
			}
		}
	}

	/**
	 * Let time pass by seconds, in none of which a shard has two leaders.
	 */
	private static void advance(Fleet fleet, Duration time) {
		for (long second = 0; second < time.toSeconds(); second++) {
			fleet.advanceBy(Duration.ofSeconds(1));
			assertThat(led(fleet)).as("shards at %s", fleet.now()).doesNotHaveDuplicates();
		}
	}

	private static void assertSettled(Fleet fleet, Set<Integer> frozen) {
		List<Integer> live = fleet.instances().stream().filter((instance) -> !frozen.contains(instance)).toList();
		if (live.isEmpty()) {
			assertThat(led(fleet)).as("shards at %s", fleet.now()).isEmpty();
			return;
		}
		assertThat(led(fleet)).as("shards at %s", fleet.now()).hasSize(SHARDS);
		int share = (SHARDS + live.size() - 1) / live.size();
		assertThat(live).isNotEmpty()
			.allSatisfy((instance) -> assertThat(fleet.shardsOf("mail", instance))
				.as("shards of instance %s at %s", instance, fleet.now())
				.hasSizeLessThanOrEqualTo(share));
	}

	private static List<Integer> led(Fleet fleet) {
		List<Integer> shards = new ArrayList<>();
		fleet.instances().forEach((instance) -> shards.addAll(fleet.shardsOf("mail", instance)));
		return shards;
	}

}
