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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.UntoldConnections;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@link JoinedRunRecord} and {@link TransactionRunRecord}: a row in the ledger
 * says what became of the transaction of the run.
 */
class LedgerTransactionTests extends AbstractLedgerTests {

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunCommitsTogetherWithItsEffect(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
			assertThat(rows()).isZero();
		});
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunHasFailedWhenItsCallerRollsBackLater(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			execute(scope, TICK);
			status.setRollbackOnly();
		});
		assertThat(effects()).isEmpty();
		assertThat(errors()).singleElement().asString().contains("was not committed");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runThatRestoresTheFlagOfItsVirtualThreadIsRecorded(LockScope scope) {
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		assertThat(virtualThreads.submit(() -> this.template.execute(request(scope).oncePerTick(TICK), (lock) -> {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("expected");
		}))).failsWithin(LONG)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.withMessage("expected")
			.satisfies((failure) -> assertThat(failure.getSuppressed()).isEmpty());
		assertThat(virtualThreads.submit(() -> this.template.execute(request(scope).oncePerTick(TICK), (lock) -> {
			int inserted = insertEffect("job");
			Thread.currentThread().interrupt();
			return inserted;
		}).executed() && Thread.interrupted())).succeedsWithin(LONG).isEqualTo(true);
		virtualThreads.shutdown();
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
		assertThat(errors()).containsExactly("java.lang.IllegalStateException: expected");
	}

	@Test
	void interruptedVirtualThreadIsGivenItsTokenWithoutALockSession() {
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		// An answer that is there at once would be read in spite of the interrupt
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(20))) {
			usePool(TestPostgres.pool(proxy.url(), 2));
			this.ledger.prepare();
			this.template = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, null, NAMESPACE,
					AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000, Precheck.of(this.ledger));
			LockRequest request = request(LockScope.TRANSACTION).oncePerTick(TICK);
			assertThat(virtualThreads.submit(() -> this.template.execute(request, (lock) -> {
				Thread.currentThread().interrupt();
				lock.fencingToken().orElseThrow();
				return Thread.interrupted();
			}).value())).succeedsWithin(LONG).isEqualTo(true);
		}
		virtualThreads.shutdown();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void sessionRunThatFailsHasFailedThoughItsCallerCommits() {
		commitWhatFailed(LockScope.SESSION);
		assertThat(errors()).containsExactly("java.lang.IllegalStateException: expected");
		assertThat(execute(LockScope.SESSION, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	@Test
	void runThatFailsIsDoneWhenItsCallerCommits() {
		commitWhatFailed(LockScope.TRANSACTION);
		assertThat(errors())
			.containsExactly("ended with java.lang.IllegalStateException: expected, and its transaction was committed");
		assertThat(execute(LockScope.TRANSACTION, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(outcomes()).containsExactly("FAILED");
	}

	private void commitWhatFailed(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK)).withMessage("expected");
			insertEffect("caller");
		});
		assertThat(effects()).containsExactly("caller", "job");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunHasFailedWhenOlderSavepointIsRolledBackTo(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			insertEffect("caller");
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				execute(scope, TICK);
				nested.setRollbackOnly();
			});
		});
		assertThat(effects()).containsExactly("caller");
		assertThat(errors()).singleElement().asString().contains("savepoint");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunHasFailedWhenSavepointOfItsOwnIsRolledBackTo(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			Object savepoint = this.template
				.execute(request(scope).oncePerTick(TICK), (lock) -> status.createSavepoint())
				.orElseThrow();
			status.rollbackToSavepoint(savepoint);
		});
		assertThat(outcomes()).containsExactly("FAILED");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunStaysWhenYoungerSavepointIsRolledBackTo(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			execute(scope, TICK);
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				insertEffect("later");
				nested.setRollbackOnly();
			});
		});
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@ParameterizedTest
	@CsvSource({ "TRANSACTION, false", "TRANSACTION, true", "SESSION, false", "SESSION, true" })
	void failureThatCannotBeDescribedStaysTheFailureOfItsRun(LockScope scope, boolean joined) {
		UndescribableException failure = new UndescribableException();
		TransactionTemplate caller = transaction(
				joined ? TransactionDefinition.PROPAGATION_REQUIRED : TransactionDefinition.PROPAGATION_SUPPORTS);
		assertThatThrownBy(() -> caller
			.executeWithoutResult((status) -> this.template.execute(request(scope).oncePerTick(TICK), (lock) -> {
				throw failure;
			}))).isSameAs(failure).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(errors()).containsExactly(UndescribableException.class.getName());
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void commitThatFailsIsTheErrorOfTheRun() {
		assertThatExceptionOfType(DuplicateKeyException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.TRANSACTION).oncePerTick(TICK), (lock) -> {
				breakCommit();
				return 1;
			}))
			.withMessageContaining("ledger_effect_checked_at_commit_key")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(effects()).isEmpty();
		assertThat(errors()).singleElement().asString().startsWith(DuplicateKeyException.class.getName());
		assertThat(execute(LockScope.TRANSACTION, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void joinedRunHasFailedWhenItsCallersCommitFails(LockScope scope) {
		assertThatExceptionOfType(DuplicateKeyException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				execute(scope, TICK);
				breakCommit();
			}))
			.withMessageContaining("ledger_effect_checked_at_commit_key");
		assertThat(effects()).isEmpty();
		assertThat(outcomes()).containsExactly("FAILED");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	@ParameterizedTest
	@MethodSource("pools")
	void failuresAreRecordedOnAnyPool(HikariDataSource pool) {
		usePool(pool);
		for (LockScope scope : LockScope.values()) {
			TestPostgres.execute("DELETE FROM ledger_tests_run");
			assertThatIllegalStateException().isThrownBy(() -> executeAndFail(scope, TICK))
				.withMessage("expected")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
			transaction().executeWithoutResult((status) -> {
				execute(scope, TICK);
				status.setRollbackOnly();
			});
			assertThat(outcomes()).containsExactly("FAILED", "FAILED");
		}
	}

	static Stream<HikariDataSource> pools() {
		HikariDataSource one = TestPostgres.pool(1);
		HikariDataSource manual = TestPostgres.pool(2);
		manual.setAutoCommit(false);
		HikariDataSource oneManual = TestPostgres.pool(1);
		oneManual.setAutoCommit(false);
		return Stream.of(one, manual, oneManual);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runsJoinTransactionsOfJpa(LockScope scope) {
		LocalContainerEntityManagerFactoryBean entities = new LocalContainerEntityManagerFactoryBean();
		entities.setDataSource(this.pool);
		entities.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		entities.setManagedTypes(PersistenceManagedTypes.of());
		entities.afterPropertiesSet();
		JpaTransactionManager manager = new JpaTransactionManager(entities.getObject());
		manager.afterPropertiesSet();
		this.template = createTemplate(this.pool, manager);
		this.transactionManager = manager;
		failAndRollBackAndCommit(scope);
		entities.destroy();
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).containsExactly("FAILED", "FAILED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void secondCallInTheSameOpenTransactionHasAlreadyRun(LockScope scope) {
		for (LockRequest request : List.of(request(scope).oncePerTick(TICK),
				LockRequest.of("event").scope(scope).oncePerKey())) {
			transaction().executeWithoutResult((status) -> {
				assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
				assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
			});
		}
		assertThat(effects()).hasSize(2);
		assertThat(outcomes()).containsExactly("EXECUTED", "EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void callNestedInRunOfItsKeyIsPartOfThatRun(LockScope scope) {
		Map<String, Long> tokens = this.template.execute(request(scope).oncePerTick(TICK), (outer) -> {
			long nested = this.template
				.execute(request(scope).oncePerTick(TICK), (inner) -> inner.fencingToken().orElseThrow())
				.orElseThrow();
			return Map.of("outer", outer.fencingToken().orElseThrow(), "nested", nested);
		}).orElseThrow();
		assertThat(tokens.get("nested")).isEqualTo(tokens.get("outer"));
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	/**
	 * Nobody does so who takes the lock; whoever does not must not run the tick twice.
	 */
	@Test
	void runWhoseTickSomebodyElseCompletedMeanwhileIsUndone() {
		execute(LockScope.TRANSACTION, TICK.minusSeconds(1));
		assertThatRunIsUndone(request(LockScope.TRANSACTION).oncePerTick(TICK),
				"UPDATE ledger_tests_job SET last_tick = '" + TICK + "'");
	}

	@Test
	void runWhoseKeySomebodyElseCompletedMeanwhileIsUndone() {
		execute(LockScope.TRANSACTION, TICK);
		assertThatRunIsUndone(request(LockScope.TRANSACTION).oncePerKey(),
				"INSERT INTO ledger_tests_completion (namespace, key) VALUES ('tests', 'job')");
	}

	@ParameterizedTest
	@EnumSource
	void runIsRecordedAsFailedWhoseAbortedTransactionNoDriverTellsOf(UntoldConnections connections) {
		usePool(connections.pool(4));
		LockRequest request = request(LockScope.TRANSACTION).minInterval(Duration.ofHours(1));
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> swallowErrorIn(request))
			.withMessageContaining("PostgreSQL has aborted");
		for (LockScope scope : LockScope.values()) {
			assertThatExceptionOfType(UnexpectedRollbackException.class)
				.isThrownBy(() -> transaction().executeWithoutResult((status) -> swallowErrorIn(request(scope))))
				.withMessageContaining("PostgreSQL has aborted");
		}
		assertThat(outcomes()).containsExactly("FAILED", "FAILED", "FAILED");
		assertThat(effects()).isEmpty();
		assertThat(execute(LockScope.TRANSACTION, TICK)).isEqualTo(LockOutcome.EXECUTED);
	}

	private void swallowErrorIn(LockRequest request) {
		this.template.execute(request.oncePerTick(TICK), (lock) -> {
			insertEffect("job");
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> this.jdbc.update("INSERT INTO nowhere VALUES (1)"))
				.extracting(SqlState::of)
				.isEqualTo("42P01");
			return 1;
		}).orElseThrow();
	}

	private void assertThatRunIsUndone(LockRequest request, String meanwhile) {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			TestPostgres.execute(meanwhile);
			return insertEffect("undone");
		})).withMessageContaining("'tests/job'").withMessageContaining("another run has completed it");
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).containsExactly("EXECUTED", "FAILED");
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	private void failAndRollBackAndCommit(LockScope scope) {
		TransactionTemplate transaction = transaction();
		assertThatIllegalStateException()
			.isThrownBy(() -> transaction.executeWithoutResult((status) -> executeAndFail(scope, TICK)))
			.withMessage("expected");
		transaction.executeWithoutResult((status) -> {
			execute(scope, TICK);
			status.setRollbackOnly();
		});
		transaction.executeWithoutResult((status) -> execute(scope, TICK));
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.ALREADY_RAN);
	}

	private void breakCommit() {
		this.jdbc.update("INSERT INTO ledger_effect VALUES ('a', 1), ('b', 1)");
	}

	private static final class UndescribableException extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no message");
		}

	}

}
