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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what becomes of the lock of a recorded run in scope SESSION when something
 * happens between that it was taken and that the ledger has answered. A table that
 * somebody else has locked keeps the flight there.
 */
class LedgerFlightTests extends AbstractLedgerTests {

	private static final LockRequest TICK_IN_SESSION = LockRequest.of("job").scope(LockScope.SESSION).oncePerTick(TICK);

	@Test
	void lockIsReleasedWhenDecisionFails() throws Exception {
		useLockTimeout();
		openSession();
		List<String> session = TestPostgres.connections(NAMESPACE);
		try (Connection other = lockLedger()) {
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> execute(TICK_IN_SESSION))
				.withStackTraceContaining("lock timeout");
			assertThat(TestPostgres.locks()).isEmpty();
		}
		assertThat(execute(TICK_IN_SESSION)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(TestPostgres.connections(NAMESPACE)).isEqualTo(session);
	}

	/**
	 * Those that wait while one flight is under way travel in the next one together.
	 */
	@Test
	void decisionThatFailsLeavesLocksToOthersInItsFlight() throws Exception {
		useLockTimeout();
		List<Future<LockOutcome>> recorded = new ArrayList<>();
		List<Future<LockOutcome>> plain = new ArrayList<>();
		try (Connection other = lockLedger()) {
			for (int i = 0; i < 3; i++) {
				LockRequest tick = LockRequest.of("recorded-" + i).scope(LockScope.SESSION).oncePerTick(TICK);
				LockRequest unrecorded = LockRequest.of("plain-" + i).scope(LockScope.SESSION);
				recorded.add(this.threads.submit(() -> execute(tick)));
				plain.add(this.threads.submit(() -> execute(unrecorded)));
			}
			for (Future<LockOutcome> outcome : plain) {
				assertThat(outcome.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
			}
			for (Future<LockOutcome> outcome : recorded) {
				assertThat(outcome).failsWithin(LONG).withThrowableThat().withStackTraceContaining("lock timeout");
			}
			assertThat(TestPostgres.locks()).isEmpty();
		}
		assertThat(outcomes()).isEmpty();
	}

	@Test
	void runWhoseLockIsLostBeforeTheAnswerTakesItOnceMore() throws Exception {
		openSession();
		Future<LockOutcome> run;
		try (Connection other = lockLedger()) {
			run = this.threads.submit(() -> execute(TICK_IN_SESSION));
			String lost = awaitHolder();
			TestPostgres.execute("SELECT pg_terminate_backend(" + lost + ")");
			Awaitility.await().until(() -> !awaitHolder().equals(lost));
		}
		assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(effects()).hasSize(1);
	}

	@Test
	void interruptThatComesBetweenLockAndAnswerIsKeptAndLeavesNoLock() throws Exception {
		openSession();
		AtomicReference<Thread> runner = new AtomicReference<>();
		Future<Boolean> interrupted;
		try (Connection other = lockLedger()) {
			interrupted = this.threads.submit(() -> {
				runner.set(Thread.currentThread());
				this.template.execute(TICK_IN_SESSION, (lock) -> 1);
				return Thread.interrupted();
			});
			awaitHolder();
			runner.get().interrupt();
		}
		assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void interruptOfOneWhoWaitsForTheNextFlightIsKept() throws Exception {
		openSession();
		AtomicReference<Thread> runner = new AtomicReference<>();
		Future<LockOutcome> run;
		Future<Boolean> interrupted;
		try (Connection other = lockLedger()) {
			run = this.threads.submit(() -> execute(TICK_IN_SESSION));
			awaitHolder();
			interrupted = this.threads.submit(() -> {
				runner.set(Thread.currentThread());
				this.template.execute(LockRequest.of("next").scope(LockScope.SESSION), (lock) -> 1);
				return Thread.interrupted();
			});
			Awaitility.await().until(() -> runner.get() != null && runner.get().getState() == Thread.State.WAITING);
			runner.get().interrupt();
		}
		assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void runOfVirtualThreadThatIsInterruptedBeforeItIsConfirmedIsRecorded() throws Exception {
		Future<Boolean> interrupted = endWhileInterrupted((holder) -> {
		});
		assertThat(interrupted).succeedsWithin(LONG).isEqualTo(true);
		assertThat(outcomes()).containsExactly("EXECUTED", "EXECUTED");
	}

	@Test
	void failureOfVirtualThreadThatIsInterruptedBeforeItIsToldOfItsLossIsRecorded() throws Exception {
		Future<Boolean> interrupted = endWhileInterrupted(
				(holder) -> TestPostgres.execute("SELECT pg_terminate_backend(" + holder + ")"));
		assertThat(interrupted).failsWithin(LONG)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("tests/other")
			.satisfies((failure) -> assertThat(failure.getSuppressed()).isEmpty());
		assertThat(outcomes()).containsExactly("FAILED", "EXECUTED");
	}

	/**
	 * Interrupt a run of a virtual thread that is over and waits to be confirmed, by the
	 * flight after one that is kept.
	 * @param action what to do with the process that has the locks
	 * @return whether the thread was interrupted afterwards
	 */
	private Future<Boolean> endWhileInterrupted(Consumer<String> action) throws Exception {
		openSession();
		ExecutorService virtualThreads = VirtualThreadExecutor.create();
		AtomicReference<Thread> runner = new AtomicReference<>();
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		LockRequest request = LockRequest.of("other").scope(LockScope.SESSION).oncePerTick(TICK);
		Future<Boolean> interrupted = virtualThreads.submit(() -> {
			this.template.execute(request, (lock) -> {
				begun.countDown();
				end.await();
				runner.set(Thread.currentThread());
				return 1;
			}).orElseThrow();
			return Thread.interrupted();
		});
		begun.await();
		Future<LockOutcome> kept;
		try (Connection other = lockLedger()) {
			kept = this.threads.submit(() -> execute(TICK_IN_SESSION));
			String holder = awaitHolder();
			end.countDown();
			Awaitility.await().until(() -> runner.get() != null && runner.get().getState() == Thread.State.WAITING);
			runner.get().interrupt();
			action.accept(holder);
		}
		assertThat(kept.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		virtualThreads.shutdown();
		assertThat(virtualThreads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		return interrupted;
	}

	@Test
	void tickThatIsCompletedBeforeTheLedgerAnswersIsNotRunAgain() throws Exception {
		openSession();
		Future<LockOutcome> run;
		try (Connection other = lockLedger()) {
			run = this.threads.submit(() -> execute(TICK_IN_SESSION));
			awaitHolder();
			update(other,
					"INSERT INTO ledger_tests_job (namespace, key, last_tick) VALUES ('tests', 'job', '" + TICK + "')");
			other.commit();
		}
		assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(effects()).isEmpty();
	}

	private void openSession() {
		assertThat(this.template.execute(request(LockScope.SESSION), (lock) -> 1).executed()).isTrue();
	}

	private void useLockTimeout() {
		this.template = createTemplate(this.pool, this.transactionManager,
				new DriverManagerDataSource(TestPostgres.url() + "&options=-c%20lock_timeout=100"));
		this.ledger.prepare();
	}

	private static Connection lockLedger() throws SQLException {
		Connection connection = TestPostgres.open();
		connection.setAutoCommit(false);
		update(connection, "LOCK TABLE ledger_tests_job");
		return connection;
	}

	private static void update(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/**
	 * Wait until a session has the lock and waits for the ledger, and return its process.
	 */
	private static String awaitHolder() {
		return Awaitility.await()
			.until(() -> TestPostgres.query("SELECT DISTINCT a.pid FROM pg_locks a JOIN pg_locks r ON a.pid = r.pid "
					+ "WHERE a.locktype = 'advisory' AND a.granted AND r.locktype = 'relation' AND NOT r.granted"),
					(pids) -> pids.size() == 1)
			.get(0);
	}

}
