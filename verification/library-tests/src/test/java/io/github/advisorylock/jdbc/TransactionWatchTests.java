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

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import io.github.advisorylock.testsupport.TestServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionWatch}, and for what a run in scope
 * {@link LockScope#TRANSACTION} learns of the loss of its connection.
 */
@Tag("gate")
class TransactionWatchTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job");

	private static final Duration HEARTBEAT = Duration.ofMillis(100);

	@Test
	void checkHeldAsksTheServerOnTheConnectionOfTheRun() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			lock.checkHeld();
			TestPostgres.terminate("job");
			assertThat(lock.isHeld()).as("as far as is known").isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::checkHeld);
			assertThat(lock.isHeld()).isFalse();
			lock.checkHeld();
			return 1;
		})).withMessageContaining("'tests/job'");
	}

	@Test
	void checkHeldLeavesNoSnapshotBehind() {
		this.template.execute(REQUEST, (lock) -> {
			lock.checkHeld();
			return assertThat(TestPostgres
				.query("SELECT backend_xmin FROM pg_stat_activity WHERE pid = " + ForeignSession.holders(KEY).get(0)))
				.containsOnlyNulls();
		}).orElseThrow();
	}

	@Test
	void runThatOutlastsHeartbeatIsToldThatItsBackendIsGone() {
		LockSession session = useSession(WhenLost.INTERRUPT, Duration.ofSeconds(5), TestPostgres.url());
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
				awaitLook();
				TestPostgres.terminate("job");
				try {
					return new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
				}
				finally {
					assertThat(lock.isHeld()).isFalse();
				}
			}));
		assertThatLossIsPublished();
		assertThat(session.isConnected()).isTrue();
	}

	@Test
	void runThatEndsWellAfterItsLockWasLostFails() {
		useSession(WhenLost.REPORT, Duration.ofSeconds(5), TestPostgres.url());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
			awaitLook();
			TestPostgres.terminate("job");
			Awaitility.await().until(() -> !lock.isHeld());
			return 1;
		}));
		assertThatLossIsPublished();
	}

	@Test
	void transactionOfCallerThatGoesOnAfterTheRunIsWatchedToo() {
		useSession(WhenLost.REPORT, Duration.ofSeconds(5), TestPostgres.url());
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				this.template.execute(REQUEST, (lock) -> 1);
				awaitLook();
				TestPostgres.terminate("job");
				assertThatLossIsPublished();
			}))
			.extracting(SqlState::of)
			.isIn("57P01", "08006");
	}

	@Test
	void lockThatWasRolledBackBehindTheBackOfSpringIsLost() {
		useSession(WhenLost.REPORT, Duration.ofSeconds(5), TestPostgres.url());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				this.jdbc.execute("SAVEPOINT own");
				this.template.execute(REQUEST, (lock) -> {
					awaitLook();
					this.jdbc.execute("ROLLBACK TO SAVEPOINT own");
					Awaitility.await().until(() -> !lock.isHeld());
					return 1;
				});
			}));
	}

	@Test
	void lossOfTheSessionIsNoLossOfTransactions() {
		LockSession session = useSession(WhenLost.INTERRUPT, Duration.ofSeconds(30), TestPostgres.url());
		this.template.execute(REQUEST, (lock) -> {
			for (int i = 0; i < 3; i++) {
				Awaitility.await().until(session::isConnected);
				TestPostgres.terminate(NAMESPACE);
				Awaitility.await().until(() -> TestPostgres.connections(NAMESPACE).size() == 1);
			}
			lock.checkHeld();
			return 1;
		});
		assertThat(this.events).isEmpty();
	}

	@Test
	void runIsNotToldOfALossWhenTheRouteOfTheSessionIsDown() {
		SettableTicker ticker = new SettableTicker();
		TestProxy route = new TestProxy(Duration.ZERO);
		LockSession session = useSession(ticker, route.url());
		try (LogRecorder log = LogRecorder.of(TransactionWatch.class.getName(), "WARN")) {
			runFor(ticker, HEARTBEAT.multipliedBy(2));
			route.close();
			TestPostgres.terminate(NAMESPACE);
			ticker.advance(Duration.ofHours(3));
			for (int run = 0; run < 3; run++) {
				this.template.execute(REQUEST, (lock) -> {
					for (int second = 0; second < 20; second++) {
						ticker.advance(Duration.ofSeconds(1));
						assertThat(lock.isHeld()).as("the transaction goes on").isTrue();
					}
					lock.checkHeld();
					return 1;
				}).orElseThrow();
			}
			assertThat(session.isConnected()).isFalse();
			assertThat(log.messages()).singleElement().asString().contains("not watched");
		}
		assertThat(this.events).isEmpty();
	}

	@Test
	void runIsNotToldOfALossWhenTheSessionIsSilent() {
		try (TestProxy route = new TestProxy(Duration.ZERO)) {
			useSession(WhenLost.INTERRUPT, Duration.ofSeconds(1), route.url());
			this.template.execute(REQUEST, (lock) -> {
				awaitLook();
				route.stall();
				Pause.of(Duration.ofSeconds(4));
				lock.checkHeld();
				return 1;
			}).orElseThrow();
			route.resume();
		}
		assertThat(this.events).isEmpty();
	}

	@Test
	@Tag("servers")
	void runIsNotToldOfALossWhenTheSessionLeadsToAnotherServer(@TempDir Path directory) {
		SettableTicker ticker = new SettableTicker();
		try (TestServer other = TestServer.start(directory.resolve("server"), Map.of());
				LogRecorder log = LogRecorder.of(TransactionWatch.class.getName(), "WARN")) {
			LockSession session = useSession(ticker, other.url());
			this.template.execute(REQUEST, (lock) -> {
				for (int second = 0; second < 20; second++) {
					ticker.advance(Duration.ofSeconds(1));
				}
				assertThat(session.isConnected()).isTrue();
				lock.checkHeld();
				return 1;
			}).orElseThrow();
			assertThat(log.messages()).singleElement().asString().contains("not watched", "tests/job");
			session.close();
		}
		assertThat(this.events).isEmpty();
	}

	@Test
	void backendThatIsGoneBeforeTheFirstLookSaysNothingOfTheRouteThatWasCompared() {
		SettableTicker ticker = new SettableTicker();
		ServerJudge compares = (connection, another, comparison) -> assertThat(comparison.difference(connection))
			.isNull();
		useSession(new LockSession(new PooledSource(this.pool), NAMESPACE, null,
				new LockSessionSettings(HEARTBEAT, Duration.ofSeconds(5), WhenLost.REPORT), compares, this.events::add,
				ticker.threads()));
		assertThatNothingIsSaidOfABackendThatIsGone(ticker);
	}

	@Test
	void backendThatIsGoneBeforeTheFirstLookSaysNothingOfTheRouteThatHasShownAnotherLock() {
		SettableTicker ticker = new SettableTicker();
		useSession(ticker);
		runFor(ticker, HEARTBEAT.multipliedBy(2));
		assertThatNothingIsSaidOfABackendThatIsGone(ticker);
	}

	private void assertThatNothingIsSaidOfABackendThatIsGone(SettableTicker ticker) {
		try (LogRecorder log = LogRecorder.of(TransactionWatch.class.getName(), "WARN")) {
			// the rollback of a commit that is refused may fail, too, and Spring tells
			// that
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
					TestPostgres.terminate("job");
					ticker.advance(HEARTBEAT.multipliedBy(20));
					return 1;
				}))
				.extracting(Throwable::getClass)
				.isIn(LockLostException.class, TransactionSystemException.class);
			assertThat(log.messages()).isEmpty();
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> {
					ticker.advance(HEARTBEAT.multipliedBy(2));
					TestPostgres.terminate("job");
					ticker.advance(HEARTBEAT.multipliedBy(2));
					assertThat(lock.isHeld()).as("the watch goes on").isFalse();
					return 1;
				}))
				.extracting(Throwable::getClass)
				.isIn(LockLostException.class, TransactionSystemException.class);
		}
	}

	private static void awaitLook() {
		Awaitility.await()
			.until(() -> !TestPostgres
				.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'al:" + NAMESPACE
						+ "@%' AND state = 'idle' AND (query LIKE 'LISTEN%' OR query LIKE '%string_agg%')")
				.isEmpty());
	}

	@Test
	void shortRunsAskNobodyAndNeedNoSession() {
		SettableTicker ticker = new SettableTicker();
		LockSession session = useSession(ticker);
		for (int i = 0; i < 20; i++) {
			runFor(ticker, HEARTBEAT.minusNanos(1));
		}
		assertThat(session.isConnected()).isFalse();
	}

	@Test
	void runThatOutlastsAHeartbeatIsLookedAtAtTheNext() {
		SettableTicker ticker = new SettableTicker();
		LockSession session = useSession(ticker);
		runFor(ticker, HEARTBEAT.multipliedBy(2));
		assertThat(session.isConnected()).isTrue();
	}

	private void runFor(SettableTicker ticker, Duration time) {
		this.template.execute(REQUEST, (lock) -> {
			ticker.advance(time);
			return 1;
		});
	}

	@Test
	void runsThatEndWhileTheyAreLookedAtAreNotReported() throws Exception {
		LockSession session = useSession(Duration.ofMillis(10), WhenLost.INTERRUPT, Duration.ofSeconds(5),
				TestPostgres.url());
		Future<?>[] threads = new Future<?>[2];
		for (int i = 0; i < threads.length; i++) {
			LockRequest request = LockRequest.of("job" + i);
			boolean joins = i == 0;
			threads[i] = this.threads.submit(() -> {
				for (int run = 0; run < 40; run++) {
					Runnable work = () -> this.template.execute(request, (lock) -> {
						this.jdbc.queryForList("SELECT pg_sleep(0.02)");
						return 1;
					});
					if (joins) {
						transaction().executeWithoutResult((status) -> work.run());
					}
					else {
						work.run();
					}
				}
			});
		}
		for (Future<?> thread : threads) {
			thread.get(60, TimeUnit.SECONDS);
		}
		assertThat(session.isConnected()).isTrue();
		assertThat(this.events).isEmpty();
	}

	@Test
	void sessionThatCanNotBeOpenedForTheWatchAloneIsNoProblem() {
		AtomicInteger attempts = new AtomicInteger();
		DataSource refusing = new DriverManagerDataSource(TestPostgres.url()) {

			@Override
			public Connection getConnection() throws SQLException {
				attempts.incrementAndGet();
				throw new SQLException("refused", "08001");
			}

		};
		LockSession session = useSession(HEARTBEAT, WhenLost.REPORT, Duration.ofSeconds(5), refusing);
		this.template.execute(REQUEST, (lock) -> {
			Awaitility.await().until(() -> attempts.get() > 0);
			return 1;
		});
		assertThat(session.problem()).isNull();
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.template.execute(request(LockScope.SESSION), (lock) -> 1))
			.havingRootCause()
			.withMessage("refused");
		assertThat(session.problem()).isEqualTo("refused");
	}

	private void assertThatLossIsPublished() {
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).singleElement()
				.isInstanceOfSatisfying(LockLostEvent.class, (event) -> assertThat(event.key()).isEqualTo(KEY)));
	}

	private LockSession useSession(WhenLost whenLost, Duration deadClientTimeout, String url) {
		return useSession(HEARTBEAT, whenLost, deadClientTimeout, url);
	}

	private LockSession useSession(Duration heartbeat, WhenLost whenLost, Duration deadClientTimeout, String url) {
		return useSession(heartbeat, whenLost, deadClientTimeout, new DriverManagerDataSource(url));
	}

	private LockSession useSession(SettableTicker ticker) {
		return useSession(ticker, TestPostgres.url());
	}

	private LockSession useSession(SettableTicker ticker, String url) {
		return useSession(new LockSession(() -> new DriverManagerDataSource(url), NAMESPACE, null,
				new LockSessionSettings(HEARTBEAT, Duration.ofSeconds(5), WhenLost.REPORT), ServerJudge.NONE,
				this.events::add, ticker.threads()));
	}

	private LockSession useSession(Duration heartbeat, WhenLost whenLost, Duration deadClientTimeout,
			DataSource connectionSource) {
		return useSession(new LockSession(connectionSource, NAMESPACE,
				new LockSessionSettings(heartbeat, deadClientTimeout, whenLost), this.events::add));
	}

	private LockSession useSession(LockSession session) {
		this.sessions.add(session);
		this.template = new PostgresAdvisoryLockTemplate(this.pool, this.transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
		return session;
	}

	private record PooledSource(DataSource pool) implements ConnectionSource {

		@Override
		public DataSource get() {
			return new DriverManagerDataSource(TestPostgres.url());
		}

	}

}
