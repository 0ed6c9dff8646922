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

import java.lang.management.ManagementFactory;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.sample.Instance;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Every instance measures how much memory it uses, and the leader adds the measurements
 * up by minute. A run that was held up until another instance led changes nothing: its
 * term is over.
 */
@Component
class MetricsRollUp {

	static final String ROLE = "metrics";

	private final JdbcClient jdbc;

	private final LeaderElection election;

	private final Instance instance;

	MetricsRollUp(JdbcClient jdbc, LeaderElection election, Instance instance) {
		this.jdbc = jdbc;
		this.election = election;
		this.instance = instance;
	}

	@Scheduled(fixedRateString = "${sample.leader.measure-every}")
	void measure() {
		this.jdbc.sql("INSERT INTO memory_sample (instance, used_bytes) VALUES (?, ?)")
			.params(this.instance.name(), ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed())
			.update();
	}

	@Scheduled(fixedRateString = "${sample.leader.roll-up-every}")
	@LeaderOnly(ROLE)
	@Transactional
	void rollUp() {
		this.election.term(ROLE).ifPresent(this::rollUp);
	}

	private void rollUp(long term) {
		int current = this.jdbc.sql("""
				INSERT INTO roll_up_term AS last (role, term) VALUES (?, ?)
				ON CONFLICT (role) DO UPDATE SET term = excluded.term WHERE last.term <= excluded.term
				""").params(ROLE, term).update();
		if (current == 1) {
			this.jdbc.sql("""
					WITH sample AS (DELETE FROM memory_sample RETURNING *)
					INSERT INTO memory_minute AS known (minute, instance, samples, highest_bytes)
					SELECT date_trunc('minute', measured_at), instance, count(*), max(used_bytes)
					FROM sample GROUP BY 1, 2
					ON CONFLICT (minute, instance) DO UPDATE SET samples = known.samples + excluded.samples,
					highest_bytes = greatest(known.highest_bytes, excluded.highest_bytes)
					""").update();
		}
	}

}
