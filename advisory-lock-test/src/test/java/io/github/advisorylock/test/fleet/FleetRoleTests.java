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

package io.github.advisorylock.test.fleet;

import java.time.Duration;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.atLeast;

/**
 * Tests for the leaders of a {@link FleetTest}.
 */
@FleetTest(value = Relays.class, from = "2026-10-24T00:00:00Z")
class FleetRoleTests {

	@MockitoBean
	private Ledgers ledgers;

	@Test
	void roleOfKilledLeaderIsTakenWhenItCanTrustItselfNoMore(Fleet fleet) {
		fleet.advanceBy(Duration.ofSeconds(10));
		int leader = fleet.leaderOf("outbox");
		then(this.ledgers).should(atLeast(10)).write("outbox");
		fleet.kill(leader);
		fleet.advanceBy(Duration.ofSeconds(5));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> fleet.leaderOf("outbox"))
			.withMessageContaining("No instance leads role 'outbox'");
		fleet.advanceBy(Duration.ofSeconds(5));
		assertThat(fleet.leaderOf("outbox")).isNotEqualTo(leader);
	}

	@Test
	void shardsAreSharedEvenlyAndMoveWhenInstancesGoAndCome(Fleet fleet) {
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).hasSize(3)
			.allSatisfy((one) -> assertThat(fleet.shardsOf("mail", one)).hasSizeBetween(2, 3));
		fleet.kill(0);
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).containsExactly(1, 2)
			.allSatisfy((one) -> assertThat(fleet.shardsOf("mail", one)).hasSize(4));
		fleet.start(0);
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).hasSize(3)
			.allSatisfy((one) -> assertThat(fleet.shardsOf("mail", one)).hasSizeBetween(2, 3));
	}

	@Test
	void shardThatAnInstanceResignsIsLedByOthersAtOnceAndSharedLater(Fleet fleet) {
		fleet.kill(2);
		fleet.advanceBy(Duration.ofMinutes(1));
		int shard = fleet.shardsOf("mail", 0).iterator().next();
		fleet.bean(0, LeaderElection.class).resign("mail#" + shard);
		fleet.advanceBy(Duration.ofSeconds(4));
		assertThat(fleet.shardsOf("mail", 1)).hasSize(5).contains(shard);
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).containsExactly(0, 1)
			.allSatisfy((one) -> assertThat(fleet.shardsOf("mail", one)).hasSize(4));
		fleet.bean(0, LeaderElection.class).resign("mail");
		fleet.advanceBy(Duration.ofSeconds(4));
		assertThat(fleet.shardsOf("mail", 1)).hasSize(8);
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).containsExactly(0, 1)
			.allSatisfy((one) -> assertThat(fleet.shardsOf("mail", one)).hasSize(4));
	}

}
