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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link TransactionScopeStrategy}.
 */
class TransactionScopeTests extends AbstractLockTests {

	private static final String SHORT_NAME = new LockInstance(null).name().replaceFirst(".*(?=.{28}$)", "");

	private static final LockRequest REQUEST = LockRequest.of("job");

	@BeforeEach
	void createTable() {
		TestPostgres.execute("CREATE TABLE effect (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)");
	}

	@AfterEach
	void dropTable() {
		TestPostgres.execute("DROP TABLE effect");
	}

	@Test
	void effectAndLockAreInOneTransaction() {
		this.template.execute(REQUEST, (lock) -> {
			this.jdbc.update("INSERT INTO effect VALUES (1)");
			String locker = this.jdbc.queryForObject(
					"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' " + "AND pid = pg_backend_pid()",
					String.class);
			assertThat(locker).isEqualTo("1");
			assertThat(effects()).isEmpty();
			return true;
		}).orElseThrow();
		assertThat(effects()).containsExactly("1");
	}

	@Test
	void anyThrowableRollsTheEffectBack() {
		for (Throwable failure : new Throwable[] { new Exception(), new IllegalStateException(), new Error() }) {
			assertThatExceptionOfType(Throwable.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				this.jdbc.update("INSERT INTO effect VALUES (1)");
				if (failure instanceof Error error) {
					throw error;
				}
				throw (Exception) failure;
			})).isSameAs(failure);
		}
		assertThat(effects()).isEmpty();
	}

	@Test
	void holderPinsNoSnapshotAndIsNamed() {
		TestPostgres.execute("CREATE TABLE indexed (id int)");
		this.template.execute(REQUEST, (lock) -> {
			assertThat(TestPostgres.query("SELECT application_name || ':' || (backend_xmin IS NULL)::text "
					+ "FROM pg_stat_activity WHERE state = 'idle in transaction'"))
				.containsExactly("al:job@" + SHORT_NAME + ":true");
			TestPostgres.execute("CREATE INDEX CONCURRENTLY ON indexed (id)");
			return true;
		}).orElseThrow();
		TestPostgres.execute("DROP TABLE indexed");
		assertThat(applicationNames()).noneMatch((name) -> name.startsWith("al:job"));
	}

	@Test
	void callerThatMetBusyLockIsNotNamedAsItsHolder() {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			transaction().executeWithoutResult((status) -> {
				this.template.execute(REQUEST, (lock) -> 1);
				this.template.execute(REQUEST.waitFor(SHORT), (lock) -> 1);
				assertThat(applicationNames()).noneMatch((name) -> name.startsWith("al:job"));
			});
		}
	}

	@Test
	void uncontendedCallWaitsForTheNetworkOnceToAcquireAndOnceToCommit() {
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(20))) {
			usePool(TestPostgres.pool(proxy.url(), 1));
			for (int i = 0; i < 20; i++) {
				this.template.execute(REQUEST, (lock) -> 1);
			}
			int before = proxy.waits();
			int atWork = this.template.execute(REQUEST, (lock) -> proxy.waits()).orElseThrow();
			assertThat(atWork - before).isEqualTo(1);
			assertThat(proxy.waits() - before).isEqualTo(2);
		}
	}

	@Test
	void skipBecauseOfLocalHolderNeedsNoConnection() throws Exception {
		usePool(TestPostgres.pool(1));
		whileAnotherThreadRuns(REQUEST,
				() -> assertThat(this.template.execute(REQUEST, (lock) -> 1).outcome()).isEqualTo(LockOutcome.BUSY));
	}

	@Test
	void callersTransactionIsUsableAfterWaitTimedOut() {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			transaction().executeWithoutResult((status) -> {
				this.jdbc.update("INSERT INTO effect VALUES (1)");
				this.jdbc.execute("SET LOCAL lock_timeout = '7s'; SET LOCAL statement_timeout = '9min'");
				assertThat(this.template.execute(REQUEST.waitFor(SHORT), (lock) -> 1).outcome())
					.isEqualTo(LockOutcome.BUSY);
				assertThat(timeouts()).isEqualTo("7s 9min");
				this.jdbc.update("INSERT INTO effect VALUES (2)");
			});
		}
		assertThat(effects()).containsExactly("1", "2");
	}

	@Test
	void callersTimeoutsAreGivenBackAfterWait() throws Exception {
		ForeignSession foreign = ForeignSession.holding(KEY);
		CountDownLatch waiting = new CountDownLatch(1);
		Future<String> waiter = this.threads.submit(() -> transaction().execute((status) -> {
			this.jdbc.execute("SET LOCAL lock_timeout = '7s'; SET LOCAL statement_timeout = '9min'");
			waiting.countDown();
			return this.template.execute(REQUEST.waitFor(LONG), (lock) -> timeouts() + " " + holders()).orElseThrow();
		}));
		waiting.await();
		awaitWaiter();
		foreign.close();
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo("7s 9min [al:job@" + SHORT_NAME + "]");
	}

	@Test
	void waitOutlastsTheStatementTimeout() throws Exception {
		ForeignSession foreign = ForeignSession.holding(KEY);
		Future<Integer> waiter = this.threads.submit(() -> transaction().execute((status) -> {
			this.jdbc.execute("SET LOCAL statement_timeout = '50ms'");
			return this.template.execute(REQUEST.waitFor(LONG), (lock) -> 1).value();
		}));
		awaitWaiter();
		TestPostgres.query("SELECT pg_sleep(0.2)");
		foreign.close();
		assertThat(waiter.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
	}

	@Test
	void readAfterWaitSeesWhatThePreviousHolderCommitted() throws Exception {
		Future<?>[] waiter = new Future<?>[1];
		whileAnotherThreadRuns(REQUEST.waitFor(LONG), () -> {
			waiter[0] = this.threads.submit(
					() -> this.template.execute(REQUEST.waitFor(LONG), (lock) -> effectsInTransaction()).orElseThrow());
			this.jdbc.update("INSERT INTO effect VALUES (1)");
			return null;
		});
		assertThat(waiter[0].get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(
			ints = { TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE })
	void strictIsolationRefusesToWaitAndTakesNoLock(int isolation) {
		TransactionTemplate strict = transaction();
		strict.setIsolationLevel(isolation);
		strict.executeWithoutResult((status) -> {
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> this.template.execute(REQUEST.waitFor(SHORT), (lock) -> 1))
				.withMessageContaining("'tests/job'")
				.withMessageContaining("snapshot");
			assertThat(ForeignSession.isFree(KEY)).isTrue();
			assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
		});
	}

	@Test
	void rollbackToOlderSavepointFreesTheLock() {
		transaction().executeWithoutResult((outer) -> {
			LockContext[] context = new LockContext[1];
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				this.template.execute(REQUEST, (lock) -> context[0] = lock);
				nested.setRollbackOnly();
			});
			assertThat(context[0].isHeld()).isFalse();
			assertThat(ForeignSession.isFree(KEY)).isTrue();
			assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
			assertThat(ForeignSession.isFree(KEY)).isFalse();
		});
	}

	@Test
	void rollbackToYoungerSavepointKeepsTheLock() {
		this.template.execute(REQUEST, (lock) -> {
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				this.jdbc.update("INSERT INTO effect VALUES (1)");
				nested.setRollbackOnly();
			});
			assertThat(lock.isHeld()).isTrue();
			return assertThat(ForeignSession.isFree(KEY)).isFalse();
		}).orElseThrow();
	}

	@Test
	void rollbackToYoungerSavepointOfCallerKeepsTheLock() {
		transaction().executeWithoutResult((outer) -> {
			LockContext context = this.template.execute(REQUEST, (lock) -> lock).orElseThrow();
			transaction(TransactionDefinition.PROPAGATION_NESTED)
				.executeWithoutResult((nested) -> nested.setRollbackOnly());
			assertThat(context.isHeld()).isTrue();
			assertThat(ForeignSession.isFree(KEY)).isFalse();
		});
	}

	@Test
	void failedCommitLeavesNoNoteBehind() {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			this.jdbc.update("INSERT INTO effect VALUES (1), (1)");
			return 1;
		})).havingRootCause().withMessageContaining("effect_pkey");
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void rollbackOnlyOfTheJobIsAnErrorOfTheRun() {
		assertThatExceptionOfType(UnexpectedRollbackException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				transaction().executeWithoutResult((status) -> status.setRollbackOnly());
				return 1;
			}))
			.withMessageContaining("scope TRANSACTION has made the whole run one transaction")
			.havingCause()
			.withMessage("Transaction rolled back because it has been marked as rollback-only");
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
	}

	@Test
	void lostConnectionIsAnErrorOfTheRunAndLeavesNoNoteBehind() {
		assertThatExceptionOfType(TransactionException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				TestPostgres.terminate("job");
				return 1;
			}))
			.havingRootCause()
			.withMessageContaining("Connection is closed");
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void jobsOwnFailureWinsOverFailedRollback() {
		IllegalStateException failure = new IllegalStateException("job");
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			TestPostgres.terminate("job");
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasSize(1);
	}

	@Test
	void exhaustedPoolLeavesNoNoteBehind() throws Exception {
		HikariDataSource small = TestPostgres.pool(1);
		small.setConnectionTimeout(250);
		usePool(small);
		try (Connection taken = small.getConnection()) {
			assertThatExceptionOfType(TransactionException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> 1))
				.havingRootCause()
				.withMessageContaining("Connection is not available");
		}
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
		assertThat(this.template.execute(REQUEST, (lock) -> 1).value()).isOne();
	}

	@Test
	void worksOnPoolWithoutAutoCommit() {
		HikariDataSource manual = TestPostgres.pool(1);
		manual.setAutoCommit(false);
		usePool(manual);
		this.template.execute(REQUEST, (lock) -> {
			assertThat(ForeignSession.isFree(KEY)).isFalse();
			return this.jdbc.update("INSERT INTO effect VALUES (1)");
		}).orElseThrow();
		assertThat(effects()).containsExactly("1");
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionOnOtherDataSourceIsRefused(boolean autoCommit) {
		usePoolWithAutoCommit(autoCommit);
		try (HikariDataSource other = TestPostgres.pool(1)) {
			new TransactionTemplate(new JdbcTransactionManager(other)).executeWithoutResult((status) -> {
				assertThatNotCovered();
				this.jdbc.queryForList("SELECT 1");
				assertThatNotCovered();
			});
		}
	}

	@Test
	void transactionOfOtherManagerOnTheSameDataSourceIsJoined() {
		new TransactionTemplate(new JdbcTransactionManager(this.pool)).executeWithoutResult((status) -> {
			this.template.execute(REQUEST, (lock) -> this.jdbc.update("INSERT INTO effect VALUES (1)"));
			status.setRollbackOnly();
		});
		assertThat(effects()).isEmpty();
	}

	@Test
	void withoutTransactionManagerIsRefusedOutsideTransaction() {
		PostgresAdvisoryLockTemplate bare = new PostgresAdvisoryLockTemplate(this.pool, null, null, "",
				AdvisoryLockKeyFactory.sha256(), SHORT, 10);
		assertThatIllegalStateException().isThrownBy(() -> bare.execute(REQUEST, (lock) -> 1))
			.withMessageContaining("'job'")
			.withMessageContaining("transaction manager");
		assertThat(transaction().<Integer>execute((status) -> bare.execute(REQUEST, (lock) -> 1).value())).isOne();
		assertThat(isBusyLocally(bare, REQUEST)).isFalse();
	}

	@Test
	void tryAcquireRefusesTransactionScope() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.tryAcquire(REQUEST.scope(LockScope.TRANSACTION)))
			.withMessageContaining("'tests/job'");
	}

	private void assertThatNotCovered() {
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> 1))
			.withMessageContaining("'tests/job'")
			.withMessageContaining("advisory-lock.transaction-manager");
		assertThat(TestPostgres.locks()).isEmpty();
	}

	/**
	 * Waits for a transaction that has asked for the lock, and pauses.
	 */
	private static void awaitWaiter() {
		Awaitility.await()
			.until(() -> !TestPostgres
				.query("SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' "
						+ "AND application_name NOT LIKE 'al:%' AND query LIKE '%advisory_lock.snapshot%'")
				.isEmpty());
	}

	private String timeouts() {
		Map<String, Object> settings = this.jdbc.queryForMap(
				"SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement");
		return settings.get("lock") + " " + settings.get("statement");
	}

	private static List<String> holders() {
		return applicationNames().stream().filter((name) -> name.startsWith("al:job@")).toList();
	}

	private Integer effectsInTransaction() {
		return this.jdbc.queryForObject("SELECT count(*) FROM effect", Integer.class);
	}

	private static List<String> effects() {
		return TestPostgres.query("SELECT id FROM effect ORDER BY id");
	}

	private static List<String> applicationNames() {
		return TestPostgres.query("SELECT application_name FROM pg_stat_activity");
	}

}
