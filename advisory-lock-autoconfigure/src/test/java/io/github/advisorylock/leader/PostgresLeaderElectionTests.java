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
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for {@link PostgresLeaderElection}.
 */
class PostgresLeaderElectionTests {

	private static final Log logger = LogFactory.getLog(PostgresLeaderElectionTests.class);

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:" + LeaderCandidate.ROLE);

	private static final Duration TRUST = LeaderCandidate.SETTINGS.trust();

	/**
	 * A trust window of 1.5 s.
	 */
	private static final LockSessionSettings SLOW = new LockSessionSettings(Duration.ofMillis(500),
			Duration.ofSeconds(3), WhenLost.REPORT);

	/**
	 * A trust window of 5 s, within which a server answers whose disk is busy.
	 */
	private static final LockSessionSettings PATIENT = new LockSessionSettings(Duration.ofMillis(500),
			Duration.ofSeconds(10), WhenLost.REPORT);

	private final List<LeaderCandidate> candidates = new ArrayList<>();

	@AfterEach
	void checkThatNoLockIsLeft() {
		this.candidates.forEach(LeaderCandidate::close);
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@Test
	void firstCandidateLeadsWhenAPredecessorCouldNotBelieveAnyMore() {
		long started = System.nanoTime();
		LeaderCandidate candidate = join(new LeaderCandidate());
		assertThat(candidate.isLeader()).isFalse();
		assertThat(candidate.election().term(LeaderCandidate.ROLE)).isEmpty();
		awaitLeader(candidate);
		assertThat(Duration.ofNanos(System.nanoTime() - started)).isGreaterThan(TRUST);
		long term = candidate.election().term(LeaderCandidate.ROLE).orElseThrow();
		Awaitility.await().until(() -> !candidate.events().isEmpty());
		assertThat(candidate.events()).containsExactly(new LeadershipGainedEvent(LeaderCandidate.ROLE, term));
		assertThat(ForeignSession.isFree(KEY)).isFalse();
	}

	/**
	 * How long it takes is logged. Here it only shows who has heard of it: who has not
	 * waits for a trust window, which is far longer than a busy machine needs.
	 */
	@Test
	void resignationHandsOverAtOnceAndTermsRise() {
		LeaderCandidate leader = join(new LeaderCandidate(TestPostgres.url(), PATIENT));
		awaitLeader(leader);
		List<Long> gaps = new ArrayList<>();
		long term = 0;
		for (int i = 0; i < 20; i++) {
			LeaderCandidate next = join(new LeaderCandidate(TestPostgres.url(), PATIENT));
			awaitFollower(next);
			long earlier = leader.election().term(LeaderCandidate.ROLE).orElseThrow();
			assertThat(earlier).isGreaterThan(term);
			term = earlier;
			// at any moment between two looks of the follower
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(100)));
			long stopped = System.nanoTime();
			leader.election().stop();
			assertThat(leader.isLeader()).isFalse();
			awaitLeader(next);
			gaps.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - stopped));
			leader = next;
		}
		Collections.sort(gaps);
		logger.info("Handover after an orderly stop: median " + gaps.get(10) / 1000.0 + " ms, longest "
				+ gaps.get(19) / 1000.0 + " ms");
		assertThat(gaps.get(17)).isLessThan(PATIENT.trust().toMillis() * 1000);
	}

	/**
	 * Whoever gets the lock has heard of it, and need not wait.
	 */
	@Test
	void leaderThatStopsSaysSoBeforeItReleasesItsLock() throws SQLException {
		try (Connection listener = TestPostgres.open(); Statement statement = listener.createStatement()) {
			statement.execute("LISTEN " + PostgresLeaderStatements.CHANNEL);
			LeaderCandidate leader = join(new LeaderCandidate());
			awaitLeader(leader);
			leader.election().stop();
			List<String> said = new ArrayList<>();
			Awaitility.await().until(() -> {
				for (PGNotification notification : listener.unwrap(PGConnection.class).getNotifications(1)) {
					said.add(notification.getParameter().replace(KEY.value() + " ", ""));
				}
				return said.contains("released");
			});
			assertThat(said).containsExactly("elected", "resigned", "released");
		}
	}

	@Test
	void leaderWhoseSessionEndsIsReplacedAfterItsTrustWindow() {
		LeaderCandidate first = join(new LeaderCandidate());
		awaitLeader(first);
		long firstTerm = first.election().term(LeaderCandidate.ROLE).orElseThrow();
		LeaderCandidate second = join(new LeaderCandidate());
		long terminated = System.nanoTime();
		first.terminate();
		awaitOneLeaderOtherThan(firstTerm);
		assertThat(Duration.ofNanos(System.nanoTime() - terminated)).isGreaterThan(TRUST);
		LeaderCandidate leader = second.isLeader() ? second : first;
		assertThat(leader.election().term(LeaderCandidate.ROLE).orElseThrow()).isGreaterThan(firstTerm);
		Awaitility.await().until(() -> first.events().size() >= 2);
		assertThat(first.events()).startsWith(new LeadershipGainedEvent(LeaderCandidate.ROLE, firstTerm),
				new LeadershipLostEvent(LeaderCandidate.ROLE, firstTerm));
	}

	@Test
	void leaderBehindAFrozenNetworkStopsBelievingBeforeAnotherBegins() throws InterruptedException {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate frozen = join(new LeaderCandidate(proxy.url(), SLOW));
			awaitLeader(frozen);
			long term = frozen.election().term(LeaderCandidate.ROLE).orElseThrow();
			LeaderCandidate other = join(new LeaderCandidate(TestPostgres.url(), SLOW));
			proxy.stall();
			long stalled = System.nanoTime();
			// what the server does when it notices, which may take longer than the window
			Thread server = new Thread(frozen::terminate);
			server.start();
			long believed = stalled;
			long asked = stalled;
			boolean otherLed = other.isLeader();
			int looks = 0;
			while (frozen.isLeader()) {
				looks++;
				assertThat(otherLed).isFalse();
				believed = asked;
				LockSupport.parkNanos(100_000);
				asked = System.nanoTime();
				otherLed = other.isLeader();
			}
			assertThat(looks).isPositive();
			assertThat(Duration.ofNanos(believed - stalled)).isLessThan(SLOW.trust());
			server.join();
			awaitLeader(other);
			assertThat(frozen.isLeader()).isFalse();
			Awaitility.await().until(() -> frozen.events().size() == 2);
			assertThat(frozen.events().get(1)).isEqualTo(new LeadershipLostEvent(LeaderCandidate.ROLE, term));
			proxy.resume();
		}
	}

	@Test
	void leaderThatWasInDoubtGoesOnWhenItsLockIsConfirmed() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate leader = join(new LeaderCandidate(proxy.url()));
			awaitLeader(leader);
			long term = leader.election().term(LeaderCandidate.ROLE).orElseThrow();
			proxy.stall();
			Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> leader.events().size() == 2);
			proxy.resume();
			awaitLeader(leader);
			Awaitility.await().until(() -> leader.events().size() >= 3);
			assertThat(leader.events()).startsWith(new LeadershipGainedEvent(LeaderCandidate.ROLE, term),
					new LeadershipLostEvent(LeaderCandidate.ROLE, term));
			assertThat(leader.events().get(2)).isInstanceOf(LeadershipGainedEvent.class);
		}
	}

	@Test
	void candidateThatStopsWhileItWaitsDoesNotVouchForItsPredecessor() {
		LeaderCandidate waiting = join(new LeaderCandidate(TestPostgres.url(), LockSessionSettings.DEFAULT));
		Awaitility.await().until(() -> !ForeignSession.isFree(KEY));
		LeaderCandidate next = join(new LeaderCandidate());
		awaitFollower(next);
		waiting.election().stop();
		long stopped = System.nanoTime();
		awaitLeader(next);
		assertThat(Duration.ofNanos(System.nanoTime() - stopped)).isGreaterThan(TRUST);
	}

	/**
	 * Of ten looks of the follower, the second one at least sees the same as the one
	 * before, and the last one has seen that for longer than its window.
	 */
	@Test
	@Tag("chaos")
	void leaderThatWasSilentForItsWindowIsReplacedAsSoonAsItsLockIsFree() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO); TestProxy looks = new TestProxy(Duration.ZERO)) {
			LeaderCandidate silent = join(new LeaderCandidate(proxy.url(), SLOW));
			awaitLeader(silent);
			LeaderCandidate other = join(new LeaderCandidate(looks.url(), PATIENT));
			awaitFollower(other);
			proxy.stall();
			int before = looks.waits();
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> looks.waits() >= before + 10);
			assertThat(other.isLeader()).isFalse();
			silent.terminate();
			long terminated = System.nanoTime();
			awaitLeader(other);
			assertThat(Duration.ofNanos(System.nanoTime() - terminated)).isLessThan(PATIENT.trust());
			assertThat(silent.isLeader()).isFalse();
		}
	}

	@Test
	void leaderThatWasSilentAnnouncesItselfBeforeItBelievesAgain() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate silent = join(new LeaderCandidate(proxy.url()));
			awaitLeader(silent);
			long term = silent.election().term(LeaderCandidate.ROLE).orElseThrow();
			LeaderCandidate other = join(new LeaderCandidate());
			awaitFollower(other);
			proxy.stall();
			Awaitility.await().until(() -> silent.events().size() == 2);
			proxy.resume();
			awaitLeader(silent);
			long nextTerm = silent.election().term(LeaderCandidate.ROLE).orElseThrow();
			assertThat(nextTerm).isGreaterThan(term);
			silent.terminate();
			long terminated = System.nanoTime();
			awaitOneLeaderOtherThan(nextTerm);
			assertThat(Duration.ofNanos(System.nanoTime() - terminated)).isGreaterThan(TRUST.dividedBy(2));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "try_advisory_lock", "pg_notify", "SELECT true" })
	void errorInTheElectionIsNotItsEnd(String statement) {
		FaultyDataSource faulty = new FaultyDataSource();
		faulty.failAfter("execute", statement, new OutOfMemoryError("injected"));
		LeaderCandidate candidate = join(new LeaderCandidate(faulty, LeaderCandidate.SETTINGS));
		Awaitility.await().until(faulty::hasFailed);
		awaitLeader(candidate);
		assertThat(ForeignSession.holders(KEY)).hasSize(1);
	}

	@Test
	void roleThatIsResignedIsTakenOverAndLeftToOthersForAWhile() {
		LeaderCandidate first = join(new LeaderCandidate());
		awaitLeader(first);
		LeaderCandidate second = join(new LeaderCandidate());
		awaitFollower(second);
		first.election().resign(LeaderCandidate.ROLE);
		awaitLeader(second);
		assertThat(first.isLeader()).isFalse();
		second.election().stop();
		Awaitility.await().during(TRUST.multipliedBy(5)).until(() -> ForeignSession.isFree(KEY) && !first.isLeader());
	}

	@Test
	void roleIsResignedWhenTheWorkOfItsLeaderHasEnded() {
		LeaderCandidate leader = join(new LeaderCandidate());
		awaitLeader(leader);
		PostgresLeaderElection election = leader.election();
		LeaderOnlyGate.Work work = election.beginWork(LeaderCandidate.ROLE);
		election.resign(LeaderCandidate.ROLE);
		LeaderOnlyGate.Work part = election.beginWork(LeaderCandidate.ROLE);
		assertThat(part).as("a call within the work").isNotNull();
		part.complete();
		assertThat(CompletableFuture.supplyAsync(() -> election.beginWork(LeaderCandidate.ROLE) == null).join())
			.as("new work is refused")
			.isTrue();
		Awaitility.await().during(TRUST).until(leader::isLeader);
		work.complete();
		Awaitility.await().until(() -> !leader.isLeader() && ForeignSession.isFree(KEY));
	}

	@Test
	void instanceRunsForABoundedNumberOfRoles() {
		LeaderCandidate candidate = join(new LeaderCandidate());
		for (int i = 1; i < 100; i++) {
			candidate.election().isLeader("role-" + i);
		}
		assertThatIllegalStateException().isThrownBy(() -> candidate.election().isLeader("role-100"))
			.withMessageContaining("'role-100'")
			.withMessageContaining("must not be made of data");
		assertThat(candidate.election().isLeader("role-1")).isFalse();
	}

	@Test
	void rolesHaveLeadersOfTheirOwn() {
		LeaderCandidate first = join(new LeaderCandidate());
		awaitLeader(first);
		LeaderCandidate second = join(new LeaderCandidate());
		assertThat(second.election().isLeader("metrics")).isFalse();
		Awaitility.await().until(() -> second.election().isLeader("metrics"));
		assertThat(first.election().isLeader("metrics")).isFalse();
		assertThat(second.isLeader()).isFalse();
		assertThat(first.isLeader()).isTrue();
	}

	@Test
	void electionThatIsStartedAgainTakesPartAgain() {
		LeaderCandidate candidate = join(new LeaderCandidate());
		awaitLeader(candidate);
		candidate.election().stop();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(candidate.election().isRunning()).isFalse();
		candidate.election().start();
		awaitLeader(candidate);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b", "leader:reports", "r\u00f4le",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" })
	void roleWithAnotherSyntaxIsRefused(String role) {
		LeaderCandidate candidate = join(new LeaderCandidate());
		assertThatIllegalArgumentException().isThrownBy(() -> candidate.election().isLeader(role))
			.withMessageStartingWith("'role' must be 1 to 64 letters")
			.withMessageEndingWith("'" + role + "'");
	}

	private LeaderCandidate join(LeaderCandidate candidate) {
		this.candidates.add(candidate);
		return candidate;
	}

	private static void awaitLeader(LeaderCandidate candidate) {
		Awaitility.await()
			.atMost(Patience.TIME)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(candidate::isLeader);
	}

	private void awaitOneLeaderOtherThan(long term) {
		Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> {
			LeaderCandidate leader = LeaderCandidate.findLeader(this.candidates, () -> fail("Two lead at once"));
			return leader != null && leader.election().term(LeaderCandidate.ROLE).orElse(term) > term;
		});
	}

	private static void awaitFollower(LeaderCandidate candidate) {
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(candidate::isFollowing);
	}

}
