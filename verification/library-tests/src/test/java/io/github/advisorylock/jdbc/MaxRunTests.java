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
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the longest time that a lock is held.
 */
class MaxRunTests extends AbstractLockTests {

	private static final LockLostEvent TOO_LONG = new LockLostEvent(KEY, LockLostEvent.Reason.MAX_RUN);

	private static LockRequest limited(LockScope scope) {
		return LockRequest.of("job").scope(scope).maxRun(SHORT);
	}

	@ParameterizedTest
	@EnumSource
	void runThatLastsTooLongIsInterruptedAndFails(LockScope scope) {
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.template.execute(limited(scope),
					(lock) -> new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS)))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
				.isInstanceOf(LockLostException.class)
				.asString()
				.contains("it was held for longer than 'maxRun' allows, PT0.1S"));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		await().untilAsserted(() -> assertThat(this.events).containsExactly(TOO_LONG));
		assertThat(this.template.execute(LockRequest.of("job").scope(scope), (lock) -> "next").value())
			.isEqualTo("next");
	}

	@ParameterizedTest
	@EnumSource
	void runThatIgnoresItsInterruptKeepsOthersOutAndFails(LockScope scope) throws Exception {
		AtomicBoolean end = new AtomicBoolean();
		CountDownLatch told = new CountDownLatch(1);
		Future<LockResult<String>> run = this.threads.submit(() -> this.template.execute(limited(scope), (lock) -> {
			while (!end.get()) {
				LockSupport.parkNanos(1_000_000);
				if (!lock.isHeld()) {
					assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::checkHeld)
						.withMessageContaining("maxRun");
					told.countDown();
				}
			}
			return "done";
		}));
		assertThat(told.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(TestPostgres.locks()).hasSize(1);
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		assertThat(other.execute(LockRequest.of("job").scope(scope), (lock) -> "beside").executed()).isFalse();
		assertThat(this.template.execute(LockRequest.of("job").scope(scope), (lock) -> "beside").executed()).isFalse();
		end.set(true);
		assertThatExceptionOfType(java.util.concurrent.ExecutionException.class).isThrownBy(run::get)
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("maxRun");
		assertThat(other.execute(LockRequest.of("job").scope(scope), (lock) -> "after").value()).isEqualTo("after");
	}

	/**
	 * The lock is there until the end of the transaction, and with it a statement that
	 * can be cancelled.
	 */
	@Test
	void whatACallerAsksAfterTheEndOfTheRunIsNotCancelled() {
		CountDownLatch opening = new CountDownLatch(1);
		PostgresAdvisoryLockTemplate slow = createTemplate(this.pool, this.transactionManager,
				new DriverManagerDataSource(TestPostgres.url()) {

					@Override
					public Connection getConnection() throws SQLException {
						opening.countDown();
						LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500));
						return super.getConnection();
					}

				});
		transaction().executeWithoutResult((transaction) -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> slow.execute(limited(LockScope.TRANSACTION), (lock) -> {
					await().pollInSameThread().until(() -> opening.getCount() == 0);
					return null;
				}));
			this.jdbc.execute("SELECT pg_sleep(1)");
			transaction.setRollbackOnly();
		});
	}

	@ParameterizedTest
	@EnumSource
	void runIsToldWhenItsTimeIsOverAndNotBefore(LockScope scope) {
		SettableTicker ticker = new SettableTicker();
		LockSession session = new LockSession(() -> new DriverManagerDataSource(TestPostgres.url()), NAMESPACE, null,
				new LockSessionSettings(Duration.ofSeconds(1), Duration.ofSeconds(5), WhenLost.REPORT),
				ServerJudge.NONE, this.events::add, ticker.threads());
		this.sessions.add(session);
		this.template = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
		Duration limit = Duration.ofSeconds(2);
		LockRequest request = request(scope).maxRun(limit);
		assertThat(this.template.execute(request, (lock) -> {
			ticker.advance(limit.minusNanos(1));
			return lock.isHeld();
		}).value()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(request, (lock) -> {
			ticker.advance(limit);
			assertThat(lock.isHeld()).isFalse();
			return null;
		}));
		await().untilAsserted(() -> assertThat(this.events).containsExactly(TOO_LONG));
	}

	@Test
	void effectOfRunThatLastsTooLongIsRolledBack() {
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS effect (id int)");
		this.jdbc.execute("TRUNCATE effect");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(limited(LockScope.TRANSACTION), (lock) -> {
				this.jdbc.update("INSERT INTO effect VALUES (1)");
				await().pollInSameThread().until(() -> !lock.isHeld());
				return null;
			}));
		assertThat(this.jdbc.queryForObject("SELECT count(*) FROM effect", Integer.class)).isZero();
		this.jdbc.execute("DROP TABLE effect");
	}

	@Test
	void statementThatTransactionWaitsForIsCancelled() {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.template.execute(limited(LockScope.TRANSACTION),
					(lock) -> this.jdbc.queryForObject("SELECT 1 FROM pg_sleep(60)", Integer.class)))
			.extracting(SqlState::of)
			// the interrupt of a virtual thread closes its connection, mostly before that
			.isIn((System.getProperty("virtual-threads") != null) ? List.of("57014", "08006") : List.of("57014"));
		// a virtual thread does not wait until the server has heard of it
		await().until(() -> TestPostgres.locks().isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void runThatEndsInTimeIsLeftAlone(LockScope scope) {
		LockRequest request = LockRequest.of("job").scope(scope).maxRun(LONG);
		assertThat(this.template.execute(request, (lock) -> "done").value()).isEqualTo("done");
		assertThat(this.template
			.execute(LockRequest.of("job").scope(scope).maxRun(Duration.ofSeconds(Long.MAX_VALUE)), (lock) -> "done")
			.value()).isEqualTo("done");
		assertThat(this.events).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void timeIsCountedFromTheLockAndNotFromTheWait(LockScope scope) throws Exception {
		HeldLock first = createTemplate(this.pool, this.transactionManager).tryAcquire(LockRequest.of("job"))
			.orElseThrow();
		LockRequest request = LockRequest.of("job").scope(scope).waitFor(LONG.multipliedBy(3)).maxRun(LONG);
		CountDownLatch waiting = new CountDownLatch(1);
		Future<Boolean> run = this.threads.submit(() -> {
			waiting.countDown();
			return this.template.execute(request, LockContext::isHeld).value();
		});
		assertThat(waiting.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		first.close();
		assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void heldLockIsReleasedAndItsHolderTold() {
		HeldLock lock = this.template.tryAcquire(LockRequest.of("job").maxRun(SHORT)).orElseThrow();
		AtomicBoolean told = new AtomicBoolean();
		lock.onLost(() -> told.set(true));
		await().untilTrue(told);
		assertThat(lock.isHeld()).isFalse();
		await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		try (HeldLock next = createTemplate(this.pool, this.transactionManager).tryAcquire(LockRequest.of("job"))
			.orElseThrow()) {
			lock.close();
			assertThat(next.isHeld()).isTrue();
			assertThat(TestPostgres.locks()).hasSize(1);
		}
		await().untilAsserted(() -> assertThat(this.events).containsExactly(TOO_LONG));
	}

	@Test
	void heldLockThatLastedTooLongCanBeTakenAgainThoughItsHolderDoesNotLook() {
		HeldLock lock = this.template.tryAcquire(LockRequest.of("job").maxRun(SHORT)).orElseThrow();
		await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		try (HeldLock again = this.template.tryAcquire(LockRequest.of("job")).orElseThrow()) {
			assertThat(again.isHeld()).isTrue();
			assertThat(lock.isHeld()).isFalse();
		}
	}

	@Test
	void heldLockThatIsClosedInTimeIsNotLost() {
		HeldLock lock = this.template.tryAcquire(LockRequest.of("job").maxRun(SHORT)).orElseThrow();
		lock.close();
		try (HeldLock next = this.template.tryAcquire(LockRequest.of("job").maxRun(SHORT)).orElseThrow()) {
			await().until(() -> !next.isHeld());
		}
		await().untilAsserted(() -> assertThat(this.events).containsExactly(TOO_LONG));
	}

	@Test
	void afterLossOfOneTheSessionCarriesTheOthers() {
		try (HeldLock other = this.template.tryAcquire(LockRequest.of("other")).orElseThrow()) {
			HeldLock lock = this.template.tryAcquire(LockRequest.of("job").maxRun(SHORT)).orElseThrow();
			await().until(() -> !lock.isHeld());
			await().untilAsserted(() -> assertThat(TestPostgres.locks()).hasSize(1));
			assertThat(other.isHeld()).isTrue();
		}
	}

	@Tag("gate")
	@Test
	void limitThatIsPendingKeepsNoThreadAfterClose() {
		Set<Thread> before = limitThreads();
		HeldLock lock = this.template.tryAcquire(LockRequest.of("job").maxRun(Duration.ofHours(1))).orElseThrow();
		await().until(() -> !difference(limitThreads(), before).isEmpty());
		this.sessions.forEach(LockSession::close);
		await().atMost(Patience.TIME).until(() -> difference(limitThreads(), before).isEmpty());
		assertThat(lock.isHeld()).isFalse();
	}

	private static Set<Thread> limitThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("advisory-lock-timer"))
			.collect(Collectors.toSet());
	}

	private static Set<Thread> difference(Set<Thread> all, Set<Thread> others) {
		return all.stream().filter((thread) -> !others.contains(thread)).collect(Collectors.toSet());
	}

}
