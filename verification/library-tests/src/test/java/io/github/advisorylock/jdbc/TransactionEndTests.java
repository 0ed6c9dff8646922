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

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for how runs and transactions end together.
 */
class TransactionEndTests extends AbstractLockTests {

	@BeforeEach
	void createTable() {
		TestPostgres.execute("CREATE TABLE effect (id int PRIMARY KEY)");
	}

	@AfterEach
	void dropTable() {
		TestPostgres.execute("DROP TABLE effect");
	}

	@Test
	void runWhoseTransactionWasAbortedFails() {
		assertThatRunWasAborted(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> swallowError()));
	}

	@Test
	void statementThatFailsFreesTheLockAlthoughTheMethodGoesOn() {
		assertThatRunWasAborted(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
			assertThat(lock.isHeld()).isTrue();
			assertThat(TestPostgres.holders()).isNotEmpty();
			int answer = swallowError();
			assertThat(TestPostgres.holders()).isEmpty();
			assertThat(lock.isHeld()).isFalse();
			return answer;
		}));
	}

	@ParameterizedTest
	@EnumSource
	void runThatAbortedItsCallersTransactionFails(LockScope scope) {
		transaction().executeWithoutResult((status) -> {
			assertThatRunWasAborted(() -> this.template.execute(request(scope), (lock) -> swallowError()));
			status.setRollbackOnly();
		});
	}

	@ParameterizedTest
	@EnumSource
	void callersTransactionThatWasAbortedAfterTheRunIsNoSuccess(LockScope scope) {
		assertThatRunWasAborted(() -> transaction().executeWithoutResult((status) -> {
			this.template.execute(request(scope), (lock) -> insert(1));
			swallowError();
		}));
	}

	@Test
	void errorThatIsSwallowedWhenTheRunIsCommittedIsNoSuccess() {
		assertThatRunWasAborted(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
			beforeCommit(this::swallowError);
			return 1;
		}));
	}

	@ParameterizedTest
	@EnumSource
	void errorThatIsSwallowedWhenTheCallerIsCommittedIsNoSuccess(LockScope scope) {
		assertThatRunWasAborted(() -> transaction().executeWithoutResult((status) -> {
			this.template.execute(request(scope), (lock) -> insert(1));
			beforeCommit(this::swallowError);
		}));
	}

	@ParameterizedTest
	@EnumSource
	void runFailsWhoseOwnTransactionInsideWasAborted(LockScope scope) {
		assertThatRunWasAborted(() -> this.template.execute(request(scope),
				(lock) -> transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.execute((status) -> swallowError())));
	}

	@Test
	void abortedTransactionHasLostItsLock() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
				swallowError();
				assertThat(ForeignSession.isFree(KEY)).isTrue();
				assertThat(lock.isHeld()).isFalse();
				lock.checkHeld();
				return 1;
			}));
	}

	@Test
	void errorThatWasRolledBackToSavepointIsNoneOfTheRun() {
		this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> transaction(TransactionDefinition.PROPAGATION_NESTED)
					.executeWithoutResult((status) -> this.jdbc.update("INSERT INTO nowhere VALUES (1)")))
				.extracting(SqlState::of)
				.isEqualTo("42P01");
			lock.checkHeld();
			return insert(1);
		}).orElseThrow();
		assertThat(effects()).containsExactly("1");
	}

	@Test
	void jobThatEndsItsTransactionItselfHasLostItsLock() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
				this.jdbc.execute((ConnectionCallback<Integer>) (connection) -> {
					connection.commit();
					return 1;
				});
				assertThat(lock.isHeld()).isFalse();
				return 1;
			}))
			.withMessageContaining("'tests/job'");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void knownOrUnknownLossOfSessionLockFailsTheCommitOfTheCaller(boolean known) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				this.template.execute(request(LockScope.SESSION), (lock) -> insert(1));
				TestPostgres.terminate(NAMESPACE);
				if (known) {
					// learns that the connection is gone
					this.template.execute(LockRequest.of("other").scope(LockScope.SESSION), (lock) -> 1);
				}
			}))
			.withMessageContaining("'tests/job'");
		assertThat(effects()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void callNestedInRunWhoseLockIsLostDoesNotRun(LockScope scope) {
		AtomicBoolean ran = new AtomicBoolean();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(scope), (lock) -> {
				if (scope == LockScope.SESSION) {
					TestPostgres.terminate(NAMESPACE);
					assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::checkHeld);
				}
				else {
					swallowError();
				}
				return this.template.execute(request(scope), (nested) -> ran.getAndSet(true));
			}));
		assertThat(ran).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "AFTER_COMMIT", "AFTER_COMPLETION" })
	void callFromTransactionThatIsCompletingHasItsOwn(Phase phase) {
		transaction().executeWithoutResult((status) -> {
			insert(1);
			phase.register(() -> assertThatIllegalStateException()
				.isThrownBy(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
					insert(2);
					throw new IllegalStateException("expected");
				}))
				.withMessage("expected"));
			phase.register(() -> assertThat(this.template.execute(LockRequest.of("next"), (lock) -> insert(3)).value())
				.isOne());
		});
		assertThat(effects()).containsExactly("1", "3");
	}

	@ParameterizedTest
	@EnumSource
	void callFromTransactionThatJustCommittedGetsItsLockAgain(LockScope scope) {
		List<LockOutcome> outcomes = new ArrayList<>();
		transaction().executeWithoutResult((status) -> {
			for (Phase phase : Phase.values()) {
				phase.register(() -> outcomes.add(this.template
					.execute(request(scope), (lock) -> assertThat(ForeignSession.isFree(KEY)).isFalse())
					.outcome()));
			}
			this.template.execute(request(scope), (lock) -> 1);
		});
		assertThat(outcomes).containsExactly(LockOutcome.EXECUTED, LockOutcome.EXECUTED);
	}

	@Test
	void newTransactionThatWasBegunAfterTheCommitIsJoined() {
		transaction().executeWithoutResult((status) -> Phase.AFTER_COMMIT.register(
				() -> transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((fresh) -> {
					this.template.execute(request(LockScope.TRANSACTION), (lock) -> insert(1));
					fresh.setRollbackOnly();
				})));
		assertThat(effects()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void busyCallsLeaveNothingInTheTransactionOfTheCaller(LockScope scope) {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			transaction().executeWithoutResult((status) -> {
				for (int i = 0; i < 100; i++) {
					assertThat(this.template.execute(request(scope), (lock) -> 1).outcome())
						.isEqualTo(LockOutcome.BUSY);
				}
				assertThat(TransactionSynchronizationManager.getSynchronizations()).isEmpty();
			});
		}
	}

	@Test
	void holdThatCannotBeTiedToTransactionIsReleased() {
		AtomicReference<Hold> released = new AtomicReference<>();
		Hold hold = new Hold.InSession(KEY, request(LockScope.SESSION).mode(), LockScheduler.Ticker.SYSTEM, () -> {
		});
		assertThatIllegalStateException()
			.isThrownBy(() -> HoldSynchronization.register(hold, null,
					new TransactionCoverage(this.pool, this.transactionManager), released::set))
			.withMessage("Transaction synchronization is not active");
		assertThat(released).hasValue(hold);
	}

	@Test
	void savepointsOfTheCallerAreNotKept() {
		transaction().executeWithoutResult((status) -> {
			this.template.execute(request(LockScope.TRANSACTION), (lock) -> 1);
			List<WeakReference<Object>> savepoints = new ArrayList<>();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void savepoint(Object savepoint) {
					savepoints.add(new WeakReference<>(savepoint));
				}

			});
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> insert(1));
			assertThat(savepoints).hasSize(1);
			Awaitility.await().until(() -> {
				System.gc();
				return savepoints.get(0).get() == null;
			});
		});
	}

	private static void assertThatRunWasAborted(Runnable run) {
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(run::run)
			.withMessageContainingAll("'tests/job'", "aborted", "rolls everything back");
		assertThat(effects()).isEmpty();
	}

	private static void beforeCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				action.run();
			}

		});
	}

	private int swallowError() {
		insert(2);
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.jdbc.update("INSERT INTO nowhere VALUES (1)"))
			.extracting(SqlState::of)
			.isEqualTo("42P01");
		return 1;
	}

	private int insert(int id) {
		return this.jdbc.update("INSERT INTO effect VALUES (?)", id);
	}

	private static List<String> effects() {
		return TestPostgres.query("SELECT id FROM effect ORDER BY id");
	}

	/**
	 * When something is done that was registered with a transaction.
	 */
	enum Phase {

		AFTER_COMMIT {

			@Override
			TransactionSynchronization synchronization(Runnable action) {
				return new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						action.run();
					}

				};
			}

		},

		AFTER_COMPLETION {

			@Override
			TransactionSynchronization synchronization(Runnable action) {
				return new TransactionSynchronization() {

					@Override
					public void afterCompletion(int status) {
						action.run();
					}

				};
			}

		};

		abstract TransactionSynchronization synchronization(Runnable action);

		/**
		 * Spring only logs what is thrown after the completion.
		 */
		void register(Runnable action) {
			TransactionSynchronizationManager.registerSynchronization(synchronization(action));
		}

	}

}
