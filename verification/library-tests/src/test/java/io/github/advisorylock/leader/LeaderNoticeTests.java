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

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what others say on the channel of leaders: any role that may connect may say
 * anything there. The leader is cut off, its clock stands still, so it believes in itself
 * for as long as the test lasts; its successor must wait for its whole window.
 */
@ExtendWith(OutputCaptureExtension.class)
class LeaderNoticeTests {

	private static final String STRANGER = "leader_stranger";

	private static final String APPLICATION = "leader_application";

	private static final String GROUP = "leader_group";

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:" + LeaderCandidate.ROLE);

	private static final LockSessionSettings SETTINGS = LockSessionSettings.DEFAULT;

	private static final Duration WINDOW = SETTINGS.trust().plus(SETTINGS.trust().dividedBy(10));

	private static final Duration STEP = Duration.ofMillis(50);

	private final SettableTicker ticker = new SettableTicker();

	private final SettableTicker behind = new SettableTicker();

	private final TestProxy proxy = new TestProxy(Duration.ZERO);

	private final TestProxy looks = new TestProxy(Duration.ZERO);

	private LeaderCandidate leader;

	private LeaderCandidate follower;

	@BeforeEach
	void createRoles() {
		TestPostgres.execute("CREATE ROLE " + GROUP);
		for (String role : List.of(STRANGER, APPLICATION)) {
			TestPostgres.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'low'");
		}
	}

	/**
	 * Have one candidate lead and another one follow.
	 */
	private void begin(String roleOfLeader, String roleOfFollower) {
		this.leader = candidate(this.proxy, roleOfLeader, this.behind);
		LeaderCandidate.awaitWhile(() -> this.behind.advance(STEP), this.leader::isLeader);
		this.follower = candidate(this.looks, roleOfFollower, this.ticker);
		Awaitility.await().until(this.follower::isFollowing);
	}

	@AfterEach
	void end() {
		this.proxy.resume();
		this.follower.close();
		this.leader.close();
		this.looks.close();
		this.proxy.close();
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		TestPostgres.execute("DROP ROLE IF EXISTS " + STRANGER + "; DROP ROLE " + APPLICATION + "; DROP ROLE " + GROUP);
	}

	@Test
	void strangerThatSaysTheLeaderHasResignedDoesNotShortenTheWait() throws SQLException {
		begin(APPLICATION, APPLICATION);
		try (Connection stranger = open(STRANGER)) {
			say(stranger, "resigned");
			cutOff();
			say(stranger, "resigned");
			say(stranger, "released");
			assertFollowsAfterWholeWindow();
		}
	}

	@Test
	void processOfTheApplicationThatDoesNotHoldTheLockDoesNotShortenTheWait() throws SQLException {
		begin(APPLICATION, APPLICATION);
		try (Connection another = open(APPLICATION)) {
			cutOff();
			say(another, "resigned");
			say(another, "released");
			assertFollowsAfterWholeWindow();
		}
	}

