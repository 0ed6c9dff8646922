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
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.support.LockContextBinding;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LeaderRole}, where the test itself does what an {@link Elector} does,
 * and when. Nothing is over by the time alone.
 */
class LeaderRoleTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:role");

	private static final String APPLICATION = "leader-role";

	private static final int PROCESS = 42;

	/**
	 * What a look shows of a leader.
	 */
	private static final String LEADER = PROCESS + " true now";

	/**
	 * A trust window of half an hour, and no heartbeat that matters.
	 */
	private static final LockSessionSettings PATIENT = new LockSessionSettings(Duration.ofMinutes(2),
			Duration.ofHours(1), WhenLost.REPORT);

	private static final long PATIENT_WINDOW = PATIENT.trust().toNanos() / 10 * 11;

	private final List<Object> events = new CopyOnWriteArrayList<>();

	private final AtomicInteger wakes = new AtomicInteger();

	private final LockSession session = session(PATIENT);

	private final LeaderRole role = role(this.session);

	private final ExecutorService another = Executors.newSingleThreadExecutor();

	@AfterEach
	void close() {
		this.another.shutdownNow();
		this.session.close();
		// work that a test has not ended, as it failed, is no matter of the next one
		LockContextBinding.bind(null);
		// a server process ends a moment after its connection
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
	}

	@Test
	void candidateWithTheLockWaitsForLongerThanItsPredecessorMayBelieve() {
		long before = System.nanoTime();
		campaign();
		assertThat(due()).isGreaterThanOrEqualTo(before + PATIENT_WINDOW);
		assertThat(this.role.pause()).isLessThanOrEqualTo(PATIENT_WINDOW);
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
		assertThat(this.role.isOut()).isFalse();
		assertThat(this.role.isListening()).isFalse();
		assertThat(this.role.isDue()).isFalse();
	}

	@Test
	void candidateLeadsAtOnceWhenItsPredecessorHasResigned() {
		try (LogRecorder log = recordLog()) {
			lead();
			assertThat(log.messages()).containsExactly("Leading role 'role' in term " + term());
		}
		assertThat(this.events).containsExactly(new LeadershipGainedEvent("role", term()));
		assertThat(this.role.pause()).isPositive();
		assertThat(this.role.leadership().check()).isPositive();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
		assertThat(this.events).hasSize(1);
	}

	@Test
	void whatAnotherRoleHasSaidIsNoEvidence() {
		busy(LEADER);
		this.role.heard(KEY.value() + 1 + " resigned", PROCESS);
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void resignationOfAnotherProcessIsNoEvidence() {
		busy(LEADER);
		this.role.heard(KEY.value() + " resigned", PROCESS + 1);
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void resignationOfAProcessOfAnotherRoleIsNoEvidence() {
		busy(PROCESS + " false ");
		heard("resigned");
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void resignationOfAProcessThatNoLookHasShownIsNoEvidence() {
		heard("resigned");
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	/**
	 * It may have arrived with the answer that shows whose it is.
	 */
	@Test
	void resignationThatIsHeardRightBeforeTheLookIsEvidence() {
		heard("resigned");
		busy(LEADER);
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
	}

	@Test
	void followerLooksAtOnceWhoHasTheLockWhenALeaderIsElected() {
		busy(LEADER);
		heard("elected");
		assertThat(this.role.isDue()).isTrue();
		heard("resigned");
		assertThat(this.role.isDue()).isTrue();
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void resignationIsNoEvidenceAfterAnElection() {
		busy(LEADER);
		heard("resigned");
		heard("elected");
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void resignationIsNoEvidenceOnALaterConnection() {
		busy(LEADER);
		heard("resigned");
		this.role.connected();
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void candidateLeadsAtOnceWhenItsPredecessorWasSilentForLongerThanItMayBelieve() {
		busy(LEADER);
		looked(LEADER, System.nanoTime() + 2 * PATIENT_WINDOW);
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
	}

	@Test
	void followerLooksWhenTheLockIsReleased() {
		busy("42 true a");
		assertThat(this.role.isDue()).isFalse();
		assertThat(this.role.isListening()).isTrue();
		heard("released");
		assertThat(this.role.isDue()).isTrue();
		busy("42 true b");
		assertThat(this.role.isDue()).isFalse();
		heard("released");
		this.role.connected();
		assertThat(this.role.isDue()).isFalse();
	}

	@Test
	void followerLooksEveryFewSecondsAtMost() {
		assertThat(this.role.isDue()).isTrue();
		for (int i = 0; i < 100; i++) {
			assertDueWithin(() -> busy(""), Duration.ofSeconds(5), Duration.ofMillis(5500));
		}
	}

	@Test
	void followerLooksTwiceBeforeTheServerEndsTheSessionOfASilentLeader() {
		LockSessionSettings settings = LockSessionSettings.DEFAULT;
		try (LockSession other = session(settings)) {
			LeaderRole follower = role(other);
			follower.runForLock();
			long before = System.nanoTime();
			follower.count("42 true a", before);
			long interval = settings.trust().toNanos() / 3 * 2;
			assertThat(follower.pause()).isLessThanOrEqualTo(interval / 10 * 11);
			assertThat(follower.pause() + System.nanoTime() - before).isGreaterThanOrEqualTo(interval);
		}
	}

	@Test
	void followerLooksTenTimesAsOftenWhileTheLeaderIsSilent() {
		busy("42 true a");
		for (int i = 0; i < 100; i++) {
			assertDueWithin(() -> busy("42 true a"), Duration.ofMillis(500), Duration.ofMillis(550));
		}
		assertDueWithin(() -> busy("42 true b"), Duration.ofSeconds(5), Duration.ofMillis(5500));
	}

	@Test
	void lossOfTheLockIsToldAtOnceAndTheRoleFollows() {
		lead();
		long term = term();
		loseLock();
		assertThat(this.events).containsExactly(new LeadershipGainedEvent("role", term),
				new LeadershipLostEvent("role", term));
		assertThat(this.wakes).hasValue(1);
		assertThat(this.role.leadership().check()).isZero();
		assertDueWithin(this.role::advance, Duration.ofMillis(200), Duration.ofMillis(200));
		assertThat(this.role.isOut()).isTrue();
		assertThat(this.role.isListening()).isTrue();
	}

	/**
	 * The server answers after the trust window, and before the connection is given up.
	 */
	@Tag("gate")
	@Test
	void leaderThatWasInDoubtBeginsAnotherTerm() {
		LockSessionSettings settings = new LockSessionSettings(Duration.ofMillis(200), Duration.ofSeconds(6),
				WhenLost.REPORT);
		try (LockSession slow = session(settings)) {
			LeaderRole doubtful = role(slow);
			resign(doubtful);
			Hold hold = campaign(doubtful, slow);
			doubtful.advance();
			long term = doubtful.leadership().term().orElseThrow();
			LeaderOnlyGate.Work work = doubtful.leadership().beginWork();
			LockContext context = LockContext.current().orElseThrow();
			assertThat(context.isHeld()).isTrue();
			// what is slow here would be the network, which no limit of the server ends
			slow.ask(hold, "SELECT 1, set_config('statement_timeout', '0', false)", List.of());
			slow.ask(hold, "SELECT 1, pg_sleep(3.1)", List.of());
			assertThat(doubtful.leadership().isLeader()).isFalse();
			assertThat(context.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(work::complete);
			doubtful.advance();
			assertThat(this.events).containsExactly(new LeadershipGainedEvent("role", term),
					new LeadershipLostEvent("role", term));
			assertThat(doubtful.pause()).isNotPositive();
			doubtful.advance();
			assertThat(doubtful.leadership().term().orElseThrow()).isGreaterThan(term);
			assertThat(this.events).hasSize(3);
		}
	}

	@Test
	void candidateThatLosesItsLockFollows() {
		campaign();
		loseLock();
		assertDueWithin(this.role::advance, Duration.ofMillis(200), Duration.ofMillis(200));
		assertThat(this.role.isOut()).isTrue();
		assertThat(this.events).isEmpty();
	}

	@Test
	void failureEndsTheTermAndTheLockIsGivenBack() {
		lead();
		assertDueWithin(() -> this.role.fail(new IllegalStateException("expected"), 0), Duration.ofSeconds(1),
				Duration.ofSeconds(1));
		assertThat(this.events).hasSize(2);
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
		assertThat(this.role.isOut()).isFalse();
		this.role.advance();
		assertThat(ForeignSession.isHeld(KEY)).isFalse();
		assertThat(this.role.isOut()).isTrue();
	}

	@Test
	void failuresInARowAreWarnedOfOnce() {
		try (LogRecorder log = recordLog()) {
			this.role.fail(new IllegalStateException("expected"), 0);
			this.role.fail(new IllegalStateException("expected"), 0);
			assertThat(log.messages()).containsExactly("Failed to campaign for role 'role', will try again");
			busy("");
			this.role.fail(new IllegalStateException("expected"), 0);
			assertThat(log.messages()).hasSize(2);
		}
	}

	@Test
	void roleThatIsResignedIsLeftToOthersForAWhile() {
		lead();
		long term = term();
		try (LogRecorder log = recordLog()) {
			this.role.leadership().resign();
			assertThat(this.wakes).hasValue(1);
			assertDueWithin(this.role::advance, Duration.ofSeconds(30), Duration.ofSeconds(30));
			assertThat(log.messages()).containsExactly("No longer leading role 'role'");
		}
		assertThat(this.events).containsExactly(new LeadershipGainedEvent("role", term),
				new LeadershipLostEvent("role", term));
		assertThat(ForeignSession.isHeld(KEY)).isFalse();
		assertThat(this.role.isOut()).isTrue();
		assertThat(this.role.isListening()).isFalse();
		heard("released");
		assertThat(this.role.isDue()).isFalse();
		lead();
		assertThat(term()).isGreaterThan(term);
	}

	/**
	 * The lock may be free although the answer has failed.
	 */
	@Test
	void roleIsLeftToOthersWhenItsReleaseFails() {
		FaultyDataSource faulty = new FaultyDataSource();
		try (LockSession failing = new LockSession(faulty, APPLICATION, PATIENT, (lost) -> {
		})) {
			LeaderRole resigned = role(failing);
			resign(resigned);
			campaign(resigned, failing);
			resigned.advance();
			OutOfMemoryError failure = new OutOfMemoryError("injected");
			faulty.failAfter("execute", "pg_advisory_unlock", failure);
			resigned.leadership().resign();
			assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(resigned::advance).isSameAs(failure);
			resigned.fail(failure, 0);
			long before = System.nanoTime();
			resigned.advance();
			assertThat(resigned.isOut()).isTrue();
			assertThat(resigned.pause() + System.nanoTime() - before).isGreaterThanOrEqualTo(LeaderRole.AWAY);
			assertThat(resigned.isListening()).isFalse();
		}
	}

	@Test
	void leaderThatResignsSaysSoBeforeItReleasesItsLock() throws SQLException {
		try (Listener listener = new Listener()) {
			lead();
			this.role.leadership().resign();
			this.role.advance();
			assertThat(listener.heardUntilReleased()).containsExactly("elected", "resigned", "released");
		}
	}

	@Test
	void eachLeaderOfARoleThatIsLedInShardsIsToldOnce() throws SQLException {
		try (Listener listener = new Listener()) {
			for (String leader : List.of(LEADER, LEADER, PROCESS + 1 + " true now")) {
				busy(leader);
				this.role.tellDivided();
				this.role.tellDivided();
			}
			campaign();
			this.role.leadership().stop(false);
			this.role.advance();
			assertThat(listener.heardUntilReleased()).containsExactly("divided", "divided", "released");
		}
	}

	@Test
	void candidateThatStopsDoesNotVouchForItsPredecessor() throws SQLException {
		try (Listener listener = new Listener()) {
			campaign();
			this.role.leadership().stop(false);
			this.role.advance();
			assertThat(listener.heardUntilReleased()).containsExactly("released");
		}
	}

	@Test
	void roleThatIsStoppedIsOutUntilItIsStarted() {
		lead();
		this.role.leadership().stop(false);
		assertThat(this.wakes).hasValue(1);
		this.role.advance();
		assertThat(this.events).hasSize(2);
		assertThat(this.role.isOut()).isTrue();
		assertThat(this.role.isDue()).isFalse();
		assertThat(this.role.isListening()).isFalse();
		assertThat(this.role.pause()).isEqualTo(Long.MAX_VALUE);
		this.role.leadership().start();
		assertThat(this.role.isDue()).isTrue();
		assertThat(this.role.isListening()).isTrue();
		assertThat(this.role.pause()).isNotPositive();
	}

	@Test
	void candidateThatStopsGivesTheLockBack() {
		campaign();
		this.role.leadership().stop(false);
		assertThat(this.role.pause()).isLessThanOrEqualTo(PATIENT_WINDOW);
		this.role.advance();
		assertThat(ForeignSession.isHeld(KEY)).isFalse();
		assertThat(this.role.isOut()).isTrue();
	}

	@Test
	void roleIsResignedWhenItsWorkHasEnded() {
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		this.role.leadership().resign();
		assertThat(this.wakes).hasValue(0);
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
		LeaderOnlyGate.Work part = this.role.leadership().beginWork();
		assertThat(part).isNotNull();
		part.complete();
		assertThat(this.wakes).hasValue(0);
		work.complete();
		assertThat(this.wakes).hasValue(1);
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isFalse();
	}

	@Test
	void workThatIsRefusedLeavesNothingBehind() throws Exception {
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		this.role.leadership().resign();
		assertThat(this.another.submit(this.role.leadership()::beginWork).get()).isNull();
		assertThat(this.another.submit(LockContext::current).get()).isEmpty();
		work.complete();
		assertThat(LockContext.current()).isEmpty();
		this.role.advance();
		assertThat(this.role.isOut()).isTrue();
	}

	@Test
	void workThatAsksWhetherItsLockIsHeldAsksTheServer() {
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		TestPostgres.terminate(APPLICATION);
		LockContext context = LockContext.current().orElseThrow();
		assertThat(context.isHeld()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(context::checkHeld);
		assertThat(this.role.leadership().isLeader()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(work::complete);
	}

	@Test
	void workOfALeaderThatIsNoMoreIsCounted() {
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		try (LogRecorder log = recordLog()) {
			loseLock();
			assertThat(log.messages()).containsExactly(
					"No longer leading role 'role' while work of its leader is running: 1 calls are told that they "
							+ "have lost '" + KEY + "'");
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.role.leadership()::beginWork);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(work::complete);
	}

	@Test
	void workThatStopsItsRoleHasLostNothing() {
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		this.role.leadership().stop(false);
		this.role.advance();
		assertThat(this.role.isOut()).isTrue();
		work.complete();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void workOfTheThreadThatStoppedTheRoleIsWaitedForAfterAnotherStart() {
		lead();
		this.role.leadership().stop(false);
		this.role.advance();
		this.role.leadership().start();
		lead();
		LeaderOnlyGate.Work work = this.role.leadership().beginWork();
		this.role.leadership().resign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
		work.complete();
	}

	@Test
	void workIsToldWhenItsRoleIsStoppedByForce() throws Exception {
		lead();
		LeaderOnlyGate.Work work = this.another.submit(this.role.leadership()::beginWork).get();
		this.role.leadership().stop(false);
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
		this.role.leadership().stop(true);
		this.role.advance();
		assertThat(this.role.isOut()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.another.submit(work::complete)).failsWithin(Duration.ofSeconds(10))
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class);
	}

	/**
	 * Look for the lock, which is free.
	 */
	private void campaign() {
		campaign(this.role, this.session);
	}

	private static Hold campaign(LeaderRole role, LockSession session) {
		long asked = System.nanoTime();
		List<AdvisoryLockKey> keys = List.of(role.key());
		Hold candidate = role.runForLock();
		assertThat(session.tryLocks(List.of(candidate), PostgresLeaderStatements.campaign(keys, Set.of()),
				PostgresLeaderStatements.candidacies(keys)))
			.containsOnlyNulls();
		role.count(null, asked);
		return candidate;
	}

	private void busy(String holder) {
		looked(holder, System.nanoTime());
	}

	/**
	 * Look for the lock, which is not free.
	 */
	private void looked(String holder, long asked) {
		this.role.runForLock();
		this.role.count(holder, asked);
	}

	/**
	 * Have the leader before resign.
	 */
	private static void resign(LeaderRole role) {
		role.runForLock();
		role.count(LEADER, System.nanoTime());
		role.heard(KEY.value() + " resigned", PROCESS);
	}

	private void lead() {
		resign(this.role);
		campaign();
		this.role.advance();
		assertThat(this.role.leadership().isLeader()).isTrue();
	}

	private void heard(String what) {
		this.role.heard(KEY.value() + " " + what, PROCESS);
	}

	private long term() {
		return this.role.leadership().term().orElseThrow();
	}

	/**
	 * Have the server end the session, and ask it something.
	 */
	private void loseLock() {
		TestPostgres.terminate(APPLICATION);
		List<AdvisoryLockKey> keys = List.of(AdvisoryLockKey.of("tests", "leader:other"));
		Hold other = this.session.candidate(keys.get(0), () -> {
		});
		this.session.tryLocks(List.of(other), PostgresLeaderStatements.campaign(keys, Set.of()),
				PostgresLeaderStatements.candidacies(keys));
	}

	private long due() {
		return this.role.pause() + System.nanoTime();
	}

	/**
	 * Assert when something is due, less the time that this takes.
	 */
	private void assertDueWithin(Runnable action, Duration shortest, Duration longest) {
		long before = System.nanoTime();
		action.run();
		assertThat(this.role.pause()).isLessThanOrEqualTo(longest.toNanos());
		assertThat(due() - before).isGreaterThanOrEqualTo(shortest.toNanos());
	}

	private LeaderRole role(LockSession session) {
		return new LeaderRole("role", KEY, session, 0, this.events::add, this.wakes::incrementAndGet);
	}

	private static LockSession session(LockSessionSettings settings) {
		return new LockSession(new DriverManagerDataSource(TestPostgres.url()), APPLICATION, settings, (lost) -> {
		});
	}

	private static LogRecorder recordLog() {
		return LogRecorder.of(LeaderRole.class.getPackageName(), "info");
	}

	/**
	 * Hears what is said about the role.
	 */
	private static final class Listener implements AutoCloseable {

		private final Connection connection = TestPostgres.open();

		private Listener() throws SQLException {
			try (Statement statement = this.connection.createStatement()) {
				statement.execute("LISTEN " + PostgresLeaderStatements.CHANNEL);
			}
		}

		private List<String> heardUntilReleased() throws SQLException {
			PGConnection driver = this.connection.unwrap(PGConnection.class);
			List<String> said = new ArrayList<>();
			Awaitility.await().pollInSameThread().until(() -> {
				for (PGNotification notification : driver.getNotifications(10)) {
					said.add(notification.getParameter().replace(KEY.value() + " ", ""));
				}
				return said.contains("released");
			});
			return said;
		}

		@Override
		public void close() throws SQLException {
			this.connection.close();
		}

	}

}
