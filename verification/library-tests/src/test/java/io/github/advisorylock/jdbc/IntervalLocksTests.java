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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link TickLocks} and intervals, with instances that are called at phases of
 * their own.
 */
class IntervalLocksTests extends AbstractLockTests {

	private static final Interval RATE = new Interval(Duration.ofSeconds(1), Counted.FROM_BEGIN);

	private static final Interval DELAY = new Interval(Duration.ofSeconds(1), Counted.FROM_END);

	/**
	 * No look at what is remembered comes when an interval ends.
	 */
	private static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofMillis(70),
			Duration.ofSeconds(2), WhenLost.INTERRUPT);

	private final SettableTicker ticker = new SettableTicker();

	private final AtomicInteger runs = new AtomicInteger();

	private PostgresAdvisoryLockTemplate other;

	@BeforeEach
	void startInstances() {
		this.template = instance(NAMESPACE);
		this.other = instance("others");
	}

	@AfterEach
	void stopInstances() {
		this.sessions.forEach(LockSession::close);
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	static Stream<Arguments> scopesAndIntervals() {
		return Stream.of(LockScope.values())
			.flatMap((scope) -> Stream.of(Arguments.of(scope, RATE), Arguments.of(scope, DELAY)));
	}

	@ParameterizedTest
	@MethodSource("scopesAndIntervals")
	void nobodyRunsUntilNineTenthsAreOver(LockScope scope, Interval interval) {
		LockRequest request = request(scope).with(interval);
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.locks()).containsExactly(numberOf(lockOf(interval)));
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.TOO_SOON);
		this.ticker.advance(Duration.ofMillis(899));
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.TOO_SOON);
		this.ticker.advance(Duration.ofMillis(1));
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.TOO_SOON);
		assertThat(this.runs).hasValue(2);
	}

	@ParameterizedTest
	@EnumSource
	void rateIsCountedFromTheBeginOfTheRunAndDelayFromItsEnd(LockScope scope) {
		for (Interval interval : List.of(RATE, DELAY)) {
			LockRequest request = request(scope).with(interval);
			assertThat(run(this.template, request, Duration.ofMillis(300))).isEqualTo(LockOutcome.EXECUTED);
			this.ticker.advance(Duration.ofMillis(599));
			assertThat(run(this.other, request)).isEqualTo(LockOutcome.TOO_SOON);
			this.ticker.advance(Duration.ofMillis(1));
			LockOutcome afterTheBegin = (interval == RATE) ? LockOutcome.EXECUTED : LockOutcome.TOO_SOON;
			assertThat(run(this.other, request)).isEqualTo(afterTheBegin);
			this.ticker.advance(Duration.ofMillis(300));
			LockOutcome afterTheEnd = (interval == RATE) ? LockOutcome.TOO_SOON : LockOutcome.EXECUTED;
			assertThat(run(this.other, request)).isEqualTo(afterTheEnd);
			this.ticker.advance(Duration.ofSeconds(1));
		}
	}

	@ParameterizedTest
	@EnumSource
	void runThatTakesLongerThanItsIntervalIsBusyAndFollowedAtOnce(LockScope scope) {
		LockRequest request = request(scope).with(RATE);
		assertThat(this.template.execute(request, (lock) -> {
			this.ticker.advance(Duration.ofSeconds(2));
			return run(this.other, request);
		}).orElseThrow()).isEqualTo(LockOutcome.BUSY);
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@MethodSource("scopesAndIntervals")
	void runThatFailsIsNotRemembered(LockScope scope, Interval interval) {
		LockRequest request = request(scope).with(interval);
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			throw new IllegalStateException("expected");
		})).withMessage("expected");
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.TOO_SOON);
	}

	@ParameterizedTest
	@EnumSource
	void rollbackOfTheCallersTransactionForgetsTheRun(LockScope scope) {
		LockRequest request = request(scope).with(RATE);
		transaction().executeWithoutResult((status) -> {
			assertThat(run(this.template, request)).isEqualTo(LockOutcome.EXECUTED);
			status.setRollbackOnly();
		});
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void callForNoIntervalRunsAndIsNotRemembered() {
		LockRequest request = request(LockScope.TRANSACTION);
		assertThat(run(this.template, request.with(RATE))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
		this.ticker.advance(Duration.ofMillis(900));
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.other, request.with(RATE))).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void intervalsOfTwoSchedulesAreEachOnesOwn() {
		LockRequest request = request(LockScope.TRANSACTION);
		Interval longer = new Interval(Duration.ofHours(1), Counted.FROM_BEGIN, "1");
		assertThat(run(this.template, request.with(longer))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.other, request.with(RATE))).isEqualTo(LockOutcome.EXECUTED);
		this.ticker.advance(Duration.ofMillis(900));
		assertThat(run(this.template, request.with(RATE))).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run(this.other, request.with(longer))).isEqualTo(LockOutcome.TOO_SOON);
	}

	@Test
	void instanceThatRanSaysByItsOwnLengthHowLongThatIsRemembered() {
		LockRequest longer = request(LockScope.TRANSACTION).with(new Interval(Duration.ofSeconds(2), Counted.FROM_END));
		LockRequest shorter = request(LockScope.TRANSACTION).with(RATE);
		assertThat(run(this.template, longer)).isEqualTo(LockOutcome.EXECUTED);
		this.ticker.advance(Duration.ofMillis(1799));
		assertThat(run(this.other, shorter)).isEqualTo(LockOutcome.TOO_SOON);
		this.ticker.advance(Duration.ofMillis(1));
		assertThat(run(this.other, shorter)).isEqualTo(LockOutcome.EXECUTED);
		this.ticker.advance(Duration.ofMillis(899));
		assertThat(run(this.template, longer)).isEqualTo(LockOutcome.TOO_SOON);
		this.ticker.advance(Duration.ofMillis(1));
		assertThat(run(this.template, longer)).isEqualTo(LockOutcome.EXECUTED);
	}

	/**
	 * The timer of an instance whose run began late calls too soon, and nobody else may
	 * call before it does again.
	 */
	@Tag("gate")
	@Test
	void callThatIsALittleTooSoonForItsOwnInstanceWaits() throws Exception {
		LockRequest request = request(LockScope.TRANSACTION).with(RATE);
		AtomicLong begun = new AtomicLong();
		run(this.template, request);
		long first = this.ticker.nanoTime();
		this.ticker.advance(Duration.ofMillis(400));
		Future<LockOutcome> early = this.threads.submit(() -> this.template.execute(request, (lock) -> {
			begun.set(this.ticker.nanoTime());
			return true;
		}).outcome());
		this.ticker.passUntil(early::isDone);
		assertThat(early.get()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(Duration.ofNanos(begun.get() - first)).isBetween(Duration.ofMillis(900), Duration.ofMillis(1100));
	}

	/**
	 * The session takes a lock that it has once more, so the old one is to be released
	 * first.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callAfterItsOwnTimeRunsAlsoWhenTheLockIsNotReleasedYet(boolean forInterval) throws Exception {
		LockRequest request = request(LockScope.TRANSACTION);
		request = forInterval ? request.with(RATE) : request.rememberTick(Instant.EPOCH, Duration.ofMillis(900));
		run(this.template, request);
		Hold carried = new Hold.OfTick(AdvisoryLockKey.of("carried"), LockMode.EXCLUSIVE, () -> {
		});
		LockSession session = this.sessions.get(this.sessions.size() - 2);
		assertThat(session.tryLock(carried)).isTrue();
		Future<Long> slow = this.threads.submit(() -> session.sideConnection(carried)
			.ask("SELECT 1 FROM pg_catalog.pg_sleep(CAST(? AS double precision))", List.of("0.3")));
		Awaitility.await()
			.until(() -> !TestPostgres.query(
					"SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 1 FROM pg_catalog.pg_s%'")
				.isEmpty());
		this.ticker.pass(Duration.ofMillis(900));
		assertThat(run(this.template, request)).isEqualTo(LockOutcome.EXECUTED);
		slow.get(Patience.SECONDS, TimeUnit.SECONDS);
		session.forget(List.of(carried));
		this.ticker.advance(Duration.ofSeconds(2));
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void waitForTheOwnIntervalEndsWithTheApplicationAndAtAnInterrupt() throws Exception {
		LockRequest request = request(LockScope.TRANSACTION).with(RATE);
		run(this.template, request);
		this.ticker.advance(Duration.ofMillis(500));
		AtomicReference<Thread> waiter = new AtomicReference<>();
		Future<LockOutcome> interrupted = this.threads.submit(() -> {
			waiter.set(Thread.currentThread());
			LockOutcome outcome = run(this.template, request);
			assertThat(Thread.interrupted()).isTrue();
			return outcome;
		});
		Awaitility.await().until(() -> waiter.get() != null);
		waiter.get().interrupt();
		assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.TOO_SOON);
		Future<LockOutcome> ended = this.threads.submit(() -> run(this.template, request));
		this.template.stopWaiting();
		assertThat(ended.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.TOO_SOON);
	}

	@ParameterizedTest
	@EnumSource
	void intervalEndsWithTheInstanceThatRemembersIt(LockScope scope) {
		LockRequest request = request(scope).with(RATE);
		run(this.template, request);
		this.sessions.get(this.sessions.size() - 2).close();
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void lockThatIsLostIsTakenAgainAsLongAsTheIntervalLasts() {
		LockRequest request = request(LockScope.TRANSACTION).with(RATE);
		run(this.template, request);
		assertThat(TestPostgres.terminate(NAMESPACE)).isPositive();
		assertThat(TestPostgres.locks()).isEmpty();
		this.ticker.passUntil(() -> TestPostgres.locks().contains(numberOf(lockOf(RATE))));
		assertThat(run(this.other, request)).isEqualTo(LockOutcome.TOO_SOON);
		this.ticker.advance(Duration.ofMillis(900));
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(this.events).isEmpty();
	}

	/**
	 * The server has shared the lock, and the thread of the session is kept from saying
	 * so: the same session would be granted the lock once more, and nobody release the
	 * shared one.
	 */
	@Test
	void callAfterAnIntervalWhoseLockIsStillBeingSharedDoesNotTakeItOnceMore() throws Exception {
		LockSession session = session("slow",
				new LockSessionSettings(SETTINGS.heartbeat(), Duration.ofMillis(300), WhenLost.INTERRUPT));
		PostgresAdvisoryLockTemplate slow = instance(session);
		CountDownLatch committed = new CountDownLatch(1);
		CountDownLatch tried = new CountDownLatch(1);
		LockRequest request = request(LockScope.TRANSACTION).with(RATE);
		try {
			Future<LockOutcome> run = this.threads.submit(() -> slow.execute(request, (lock) -> {
				CountDownLatch busy = new CountDownLatch(1);
				keepBusy(session, busy, committed);
				busy.await();
				keepBusy(session, busy, tried);
				return this.runs.incrementAndGet();
			}).outcome());
			Awaitility.await().until(() -> this.runs.get() == 1 && !ForeignSession.isHeld(KEY));
			committed.countDown();
			assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
			Awaitility.await()
				.untilAsserted(() -> assertThat(TestPostgres.query(
						"SELECT mode FROM pg_locks WHERE objid = " + Integer.toUnsignedString(lockOf(RATE).objectId())))
					.containsExactly("ShareLock"));
			this.ticker.pass(Duration.ofMillis(900));
			Future<LockOutcome> next = this.threads.submit(() -> run(slow, request));
			assertThat(next.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.TOO_SOON);
		}
		finally {
			committed.countDown();
			tried.countDown();
		}
		this.ticker.passUntil(() -> run(slow, request) == LockOutcome.EXECUTED);
		this.ticker.advance(Duration.ofMillis(900));
		assertThat(TestPostgres.locks()).isEmpty();
	}

	/**
	 * Have the thread of a session wait, with what it was given since it was free.
	 */
	private static void keepBusy(LockSession session, CountDownLatch begun, CountDownLatch end) {
		Hold none = new Hold.OfTick(AdvisoryLockKey.of("none"), LockMode.EXCLUSIVE, () -> {
		});
		session.share(new SessionCommand.ShareTick(none, none), () -> {
			begun.countDown();
			try {
				end.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	@Test
	void runIsNotLostWhereNothingCanRememberAndThatIsSaidOnce() {
		LockSession unreachable = new LockSession(new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none"),
				NAMESPACE, SETTINGS, this.events::add);
		this.sessions.add(unreachable);
		PostgresAdvisoryLockTemplate forgetful = instance(unreachable);
		LockRequest request = request(LockScope.TRANSACTION).with(DELAY);
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "WARN")) {
			assertThat(run(forgetful, request)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(run(this.other, request)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(log.messages()).singleElement()
				.asString()
				.contains("tests/job", "fixedDelay=PT1S", "in the same interval", "'minInterval'");
		}
	}

	/**
	 * Each instance calls a moment before or after its time, and the first tells how late
	 * the work begins.
	 */
	@ParameterizedTest
	@MethodSource("scopesAndIntervals")
	void beginsAreAnIntervalApartWhereverThePhasesAre(LockScope scope, Interval interval) {
		List<PostgresAdvisoryLockTemplate> instances = List.of(this.template, this.other, instance("thirds"));
		LockRequest request = request(scope).with(interval);
		List<Long> begins = new ArrayList<>();
		for (int millis = 0; millis < 20_000; millis += 50) {
			int phase = millis % 1000;
			int caller = (phase == 0) ? 0 : (phase == 350) ? 1 : (phase == 950 && millis > 10_000) ? 2 : -1;
			if (caller >= 0) {
				instances.get(caller).execute(request, (lock) -> begins.add(this.ticker.nanoTime()));
			}
			this.ticker.advance(Duration.ofMillis(50));
		}
		assertThat(begins).hasSizeBetween(19, 21);
		for (int i = 1; i < begins.size(); i++) {
			assertThat(Duration.ofNanos(begins.get(i) - begins.get(i - 1))).isBetween(Duration.ofMillis(900),
					Duration.ofMillis(1100));
		}
	}

	@Test
	void sharedWorkIsRefused() {
		LockRequest request = request(LockScope.SESSION).with(RATE);
		assertThatIllegalArgumentException().isThrownBy(() -> run(this.template, request.mode(LockMode.SHARED)))
			.withMessageContaining("tests/job");
	}

	private LockOutcome run(PostgresAdvisoryLockTemplate instance, LockRequest request) {
		return run(instance, request, Duration.ZERO);
	}

	private LockOutcome run(PostgresAdvisoryLockTemplate instance, LockRequest request, Duration time) {
		return instance.execute(request, (lock) -> {
			this.ticker.advance(time);
			return this.runs.incrementAndGet();
		}).outcome();
	}

	private PostgresAdvisoryLockTemplate instance(String application) {
		return instance(session(application, SETTINGS));
	}

	private LockSession session(String application, LockSessionSettings settings) {
		LockSession session = new LockSession(() -> new DriverManagerDataSource(TestPostgres.url()), application, null,
				settings, ServerJudge.NONE, this.events::add, this.ticker.threads());
		this.sessions.add(session);
		return session;
	}

	private PostgresAdvisoryLockTemplate instance(LockSession session) {
		return new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
	}

	private static AdvisoryLockKey lockOf(Interval interval) {
		return AdvisoryLockKey.of(NAMESPACE, "advisory-lock:interval:job@" + interval.schedule());
	}

	private static String numberOf(AdvisoryLockKey key) {
		return PostgresAdvisoryLockTemplate.lockEntry(key).replace(':', '/');
	}

}
