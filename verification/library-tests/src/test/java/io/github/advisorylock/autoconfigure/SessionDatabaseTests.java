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

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose session locks may be in another database than their
 * transactions.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class SessionDatabaseTests {

	private static final String ELSEWHERE = "advisory-lock.session.url=" + ReportingDatabase.url();

	private static final AdvisoryLockKey HELD = AdvisoryLockKey.of("doctor", "held");

	private static final AdvisoryLockKey JOB = AdvisoryLockKey.of("doctor", "doctor-session");

	private final String main = TestPostgres.query("SELECT current_database()").get(0);

	@Test
	void sessionInAnotherDatabaseThanTransactionsStopsTheStart() {
		assertThat(DoctorContexts.failureOf(application().withPropertyValues(ELSEWHERE))).contains(
				"The session locks are in database \"reporting\" at ", "of the DataSource in database \"" + this.main,
				"Set 'advisory-lock.session.url'", "advisory-lock.doctor.session-database");
	}

	@Test
	void sessionInAnotherDatabaseIsRefusedWhereLockIsTaken() {
		application().withPropertyValues(ELSEWHERE, "advisory-lock.doctor.session-database=warn").run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			assertThatExceptionOfType(UnsupportedDatabaseException.class)
				.isThrownBy(() -> run(context, runs::incrementAndGet))
				.withMessageContaining("database \"reporting\"")
				.withMessageContaining("database \"" + this.main);
			assertThat(runs).hasValue(0);
			assertThat(ReportingDatabase.databasesWith(JOB)).isEmpty();
		});
	}

	@Test
	void sessionInAnotherDatabaseIsTheApplicationsWishWhereCheckIsOff() {
		application().withPropertyValues(ELSEWHERE, "advisory-lock.doctor.session-database=off").run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			run(context, runs::incrementAndGet);
			assertThat(runs).hasValue(1);
		});
	}

	@Test
	void databaseBehindRoutingDataSourceIsTheApplications() {
		application().withBean(DataSource.class, () -> {
			AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

				@Override
				protected Object determineCurrentLookupKey() {
					return "main";
				}

			};
			routing.setTargetDataSources(Map.of("main", TestPostgres.pool(2)));
			return routing;
		}).withPropertyValues(ELSEWHERE).run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			run(context, runs::incrementAndGet);
			assertThat(runs).hasValue(1);
		});
	}

	@Test
	void sessionFollowsDataSourceThatLeadsElsewhere() {
		moving(application()).run((context) -> {
			HeldLock held = tryAcquire(context);
			assertThat(ReportingDatabase.databasesWith(HELD)).containsExactly(this.main);
			context.getBean(MovingDataSource.class).move();
			run(context, () -> assertThat(ReportingDatabase.databasesWith(JOB)).containsExactly("reporting"));
			assertThat(held.isHeld()).isFalse();
			// the server notices the closed connection on its own time
			Awaitility.await().untilAsserted(() -> assertThat(ReportingDatabase.databasesWith(HELD)).isEmpty());
		});
	}

	@Test
	void sessionOfAnOwnUrlEndsWhenDataSourceLeadsElsewhere() {
		SettableTicker ticker = new SettableTicker();
		ticker.in(moving(application()))
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url())
			.run((context) -> {
				HeldLock held = tryAcquire(context);
				context.getBean(MovingDataSource.class).move();
				passUntil(ticker, () -> !held.isHeld());
				// the server notices the closed connection on its own time
				Awaitility.await().untilAsserted(() -> assertThat(ReportingDatabase.databasesWith(HELD)).isEmpty());
				assertThatExceptionOfType(UnsupportedDatabaseException.class).isThrownBy(() -> tryAcquire(context))
					.withMessageContaining("database \"reporting\"");
			});
	}

	@Test
	void lockIsKeptWhileDataSourceLeadsToTheSameDatabase() {
		SettableTicker ticker = new SettableTicker();
		ticker.in(moving(application()))
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url())
			.run((context) -> {
				HeldLock held = tryAcquire(context);
				MovingDataSource dataSource = context.getBean(MovingDataSource.class);
				int asked = dataSource.asked.get();
				passUntil(ticker, () -> dataSource.asked.get() > asked + 1);
				assertThat(held.isHeld()).isTrue();
				// the random key of the comparison has gone
				Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).hasSize(1));
				held.close();
			});
	}

	@Test
	void callerThatHasTheLastConnectionOfThePoolGetsItsLock(CapturedOutput output) {
		application().withPropertyValues("spring.datasource.hikari.maximum-pool-size=1").run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			run(context, runs::incrementAndGet);
			TestPostgres.execute(
					"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'al:doctor%'");
			Awaitility.await().until(() -> TestPostgres.connections("doctor").isEmpty());
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					DataSourceUtils.getConnection(context.getBean(DataSource.class));
					run(context, runs::incrementAndGet);
				});
			assertThat(runs).hasValue(2);
			assertThat(output)
				.containsOnlyOnce("Could not find out whether the session locks are in the database of the DataSource");
		});
	}

	@Test
	void poolWhoseConnectionsDoNotExcludeEachOtherStopsTheStart() {
		assertThat(DoctorContexts.failureOf(DoctorContexts.inTransaction(TestPostgres.url())
			.withBean(ShardedDataSource.class, ShardedDataSource::new)))
			.contains("Two connections of the application's pool get one lock at a time", "database \"reporting\"",
					"database \"" + this.main, "advisory-lock.doctor.look-alike");
	}

	@Test
	void sessionIsRefusedWhereOneOfTheConnectionsOfThePoolLeadsElsewhere() {
		application().withBean(ShardedDataSource.class, ShardedDataSource::new)
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url(),
					"advisory-lock.doctor.session-database=warn", "advisory-lock.doctor.look-alike=warn")
			.run((context) -> assertThatExceptionOfType(UnsupportedDatabaseException.class)
				.isThrownBy(() -> tryAcquire(context))
				.withMessageContaining("database \"reporting\""));
	}

	@Test
	void poolOfOneThatDoesNotTellItsSizeIsNotWaitedFor() {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withBean(DataSource.class, () -> new DelegatingDataSource(TestPostgres.pool(1)) {

				@Override
				public boolean isWrapperFor(Class<?> type) {
					return false;
				}

			})
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.TransactionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(1);
			});
	}

	private static ApplicationContextRunner application() {
		return DoctorContexts.inSession(TestPostgres.url());
	}

	private static ApplicationContextRunner moving(ApplicationContextRunner runner) {
		return runner.withBean(MovingDataSource.class, MovingDataSource::new);
	}

	/**
	 * Let time pass in steps that are shorter than a heartbeat.
	 */
	private static void passUntil(SettableTicker ticker, BooleanSupplier seen) {
		Awaitility.await().pollInSameThread().until(() -> {
			ticker.advance(Duration.ofSeconds(1));
			return seen.getAsBoolean();
		});
	}

	private static void run(AssertableApplicationContext context, Runnable work) {
		context.getBean(DoctorContexts.SessionJob.class).run(work);
	}

	private static HeldLock tryAcquire(AssertableApplicationContext context) {
		return context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("held")).orElseThrow();
	}

	/**
	 * A pool behind a proxy that sends its connections to two databases in turn.
	 */
	private static final class ShardedDataSource extends AbstractDataSource implements AutoCloseable {

		private final List<HikariDataSource> shards = List.of(TestPostgres.pool(2),
				TestPostgres.pool(ReportingDatabase.url(), 2));

		private final AtomicInteger asked = new AtomicInteger();

		@Override
		public Connection getConnection() throws SQLException {
			return this.shards.get(this.asked.getAndIncrement() % 2).getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

		@Override
		public void close() {
			this.shards.forEach(HikariDataSource::close);
		}

	}

	/**
	 * A pool that is exchanged while the application runs.
	 */
	private static final class MovingDataSource extends DelegatingDataSource implements AutoCloseable {

		private final List<HikariDataSource> pools = List.of(TestPostgres.pool(2),
				TestPostgres.pool(ReportingDatabase.url(), 2));

		private final AtomicInteger asked = new AtomicInteger();

		private MovingDataSource() {
			setTargetDataSource(this.pools.get(0));
		}

		private void move() {
			setTargetDataSource(this.pools.get(1));
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.asked.incrementAndGet();
			return super.getConnection();
		}

		@Override
		public void close() {
			this.pools.forEach(HikariDataSource::close);
		}

	}

}
