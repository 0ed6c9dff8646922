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

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that terms rise whatever becomes of the server in between.
 */
@Tag("servers")
class LeaderTermTests {

	/**
	 * A server that writes its log late.
	 */
	private static final Map<String, String> LAZY = Map.of("wal_writer_delay", "10000", "autovacuum", "off");

	@Test
	void termsRiseOverACrash(@TempDir Path directory) {
		try (TestServer server = TestServer.start(directory.resolve("server"), LAZY)) {
			long term = 0;
			for (int i = 0; i < 3; i++) {
				long next = lead(server.url(), server::crash);
				assertThat(next).isGreaterThan(term);
				term = next;
				server.start();
			}
		}
	}

	@Test
	void termsRiseOverAPromotionThatLosesTransactions(@TempDir Path directory) {
		try (TestServer primary = TestServer.start(directory.resolve("primary"), LAZY);
				TestServer standby = primary.startStandby(directory.resolve("standby"))) {
			Awaitility.await()
				.until(() -> standby.query("SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'")
					.equals("1"));
			standby.execute("ALTER SYSTEM SET primary_conninfo = ''");
			standby.execute("SELECT pg_reload_conf()");
			Awaitility.await().until(() -> standby.query("SELECT count(*) FROM pg_stat_wal_receiver").equals("0"));
			for (int i = 0; i < 100; i++) {
				primary.execute("SELECT pg_current_xact_id()");
			}
			long term = lead(primary.url(), primary::stop);
			assertThat(standby.query("SELECT pg_promote()")).isEqualTo("t");
			assertThat(lead(standby.url(), () -> {
			})).isGreaterThan(term);
		}
	}

	/**
	 * What pg_upgrade makes has the first timeline, whatever the old server had.
	 */
	@Test
	void termsRiseOverAnUpgradeIfTheHighestOneIsSet(@TempDir Path directory) {
		try (TestServer old = startOnSecondTimeline(directory); TestServer upgraded = startUpgraded(directory)) {
			long term = lead(old.url(), old::stop);
			assertThat(lead(upgraded.url(), () -> {
			})).isLessThan(term);
			try (LeaderCandidate candidate = candidate(upgraded::url, term)) {
				assertThat(awaitTerm(candidate, 0)).isGreaterThan(term);
			}
		}
	}

	@Test
	void instanceThatLeadsInALowerTermThanBeforeWarnsWhatToSet(@TempDir Path directory) {
		try (LogRecorder log = LogRecorder.of(LeaderTermTests.class.getPackageName(), "warn");
				TestServer old = startOnSecondTimeline(directory);
				TestServer upgraded = startUpgraded(directory)) {
			AtomicReference<TestServer> current = new AtomicReference<>(old);
			try (LeaderCandidate candidate = candidate(() -> current.get().url(), 0)) {
				long term = awaitTerm(candidate, 0);
				assertThat(log.messages()).noneMatch((message) -> message.contains("terms-above"));
				current.set(upgraded);
				old.stop();
				long lower = awaitTerm(candidate, term);
				assertThat(lower).isLessThan(term);
				Awaitility.await()
					.untilAsserted(() -> assertThat(log.messages()).anyMatch((message) -> message
						.startsWith("Term " + lower + " of role 'reports' is not higher than term " + term)
							&& message.contains("'advisory-lock.leader.terms-above'")));
			}
		}
	}

	private static TestServer startOnSecondTimeline(Path directory) {
		TestServer server;
		try (TestServer primary = TestServer.start(directory.resolve("primary"), LAZY)) {
			server = primary.startStandby(directory.resolve("old"));
		}
		assertThat(server.query("SELECT pg_promote()")).isEqualTo("t");
		return server;
	}

	private static TestServer startUpgraded(Path directory) {
		return TestServer.start(directory.resolve("upgraded"), LAZY);
	}

	private static LeaderCandidate candidate(Supplier<String> url, long termsAbove) {
		DataSource dataSource = new AbstractDriverBasedDataSource() {

			@Override
			protected Connection getConnectionFromDriver(Properties properties) throws SQLException {
				return DriverManager.getConnection(url.get(), properties);
			}

		};
		return new LeaderCandidate(dataSource, LeaderCandidate.SETTINGS, LockScheduler.Threads.ofCurrent(), termsAbove);
	}

	/**
	 * Lead until something happens.
	 * @return the term
	 */
	private static long lead(String url, Runnable end) {
		try (LeaderCandidate candidate = new LeaderCandidate(url)) {
			long term = awaitTerm(candidate, 0);
			end.run();
			return term;
		}
	}

	private static long awaitTerm(LeaderCandidate candidate, long before) {
		return Awaitility.await()
			.atMost(Patience.TIME)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> candidate.election().term(LeaderCandidate.ROLE), (term) -> term.orElse(before) != before)
			.orElseThrow();
	}

}
