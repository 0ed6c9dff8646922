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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for {@link PostgresLeaderElection}.
 */
class PostgresLeaderElectionTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "leader:" + LeaderCandidate.ROLE);

	private static final LockSessionSettings SETTINGS = LockSessionSettings.DEFAULT;

	private static final Duration TRUST = SETTINGS.trust();

	/**
	 * For how long a candidate waits for a predecessor that may believe in itself.
	 */
	private static final Duration WINDOW = TRUST.plus(TRUST.dividedBy(10));

	private static final Duration STEP = Duration.ofMillis(50);

	private final SettableTicker ticker = new SettableTicker();

	private final List<LeaderCandidate> candidates = new ArrayList<>();

	@AfterEach
	void checkThatNoLockIsLeft() {
		this.candidates.forEach(LeaderCandidate::close);
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@Test
	void firstCandidateLeadsWhenAPredecessorCouldNotBelieveAnyMore() {
		LeaderCandidate candidate = join(candidate());
		assertThat(candidate.election().term(LeaderCandidate.ROLE)).isEmpty();
		Awaitility.await().until(() -> !ForeignSession.holders(KEY).isEmpty());
		this.ticker.advance(WINDOW.minusNanos(1));
		assertThat(candidate.isLeader()).isFalse();
		awaitLeader(candidate);
		long term = candidate.election().term(LeaderCandidate.ROLE).orElseThrow();
		Awaitility.await().until(() -> !candidate.events().isEmpty());
		assertThat(candidate.events()).containsExactly(new LeadershipGainedEvent(LeaderCandidate.ROLE, term));
		assertThat(ForeignSession.isFree(KEY)).isFalse();
	}

	/**
	 * Who has not heard of it waits for its whole window.
	 */
	@Test
	void resignationHandsOverAtOnceAndTermsRise() {
		LeaderCandidate leader = join(candidate());
		awaitLeader(leader);
		long term = 0;
		for (int i = 0; i < 20; i++) {
			LeaderCandidate next = join(candidate());
			awaitFollower(next);
			long earlier = leader.election().term(LeaderCandidate.ROLE).orElseThrow();
			assertThat(earlier).isGreaterThan(term);
			term = earlier;
			// at any moment between two looks of the follower
			this.ticker.advance(Duration.ofMillis(ThreadLocalRandom.current().nextLong(100)));
			long stopped = this.ticker.nanoTime();
			leader.election().stop();
			assertThat(leader.isLeader()).isFalse();
			awaitLeader(next);
			assertThat(since(stopped)).isLessThan(TRUST);
			leader = next;
		}
	}

	/**
	 * Whoever gets the lock has heard of it, and need not wait.
	 */
	@Test
	void leaderThatStopsSaysSoBeforeItReleasesItsLock() throws SQLException {
		try (Connection listener = TestPostgres.open(); Statement statement = listener.createStatement()) {
			statement.execute("LISTEN " + PostgresLeaderStatements.CHANNEL);
			LeaderCandidate leader = join(candidate());
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
		LeaderCandidate first = join(candidate());
		awaitLeader(first);
		long firstTerm = first.election().term(LeaderCandidate.ROLE).orElseThrow();
		LeaderCandidate second = join(candidate());
		awaitFollower(second);
		long terminated = this.ticker.nanoTime();
		first.terminate();
		awaitOneLeaderOtherThan(firstTerm);
		assertThat(since(terminated)).isBetween(WINDOW, WINDOW.multipliedBy(2));
		LeaderCandidate leader = second.isLeader() ? second : first;
		assertThat(leader.election().term(LeaderCandidate.ROLE).orElseThrow()).isGreaterThan(firstTerm);
		Awaitility.await().until(() -> first.events().size() >= 2);
		assertThat(first.events()).startsWith(new LeadershipGainedEvent(LeaderCandidate.ROLE, firstTerm),
				new LeadershipLostEvent(LeaderCandidate.ROLE, firstTerm));
	}

	/**
	 * Each has a clock of its own: nobody waits for what the one behind the network does,
	 * but for all that the other does in the same time.
	 */
	@Test
	void leaderBehindAFrozenNetworkStopsBelievingBeforeAnotherBegins() {
		SettableTicker behind = new SettableTicker();
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate frozen = join(
					new LeaderCandidate(new DriverManagerDataSource(proxy.url()), SETTINGS, behind.threads()));
			LeaderCandidate.awaitWhile(() -> behind.advance(STEP), frozen::isLeader);
			long term = frozen.election().term(LeaderCandidate.ROLE).orElseThrow();
			LeaderCandidate other = join(candidate());
			awaitFollower(other);
			frozen.confirm();
			proxy.stall();
			// what the server does when it notices, which may take longer than the window
			frozen.terminate();
			for (Duration left = TRUST; !left.isZero(); left = left.minus(STEP)) {
				assertThat(frozen.isLeader()).isTrue();
				assertThat(other.isLeader()).isFalse();
				behind.pass(STEP);
				this.ticker.advance(STEP);
			}
			assertThat(frozen.isLeader()).isFalse();
			awaitLeader(other);
			assertThat(frozen.isLeader()).isFalse();
			behind.passUntil(() -> frozen.events().size() >= 2);
			assertThat(frozen.events().get(1)).isEqualTo(new LeadershipLostEvent(LeaderCandidate.ROLE, term));
			proxy.resume();
		}
	}

	@Test
	void leaderThatWasInDoubtGoesOnWhenItsLockIsConfirmed() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate leader = join(candidate(proxy.url()));
			awaitLeader(leader);
			long term = leader.election().term(LeaderCandidate.ROLE).orElseThrow();
			proxy.stall();
			this.ticker.pass(TRUST);
			this.ticker.passUntil(() -> leader.events().size() >= 2);
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
		LeaderCandidate waiting = join(candidate());
		Awaitility.await().until(() -> !ForeignSession.holders(KEY).isEmpty());
		LeaderCandidate next = join(candidate());
		awaitFollower(next);
		waiting.election().stop();
		long stopped = this.ticker.nanoTime();
		awaitLeader(next);
		assertThat(since(stopped)).isGreaterThanOrEqualTo(WINDOW);
	}

	/**
	 * Two looks see the same, and there is a window between them.
	 */
	@Test
	void leaderThatWasSilentForItsWindowIsReplacedAsSoonAsItsLockIsFree() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO); TestProxy looks = new TestProxy(Duration.ZERO)) {
			LeaderCandidate silent = join(candidate(proxy.url()));
			awaitLeader(silent);
			LeaderCandidate other = join(candidate(looks.url()));
			awaitFollower(other);
			proxy.stall();
			int before = looks.waits();
			LeaderCandidate.awaitWhile(() -> this.ticker.pass(STEP), () -> looks.waits() >= before + 10);
			assertThat(other.isLeader()).isFalse();
			silent.terminate();
			long terminated = this.ticker.nanoTime();
			passUntilLeader(other);
			assertThat(since(terminated)).isLessThan(TRUST);
			assertThat(silent.isLeader()).isFalse();
			proxy.resume();
		}
	}

	@Test
	void leaderThatWasSilentAnnouncesItselfBeforeItBelievesAgain() {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			LeaderCandidate silent = join(candidate(proxy.url()));
			awaitLeader(silent);
			long term = silent.election().term(LeaderCandidate.ROLE).orElseThrow();
			LeaderCandidate other = join(candidate());
			awaitFollower(other);
			proxy.stall();
			this.ticker.pass(TRUST);
			this.ticker.passUntil(() -> silent.events().size() >= 2);
			proxy.resume();
			awaitLeader(silent);
			long nextTerm = silent.election().term(LeaderCandidate.ROLE).orElseThrow();
			assertThat(nextTerm).isGreaterThan(term);
			silent.terminate();
			long terminated = this.ticker.nanoTime();
			awaitOneLeaderOtherThan(nextTerm);
			assertThat(since(terminated)).isGreaterThanOrEqualTo(WINDOW);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "try_advisory_lock", "pg_notify", "SELECT true" })
	void errorInTheElectionIsNotItsEnd(String statement) {
		FaultyDataSource faulty = new FaultyDataSource();
		faulty.failAfter("execute", statement, new OutOfMemoryError("injected"));
		LeaderCandidate candidate = join(new LeaderCandidate(faulty, SETTINGS, this.ticker.threads()));
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), () -> faulty.hasFailed());
		awaitLeader(candidate);
		assertThat(ForeignSession.holders(KEY)).hasSize(1);
	}

	@Test
	void roleThatIsResignedIsTakenOverAndLeftToOthersForAWhile() {
		LeaderCandidate first = join(candidate());
		awaitLeader(first);
		LeaderCandidate second = join(candidate());
		awaitFollower(second);
		long resigned = this.ticker.nanoTime();
		first.election().resign(LeaderCandidate.ROLE);
		// the lock may not be seen free: the second one may listen at this very moment
		Awaitility.await().until(() -> !first.isLeader());
		awaitLeader(second);
		assertThat(first.isLeader()).isFalse();
		second.election().stop();
		this.ticker.advance(Duration.ofNanos(LeaderRole.AWAY).minus(since(resigned)).minusNanos(1));
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(first.isLeader()).isFalse();
		awaitLeader(first);
	}

	/**
	 * However long the thread of the election is busy.
	 */
	@Test
	void resignationIsInForceWhenItReturns() {
		LeaderCandidate leader = join(candidate());
		awaitLeader(leader);
		PostgresLeaderElection election = leader.election();
		CountDownLatch busy = new CountDownLatch(1);
		leader.session().executor().execute(() -> Awaitility.await().until(() -> busy.getCount() == 0));
		election.resign(LeaderCandidate.ROLE);
		assertThat(leader.isLeader()).isFalse();
		assertThat(election.term(LeaderCandidate.ROLE)).isEmpty();
		assertThat(election.beginWork(LeaderCandidate.ROLE)).isNull();
		assertThat(ForeignSession.isFree(KEY)).isFalse();
		busy.countDown();
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		Awaitility.await().until(() -> leader.events().size() == 2);
		assertThat(leader.events().get(1)).isInstanceOf(LeadershipLostEvent.class);
	}

	@Test
	void roleThatIsAskedForFirstWhileTheElectionEndsIsLedByNobody() throws Exception {
		LeaderCandidate leader = join(candidate());
		awaitLeader(leader);
		CountDownLatch end = new CountDownLatch(1);
		Future<Boolean> work = work(leader, end);
		CountDownLatch stopped = new CountDownLatch(1);
		PostgresLeaderElection election = leader.election();
		election.stop(stopped::countDown);
		for (Duration passed = Duration.ZERO; passed.compareTo(WINDOW) < 0; passed = passed.plus(STEP)) {
			assertThat(election.isLeader("late")).isFalse();
			assertThat(ForeignSession.isFree(AdvisoryLockKey.of("tests", "leader:late"))).isTrue();
			this.ticker.advance(STEP);
		}
		end.countDown();
		assertThat(work.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(stopped.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(election.isLeader("later")).isFalse();
		election.start();
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP),
				() -> election.isLeader("late") && election.isLeader("later"));
	}

	@Test
	void roleIsResignedWhenTheWorkOfItsLeaderHasEnded() {
		LeaderCandidate leader = join(candidate());
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
		this.ticker.advance(TRUST.multipliedBy(2));
		assertThat(leader.isLeader()).isTrue();
		work.complete();
		Awaitility.await().until(() -> !leader.isLeader() && ForeignSession.isFree(KEY));
	}

	@Test
	void instanceRunsForABoundedNumberOfRoles() {
		LeaderCandidate candidate = join(candidate());
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
		LeaderCandidate first = join(candidate());
		awaitLeader(first);
		LeaderCandidate second = join(candidate());
		assertThat(second.election().isLeader("metrics")).isFalse();
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), () -> second.election().isLeader("metrics"));
		assertThat(first.election().isLeader("metrics")).isFalse();
		assertThat(second.isLeader()).isFalse();
		assertThat(first.isLeader()).isTrue();
	}

	@Test
	void electionThatIsStartedAgainTakesPartAgain() {
		LeaderCandidate candidate = join(candidate());
		awaitLeader(candidate);
		candidate.election().stop();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(candidate.election().isRunning()).isFalse();
		candidate.election().start();
		awaitLeader(candidate);
	}

	@Test
	void everyCallerWhoStopsTheElectionGoesOnWhenTheWorkOfTheLeaderHasEnded() throws Exception {
		LeaderCandidate leader = join(candidate());
		awaitLeader(leader);
		CountDownLatch end = new CountDownLatch(1);
		Future<Boolean> work = work(leader, end);
		CountDownLatch stopped = new CountDownLatch(2);
		leader.election().stop(stopped::countDown);
		leader.election().stop(stopped::countDown);
		assertThat(leader.isLeader()).isTrue();
		end.countDown();
		assertThat(work.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(stopped.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void callerWhoStopsTheElectionGoesOnWhenItIsStartedAgainBeforeItsEnd() throws Exception {
		LeaderCandidate leader = join(candidate());
		awaitLeader(leader);
		CountDownLatch end = new CountDownLatch(1);
		Future<Boolean> work = work(leader, end);
		CountDownLatch stopped = new CountDownLatch(1);
		leader.election().stop(stopped::countDown);
		leader.election().start();
		assertThat(stopped.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		end.countDown();
		assertThat(work.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(leader.isLeader()).isTrue();
		assertThat(leader.election().isRunning()).isTrue();
	}

	private static Future<Boolean> work(LeaderCandidate leader, CountDownLatch end) {
		CountDownLatch begun = new CountDownLatch(1);
		Future<Boolean> work = CompletableFuture.supplyAsync(() -> {
			LeaderOnlyGate.Work part = leader.election().beginWork(LeaderCandidate.ROLE);
			begun.countDown();
			Awaitility.await().until(() -> end.getCount() == 0);
			part.complete();
			return true;
		});
		Awaitility.await().until(() -> begun.getCount() == 0);
		return work;
	}

	/**
	 * A caller that is forgotten waits for 10 s.
	 */
	@Test
	void severalThreadsMayStartAndStopTheElectionAtOnce() throws Exception {
		LeaderCandidate candidate = join(candidate());
		awaitLeader(candidate);
		ExecutorService threads = Executors.newFixedThreadPool(10);
		try {
			List<Future<?>> callers = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				callers.add(threads.submit(() -> {
					for (int pair = 0; pair < 20; pair++) {
						candidate.election().start();
						candidate.election().stop();
					}
				}));
			}
			for (Future<?> caller : callers) {
				caller.get(Patience.SECONDS, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(candidate.election().isRunning()).isFalse();
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		candidate.election().start();
		awaitLeader(candidate);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b", "leader:reports", "r\u00f4le",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" })
	void roleWithAnotherSyntaxIsRefused(String role) {
		LeaderCandidate candidate = join(candidate());
		assertThatIllegalArgumentException().isThrownBy(() -> candidate.election().isLeader(role))
			.withMessageStartingWith("'role' must be 1 to 64 letters")
			.withMessageEndingWith("'" + role + "'");
	}

	private LeaderCandidate join(LeaderCandidate candidate) {
		this.candidates.add(candidate);
		return candidate;
	}

	private LeaderCandidate candidate() {
		return candidate(TestPostgres.url());
	}

	private LeaderCandidate candidate(String url) {
		return new LeaderCandidate(new DriverManagerDataSource(url), SETTINGS, this.ticker.threads());
	}

	private Duration since(long nanoTime) {
		return Duration.ofNanos(this.ticker.nanoTime() - nanoTime);
	}

	/**
	 * Let time pass until a candidate leads.
	 */
	private void awaitLeader(LeaderCandidate candidate) {
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), candidate::isLeader);
	}

	/**
	 * As {@link #awaitLeader}, where another candidate waits for a server that is silent.
	 */
	private void passUntilLeader(LeaderCandidate candidate) {
		LeaderCandidate.awaitWhile(() -> this.ticker.pass(STEP), candidate::isLeader);
	}

	private void awaitOneLeaderOtherThan(long term) {
		LeaderCandidate.awaitWhile(() -> this.ticker.advance(STEP), () -> {
			LeaderCandidate leader = LeaderCandidate.findLeader(this.candidates, () -> fail("Two lead at once"));
			return leader != null && leader.election().term(LeaderCandidate.ROLE).orElse(term) > term;
		});
	}

	private static void awaitFollower(LeaderCandidate candidate) {
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(candidate::isFollowing);
	}

}
