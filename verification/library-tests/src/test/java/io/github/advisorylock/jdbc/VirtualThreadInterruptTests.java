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

import java.net.SocketException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that an interrupt ends calls of virtual threads as it ends those of platform
 * threads, although it closes the connection that is read by one of them.
 */
class VirtualThreadInterruptTests extends AbstractLockTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final String ATTEMPT = "pg_try_advisory_xact_lock";

	private final FaultyDataSource connections = new FaultyDataSource();

	private final JdbcTransactionManager manager = new JdbcTransactionManager(this.connections);

	private final TransactionTemplate caller = new TransactionTemplate(this.manager);

	private final JdbcTemplate effects = new JdbcTemplate(this.connections);

	private ExecutorService virtualThreads;

	@BeforeEach
	void useConnectionsThatAreClosedByInterrupts() {
		this.virtualThreads = VirtualThreadExecutor.create();
		this.template = createTemplate(this.connections, this.manager);
		TestPostgres.execute("CREATE TABLE interrupted (id int)");
	}

	@AfterEach
	void endVirtualThreads() throws Exception {
		if (this.virtualThreads != null) {
			this.virtualThreads.shutdownNow();
			assertThat(this.virtualThreads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			TestPostgres.execute("DROP TABLE interrupted");
		}
	}

	private <T> T onVirtualThread(Callable<T> call) throws Exception {
		return this.virtualThreads.submit(call).get(Patience.SECONDS, TimeUnit.SECONDS);
	}

	private int insertAndInterrupt() {
		int inserted = this.effects.update("INSERT INTO interrupted VALUES (1)");
		Thread.currentThread().interrupt();
		return inserted;
	}

	private static List<String> committed() {
		return TestPostgres.query("SELECT id FROM interrupted");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 5 })
	void interruptDuringAnAttemptEndsTheWaitAsBusy(int attempt) throws Exception {
		this.connections.interruptBefore("execute", ATTEMPT, attempt);
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			LockRequest request = request(LockScope.TRANSACTION).waitFor(HOUR);
			assertThat(onVirtualThread(() -> {
				LockOutcome outcome = this.template.execute(request, (lock) -> 1).outcome();
				return List.of(outcome, Thread.interrupted());
			})).containsExactly(LockOutcome.BUSY, true);
		}
		assertThat(this.template.execute(request(LockScope.TRANSACTION), (lock) -> 1).executed()).isTrue();
	}

	/**
	 * An answer that is there before anybody has waited for it is not missed.
	 */
	@Test
	void interruptOfAnAttemptThatMayNotWaitIsNoBusyLock() throws Exception {
		for (int i = 0; i < 20; i++) {
			this.connections.interruptBefore("execute", ATTEMPT, 1);
			assertThat(onVirtualThread(
					() -> outcomeOrFailure(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> 1))))
				.isIn(LockOutcome.EXECUTED, DataAccessResourceFailureException.class);
		}
	}

	/**
	 * A transaction that is lost with its connection is not taken for one that goes on.
	 */
	@Test
	void interruptDuringAnAttemptInTransactionOfCallerIsBusyOrHasEndedThat() throws Exception {
		LockRequest request = request(LockScope.TRANSACTION).waitFor(HOUR);
		int busy = 0;
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			for (int i = 0; i < 20; i++) {
				this.connections.interruptBefore("execute", ATTEMPT, 1 + i % 3);
				Object outcome = onVirtualThread(() -> outcomeOrFailure(() -> this.caller.execute((status) -> {
					this.effects.update("INSERT INTO interrupted VALUES (1)");
					return this.template.execute(request, (lock) -> 1);
				})));
				assertThat(outcome).isIn(LockOutcome.BUSY, DataAccessResourceFailureException.class);
				busy += (outcome == LockOutcome.BUSY) ? 1 : 0;
			}
		}
		assertThat(committed()).hasSize(busy);
	}

	private static Object outcomeOrFailure(Supplier<LockResult<?>> call) {
		try {
			return call.get().outcome();
		}
		catch (DataAccessResourceFailureException ex) {
			return DataAccessResourceFailureException.class;
		}
	}

	@ParameterizedTest
	@EnumSource
	void interruptFromBeforeTheWaitLeavesTheTransactionOfItsCaller(LockScope scope) throws Exception {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			LockRequest request = request(scope).waitFor(HOUR);
			assertThat(onVirtualThread(() -> {
				LockOutcome outcome = this.caller.execute((status) -> {
					insertAndInterrupt();
					return this.template.execute(request, (lock) -> 1).outcome();
				});
				return List.of(outcome, Thread.interrupted());
			})).containsExactly(LockOutcome.BUSY, true);
		}
		assertThat(committed()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void runThatRestoresItsFlagIsCommittedAndTheFlagStays(LockScope scope) throws Exception {
		LockRequest request = request(scope);
		assertThat(onVirtualThread(() -> {
			LockResult<Integer> result = this.template.execute(request, (lock) -> insertAndInterrupt());
			return List.of(result.executed(), Thread.interrupted());
		})).containsExactly(true, true);
		assertThat(committed()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void runThatRestoresItsFlagInTransactionOfItsCallerIsCommittedAndTheFlagStays(LockScope scope) throws Exception {
		LockRequest request = request(scope);
		assertThat(onVirtualThread(() -> {
			boolean executed = this.caller
				.execute((status) -> this.template.execute(request, (lock) -> insertAndInterrupt()).executed());
			return List.of(executed, Thread.interrupted());
		})).containsExactly(true, true);
		assertThat(committed()).hasSize(1);
	}

	@Test
	void failureOfRunThatRestoresItsFlagIsAlone() {
		IllegalStateException expected = new IllegalStateException("expected");
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> onVirtualThread(() -> this.template.execute(request(LockScope.TRANSACTION), (lock) -> {
				insertAndInterrupt();
				throw expected;
			})))
			.havingCause()
			.isSameAs(expected);
		assertThat(expected.getSuppressed()).isEmpty();
		assertThat(committed()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void lockOfInterruptedRunCanBeConfirmed(LockScope scope) throws Exception {
		assertThat(onVirtualThread(() -> this.template.execute(request(scope), (lock) -> {
			Thread.currentThread().interrupt();
			lock.checkHeld();
			assertThat(Thread.interrupted()).isTrue();
			return lock.isHeld();
		}).value())).isTrue();
	}

	/**
	 * What an application does itself is as its driver has it.
	 */
	@Test
	void interruptedVirtualThreadCanNotUseConnectionsItself() throws Exception {
		assertThat(onVirtualThread(() -> {
			try (Connection connection = TestPostgres.open()) {
				Thread.currentThread().interrupt();
				assertThatExceptionOfType(SQLException.class)
					.isThrownBy(() -> connection.createStatement().execute("SELECT pg_catalog.pg_sleep(3)"))
					.withRootCauseInstanceOf(SocketException.class);
				return connection.isClosed();
			}
			finally {
				Thread.interrupted();
			}
		})).isTrue();
	}

}
