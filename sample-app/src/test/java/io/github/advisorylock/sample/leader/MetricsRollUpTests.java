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

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.SampleTest;
import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MetricsRollUp}.
 */
@Tag("gate")
@SampleTest
class MetricsRollUpTests {

	@Autowired
	private MetricsRollUp metrics;

	@Autowired
	private LeaderElection election;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private Instance instance;

	@Test
	void leaderAddsUpWhatInstancesMeasuredAndThePageSaysWhoLeads() {
		awaitLeadership();
		this.jdbc
			.sql("INSERT INTO memory_sample (instance, used_bytes, measured_at) "
					+ "VALUES ('a', 5, '2026-01-01'), ('a', 9, '2026-01-01'), ('a', 7, '2026-01-01')")
			.update();
		this.metrics.rollUp();
		assertThat(this.jdbc.sql("SELECT samples || ' ' || highest_bytes FROM memory_minute WHERE instance = 'a'")
			.query(String.class)
			.single()).isEqualTo("3 9");
		Awaitility.await()
			.untilAsserted(() -> assertThat(new HttpCalls(this.instance.port()).get("/").body())
				.containsSubsequence("Leaders of the role metrics", "alive", this.instance.name(), "now</td>"));
		this.jdbc.sql("DELETE FROM memory_minute WHERE instance = 'a'").update();
	}

	@Test
	void leaderOfAnEarlierTermChangesNothing() {
		awaitLeadership();
		this.jdbc.sql("INSERT INTO roll_up_term (role, term) VALUES ('metrics', 1) ON CONFLICT DO NOTHING").update();
		this.jdbc.sql("UPDATE roll_up_term SET term = term + 1000000000").update();
		this.metrics.measure();
		this.metrics.rollUp();
		assertThat(this.jdbc.sql("SELECT count(*) FROM memory_sample").query(Integer.class).single()).isPositive();
		this.jdbc.sql("UPDATE roll_up_term SET term = term - 1000000000").update();
	}

	private void awaitLeadership() {
		Awaitility.await().atMost(Patience.TIME).until(() -> this.election.isLeader(MetricsRollUp.ROLE));
	}

}