	/**
	 * It was seen with the lock when it says that it has resigned.
	 */
	@Test
	void strangerThatTakesTheLockOfTheLeaderDoesNotShortenTheWait() throws SQLException {
		begin(APPLICATION, APPLICATION);
		try (Connection stranger = open(STRANGER)) {
			cutOff();
			execute(stranger, "SELECT pg_advisory_lock(" + KEY.value() + ")");
			say(stranger, "elected");
			int before = this.looks.waits();
			LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), () -> this.looks.waits() > before);
			say(stranger, "resigned");
			execute(stranger, "SELECT pg_advisory_unlock(" + KEY.value() + ")");
			say(stranger, "released");
			assertFollowsAfterWholeWindow();
		}
	}

	@Test
	void leaderThatResignsIsFollowedAtOnceByAnInstanceOfTheSameRole() {
		begin(APPLICATION, APPLICATION);
		assertThat(handOver()).isLessThan(SETTINGS.trust());
	}

	/**
	 * The server vouches for the role of the leader alone.
	 */
	@Test
	void leaderThatResignsIsFollowedAfterTheWindowByAnInstanceOfAnotherRole() {
		begin(APPLICATION, STRANGER);
		assertThat(handOver()).isGreaterThanOrEqualTo(WINDOW);
	}

	@Test
	void leaderThatResignsIsFollowedAtOnceByAnInstanceOfWhoseRoleItIsAMember() {
		TestPostgres.execute("GRANT " + STRANGER + " TO " + APPLICATION);
		begin(APPLICATION, STRANGER);
		assertThat(handOver()).isLessThan(SETTINGS.trust());
	}

	/**
	 * As where each instance gets a login of its own that sets the role of the
	 * application.
	 */
	@Test
	void leaderThatResignsIsFollowedAtOnceByAnInstanceThatHasSetARoleOfBoth() {
		shareRole(STRANGER, APPLICATION);
		begin(APPLICATION, STRANGER);
		assertThat(handOver()).isLessThan(SETTINGS.trust());
	}

	@Test
	void followerWhoseLoginIsDroppedGoesOn(CapturedOutput output) {
		shareRole(STRANGER, APPLICATION);
		begin(APPLICATION, STRANGER);
		TestPostgres.execute("DROP ROLE " + STRANGER);
		int before = this.looks.waits();
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), () -> this.looks.waits() > before + 2);
		assertThat(handOver()).isLessThan(SETTINGS.trust());
		assertThat(output).doesNotContain("Failed to campaign", "invalid role OID");
	}

	/**
	 * Its connection has no role any more that anybody could be a member of.
	 */
	@Test
	void followerWhoseOnlyRoleIsDroppedGoesOn(CapturedOutput output) {
		begin(APPLICATION, STRANGER);
		TestPostgres.execute("DROP ROLE " + STRANGER);
		assertThat(handOver()).isGreaterThanOrEqualTo(WINDOW);
		assertThat(output).doesNotContain("Failed to campaign", "invalid role OID");
	}

	@Test
	void leaderThatResignsIsFollowedAfterTheWindowByAnInstanceThatHasSetARoleOfItsOwn() {
		shareRole(STRANGER);
		begin(APPLICATION, STRANGER);
		assertThat(handOver()).isGreaterThanOrEqualTo(WINDOW);
	}

	private static void shareRole(String... logins) {
		for (String login : logins) {
			TestPostgres.execute("GRANT " + GROUP + " TO " + login + "; ALTER ROLE " + login + " SET role = " + GROUP);
		}
	}

	private Duration handOver() {
		long stopped = this.ticker.nanoTime();
		this.leader.election().stop();
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), this.follower::isLeader);
		return Duration.ofNanos(this.ticker.nanoTime() - stopped);
	}

	/**
	 * The heartbeat of the leader was sent just before: it has its whole window.
	 */
	private void cutOff() {
		this.leader.confirm();
		this.proxy.stall();
		this.leader.terminate();
	}

	private void assertFollowsAfterWholeWindow() {
		long free = this.ticker.nanoTime();
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), this.follower::isLeader);
		assertThat(this.leader.isLeader()).as("the clock of the leader stands still").isTrue();
		assertThat(Duration.ofNanos(this.ticker.nanoTime() - free)).isGreaterThanOrEqualTo(WINDOW);
	}

	private static Connection open(String role) throws SQLException {
		return DriverManager.getConnection(withoutRole(TestPostgres.url()), role, "low");
	}

	private static String withoutRole(String url) {
		return url.replaceAll("(?<=[?&])(user|password)=[^&]*&?", "");
	}

	private static void say(Connection connection, String what) throws SQLException {
		execute(connection,
				"SELECT pg_notify('" + PostgresLeaderStatements.CHANNEL + "', '" + KEY.value() + " " + what + "')");
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static LeaderCandidate candidate(TestProxy proxy, String role, SettableTicker ticker) {
		return new LeaderCandidate(new DriverManagerDataSource(withoutRole(proxy.url()), role, "low"), SETTINGS,
				ticker.threads());
	}

}
