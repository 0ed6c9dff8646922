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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for requests that let several hold a key at a time.
 */
@Tag("gate")
class PermitTests extends AbstractLockTests {

	private static final int PERMITS = 3;

	private static final int INSTANCES = 3;

	private static final int THREADS = 8;

	private static final int CALLS = 2000;

	private final AtomicInteger atWork = new AtomicInteger();

	private final AtomicInteger most = new AtomicInteger();

	private final AtomicInteger done = new AtomicInteger();

	@ParameterizedTest
	@EnumSource
	void asManyRunAsThereArePermitsAndTheNextIsBusy(LockScope scope) throws Exception {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		try (Crowd crowd = new Crowd(this.template, permits(scope), PERMITS)) {
			assertThat(heldPermits()).containsExactlyElementsOf(List.of(1, 2, 3));
			assertThat(isBusyLocally(this.template, permits(scope))).isTrue();
			assertThat(other.execute(permits(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(heldPermits()).isEmpty();
		assertThat(other.execute(permits(scope), (lock) -> 1).value()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void permitsOfAllInstancesAndOfOtherProgramsCountTogether(LockScope scope) throws Exception {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		try (ForeignSession worker = ForeignSession.holding(KEY.permit(2));
				Crowd here = new Crowd(this.template, permits(scope), 1);
				Crowd there = new Crowd(other, permits(scope), 1)) {
			assertThat(heldPermits()).containsExactlyElementsOf(List.of(1, 2, 3));
			assertThat(this.template.execute(permits(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(worker.unlock(KEY.permit(2))).isTrue();
			assertThat(this.template.execute(permits(scope), (lock) -> 1).value()).isOne();
		}
	}

	/**
	 * One session is granted a lock that it has as often as it asks.
	 */
	@Test
	void holdsOfOneSessionHaveDifferentPermits() {
		for (int i = 0; i < 20; i++) {
			List<HeldLock> held = IntStream.range(0, PERMITS).mapToObj((one) -> acquire(this.template)).toList();
			assertThat(heldPermits()).containsExactlyElementsOf(List.of(1, 2, 3));
			assertThat(this.template.tryAcquire(permits(LockScope.SESSION))).isEmpty();
			held.get(1).close();
			assertThat(heldPermits()).hasSize(2);
			acquire(this.template).close();
			held.get(0).close();
			held.get(2).close();
			assertThat(heldPermits()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void crowdOfThreeInstancesRunsAtMostAsManyAndReachesThat(LockScope scope) throws Exception {
		List<PostgresAdvisoryLockTemplate> instances = new ArrayList<>(List.of(this.template));
		try (HikariDataSource second = TestPostgres.pool(THREADS);
				HikariDataSource third = TestPostgres.pool(THREADS)) {
			for (HikariDataSource other : List.of(second, third)) {
				instances.add(createTemplate(other, new JdbcTransactionManager(other)));
			}
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < INSTANCES * THREADS; i++) {
				PostgresAdvisoryLockTemplate instance = instances.get(i % INSTANCES);
				workers.add(this.threads.submit(() -> workUntilDone(instance, permits(scope).waitFor(LONG))));
			}
			for (Future<?> worker : workers) {
				worker.get(4 * Patience.SECONDS, TimeUnit.SECONDS);
			}
		}
		assertThat(this.done).hasValueGreaterThanOrEqualTo(CALLS);
		assertThat(this.most).hasValue(PERMITS);
	}

	private void workUntilDone(PostgresAdvisoryLockTemplate instance, LockRequest request) {
		while (this.done.get() < CALLS) {
			instance.execute(request, (lock) -> {
				this.most.accumulateAndGet(this.atWork.incrementAndGet(), Math::max);
				// until the others have come, once
				for (int i = 0; i < 5_000 && this.most.get() < PERMITS; i++) {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
				}
				Thread.yield();
				this.atWork.decrementAndGet();
				return this.done.incrementAndGet();
			}).orElseThrow();
		}
	}

	@ParameterizedTest
	@EnumSource
	void waitEndsWhenAnyHolderIsGone(LockScope scope) throws Exception {
		List<ForeignSession> workers = IntStream.rangeClosed(1, PERMITS)
			.mapToObj((permit) -> ForeignSession.holding(KEY.permit(permit)))
			.toList();
		assertThat(this.template.execute(permits(scope).waitFor(SHORT), (lock) -> 1).outcome())
			.isEqualTo(LockOutcome.BUSY);
		Future<LockResult<Integer>> waiter = this.threads
			.submit(() -> this.template.execute(permits(scope).waitFor(LONG), (lock) -> 1));
		Pause.of(SHORT);
		assertThat(waiter).isNotDone();
		String killed = ForeignSession.holders(KEY.permit(3)).get(0);
		TestPostgres.execute("SELECT pg_terminate_backend(" + killed + ")");
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS).value()).isOne();
		workers.get(0).close();
		workers.get(1).close();
	}

	@ParameterizedTest
	@EnumSource
	void nestedCallIsPartOfTheRunAndTakesNoSecondPermit(LockScope scope) {
		for (LockScope inner : LockScope.values()) {
			List<Integer> held = this.template
				.execute(permits(scope), (outer) -> transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.execute((status) -> this.template.execute(permits(inner), (lock) -> heldPermits()).orElseThrow()))
				.orElseThrow();
			assertThat(held).hasSize(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void repeatedCallInCallersTransactionKeepsItsPermit(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			List<Integer> first = this.template.execute(permits(scope), (lock) -> heldPermits()).orElseThrow();
			assertThat(this.template.execute(permits(scope), (lock) -> heldPermits()).orElseThrow()).isEqualTo(first)
				.hasSize(1);
		});
		assertThat(heldPermits()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void heldLockInRunIsAnotherPermit(LockScope scope) {
		this.template.execute(permits(scope), (lock) -> {
			try (HeldLock second = acquire(this.template); HeldLock third = acquire(this.template)) {
				assertThat(second.isHeld()).isTrue();
				assertThat(third.key()).isEqualTo(KEY);
				assertThat(heldPermits()).hasSize(PERMITS);
				assertThat(this.template.tryAcquire(permits(LockScope.SESSION))).isEmpty();
			}
			return null;
		}).orElseThrow();
	}

	@ParameterizedTest
	@EnumSource
	void plainRequestIsTheFirstPermit(LockScope scope) throws Exception {
		try (ForeignSession plain = ForeignSession.holding(KEY);
				Crowd crowd = new Crowd(this.template, permits(scope), PERMITS - 1)) {
			assertThat(heldPermits()).containsExactlyElementsOf(List.of(1, 2, 3));
			assertThat(this.template.execute(permits(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
		}
	}

	@ParameterizedTest
	@EnumSource
	void ofDifferentNumbersTheLargestHolds(LockScope scope) throws Exception {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		LockRequest fewer = permits(scope).permits(2);
		try (Crowd crowd = new Crowd(this.template, fewer, 2)) {
			assertThat(other.execute(fewer, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(other.execute(request(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(other.execute(permits(scope), (lock) -> heldPermits()).orElseThrow()).hasSize(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void anotherNumberOnAnotherInstanceIsToldOnce(LockScope scope) {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		List<HeldLock> held = IntStream.range(0, PERMITS).mapToObj((one) -> acquire(other)).toList();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			LockRequest fewer = permits(scope).permits(2);
			assertThat(this.template.execute(fewer, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			Awaitility.await().untilAsserted(() -> assertThat(log.messages()).hasSize(1));
			assertThat(log.messages().get(0)).contains("'tests/job'", "'permits' 2", "permit 3 is held");
			assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.alert", "permits")
				.containsEntry("advisory_lock.key", "job");
			for (int i = 0; i < 5; i++) {
				assertThat(this.template.execute(fewer, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			}
			Pause.of(SHORT);
			assertThat(log.messages()).hasSize(1);
		}
		held.forEach(HeldLock::close);
	}

	@Test
	void anotherNumberThatWasToldIsNotLookedForAgain() {
		SettableTicker ticker = new SettableTicker();
		LockSession session = new LockSession(() -> new DriverManagerDataSource(TestPostgres.url()), NAMESPACE, null,
				LockSessionSettings.DEFAULT, ServerJudge.NONE, this.events::add, ticker.threads());
		this.sessions.add(session);
		PostgresAdvisoryLockTemplate other = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager,
				session, NAMESPACE, AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
		List<HeldLock> held = IntStream.range(0, PERMITS).mapToObj((one) -> acquire(this.template)).toList();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			LockRequest fewer = permits(LockScope.SESSION).permits(2);
			for (int told = 0; told < 3; told++) {
				assertThat(other.execute(fewer, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
				Awaitility.await().untilAsserted(() -> assertThat(log.messages()).isNotEmpty());
				ticker.advance(Duration.ofMinutes(2));
			}
			Pause.of(SHORT);
			assertThat(log.messages()).hasSize(1);
		}
		held.forEach(HeldLock::close);
	}

	@ParameterizedTest
	@EnumSource
	void theSameNumberOnAllInstancesIsNoNews(LockScope scope) {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		List<HeldLock> held = IntStream.range(0, PERMITS).mapToObj((one) -> acquire(other)).toList();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			assertThat(this.template.execute(permits(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
			Pause.of(Duration.ofMillis(500));
			assertThat(log.messages()).isEmpty();
		}
		held.forEach(HeldLock::close);
	}

	@Test
	void lostSessionIsTheLossOfAllItsPermits() {
		HeldLock first = acquire(this.template);
		HeldLock second = acquire(this.template);
		CountDownLatch told = new CountDownLatch(2);
		first.onLost(told::countDown);
		second.onLost(told::countDown);
		TestPostgres.terminate(NAMESPACE);
		Awaitility.await().until(() -> told.getCount() == 0);
		assertThat(first.isHeld()).isFalse();
		List<HeldLock> again = IntStream.range(0, PERMITS).mapToObj((one) -> acquire(this.template)).toList();
		assertThat(heldPermits()).hasSize(PERMITS);
		again.forEach(HeldLock::close);
	}

	@ParameterizedTest
	@EnumSource
	void runKnowsItsKeyAndCanMakeSureOfItsPermit(LockScope scope) {
		try (ForeignSession plain = ForeignSession.holding(KEY)) {
			this.template.execute(permits(scope), (lock) -> {
				assertThat(lock.key()).isEqualTo(KEY).hasToString("tests/job");
				lock.checkHeld();
				assertThat(LockContext.current()).containsSame(lock);
				return null;
			}).orElseThrow();
		}
	}

	@Test
	void lossOfPermitNamesTheKey() {
		try (ForeignSession plain = ForeignSession.holding(KEY)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.execute(permits(LockScope.SESSION), (lock) -> {
					TestPostgres.terminate(NAMESPACE);
					lock.checkHeld();
					return null;
				}))
				.satisfies((lost) -> assertThat(lost.getKey()).isEqualTo(KEY));
		}
	}

	/**
	 * They ask one after the other, and do not wait for a time-out each.
	 */
	@Test
	void silentServerFailsAllThatAsk() {
		LockRequest request = permits(LockScope.SESSION).permits(32);
		try (TestProxy route = new TestProxy(Duration.ZERO)) {
			PostgresAdvisoryLockTemplate stalled = createTemplate(new DriverManagerDataSource(route.url()),
					new LockSessionSettings(Duration.ofMillis(500), Duration.ofSeconds(2), WhenLost.REPORT),
					AdvisoryLockKeyFactory.sha256());
			stalled.tryAcquire(request).orElseThrow().close();
			route.stall();
			List<Future<Optional<HeldLock>>> calls = IntStream.range(0, request.permits())
				.mapToObj((one) -> this.threads.submit(() -> stalled.tryAcquire(request)))
				.toList();
			Awaitility.await()
				.untilAsserted(() -> assertThat(calls).hasSize(request.permits()).allMatch(Future::isDone));
			assertThat(calls).hasSize(request.permits())
				.allSatisfy((call) -> assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> call.get(Patience.SECONDS, TimeUnit.SECONDS))
					.withCauseInstanceOf(DataAccessResourceFailureException.class));
		}
		TestPostgres.terminate(NAMESPACE);
	}

	@ParameterizedTest
	@EnumSource
	void permitsOfPairsAreTakenAndReleased(LockScope scope) throws Exception {
		PostgresAdvisoryLockTemplate pairs = createTemplate(new DriverManagerDataSource(TestPostgres.url()),
				LockSessionSettings.DEFAULT, AdvisoryLockKeyFactory.pair());
		AdvisoryLockKey key = AdvisoryLockKeyFactory.pair().createKey(NAMESPACE, "job");
		try (Crowd crowd = new Crowd(pairs, permits(scope), PERMITS)) {
			assertThat(IntStream.rangeClosed(1, PERMITS).mapToObj(key::permit)).filteredOn(ForeignSession::isHeld)
				.hasSize(PERMITS);
			assertThat(pairs.execute(permits(scope), (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
		}
		assertThat(IntStream.rangeClosed(1, PERMITS).mapToObj(key::permit)).filteredOn(ForeignSession::isHeld)
			.isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void mostPermitsFitIntoOneStatement(LockScope scope) {
		List<ForeignSession> workers = IntStream.rangeClosed(1, 8)
			.mapToObj((permit) -> ForeignSession.holding(KEY.permit(permit)))
			.toList();
		Set<Integer> seen = new TreeSet<>();
		for (int i = 0; i < 50; i++) {
			seen.addAll(
					this.template.execute(request(scope).permits(AdvisoryLockKey.MAX_PERMITS), (lock) -> heldPermits())
						.orElseThrow());
		}
		workers.forEach(ForeignSession::close);
		assertThat(seen).as("begins at a random permit").hasSizeGreaterThan(12);
	}

	private PostgresAdvisoryLockTemplate createTemplate(DataSource connectionSource, LockSessionSettings settings,
			AdvisoryLockKeyFactory keyFactory) {
		LockSession session = new LockSession(connectionSource, NAMESPACE, settings, this.events::add);
		this.sessions.add(session);
		return new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE, keyFactory,
				Duration.ZERO, 1000);
	}

	private LockRequest permits(LockScope scope) {
		return request(scope).permits(PERMITS);
	}

	private HeldLock acquire(PostgresAdvisoryLockTemplate instance) {
		Optional<HeldLock> held = instance.tryAcquire(permits(LockScope.SESSION));
		assertThat(held).isPresent();
		return held.orElseThrow();
	}

	private static List<Integer> heldPermits() {
		List<String> held = TestPostgres.query("SELECT (classid::bigint << 32 | objid::bigint) FROM pg_locks "
				+ "WHERE locktype = 'advisory' AND granted AND objsubid = 1");
		return IntStream.rangeClosed(1, AdvisoryLockKey.MAX_PERMITS)
			.filter((permit) -> held.contains(Long.toString(KEY.permit(permit).value())))
			.boxed()
			.toList();
	}

	/**
	 * Runs that go on until it is closed.
	 */
	private final class Crowd implements AutoCloseable {

		private final CountDownLatch end = new CountDownLatch(1);

		private final List<Future<LockResult<Boolean>>> runs = new ArrayList<>();

		private Crowd(PostgresAdvisoryLockTemplate instance, LockRequest request, int size) throws Exception {
			CountDownLatch running = new CountDownLatch(size);
			for (int i = 0; i < size; i++) {
				this.runs.add(PermitTests.this.threads.submit(() -> instance.execute(request, (lock) -> {
					running.countDown();
					return this.end.await(Patience.SECONDS, TimeUnit.SECONDS);
				})));
			}
			assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}

		@Override
		public void close() throws Exception {
			this.end.countDown();
			assertThat(this.runs).isNotEmpty();
			for (Future<LockResult<Boolean>> run : this.runs) {
				assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS).value()).isTrue();
			}
		}

	}

}
