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

package io.github.advisorylock.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for runs of virtual threads that are interrupted between their lock and their
 * work, while the ledger is asked.
 */
class LedgerInterruptTests extends AbstractLedgerTests {

	private static final LockRequest TICK_IN_SESSION = LockRequest.of("job").scope(LockScope.SESSION).oncePerTick(TICK);

	private static final String LOOK = "LOCK TABLE ledger_tests_job IN ACCESS EXCLUSIVE MODE";

	private static final String TOKEN = "ALTER SEQUENCE ledger_tests_fencing_token INCREMENT 1";

	private static final String BEGIN = "LOCK TABLE ledger_tests_run IN SHARE MODE";

	@BeforeEach
	void createRole() {
		TestPostgres.execute("CREATE ROLE ledger_drawer LOGIN PASSWORD 'low'");
	}

	@AfterEach
	void dropRole() {
		this.sessions.forEach(LockSession::close);
		TestPostgres.execute("DROP OWNED BY ledger_drawer; DROP ROLE ledger_drawer");
	}

	/**
	 * The connection of session locks does not know the ledger here, so that a connection
	 * of the pool is asked for each of these.
	 */
	@ParameterizedTest
	@ValueSource(strings = { LOOK, TOKEN, BEGIN })
	void runFailsBeforeItsWorkWithItsOwnConnectionAlone(String standstill) throws Exception {
		useSessionThatDoesNotKnowTheLedger();
		HeldLock held = this.template.tryAcquire(LockRequest.of("held")).orElseThrow();
		String session = TestPostgres.connections(NAMESPACE).get(0);
		LockRequest others = LockRequest.of("others").scope(LockScope.SESSION);
		whileAnotherThreadRuns(others, () -> {
			try (Connection other = hold(standstill)) {
				Interrupted run = new Interrupted(VirtualThreadExecutor.create(), () -> execute(TICK_IN_SESSION));
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> run.outcome.get(20, TimeUnit.SECONDS))
					.withCauseInstanceOf(DataAccessException.class);
				assertThat(run.flag.get(20, TimeUnit.SECONDS)).isTrue();
				assertThat(isBusyLocally(this.template, request(LockScope.SESSION))).isFalse();
				assertThat(this.template.execute(request(LockScope.SESSION), (lock) -> {
					lock.checkHeld();
					return 1;
				}).executed()).isTrue();
				other.rollback();
			}
			return null;
		});
		assertThat(held.isHeld()).isTrue();
		held.close();
		assertThat(TestPostgres.connections(NAMESPACE)).containsExactly(session);
		assertThat(this.events).isEmpty();
		assertThat(effects()).isEmpty();
		assertThat(execute(TICK_IN_SESSION)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(TICK_IN_SESSION)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(effects()).containsExactly("job");
		assertThat(outcomes()).doesNotContain("OPEN", "FAILED").endsWith("EXECUTED");
	}

	/**
	 * A thread of the library reads the token there, and who is interrupted goes on to
	 * ask on a connection that is its own.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void runBeginsAndIsInterruptedWhenThatCameWhileTheSessionDrewItsToken(boolean inTransaction) throws Exception {
		// an answer that is there at once would be read in spite of the interrupt
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(20))) {
			usePool(TestPostgres.pool(proxy.url(), 2));
			this.ledger.prepare();
			if (!inTransaction) {
				useSessionThatMayOnlyDrawTokens();
			}
			Interrupted run;
			try (Connection other = hold(TOKEN)) {
				run = new Interrupted(VirtualThreadExecutor.create(), () -> inTransaction
						? transaction().execute((status) -> runAndReturnInterrupt()) : runAndReturnInterrupt());
				assertThat(run.outcome).isNotDone();
				other.rollback();
			}
			assertThat(run.outcome.get(20, TimeUnit.SECONDS)).isEqualTo(true);
			assertThat(outcomes()).containsExactly("EXECUTED");
		}
	}

	private Boolean runAndReturnInterrupt() {
		return this.template.execute(TICK_IN_SESSION, (lock) -> Thread.interrupted()).orElseThrow();
	}

	private void useSessionThatMayOnlyDrawTokens() {
		TestPostgres.execute("GRANT SELECT ON ledger_tests_job, ledger_tests_run TO ledger_drawer; "
				+ "GRANT USAGE ON SEQUENCE ledger_tests_fencing_token TO ledger_drawer");
		this.template = createTemplate(this.pool, this.transactionManager, new DriverManagerDataSource(
				TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""), "ledger_drawer", "low"));
		findOutWhatTheSessionMayDo();
	}

	@ParameterizedTest
	@ValueSource(strings = { LOOK, TOKEN, BEGIN })
	void runOfAnotherThreadBegins(String standstill) throws Exception {
		useSessionThatDoesNotKnowTheLedger();
		Interrupted run;
		try (Connection other = hold(standstill)) {
			run = new Interrupted(Executors.newSingleThreadExecutor(), () -> execute(TICK_IN_SESSION));
			other.rollback();
		}
		assertThat(run.outcome.get(20, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run.flag.get(20, TimeUnit.SECONDS)).isTrue();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	private void useSessionThatDoesNotKnowTheLedger() {
		this.template = createTemplate(this.pool, this.transactionManager,
				new DriverManagerDataSource(TestPostgres.url() + "&currentSchema=pg_catalog"));
		findOutWhatTheSessionMayDo();
	}

	private void findOutWhatTheSessionMayDo() {
		assertThat(this.template.execute(LockRequest.of("first").scope(LockScope.SESSION).oncePerKey(), (lock) -> 1)
			.executed()).isTrue();
		TestPostgres.execute("DELETE FROM ledger_tests_run");
	}

	/**
	 * Have whoever asks the ledger for a certain thing wait.
	 */
	private static Connection hold(String standstill) throws SQLException {
		Connection connection = TestPostgres.open();
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			statement.execute(standstill);
		}
		return connection;
	}

	/**
	 * A run that is interrupted while it waits for the ledger.
	 */
	private final class Interrupted {

		private final CompletableFuture<Object> outcome = new CompletableFuture<>();

		private final CompletableFuture<Boolean> flag = new CompletableFuture<>();

		Interrupted(ExecutorService executor, Callable<?> call) {
			AtomicReference<@Nullable Thread> runner = new AtomicReference<>();
			executor.execute(() -> {
				runner.set(Thread.currentThread());
				try {
					this.outcome.complete(call.call());
				}
				catch (Throwable ex) {
					this.outcome.completeExceptionally(ex);
				}
				this.flag.complete(Thread.interrupted());
			});
			executor.shutdown();
			Awaitility.await()
				.until(() -> !TestPostgres.query("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'")
					.isEmpty());
			runner.get().interrupt();
		}

	}

}
