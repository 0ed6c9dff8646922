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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockThread;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link TickLocks}, with two instances that both are called for a tick.
 */
class TickLocksTests extends AbstractLockTests {

	private static final Instant TICK = Instant.parse("2026-11-22T02:00:00Z");

	private static final Duration MEMORY = Duration.ofMinutes(1);

	private static final RequestDetail.Interval INTERVAL = new RequestDetail.Interval(Duration.ofMinutes(1),
			RequestDetail.Interval.Counted.FROM_BEGIN);

	private static final Duration IDLE = Duration.ofSeconds(10);

	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofMillis(50), PATIENCE,
			WhenLost.INTERRUPT);

	private final AtomicInteger runs = new AtomicInteger();

	private LockSession session;

	private PostgresAdvisoryLockTemplate late;

	@BeforeEach
	void startInstances() {
		this.session = session(TestPostgres.url());
		this.template = instance(this.session, AdvisoryLockKeyFactory.sha256());
		this.late = instance(session(TestPostgres.url()), AdvisoryLockKeyFactory.sha256());
	}

	@AfterEach
	void stopInstances() {
		this.sessions.forEach(LockSession::close);
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void lateCallerLearnsThatTheTickWasRun(LockScope scope) {
		assertThat(run(this.template, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(this.template, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(this.runs).hasValue(1);
		assertThat(TestPostgres.locks()).containsExactly(numberOf(tickKey(TICK)));
	}

	@Test
	void closedSessionLeavesNoThread() {
		long before = System.nanoTime();
		PostgresAdvisoryLockTemplate closed = instance(session(TestPostgres.url()), AdvisoryLockKeyFactory.sha256());
		closed.tryAcquire(request(LockScope.SESSION)).orElseThrow().close();
		closed.execute(tick(LockScope.TRANSACTION, TICK), (lock) -> {
			Awaitility.await()
				.until(() -> threadsSince(before).containsAll(List.of("advisory-lock-session", "advisory-lock-timer")));
			return true;
		});
		this.sessions.get(this.sessions.size() - 1).close();
		// sooner than threads go that nobody stops
		Awaitility.await().atMost(Patience.TIME).until(() -> threadsSince(before), List::isEmpty);
	}

	@ParameterizedTest
	@EnumSource
	void nextTickAndCallsForNoneRun(LockScope scope) {
		run(this.template, tick(scope, TICK));
		assertThat(run(this.late, tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.late, request(scope))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.template, request(scope))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void keysOfTwoNumbers(LockScope scope) {
		PostgresAdvisoryLockTemplate first = instance(this.session, AdvisoryLockKeyFactory.pair());
		PostgresAdvisoryLockTemplate second = instance(this.sessions.get(this.sessions.size() - 1),
				AdvisoryLockKeyFactory.pair());
		assertThat(run(first, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(second, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(second, request(scope))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void tickOfARunThatFailsIsRunByTheNextInstance(LockScope scope) {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(tick(scope, TICK), (lock) -> {
			throw new IllegalStateException("expected");
		})).withMessage("expected");
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void tickIsBusyWhileItIsRunAndTheKeyForTheNextTick(LockScope scope) throws Exception {
		whileAnotherThreadRuns(tick(scope, TICK), () -> {
			assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.BUSY);
			assertThat(run(this.late, tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.BUSY);
			return true;
		});
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(run(this.late, tick(scope, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void lockThatIsLostWhileTheTickIsRunIsTakenAgain() {
		assertThat(this.template.execute(tick(LockScope.TRANSACTION, TICK), (lock) -> {
			int terminated = TestPostgres.terminate(NAMESPACE);
			Awaitility.await().until(() -> TestPostgres.locks().contains(numberOf(tickKey(TICK))));
			return terminated;
		}).value()).isPositive();
		assertThat(this.events).isEmpty();
		Awaitility.await()
			.untilAsserted(() -> assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK)))
				.isEqualTo(LockOutcome.ALREADY_RAN));
		assertThat(this.runs).hasValue(0);
	}

	/**
	 * Who asks again and again gets the lock in the first moment in which nobody has it.
	 */
	@Test
	void lockThatIsTakenAgainAtTheEndOfTheRunIsNotGivenUp() throws Exception {
		FaultyDataSource source = new FaultyDataSource();
		PostgresAdvisoryLockTemplate instance = instance(source, PATIENCE);
		try (Connection another = TestPostgres.open(); Statement statement = another.createStatement()) {
			instance.execute(tick(LockScope.TRANSACTION, TICK), (lock) -> {
				source.delayAfter("execute", "pg_try_advisory_lock_shared(?) THEN 0", Duration.ofMillis(500));
				TestPostgres.terminate(NAMESPACE);
				Awaitility.await().until(() -> TestPostgres.locks().contains(numberOf(tickKey(TICK))));
				return true;
			});
			statement.execute("""
					DO $$ BEGIN
					  WHILE clock_timestamp() < now() + INTERVAL '2 seconds' LOOP
					    ASSERT NOT pg_try_advisory_lock(%d), 'nobody has the lock';
					  END LOOP;
					END $$""".formatted(tickKey(TICK).value()));
		}
		assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void tickWhoseLockIsLostWhileThatOfTheKeyIsWaitedForIsAskedForOnceMore() throws Exception {
		LockSession session = new LockSession(new DriverManagerDataSource(TestPostgres.url()), NAMESPACE,
				new LockSessionSettings(Duration.ofMinutes(5), Duration.ofMinutes(10), WhenLost.INTERRUPT),
				this.events::add);
		this.sessions.add(session);
		PostgresAdvisoryLockTemplate waiting = instance(session, AdvisoryLockKeyFactory.sha256());
		try (Connection another = TestPostgres.open(); Statement statement = another.createStatement()) {
			Future<LockOutcome> outcome;
			try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of(NAMESPACE, "job"))) {
				outcome = this.threads.submit(() -> run(waiting, tick(LockScope.SESSION, TICK).waitFor(LONG)));
				Awaitility.await().until(() -> ForeignSession.isHeld(tickKey(TICK)));
				assertThat(TestPostgres.terminate(NAMESPACE)).isPositive();
				// as of an instance that has run the tick
				statement.execute("SELECT pg_advisory_lock_shared(" + tickKey(TICK).value() + ")");
			}
			assertThat(outcome.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.ALREADY_RAN);
		}
		assertThat(this.runs).hasValue(0);
	}

	@ParameterizedTest
	@EnumSource
	void whoWaitsForTheLockLearnsThatTheTickWasRun(LockScope scope) throws Exception {
		LockRequest request = tick(scope, TICK).waitFor(LONG);
		List<Future<LockOutcome>> waiting = new ArrayList<>();
		whileAnotherThreadRuns(tick(scope, TICK), () -> {
			waiting.add(this.threads.submit(() -> run(this.late, request)));
			return waiting.add(this.threads.submit(() -> run(this.template, request)));
		});
		for (Future<LockOutcome> waiter : waiting) {
			assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.ALREADY_RAN);
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionOfTheCallerDecides(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			run(this.template, tick(scope, TICK));
			status.setRollbackOnly();
		});
		assertThat(TestPostgres.locks()).isEmpty();
		transaction().executeWithoutResult(
				(status) -> assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED));
		assertThat(run(this.template, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@ParameterizedTest
	@EnumSource
	void commitThatFailsGivesTheTickBack(LockScope scope) {
		assertThatIllegalStateException().isThrownBy(() -> transaction().executeWithoutResult((status) -> {
			run(this.template, tick(scope, TICK));
			TransactionSynchronizationManager.registerSynchronization(new FailingCommit());
		})).withMessage("expected");
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void commitOfItsOwnTransactionThatFailsGivesTheTickBack() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute(tick(LockScope.TRANSACTION, TICK), (lock) -> {
				TransactionSynchronizationManager.registerSynchronization(new FailingCommit());
				return 1;
			}))
			.withMessage("expected");
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
	}

	/**
	 * The heartbeat is too slow to notice, so the loss comes to light at the release.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void tickOfARunWhoseLockTurnsOutToBeLostAtItsReleaseIsRunAgain(boolean bySameInstance) {
		LockSession slow = new LockSession(new DriverManagerDataSource(TestPostgres.url()), NAMESPACE,
				new LockSessionSettings(Duration.ofMinutes(1), Duration.ofMinutes(2), WhenLost.INTERRUPT),
				this.events::add);
		this.sessions.add(slow);
		this.template = instance(slow, AdvisoryLockKeyFactory.sha256());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(tick(LockScope.SESSION, TICK),
					(lock) -> assertThat(TestPostgres.terminate(NAMESPACE)).isEqualTo(1)));
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(bySameInstance ? this.template : this.late, tick(LockScope.SESSION, TICK)))
			.isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void memoryEndsAndTheConnectionWithIt(LockScope scope) {
		SettableTicker ticker = useTicker();
		run(this.template, request(scope).rememberTick(TICK, MEMORY));
		ticker.pass(MEMORY.minusNanos(1));
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		ticker.passUntil(() -> TestPostgres.locks().isEmpty());
		assertThat(this.session.isConnected()).isTrue();
		ticker.pass(IDLE);
		ticker.passUntil(() -> !this.session.isConnected());
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void whoHasRunTheTickForgetsItToo() {
		SettableTicker ticker = useTicker();
		run(this.template, request(LockScope.TRANSACTION).rememberTick(TICK, MEMORY));
		ticker.pass(MEMORY.minusNanos(1));
		assertThat(run(this.template, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
		ticker.passUntil(() -> run(this.template, tick(LockScope.TRANSACTION, TICK)) == LockOutcome.EXECUTED);
	}

	/**
	 * Whoever looks meanwhile whether all ticks are remembered takes it, too.
	 */
	@Tag("gate")
	@Test
	void tickThatIsTakenSlowlyIsForgottenAllTheSame() throws Exception {
		Hold carried = new Hold.OfTick(AdvisoryLockKey.of("carried"), LockMode.EXCLUSIVE, () -> {
		});
		assertThat(this.session.tryLock(carried)).isTrue();
		Future<Long> slow = this.threads.submit(() -> this.session.sideConnection(carried)
			.ask("SELECT 1 FROM pg_catalog.pg_sleep(CAST(? AS double precision))", List.of("0.7")));
		Awaitility.await()
			.until(() -> !TestPostgres.query(
					"SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 1 FROM pg_catalog.pg_s%'")
				.isEmpty());
		run(this.template, request(LockScope.TRANSACTION).rememberTick(TICK, Duration.ofSeconds(2)));
		slow.get(Patience.SECONDS, TimeUnit.SECONDS);
		this.session.forget(List.of(carried));
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void lossOfTheSessionIsToldToNobodyAndMadeGood(LockScope scope) {
		run(this.template, tick(scope, TICK));
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			assertThat(TestPostgres.terminate(NAMESPACE)).isPositive();
			Awaitility.await().until(() -> TestPostgres.locks().contains(numberOf(tickKey(TICK))));
			assertThat(log.messages()).isEmpty();
		}
		assertThat(this.events).isEmpty();
		assertThat(run(this.late, tick(scope, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void runIsNotLostWhereNothingCanRemember() {
		PostgresAdvisoryLockTemplate forgetful = instance(session("jdbc:postgresql://127.0.0.1:1/none"),
				AdvisoryLockKeyFactory.sha256());
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			assertThat(run(forgetful, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
			assertThat(run(forgetful, tick(LockScope.TRANSACTION, TICK.plusSeconds(2))))
				.isEqualTo(LockOutcome.EXECUTED);
			assertThat(log.messages()).singleElement().asString().contains("tests/job", TICK.toString(), "PER_TICK");
		}
		assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whoCanRememberNothingDoesNotRunWhatAnotherInstanceRemembers(boolean own) {
		LockRequest tick = tick(LockScope.TRANSACTION, TICK);
		LockRequest interval = request(LockScope.TRANSACTION).with(INTERVAL);
		run(this.template, tick);
		run(this.template, interval);
		PostgresAdvisoryLockTemplate forgetful = instance(session("jdbc:postgresql://127.0.0.1:1/none"),
				AdvisoryLockKeyFactory.sha256());
		assertThat(own ? run(forgetful, tick) : transaction().execute((status) -> run(forgetful, tick)))
			.isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(own ? run(forgetful, interval) : transaction().execute((status) -> run(forgetful, interval)))
			.isEqualTo(LockOutcome.TOO_SOON);
		assertThat(this.runs).hasValue(2);
		assertThat(TestPostgres.locks()).hasSize(2).doesNotContain(numberOf(AdvisoryLockKey.of(NAMESPACE, "job")));
		assertThat(run(this.late, request(LockScope.TRANSACTION))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void tickThatFailedElsewhereIsRunByWhoCanRememberNothing() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute(tick(LockScope.TRANSACTION, TICK), (lock) -> {
				throw new IllegalStateException("expected");
			}))
			.withMessage("expected");
		PostgresAdvisoryLockTemplate forgetful = instance(session("jdbc:postgresql://127.0.0.1:1/none"),
				AdvisoryLockKeyFactory.sha256());
		assertThat(run(forgetful, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void runWaitsUntilASlowServerHasOpenedTheSession() throws Exception {
		try (SlowOpening slow = new SlowOpening(); LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			PostgresAdvisoryLockTemplate starting = instance(slow, Duration.ofSeconds(30));
			Future<LockOutcome> run = this.threads.submit(() -> run(starting, tick(LockScope.TRANSACTION, TICK)));
			slow.begun.await();
			Awaitility.await().during(Duration.ofMillis(1500)).until(() -> !run.isDone());
			assertThat(this.runs).hasValue(0);
			assertThat(TestPostgres.locks()).isEmpty();
			slow.close();
			assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(log.messages()).isEmpty();
		}
		assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@Test
	void runIsNotLostWhereTheSessionIsNotOpenedInTime() {
		try (SlowOpening slow = new SlowOpening(); LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			PostgresAdvisoryLockTemplate starting = instance(slow, Duration.ofMillis(300));
			assertThat(run(starting, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
			assertThat(log.messages()).singleElement().asString().contains("tests/job", "within 300 ms", "PER_TICK");
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockThatIsGrantedAfterTheEndOfTheWaitIsReleased(EndOfWait end) throws Exception {
		LockRequest request = end.interval ? request(LockScope.TRANSACTION).with(INTERVAL)
				: tick(LockScope.TRANSACTION, TICK);
		try (SlowOpening slow = new SlowOpening(); LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			PostgresAdvisoryLockTemplate starting = instance(slow,
					end.interrupted ? Duration.ofSeconds(30) : Duration.ofMillis(300));
			LockSession opening = this.sessions.get(this.sessions.size() - 1);
			CountDownLatch asked = new CountDownLatch(1);
			CountDownLatch goOn = new CountDownLatch(1);
			AtomicReference<Thread> runner = new AtomicReference<>();
			Future<LockOutcome> run = this.threads.submit(() -> {
				runner.set(Thread.currentThread());
				return starting.execute(request, (lock) -> {
					Thread.interrupted();
					asked.countDown();
					goOn.await();
					return this.runs.incrementAndGet();
				}).outcome();
			});
			slow.begun.await();
			if (end.interrupted) {
				runner.get().interrupt();
			}
			asked.await();
			if (end.running) {
				slow.close();
				Awaitility.await().until(opening::isConnected);
			}
			goOn.countDown();
			assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
			slow.close();
			Awaitility.await().until(opening::isConnected);
			assertThat(opening.tryLock(new Hold.OfTick(AdvisoryLockKey.of("after"), LockMode.EXCLUSIVE, () -> {
			}))).isTrue();
			assertThat(log.messages()).singleElement().asString().contains("tests/job");
		}
		// nobody takes it later either
		Awaitility.await()
			.during(SETTINGS.heartbeat().multipliedBy(5))
			.until(() -> TestPostgres.locks().equals(List.of(numberOf(AdvisoryLockKey.of("after")))));
		assertThat(run(this.late, request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.template, request)).isNotIn(LockOutcome.EXECUTED, LockOutcome.BUSY);
	}

	/**
	 * A timer of another instance would else never run the job again.
	 */
	@Test
	void tickThatIsRunWithoutItsLockIsRememberedByNobody() {
		RefusedOpening server = new RefusedOpening();
		PostgresAdvisoryLockTemplate instance = instance(server, PATIENCE);
		assertThat(run(instance, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
		server.up = true;
		assertThat(run(instance, tick(LockScope.TRANSACTION, TICK.plusSeconds(1)))).isEqualTo(LockOutcome.EXECUTED);
		Awaitility.await()
			.during(SETTINGS.heartbeat().multipliedBy(5))
			.until(() -> TestPostgres.locks().equals(List.of(numberOf(tickKey(TICK.plusSeconds(1))))));
	}

	@Test
	void tickOfAServerThatIsUpAgainIsRememberedAtOnce() {
		RefusedOpening refused = new RefusedOpening();
		PostgresAdvisoryLockTemplate back = instance(refused, PATIENCE);
		Awaitility.await().until(() -> {
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> run(back, request(LockScope.SESSION)))
				.extracting(SqlState::of)
				.isEqualTo("08001");
			return refused.attempts.get() == 5;
		});
		refused.up = true;
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> run(back, request(LockScope.SESSION)))
			.extracting(SqlState::of)
			.isEqualTo("08001");
		assertThat(run(back, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.late, tick(LockScope.TRANSACTION, TICK))).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	/**
	 * On a virtual thread, too, where it would close the connection of the commit.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void interruptEndsTheWaitForTheSessionAndIsKeptAfterTheCommit(boolean own) throws Exception {
		try (SlowOpening slow = new SlowOpening()) {
			PostgresAdvisoryLockTemplate starting = instance(slow, Duration.ofSeconds(30));
			AtomicReference<Thread> runner = new AtomicReference<>();
			Future<Boolean> interrupted = this.threads.submit(() -> {
				runner.set(Thread.currentThread());
				LockRequest request = tick(LockScope.TRANSACTION, TICK);
				assertThat(own ? run(starting, request) : transaction().execute((status) -> run(starting, request)))
					.isEqualTo(LockOutcome.EXECUTED);
				return Thread.interrupted();
			});
			slow.begun.await();
			runner.get().interrupt();
			assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void eachTimeThatNothingCanRememberIsSaidOnce() {
		RefusedOpening server = new RefusedOpening();
		PostgresAdvisoryLockTemplate instance = instance(server, PATIENCE);
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			run(instance, tick(LockScope.TRANSACTION, TICK));
			run(instance, tick(LockScope.TRANSACTION, TICK.plusSeconds(1)));
			assertThat(log.messages()).hasSize(1);
			server.up = true;
			run(instance, tick(LockScope.TRANSACTION, TICK.plusSeconds(2)));
			assertThat(TestPostgres.locks()).hasSize(1);
			server.up = false;
			assertThat(TestPostgres.terminate(NAMESPACE)).isPositive();
			Awaitility.await().until(() -> log.messages().size() == 2);
		}
	}

	@ParameterizedTest
	@EnumSource
	void winnerAsksTwiceMoreAndLateInstanceOnlyForTheTick(LockScope scope) {
		String url = CountingSocketFactory.addTo(TestPostgres.url());
		usePool(TestPostgres.pool(url, 1));
		LockSession counted = new LockSession(new DriverManagerDataSource(url), NAMESPACE,
				new LockSessionSettings(Duration.ofMinutes(1), Duration.ofMinutes(2), WhenLost.INTERRUPT),
				this.events::add);
		this.sessions.add(counted);
		this.template = instance(counted, AdvisoryLockKeyFactory.sha256());
		long plain = roundTrips(LockOutcome.EXECUTED, (i) -> request(scope));
		assertThat(roundTrips(LockOutcome.EXECUTED, (i) -> tick(scope, TICK.plusSeconds(i)))).isBetween(plain + 1,
				plain + 2);
		try (HikariDataSource other = TestPostgres.pool(2)) {
			this.late = new PostgresAdvisoryLockTemplate(other, new JdbcTransactionManager(other),
					session(TestPostgres.url()), NAMESPACE, AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
			assertThat(roundTrips(LockOutcome.ALREADY_RAN, (i) -> {
				run(this.late, tick(scope, TICK.minusSeconds(i + 1)));
				run(this.template, tick(scope, TICK.minusSeconds(i + 1)));
				return tick(scope, TICK.minusSeconds(i + 1));
			})).isOne();
		}
	}

	/**
	 * Return how many round trips a call takes when nobody else takes any.
	 */
	private static List<String> threadsSince(long nanoTime) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("advisory-lock-"))
			.filter((thread) -> !LockThread.isOfOlder(thread, nanoTime))
			.map(Thread::getName)
			.toList();
	}

	private long roundTrips(LockOutcome expected, IntFunction<LockRequest> requests) {
		return IntStream.range(0, 15).mapToLong((i) -> {
			LockRequest request = requests.apply(i);
			long before = CountingSocketFactory.roundTrips();
			assertThat(run(this.template, request)).isEqualTo(expected);
			return CountingSocketFactory.roundTrips() - before;
		}).min().orElseThrow();
	}

	@Test
	void rememberedTickIsNoHeldLock() {
		run(this.template, tick(LockScope.TRANSACTION, TICK));
		assertThat(this.template.getHeldLocks()).isZero();
	}

	@Test
	void sharedWorkIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> run(this.template, tick(LockScope.SESSION, TICK).mode(LockMode.SHARED)))
			.withMessageContaining("tests/job");
	}

	private LockOutcome run(PostgresAdvisoryLockTemplate instance, LockRequest request) {
		return instance.execute(request, (lock) -> this.runs.incrementAndGet()).outcome();
	}

	private LockRequest tick(LockScope scope, Instant tick) {
		return request(scope).rememberTick(tick, MEMORY);
	}

	private static AdvisoryLockKey tickKey(Instant tick) {
		return AdvisoryLockKey.of(NAMESPACE, "advisory-lock:tick:job@" + tick);
	}

	private static String numberOf(AdvisoryLockKey key) {
		return Integer.toUnsignedString(key.classId()) + "/" + Integer.toUnsignedString(key.objectId()) + "/1";
	}

	/**
	 * Have the first instance go by a clock of its own.
	 */
	private SettableTicker useTicker() {
		SettableTicker ticker = new SettableTicker();
		this.session = new LockSession(() -> new DriverManagerDataSource(TestPostgres.url()), NAMESPACE, null,
				new LockSessionSettings(SETTINGS.heartbeat(), SETTINGS.deadClientTimeout(), SETTINGS.whenLost(), IDLE),
				ServerJudge.NONE, this.events::add, ticker.threads());
		this.sessions.add(this.session);
		this.template = instance(this.session, AdvisoryLockKeyFactory.sha256());
		return ticker;
	}

	private LockSession session(String url) {
		LockSession session = new LockSession(new DriverManagerDataSource(url), NAMESPACE, SETTINGS, this.events::add);
		this.sessions.add(session);
		return session;
	}

	private PostgresAdvisoryLockTemplate instance(DataSource source, Duration patience) {
		LockSession session = new LockSession(source, NAMESPACE,
				new LockSessionSettings(Duration.ofMillis(50), patience, WhenLost.INTERRUPT), this.events::add);
		this.sessions.add(session);
		return instance(session, AdvisoryLockKeyFactory.sha256());
	}

	private PostgresAdvisoryLockTemplate instance(LockSession session, AdvisoryLockKeyFactory keyFactory) {
		return new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE, keyFactory,
				Duration.ZERO, 1000);
	}

	/**
	 * Fails after the lock has heard of the commit.
	 */
	private static final class FailingCommit implements TransactionSynchronization {

		@Override
		public void beforeCommit(boolean readOnly) {
			throw new IllegalStateException("expected");
		}

	}

	/**
	 * A server that refuses connections until it is up.
	 */
	private static final class RefusedOpening extends DriverManagerDataSource {

		private final AtomicInteger attempts = new AtomicInteger();

		private volatile boolean up;

		private RefusedOpening() {
			super(TestPostgres.url());
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (!this.up) {
				this.attempts.incrementAndGet();
				throw new SQLException("refused", "08001");
			}
			return super.getConnection();
		}

	}

	/**
	 * Opens no connection until it is closed.
	 */
	private static final class SlowOpening extends DriverManagerDataSource implements AutoCloseable {

		private final CountDownLatch begun = new CountDownLatch(1);

		private final CountDownLatch closed = new CountDownLatch(1);

		private SlowOpening() {
			super(TestPostgres.url());
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.begun.countDown();
			try {
				this.closed.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return super.getConnection();
		}

		@Override
		public void close() {
			this.closed.countDown();
		}

	}

	/**
	 * How the wait for a lock session ends that does not open, and when it opens.
	 */
	private enum EndOfWait {

		TIME_AND_RUN_OVER(false, false, false), TIME_AND_RUN_GOES_ON(false, true, false),
		INTERRUPT_AND_RUN_OVER(true, false, false), INTERRUPT_AND_RUN_GOES_ON(true, true, false),
		TIME_OF_INTERVAL_AND_RUN_OVER(false, false, true), INTERRUPT_OF_INTERVAL_AND_RUN_GOES_ON(true, true, true);

		private final boolean interrupted;

		private final boolean running;

		private final boolean interval;

		EndOfWait(boolean interrupted, boolean running, boolean interval) {
			this.interrupted = interrupted;
			this.running = running;
			this.interval = interval;
		}

	}

}
