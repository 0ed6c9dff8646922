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

package io.github.advisorylock.sample.leader;

import java.time.Duration;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MetricsRollUp} on several instances.
 */
@FleetTest(MetricsRollUp.class)
class MetricsRollUpFleetTests {

	@MockitoBean(answers = Answers.RETURNS_DEEP_STUBS)
	private JdbcClient jdbc;

	@MockitoBean
	private Instance instance;

	@Test
	void anotherInstanceLeadsAfterTheLeaderIsKilled(Fleet fleet) {
		fleet.advanceBy(Duration.ofSeconds(10));
		int leader = fleet.leaderOf(MetricsRollUp.ROLE);
		fleet.kill(leader);
		fleet.advanceBy(Duration.ofSeconds(10));
		assertThat(fleet.leaderOf(MetricsRollUp.ROLE)).isNotEqualTo(leader);
	}

}
