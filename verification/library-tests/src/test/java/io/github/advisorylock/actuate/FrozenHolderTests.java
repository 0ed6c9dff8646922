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

package io.github.advisorylock.actuate;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.leader.PostgresLeaderElection;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link OperatorActions} with a holder that is a process of its own, frozen:
 * it hears nothing, and its connections stay.
 */
@Tag("chaos")
class FrozenHolderTests {

	@ParameterizedTest
	@EnumSource
	void lockOfFrozenHolderIsFreeWithItsSessionAndItsRunFailsAfterwards(LockScope scope, @TempDir Path directory)
			throws IOException, InterruptedException {
		OperatedApplication.dropTables();
		try (OperatedApplication asked = OperatedApplication.start(HolderActionsTests.Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.access=unrestricted");
				JavaProcess holder = JavaProcess.start(directory.resolve("log"), HoldingInstance.class,
						TestPostgres.url(), scope.name())) {
			holder.awaitLine("has the lock");
			// A watch misses only what it has seen before
			Pause.of(LockSessionSettings.DEFAULT.heartbeat().multipliedBy(3));
			signal("-STOP", holder);
			try {
				assertThat(asked.setState(scope.name(), "cancelled").body()).contains("cancelled")
					.doesNotContain("outcome");
				endSession(scope.name());
				await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
			}
			finally {
				signal("-CONT", holder);
			}
			assertThat(holder.awaitLine("failed")).contains("LockLostException");
		}
	}

	@Test
	void roleOfFrozenLeaderIsFreeWithItsSessionAndLedByOneAtATime(@TempDir Path directory) throws Exception {
		OperatedApplication.dropTables();
		try (JavaProcess leader = JavaProcess.start(directory.resolve("log"), LeadingInstance.class, TestPostgres.url(),
				"reports")) {
			leader.awaitLine("leads");
			try (OperatedApplication asked = OperatedApplication.start(LeadingJob.class,
					"management.endpoints.web.exposure.include=advisorylocks",
					"management.endpoint.advisorylocks.access=unrestricted")) {
				LeaderElection election = asked.bean(LeaderElection.class);
				assertThat(election.isLeader("reports")).isFalse();
				signal("-STOP", leader);
				long begun;
				try {
					endSession("leader:reports");
					await().atMost(Duration.ofSeconds(60))
						.pollInterval(Duration.ofMillis(1))
						.until(() -> election.isLeader("reports"));
					begun = System.currentTimeMillis();
				}
				finally {
					signal("-CONT", leader);
				}
				String line = leader.awaitLine("led until");
				assertThat(Long.parseLong(line.substring(line.lastIndexOf(' ') + 1))).isLessThan(begun);
				assertThat(election.isLeader("reports")).isTrue();
			}
		}
	}

	@Test
	void roleOfLeaderBehindSilentNetworkIsFreeWithItsSessionAndLedByOneAtATime() {
		OperatedApplication.dropTables();
		try (TestProxy proxy = new TestProxy(Duration.ZERO);
				LockSession session = new LockSession(new DriverManagerDataSource(proxy.url()), "shop",
						LockSessionSettings.DEFAULT, (event) -> {
						})) {
			PostgresLeaderElection cut = new PostgresLeaderElection(session, "shop", AdvisoryLockKeyFactory.sha256(), 0,
					(event) -> {
					});
			cut.start();
			await().atMost(Duration.ofSeconds(60)).until(() -> cut.isLeader("reports"));
			try (OperatedApplication asked = OperatedApplication.start(LeadingJob.class,
					"management.endpoints.web.exposure.include=advisorylocks",
					"management.endpoint.advisorylocks.access=unrestricted")) {
				LeaderElection election = asked.bean(LeaderElection.class);
				assertThat(election.isLeader("reports")).isFalse();
				proxy.stall();
				endSession("leader:reports");
				await().atMost(Duration.ofSeconds(60))
					.pollInterval(Duration.ofMillis(1))
					.until(() -> election.isLeader("reports"));
				assertThat(cut.isLeader("reports")).isFalse();
			}
			finally {
				cut.stop();
			}
		}
	}

	/**
	 * Do what an operator does in {@code psql}.
	 */
	private static void endSession(String name) {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", name);
		TestPostgres.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted "
				+ "AND classid = " + Integer.toUnsignedString(key.classId()) + " AND objid = "
				+ Integer.toUnsignedString(key.objectId()));
	}

	private static void signal(String signal, JavaProcess process) throws IOException, InterruptedException {
		assertThat(new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor()).isZero();
	}

	static class LeadingJob {

		@LeaderOnly("reports")
		void run() {
		}

	}

}
