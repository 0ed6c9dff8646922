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

package io.github.advisorylock.autoconfigure;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPgBouncer;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.TransientDataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications with PgBouncer between them and their server.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class PgBouncerTests {

	private static TestServer server;

	private static TestPgBouncer transactionMode;

	private static TestPgBouncer sessionMode;

	private static TestPgBouncer statementMode;

	@BeforeAll
	static void start(@TempDir Path directory) {
		server = TestServer.start(directory.resolve("server"), Map.of());
		transactionMode = TestPgBouncer.start(server, "transaction", directory);
		statementMode = TestPgBouncer.start(server, "statement", directory);
		sessionMode = TestPgBouncer.start(server, "session", directory);
	}

	@AfterAll
	static void stop() {
		transactionMode.close();
		sessionMode.close();
		statementMode.close();
		server.close();
	}

	@Test
	void sessionScopeIsRefusedThroughTransactionMode() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(transactionMode.url()));
		assertThat(failure).contains("pooler in transaction mode", "advisory-lock.session.url",
				"advisory-lock.doctor.transaction-pooler");
	}

	/**
	 * What a client has locked stays with the server process when it was killed.
	 */
	@Test
	void sessionScopeIsRefusedThroughSessionModeThatDoesNotReset(@TempDir Path directory) throws SQLException {
		try (TestPgBouncer pooler = TestPgBouncer.start(server, "session", "server_reset_query =", directory)) {
			assertThat(DoctorContexts.failureOf(DoctorContexts.inSession(pooler.url()))).contains(
					"hands on what a client has left in a server process",
					"set 'advisory-lock.session.url' to a URL that leads straight to the server");
			DoctorContexts.create(pooler.url()).withBean(CodeUser.class).run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> operations.tryAcquire(LockRequest.of("code")))
					.withStackTraceContaining("hands on what a client has left");
			});
			try (Connection next = DriverManager.getConnection(pooler.url());
					Statement statement = next.createStatement();
					ResultSet row = statement.executeQuery("SELECT current_setting('statement_timeout'), "
							+ "current_setting('advisory_lock.left', true)")) {
				row.next();
				assertThat(row.getString(1)).isEqualTo("0");
				assertThat(row.getString(2)).isNullOrEmpty();
			}
		}
	}

	/**
	 * A pooler that does not reset hands on locks and prepared statements. Each driver
	 * gives its first prepared statement the same name.
	 */
	@Test
	void openingClearsWhatAClientHasLeftInAServerProcess(@TempDir Path directory) throws SQLException {
		try (TestPgBouncer pooler = TestPgBouncer.start(server, "session",
				"server_reset_query =\ndefault_pool_size = 4", directory)) {
			leaveSomethingInEachProcess(pooler.url() + "&prepareThreshold=1", 4);
			DoctorContexts.create(pooler.url())
				.withBean(CodeUser.class)
				.withPropertyValues("advisory-lock.doctor.transaction-pooler=off")
				.run((context) -> {
					AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
					for (int i = 0; i < 20; i++) {
						try (HeldLock lock = operations.tryAcquire(LockRequest.of("code")).orElseThrow()) {
							assertThat(lock.isHeld()).isTrue();
							assertThat(locksOfSession()).isOne();
						}
					}
				});
		}
	}

	@Test
	void closingLeavesNothingInAServerProcess(@TempDir Path directory) throws SQLException {
		try (TestPgBouncer pooler = TestPgBouncer.start(server, "session",
				"server_reset_query =\ndefault_pool_size = 2", directory)) {
			DoctorContexts.create(server.url())
				.withBean(CodeUser.class)
				.withPropertyValues("advisory-lock.doctor.transaction-pooler=off",
						"advisory-lock.session.url=" + pooler.url())
				.run((context) -> {
					AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
					assertThat(operations.tryAcquire(LockRequest.of("kept"))).isPresent();
					assertThat(locksOfSession()).isOne();
				});
			try (Connection one = DriverManager.getConnection(pooler.url());
					Connection other = DriverManager.getConnection(pooler.url())) {
				assertThat(leftIn(one)).isEqualTo("0 0 0");
				assertThat(leftIn(other)).isEqualTo("0 0 0");
			}
		}
	}

	/**
	 * Return the settings and the number of locks that a client finds.
	 */
	private static String leftIn(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT concat_ws(' ', current_setting('statement_timeout'), "
						+ "current_setting('tcp_user_timeout'), (SELECT count(*) FROM pg_locks "
						+ "WHERE locktype = 'advisory' AND pid = pg_backend_pid()))")) {
			row.next();
			return row.getString(1);
		}
	}

	private static void leaveSomethingInEachProcess(String url, int processes) throws SQLException {
		List<Connection> clients = new ArrayList<>();
		for (int i = 0; i < processes; i++) {
			clients.add(DriverManager.getConnection(url));
		}
		for (Connection client : clients) {
			for (int i = 0; i < 20; i++) {
				try (PreparedStatement statement = client
					.prepareStatement("SELECT pg_advisory_lock_shared(4711), " + i)) {
					statement.execute();
				}
			}
			client.close();
		}
	}

	private static int locksOfSession() throws SQLException {
		try (Connection connection = server.open();
				Statement statement = connection.createStatement();
				ResultSet row = statement
					.executeQuery("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
							+ "WHERE locktype = 'advisory' AND application_name LIKE 'al:%'")) {
			row.next();
			return row.getInt(1);
		}
	}

	/**
	 * The server limits the connections of the pooler.
	 */
	@Test
	void poolBehindPoolerMayBeLargerThanTheServerAllows(CapturedOutput output) {
		DoctorContexts.inTransaction(sessionMode.url())
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=500",
					"spring.datasource.hikari.minimum-idle=0")
			.run(LockContextRunner.started(() -> assertThat(output).contains("pool behind a pooler")
				.doesNotContain("advisory-lock.doctor.pool-size")));
	}

	@Test
	void codeThatMayUseEitherScopeStartsBehindTransactionMode(CapturedOutput output) {
		DoctorContexts.create(transactionMode.url() + "&prepareThreshold=0").withBean(CodeUser.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("code"), (lock) -> 1)
				.outcome()).isEqualTo(LockOutcome.EXECUTED);
			assertThat(output).contains("Advisory locks are ready in code: ", "a pooler that refuses session locks")
				.doesNotContain("WARN");
		});
	}

	@Test
	void sessionScopeIsRefusedThroughStatementMode() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(statementMode.url()));
		assertThat(failure)
			.contains("A pooler in statement mode stands between the lock session and the server",
					"Set 'advisory-lock.session.url' to a URL that leads straight to the server")
			.doesNotContain("TRANSACTION");
	}

	@Test
	void transactionScopeIsRefusedThroughStatementMode() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inTransaction(statementMode.url()));
		assertThat(failure).contains("A pooler in statement mode stands in front of the application's database",
				"refuses transactions", "'spring.datasource.url'", "'pool_mode'");
	}

	@Test
	void sessionScopeWorksAroundStatementMode() {
		DoctorContexts.inSession(statementMode.url())
			.withPropertyValues("advisory-lock.session.url=" + server.url())
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(1);
			});
	}

	@Test
	void sessionLocksAreRefusedAtRunTimeThroughStatementMode() {
		DoctorContexts.create(statementMode.url())
			.run((context) -> assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("statement")))
				.withMessageContaining("A pooler in statement mode")
				.withMessageNotContaining("TRANSACTION"));
	}

	@Test
	void sessionScopeWorksWithUrlStraightToServer(CapturedOutput output) {
		DoctorContexts.inSession(transactionMode.url())
			.withPropertyValues("advisory-lock.session.url=" + server.url())
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(1);
				assertThat(output).contains(
						"Advisory locks are ready in scope SESSION: PostgreSQL " + versionOfServer(),
						"behind a pooler in transaction mode", "session locks straight to the server");
			});
	}

	@Test
	void ticksThatNoSessionCanRememberAreToldAtTheStart(CapturedOutput output) {
		DoctorContexts.create(transactionMode.url()).withBean(DoctorContexts.CronJob.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("A pooler in transaction mode stands in front of the application's database",
					"nor spread calls over the members", "'once' to PER_TICK", "advisory-lock.doctor.tick-memory");
			assertThat(output.toString().split("over the members", -1)).as("said once").hasSize(2);
			assertThat(context.getBean(LockSession.class).members()).isEmpty();
		});
	}

	@Test
	void ticksAreRememberedAroundThePooler(CapturedOutput output) {
		ApplicationContextRunner runner = DoctorContexts.create(transactionMode.url() + "&prepareThreshold=0")
			.withBean(DoctorContexts.CronJob.class)
			.withPropertyValues("advisory-lock.session.url=" + server.url());
		runner.run((one) -> runner.run((other) -> {
			Instant midnight = Instant.now().truncatedTo(ChronoUnit.DAYS);
			DoctorContexts.CronJob first = one.getBean(DoctorContexts.CronJob.class);
			DoctorContexts.CronJob second = other.getBean(DoctorContexts.CronJob.class);
			for (int day = 0; day < 20; day++) {
				Instant tick = midnight.minus(day, ChronoUnit.DAYS);
				LockRequest request = LockRequest.of("around").rememberTick(tick, Duration.ofMinutes(1));
				assertThat(execute((day % 2 == 0) ? one : other, request)).isEqualTo(LockOutcome.EXECUTED);
				assertThat(execute((day % 2 == 0) ? other : one, request)).isEqualTo(LockOutcome.ALREADY_RAN);
			}
			PlannedTime.run(midnight, first::run);
			PlannedTime.run(midnight, second::run);
			assertThat(first.runs() + second.runs()).isOne();
			assertThat(output).doesNotContain("tick-memory");
		}));
	}

	private static String versionOfServer() {
		return server.query("SHOW server_version");
	}

	private static LockOutcome execute(ApplicationContext context, LockRequest request) {
		return context.getBean(AdvisoryLockOperations.class).execute(request, (lock) -> "done").outcome();
	}

	@Test
	void sessionScopeWorksThroughSessionMode(CapturedOutput output) {
		DoctorContexts.inSession(sessionMode.url()).run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
			assertThat(runs).hasValue(1);
			assertThat(output).contains("session locks through a pooler that keeps sessions");
		});
	}

	@Test
	void lockOfTwoApplicationsIsNeverHeldByBothThroughTransactionMode() {
		DoctorContexts.create(transactionMode.url())
			.run((one) -> DoctorContexts.create(transactionMode.url()).run((other) -> {
				for (int i = 0; i < 20; i++) {
					boolean first = isAcquired(one, "both-" + i);
					boolean second = isAcquired(other, "both-" + i);
					assertThat(first && second).as("lock %s is held twice", i).isFalse();
				}
				assertThatExceptionOfType(UnsupportedDatabaseException.class)
					.isThrownBy(() -> one.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("both")))
					.withMessageContainingAll("pooler in transaction mode", "advisory-lock.session.url");
			}));
	}

	@Test
	void nobodyLeadsThroughTransactionMode() {
		ApplicationContextRunner runner = DoctorContexts.create(transactionMode.url())
			.withPropertyValues("advisory-lock.session.heartbeat=100ms",
					"advisory-lock.session.dead-client-timeout=600ms");
		runner.run((one) -> runner.run((other) -> Awaitility.await()
			.during(Duration.ofSeconds(4))
			.atMost(Patience.TIME)
			.until(() -> !one.getBean(LeaderElection.class).isLeader("reports")
					&& !other.getBean(LeaderElection.class).isLeader("reports"))));
	}

	@Test
	void methodIsRefusedThroughTransactionModeAlsoIfServerWasNotThereAtStart() {
		server.stop();
		AtomicBoolean started = new AtomicBoolean();
		try {
			DoctorContexts.inSession(transactionMode.url()).run((context) -> {
				assertThat(context).hasNotFailed();
				server.start();
				started.set(true);
				DoctorContexts.SessionJob job = context.getBean(DoctorContexts.SessionJob.class);
				Awaitility.await()
					.atMost(Duration.ofSeconds(60))
					.ignoreExceptionsInstanceOf(TransientDataAccessException.class)
					.ignoreExceptionsInstanceOf(DataAccessResourceFailureException.class)
					.untilAsserted(() -> assertThatExceptionOfType(UnsupportedDatabaseException.class)
						.isThrownBy(() -> job.run(() -> {
						}))
						.withMessageContaining("pooler in transaction mode"));
			});
		}
		finally {
			if (!started.get()) {
				server.start();
			}
		}
	}

	@Test
	void poolerIsToleratedWhereTheCheckIsOff() {
		DoctorContexts.inSession(transactionMode.url())
			.withPropertyValues("advisory-lock.doctor.transaction-pooler=off")
			.run((context) -> assertThat(isAcquired(context, "tolerated")).isTrue());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void settingsOfThePoolDoNotReachOtherClients(boolean transaction) {
		String url = (transaction ? transactionMode : sessionMode).url() + "&prepareThreshold=0";
		DoctorContexts.inTransaction(url).run((context) -> {
			context.getBean(DoctorContexts.TransactionJob.class).run(() -> {
			});
			for (int i = 0; i < 10; i++) {
				assertThat(TestPostgres.query(url, "SHOW tcp_user_timeout")).containsExactly("0");
			}
		});
	}

	private static boolean isAcquired(ApplicationContext context, String key) {
		try {
			return context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of(key)).isPresent();
		}
		catch (DataAccessException ex) {
			return false;
		}
	}

	@Test
	void transactionScopeRunsContendedCallsThroughTransactionMode(CapturedOutput output) {
		DoctorContexts.inTransaction(transactionMode.url() + "&prepareThreshold=0").run((context) -> {
			DoctorContexts.TransactionJob job = context.getBean(DoctorContexts.TransactionJob.class);
			AtomicInteger inside = new AtomicInteger();
			AtomicInteger overlaps = new AtomicInteger();
			AtomicInteger runs = new AtomicInteger();
			Runnable work = () -> {
				overlaps.addAndGet((inside.incrementAndGet() > 1) ? 1 : 0);
				runs.incrementAndGet();
				inside.decrementAndGet();
			};
			call(4, 250, () -> job.run(work));
			System.out.println("PgBouncer: 1000 calls, " + runs + " runs, " + overlaps + " overlaps");
			assertThat(overlaps).hasValue(0);
			assertThat(runs).hasPositiveValue();
			assertThat(output).doesNotContain("prepareThreshold").contains("Advisory locks are ready");
		});
	}

	@Test
	void driverThatPreparesStatementsIsNamed(CapturedOutput output) {
		DoctorContexts.inTransaction(transactionMode.url()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "prepareThreshold=5", "add 'prepareThreshold=0'",
					"advisory-lock.doctor.prepared-statements");
			assertThat(server.query("SELECT count(*) FROM pg_prepared_statements")).isEqualTo("0");
		});
	}

	@Test
	void driverThatPreparesStatementsIsFineThroughSessionMode(CapturedOutput output) {
		DoctorContexts.inTransaction(sessionMode.url()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("prepareThreshold");
		});
	}

	private static void call(int threads, int times, Runnable call) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<?>> results = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				results.add(executor.submit(() -> {
					for (int j = 0; j < times; j++) {
						call.run();
					}
				}));
			}
			for (Future<?> result : results) {
				result.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * Of this class alone: another test class may go with a feature of the library.
	 */
	record CodeUser(AdvisoryLockOperations locks) {

	}

}
