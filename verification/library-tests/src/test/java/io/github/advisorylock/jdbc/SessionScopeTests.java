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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SessionScopeStrategy} and {@link LockSession}.
 */
class SessionScopeTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job").scope(LockScope.SESSION);

	@Test
	void severalLocksShareOneConnectionThatIsNotFromThePool() throws Exception {
		usePool(TestPostgres.pool(4));
		List<HeldLock> held = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			held.add(this.template.tryAcquire(LockRequest.of("job-" + i)).orElseThrow());
		}
		assertThat(TestPostgres.locks()).hasSize(20);
		assertThat(TestPostgres.connections("tests")).hasSize(1);
		assertThat(this.pool.getHikariPoolMXBean()).isNull();
		held.forEach(HeldLock::close);
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void lockOutlivesTheTransactionOfTheJob() {
		this.template.execute(REQUEST, (lock) -> {
			transaction().executeWithoutResult((status) -> this.jdbc.queryForList("SELECT 1"));
			return assertThat(ForeignSession.isFree(KEY)).isFalse();
		}).orElseThrow();
	}

	@Test
	void failedActionInCallersTransactionKeepsTheLockToItsEnd() {
		transaction().executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				throw new IllegalStateException("expected");
			})).withMessage("expected");
			assertThat(ForeignSession.isFree(KEY)).isFalse();
		});
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void heldLockIsHeldUntilClosed() {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		assertThat(held.key()).isEqualTo(KEY);
		assertThat(held.isHeld()).isTrue();
		assertThat(this.template.tryAcquire(REQUEST)).isEmpty();
		assertThat(this.template.execute(REQUEST, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY);
		held.close();
		held.close();
		assertThat(held.isHeld()).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void heldLockMayBeClosedByOtherThread() throws Exception {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		this.threads.submit(held::close).get(Patience.SECONDS, TimeUnit.SECONDS);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void sharedHoldsOfOneApplicationAreReleasedOneByOne() {
		HeldLock first = this.template.tryAcquire(REQUEST.mode(LockMode.SHARED)).orElseThrow();
		HeldLock second = this.template.tryAcquire(REQUEST.mode(LockMode.SHARED)).orElseThrow();
		first.close();
		assertThat(ForeignSession.isFree(KEY)).isFalse();
		second.close();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void heldLockThatIsForgottenIsReportedAndReleased() {
		HeldLock kept = this.template.tryAcquire(LockRequest.of("kept")).orElseThrow();
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			assertThat(this.template.tryAcquire(REQUEST)).isPresent();
			Awaitility.await().until(() -> {
				System.gc();
				return !log.messages().isEmpty();
			});
			assertThat(log.messages()).singleElement().asString().contains("'tests/job'", "close it");
			Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		}
		assertThat(this.template.getHeldLocks()).isOne();
		assertThat(kept.isHeld()).isTrue();
		kept.close();
	}

	@Test
	void heldLockThatWasClosedIsNotReported() {
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			this.template.tryAcquire(REQUEST).orElseThrow().close();
			assertThat(this.template.tryAcquire(LockRequest.of("forgotten"))).isPresent();
			Awaitility.await().until(() -> {
				System.gc();
				return !log.messages().isEmpty();
			});
			assertThat(log.messages()).singleElement().asString().contains("'tests/forgotten'");
		}
		Awaitility.await().until(() -> this.template.getHeldLocks() == 0);
	}

	@Test
	void lostSessionIsAnErrorOfTheRunAndTheNextRunWorks() {
		LockContext[] context = new LockContext[1];
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			context[0] = lock;
			TestPostgres.terminate("tests");
			return 1;
		})).withMessageContaining("'tests/job'").withCauseInstanceOf(SQLException.class);
		assertThat(context[0].isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(context[0]::checkHeld);
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void jobsOwnFailureWinsOverLostSession() {
		IllegalStateException failure = new IllegalStateException("job");
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			TestPostgres.terminate("tests");
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasSize(1).hasOnlyElementsOfType(LockLostException.class);
	}

	@Test
	void lostSessionTellsEachHolderOnce() {
		AtomicInteger lost = new AtomicInteger();
		HeldLock first = this.template.tryAcquire(REQUEST).orElseThrow();
		HeldLock second = this.template.tryAcquire(LockRequest.of("other")).orElseThrow();
		first.onLost(lost::incrementAndGet);
		second.onLost(lost::incrementAndGet);
		TestPostgres.terminate("tests");
		first.close();
		Awaitility.await().untilAsserted(() -> assertThat(lost).hasValue(2));
		assertThat(second.isHeld()).isFalse();
		second.onLost(lost::incrementAndGet);
		second.close();
		assertThat(lost).hasValue(3);
		this.template.tryAcquire(REQUEST).orElseThrow().close();
	}

	@Test
	void orderlyReleaseTellsNobody() {
		AtomicInteger lost = new AtomicInteger();
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		held.onLost(lost::incrementAndGet);
		held.close();
		assertThat(lost).hasValue(0);
	}

	@Test
	void unlockThatFoundNothingDestroysTheSession() throws Exception {
		StealingDataSource stealing = new StealingDataSource();
		PostgresAdvisoryLockTemplate robbed = createTemplate(this.pool, this.transactionManager, stealing);
		HeldLock bystander = robbed.tryAcquire(LockRequest.of("bystander")).orElseThrow();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> robbed.execute(REQUEST, (lock) -> {
			stealing.unlock(KEY);
			return 1;
		}));
		assertThat(bystander.isHeld()).isFalse();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
		assertThat(robbed.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void interruptedWaitGivesUpAndKeepsTheInterrupt() throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			Future<Boolean> waiter = this.threads.submit(() -> {
				Thread.currentThread().interrupt();
				LockOutcome outcome = this.template.execute(REQUEST.waitFor(LONG), (lock) -> 1).outcome();
				return outcome == LockOutcome.BUSY && Thread.interrupted();
			});
			assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
	}

	@Test
	void unreachableDatabaseIsAnErrorAndRecoversByItself() {
		DriverManagerDataSource dataSource = new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none");
		PostgresAdvisoryLockTemplate cutOff = createTemplate(this.pool, this.transactionManager, dataSource);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> cutOff.execute(REQUEST, (lock) -> 1))
			.withMessageContaining("'tests/job'");
		assertThat(isBusyLocally(cutOff, REQUEST)).isFalse();
		dataSource.setUrl(TestPostgres.url());
		Awaitility.await()
			.ignoreExceptionsInstanceOf(DataAccessException.class)
			.untilAsserted(() -> assertThat(cutOff.execute(REQUEST, (lock) -> 1).value()).isOne());
	}

	@Test
	void closedTemplateRefusesNewLocksAndLosesHeldOnes() {
		HeldLock held = this.template.tryAcquire(REQUEST).orElseThrow();
		this.sessions.get(0).close();
		assertThat(held.isHeld()).isFalse();
		Awaitility.await().until(() -> ForeignSession.isFree(KEY));
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.template.tryAcquire(REQUEST))
			.withMessageContaining("shutting down");
	}

	/**
	 * Opens connections whose locks can be released behind the back of their user.
	 */
	private static final class StealingDataSource extends AbstractDataSource {

		private Connection last;

		@Override
		public Connection getConnection() {
			this.last = TestPostgres.open();
			return this.last;
		}

		@Override
		public Connection getConnection(String username, String password) {
			throw new UnsupportedOperationException();
		}

		private void unlock(AdvisoryLockKey key) throws SQLException {
			try (Statement statement = this.last.createStatement()) {
				statement.execute("SELECT pg_advisory_unlock(" + key.value() + ")");
			}
		}

	}

}
