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

package io.github.advisorylock.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Members}.
 */
@ExtendWith(OutputCaptureExtension.class)
class MembersTests {

	private static final String NAMESPACE = "members-tests";

	private static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofMillis(100),
			Duration.ofSeconds(5), WhenLost.REPORT, Duration.ofHours(1));

	private static final String TOLD = "guarded something else";

	private final SettableTicker ticker = new SettableTicker();

	private final List<LockSession> sessions = new ArrayList<>();

	@AfterEach
	void close() {
		this.sessions.forEach(LockSession::close);
		Awaitility.await().until(() -> TestPostgres.members(NAMESPACE).isEmpty());
	}

	@Test
	void sessionsOfNamespaceCountEachOther() {
		LockSession first = open(NAMESPACE, "same");
		assertThat(first.members()).hasValue(1);
		LockSession second = open(NAMESPACE, "same");
		LockSession third = open(NAMESPACE, "other");
		open("another-application", "same");
		assertThat(third.members()).hasValue(3);
		assertThat(ask(first)).hasValue(3);
		assertThat(TestPostgres.members(NAMESPACE)).hasSize(3);
		ask(second);
		ask(third);
		assertThat(List.of(first.place(), second.place(), third.place())).containsExactlyInAnyOrder(0, 1, 2);
		second.close();
		assertThat(ask(first)).hasValue(2);
		assertThat(second.members()).isEmpty();
	}

	@Test
	void nobodyIsMemberWhereNoOneWantsToKnow() {
		LockSession alone = new LockSession(source(), NAMESPACE, SETTINGS, (event) -> {
		});
		this.sessions.add(alone);
		assertThat(ask(alone)).isEmpty();
		assertThat(TestPostgres.members(NAMESPACE)).isEmpty();
		assertThat(ask(open(NAMESPACE, "same"))).hasValue(1);
	}

	@Test
	void killedMemberIsNoneAnyMoreAndJoinsAgain() {
		LockSession first = open(NAMESPACE, "same");
		LockSession second = open(NAMESPACE, "same");
		TestPostgres
			.query("SELECT pg_terminate_backend(" + second.ask(null, "SELECT pg_backend_pid()", List.of()) + ")");
		Awaitility.await().untilAsserted(() -> assertThat(ask(first)).hasValue(1));
		// the first statement that finds the loss is sent again on a new connection
		assertThat(ask(second)).hasValue(2);
		assertThat(ask(first)).hasValue(2);
	}

	@Test
	void memberStaysOneWhenItsStatementFails() {
		LockSession session = open(NAMESPACE, "same");
		List<String> locks = locks();
		assertThat(locks).hasSize(2);
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> session.ask(null, "SELECT 1 / 0", List.of()))
			.withRootCauseInstanceOf(SQLException.class)
			.withStackTraceContaining("division by zero");
		assertThat(locks()).isEqualTo(locks);
		ask(session);
		assertThat(locks()).isEqualTo(locks);
	}

	@Test
	void unlikeMembersAreToldOnceAfterTenMinutes(CapturedOutput output) {
		LockSession first = open(NAMESPACE, "one");
		LockSession second = open(NAMESPACE, "other");
		LockSession third = open(NAMESPACE, "one");
		ask(first);
		this.ticker.pass(Duration.ofMinutes(9));
		ask(first);
		assertThat(first.hasUnlikeMembers()).isFalse();
		this.ticker.pass(Duration.ofMinutes(2));
		ask(first);
		ask(first);
		assertThat(first.hasUnlikeMembers()).isTrue();
		assertThat(output.toString()).containsOnlyOnce(TOLD)
			.contains("1 of the 3 instances of '" + NAMESPACE + "' have " + TOLD);
		second.close();
		ask(first);
		assertThat(first.hasUnlikeMembers()).isFalse();
		assertThat(third.hasUnlikeMembers()).isFalse();
	}

	@Test
	void rollOutIsNotTold(CapturedOutput output) {
		LockSession before = open(NAMESPACE, "one");
		LockSession after = open(NAMESPACE, "other");
		ask(after);
		this.ticker.pass(Duration.ofMinutes(9));
		before.close();
		ask(after);
		open(NAMESPACE, "next");
		this.ticker.pass(Duration.ofMinutes(9));
		ask(after);
		assertThat(after.hasUnlikeMembers()).isFalse();
		assertThat(output).doesNotContain(TOLD);
	}

	/**
	 * Return how many members a session knows when it has sent a statement a heartbeat
	 * later.
	 */
	private OptionalInt ask(LockSession session) {
		this.ticker.pass(SETTINGS.heartbeat());
		session.ask(null, "SELECT 1", List.of());
		return session.members();
	}

	private LockSession open(String namespace, String guarded) {
		LockSession session = new LockSession(MembersTests::source, namespace, null, SETTINGS, ServerJudge.NONE,
				(event) -> {
				}, this.ticker.threads());
		this.sessions.add(session);
		session.countMembers(guarded);
		session.ask(null, "SELECT 1", List.of());
		return session;
	}

	private static DriverManagerDataSource source() {
		return new DriverManagerDataSource(TestPostgres.url());
	}

	private static List<String> locks() {
		return TestPostgres.query("SELECT pid || ' ' || mode || ' ' || objid FROM pg_locks "
				+ "WHERE locktype = 'advisory' AND granted ORDER BY objid");
	}

}
