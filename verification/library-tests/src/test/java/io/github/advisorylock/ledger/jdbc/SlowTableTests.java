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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for recorded runs behind a table of the ledger that somebody else has locked, as
 * a migration does.
 */
@Tag("gate")
class SlowTableTests extends AbstractLedgerTests {

	private static final LockRequest TICK_IN_SESSION = LockRequest.of("job").scope(LockScope.SESSION).oncePerTick(TICK);

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(500), Duration.ofSeconds(3),
				LockSessionSettings.WhenLost.INTERRUPT);
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOCK TABLE ledger_tests_job IN ACCESS EXCLUSIVE MODE",
			"LOCK TABLE ledger_tests_run IN ACCESS EXCLUSIVE MODE",
			"ALTER SEQUENCE ledger_tests_fencing_token INCREMENT 1" })
	void lockOfAnotherRunStays(String migration) throws Exception {
		// the word of a server that gives up arrives after the time it has taken
		try (TestProxy proxy = new TestProxy(Duration.ofMillis(100))) {
			this.template = createTemplate(this.pool, this.transactionManager,
					new DriverManagerDataSource(proxy.url()));
			HeldLock held = this.template.tryAcquire(LockRequest.of("held")).orElseThrow();
			String session = TestPostgres.connections(NAMESPACE).get(0);
			Future<LockOutcome> run;
			try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
				other.setAutoCommit(false);
				statement.execute(migration);
				run = this.threads.submit(() -> execute(request(LockScope.SESSION).oncePerTick(TICK)));
				awaitEndOrAnswerTimeout(run);
				other.rollback();
			}
			awaitEndOrAnswerTimeout(run);
			assertThat(run).isDone();
			assertThat(held.isHeld()).isTrue();
			assertThat(TestPostgres.connections(NAMESPACE)).containsExactly(session);
			assertThat(this.events).isEmpty();
			held.close();
		}
	}

	@Test
	void lockIsReleasedWhenTheTableIsNotFreeInTime() throws Exception {
		usePool(TestPostgres.pool(TestPostgres.url() + "&options=-c%20lock_timeout=100", 4));
		this.ledger.prepare();
		openSession();
		List<String> session = TestPostgres.connections(NAMESPACE);
		try (Connection other = lockLedger()) {
			assertThatExceptionOfType(UncategorizedSQLException.class).isThrownBy(() -> execute(TICK_IN_SESSION))
				.withStackTraceContaining("lock timeout");
			assertThat(TestPostgres.locks()).isEmpty();
		}
		assertThat(execute(TICK_IN_SESSION)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("EXECUTED");
		assertThat(TestPostgres.connections(NAMESPACE)).isEqualTo(session);
	}

	@Test
	void runsThatAreNotRecordedGoOn() throws Exception {
		List<Future<LockOutcome>> recorded = new ArrayList<>();
		try (Connection other = lockLedger()) {
			for (int i = 0; i < 3; i++) {
				LockRequest tick = LockRequest.of("recorded-" + i).scope(LockScope.SESSION).oncePerTick(TICK);
				recorded.add(this.threads.submit(() -> execute(tick)));
				assertThat(execute(LockRequest.of("plain-" + i).scope(LockScope.SESSION)))
					.isEqualTo(LockOutcome.EXECUTED);
			}
		}
		for (Future<LockOutcome> outcome : recorded) {
			assertThat(outcome.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
		}
	}

	@Test
	void runWhoseLockIsLostMeanwhileDoesNotBegin() throws Exception {
		openSession();
		String session = TestPostgres.connections(NAMESPACE).get(0);
		Future<LockOutcome> run;
		try (Connection other = lockLedger()) {
			run = this.threads.submit(() -> execute(LockScope.SESSION, TICK));
			awaitHolder();
			TestPostgres.execute("SELECT pg_terminate_backend(" + session + ", 10000)");
		}
		assertThat(run).failsWithin(LONG)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("tests/job");
		assertThat(effects()).isEmpty();
		assertThat(execute(TICK_IN_SESSION)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void interruptIsKeptAndLeavesNoLock() throws Exception {
		AtomicReference<Thread> runner = new AtomicReference<>();
		Future<Boolean> interrupted;
		ExecutorService threads = Executors.newSingleThreadExecutor();
		try (Connection other = lockLedger()) {
			interrupted = threads.submit(() -> {
				runner.set(Thread.currentThread());
				Precheck.without(() -> this.template.execute(TICK_IN_SESSION, (lock) -> 1));
				return Thread.interrupted();
			});
			awaitHolder();
			runner.get().interrupt();
		}
		threads.shutdown();
		assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@Test
	void tickThatIsCompletedMeanwhileIsNotRunAgain() throws Exception {
		Future<LockOutcome> run;
		try (Connection other = lockLedger(); Statement statement = other.createStatement()) {
			run = this.threads.submit(() -> execute(LockScope.SESSION, TICK));
			awaitHolder();
			statement.execute(
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

	private static Connection lockLedger() throws SQLException {
		Connection connection = TestPostgres.open();
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			statement.execute("LOCK TABLE ledger_tests_job");
		}
		return connection;
	}

	/**
	 * Wait until the run has its lock, and waits for the ledger.
	 */
	private static void awaitHolder() {
		Awaitility.await()
			.until(() -> TestPostgres.query("SELECT 1 FROM pg_locks a, pg_locks r WHERE a.locktype = 'advisory' "
					+ "AND a.granted AND r.locktype = 'relation' AND NOT r.granted"), (rows) -> rows.size() == 1);
	}

	/**
	 * Whether the run gives up by then, or waits, is its own affair.
	 */
	private void awaitEndOrAnswerTimeout(Future<?> run) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(sessionSettings().answerTimeoutMillis() + 500);
		while (!run.isDone() && System.nanoTime() < end) {
			Pause.of(Duration.ofMillis(10));
		}
	}

}
