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

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests with a role that may do nothing in the database but connect, and sends what it
 * likes on the channels of the library.
 */
@Tag("gate")
class StrangerNotificationTests {

	private static final String URL = TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", "");

	private static final String LOCK = PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("shop", "hang"));

	private static final int FORGED = 20;

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of("shop", "leader:roll-up");

	private OperatedApplication application;

	@BeforeEach
	void start() {
		TestPostgres.execute("CREATE ROLE stranger LOGIN PASSWORD 'low'");
		OperatedApplication.dropTables();
		this.application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks", "advisory-lock.session.heartbeat=200ms");
	}

	@AfterEach
	void stop() {
		this.application.close();
		TestPostgres.execute("DROP ROLE stranger");
	}

	@Test
	void nothingIsObeyedAndNoMessageHasAStackTrace() throws SQLException {
		Jobs jobs = this.application.bean(Jobs.class);
		LeaderElection election = this.application.bean(LeaderElection.class);
		await().until(() -> election.isLeader("roll-up"));
		long term = election.term("roll-up").orElseThrow();
		try (Gate gate = Gate.enteredBy(jobs::hang);
				LogRecorder log = LogRecorder.of("io.github.advisorylock", "INFO");
				Connection stranger = DriverManager.getConnection(URL, "stranger", "low")) {
			List<String> before = locks();
			for (String text : texts()) {
				for (String channel : List.of("advisory_lock_cancel", "advisory_lock_leader")) {
					say(stranger, "SELECT pg_notify('" + channel + "', " + text + ")");
				}
			}
			await().until(() -> log.messages().size() >= FORGED);
			assertThat(locks()).isEqualTo(before);
			assertThat(election.term("roll-up")).hasValue(term);
			assertThat(log.events()).extracting(ILoggingEvent::getThrowableProxy).containsOnlyNulls();
			assertThat(log.messages()).isNotEmpty().allMatch((line) -> line.length() < 500);
		}
	}

	/**
	 * Return SQL of texts: empty, long, of bytes that are no characters, and forged for
	 * the lock and the role that there are.
	 */
	private static List<String> texts() {
		List<String> forged = new ArrayList<>();
		for (String word : List.of("elected", "resigned", "released")) {
			forged.add("'" + ROLE.value() + " " + word + "'");
		}
		for (int i = 0; i < FORGED; i++) {
			forged.add("'" + LOCK + " ' || (extract(epoch FROM clock_timestamp()) * 1000)::bigint || ' operator'");
		}
		return Stream.concat(forged.stream(), Stream.of("''", "'question'", "repeat('x', 7999)", "repeat('9', 7999)",
				"repeat('" + LOCK + " ', 200)", "'" + LOCK + " 1 ' || repeat('x', 7900)",
				"'" + LOCK + " 9999999999999999 run=999999999999999999 x'", "'" + LOCK + " 1 ' || E'\\x1b[2J\\n\\n'"))
			.toList();
	}

	private static List<String> locks() {
		return TestPostgres.query("SELECT concat_ws(' ', pid, classid, objid) FROM pg_locks "
				+ "WHERE locktype = 'advisory' AND granted ORDER BY 1");
	}

	private static void say(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	static class Jobs {

		@SingleRunner(key = "hang", scope = LockScope.SESSION)
		void hang(Gate gate) {
			gate.pass();
		}

		@Scheduled(fixedDelay = 3_600_000, initialDelay = 3_600_000)
		@LeaderOnly("roll-up")
		void rollUp() {
		}

	}

}
