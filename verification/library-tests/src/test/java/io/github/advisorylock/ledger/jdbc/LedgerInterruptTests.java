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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
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

	@ParameterizedTest
	@ValueSource(strings = { LOOK, TOKEN, BEGIN })
	void runFailsBeforeItsWorkWithItsOwnConnectionAlone(String standstill) throws Exception {
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		HeldLock held = this.template.tryAcquire(LockRequest.of("held")).orElseThrow();
		String session = TestPostgres.connections(NAMESPACE).get(0);
		LockRequest others = LockRequest.of("others").scope(LockScope.SESSION);
		whileAnotherThreadRuns(others, () -> {
			try (Connection other = hold(standstill)) {
				Interrupted run = new Interrupted(virtualThreads, () -> execute(TICK_IN_SESSION));
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> run.outcome.get(20, TimeUnit.SECONDS))
					.withCauseInstanceOf(DataAccessException.class);
				assertThat(run.flag.get(20, TimeUnit.SECONDS)).isTrue();
				assertThat(isBusyLocally(this.template, request(LockScope.SESSION))).isFalse();
				assertThat(this.template.execute(request(LockScope.SESSION), (lock) -> {
					lock.checkHeld();
					return 1;
				}).executed()).isTrue();
				List<String> waiting = TestPostgres
					.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
				other.rollback();
				// Servers whose clients have gone end after what they waited for: a
				// row that comes later would be one of the next test
				Awaitility.await()
					.untilAsserted(() -> assertThat(TestPostgres.query("SELECT pid FROM pg_stat_activity"))
						.doesNotContainAnyElementsOf(waiting));
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

	@Test
	void runThatIsInterruptedBeforeItsEndIsConfirmedIsRecorded() throws Exception {
		assertThat(endWhileInterrupted((holder) -> {
		})).succeedsWithin(LONG).isEqualTo(true);
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void failureOfRunThatIsInterruptedBeforeItIsToldOfItsLossIsRecorded() throws Exception {
		assertThat(endWhileInterrupted((holder) -> TestPostgres.execute("SELECT pg_terminate_backend(" + holder + ")")))
			.failsWithin(LONG)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("tests/job")
			.satisfies((failure) -> assertThat(failure.getSuppressed()).isEmpty());
		assertThat(outcomes()).containsExactly("FAILED");
	}

	/**
	 * Interrupt a run of a virtual thread whose work is over and that waits to be
	 * confirmed, as the answers of the session are late.
	 * @param action what to do with the process that has the lock
	 * @return whether the thread was interrupted afterwards
	 */
	private Future<Boolean> endWhileInterrupted(Consumer<String> action) throws Exception {
		try (TestProxy proxy = new TestProxy(Duration.ZERO)) {
			this.template = createTemplate(this.pool, this.transactionManager,
					new DriverManagerDataSource(proxy.url()));
			ExecutorService virtualThreads = VirtualThreadExecutor.create();
			AtomicReference<Thread> runner = new AtomicReference<>();
			CountDownLatch begun = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			Future<Boolean> interrupted = virtualThreads.submit(() -> {
				this.template.execute(TICK_IN_SESSION, (lock) -> {
					begun.countDown();
					end.await();
					runner.set(Thread.currentThread());
					return 1;
				}).orElseThrow();
				return Thread.interrupted();
			});
			begun.await();
			String holder = TestPostgres.connections(NAMESPACE).get(0);
			proxy.stall();
			end.countDown();
			Awaitility.await()
				.until(() -> runner.get() != null && runner.get().getState() == Thread.State.TIMED_WAITING);
			runner.get().interrupt();
			action.accept(holder);
			proxy.resume();
			virtualThreads.shutdown();
			assertThat(virtualThreads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			return interrupted;
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { LOOK, TOKEN, BEGIN })
	void runOfAnotherThreadBegins(String standstill) throws Exception {
		Interrupted run;
		try (Connection other = hold(standstill)) {
			run = new Interrupted(Executors.newSingleThreadExecutor(), () -> execute(TICK_IN_SESSION));
			other.rollback();
		}
		assertThat(run.outcome.get(20, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(run.flag.get(20, TimeUnit.SECONDS)).isTrue();
		assertThat(outcomes()).containsExactly("EXECUTED");
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
