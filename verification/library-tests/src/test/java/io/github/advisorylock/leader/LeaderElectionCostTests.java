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

package io.github.advisorylock.leader;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;

import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link PostgresLeaderElection} costs an instance that does not lead.
 */
@Tag("chaos")
class LeaderElectionCostTests {

	private static final Log logger = LogFactory.getLog(LeaderElectionCostTests.class);

	private static final Set<String> THREADS = Set.of("advisory-lock-session", "advisory-lock-timer");

	private static final int ROLES = 20;

	private static final Duration TIME = Duration.ofMinutes(1);

	/**
	 * A follower asks every 3.3 s, and up to a tenth later.
	 */
	private static final long MOST_QUESTIONS = TIME.toMillis() * 3 / 10_000;

	private final SettableTicker ticker = new SettableTicker();

	@Test
	void followerOfManyRolesAsksTheServerSeldomAndUsesLittleProcessorTime() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				LeaderCandidate leader = candidate(TestPostgres.url());
				LeaderCandidate follower = awaitLeader(leader, proxy.url())) {
			Awaitility.await().until(follower::isFollowing);
			// what comes first is slow
			this.ticker.advance(TIME.dividedBy(3));
			long time = processorTime();
			int questions = proxy.waits();
			this.ticker.advance(TIME);
			questions = proxy.waits() - questions;
			time = processorTime() - time;
			double millis = time / 1e6 / TIME.toSeconds();
			logger.info("A follower of " + ROLES + " roles asks " + questions + " times in " + TIME.toSeconds()
					+ " s and uses " + millis + " ms of processor time a second");
			assertThat((long) questions).isBetween(MOST_QUESTIONS * 10 / 11, MOST_QUESTIONS + 1);
			assertThat(millis).isPositive().isLessThan(2);
		}
	}

	private LeaderCandidate awaitLeader(LeaderCandidate leader, String urlOfFollower) {
		LeaderReplacementTests.awaitLeader(leader, this.ticker);
		return candidate(urlOfFollower);
	}

	private LeaderCandidate candidate(String url) {
		LeaderCandidate candidate = new LeaderCandidate(new DriverManagerDataSource(url), LockSessionSettings.DEFAULT,
				this.ticker.threads());
		for (int i = 1; i < ROLES; i++) {
			candidate.election().isLeader("role-" + i);
		}
		return candidate;
	}

	private static long processorTime() {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
			.filter((thread) -> thread != null && THREADS.contains(thread.getThreadName()))
			.mapToLong((thread) -> threads.getThreadCpuTime(thread.getThreadId()))
			.sum();
	}

}
