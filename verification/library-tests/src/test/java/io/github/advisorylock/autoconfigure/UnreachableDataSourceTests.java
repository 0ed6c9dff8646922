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
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import ch.qos.logback.classic.spi.ILoggingEvent;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for applications whose DataSource throws something else than an SQLException when
 * a connection is to be opened: the database can't be reached, as with an SQLException.
 */
@Tag("gate")
class UnreachableDataSourceTests {

	private static final String UNREACHABLE = "advisory-lock.doctor.unreachable";

	private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("CREATE SCHEMA unreachable");
	}

	@AfterEach
	void dropSchema() {
		TestPostgres.execute("DROP SCHEMA unreachable CASCADE");
	}

	@ParameterizedTest
	@EnumSource
	void startIsToldInOneLineAndMethodsRunLater(Kind kind) {
		this.failure.set(new IllegalStateException("the store is down"));
		try (LogRecorder log = LogRecorder.of("io.github.advisorylock", "WARN")) {
			application(kind).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(log.events()).isNotEmpty()
					.allSatisfy(
							(event) -> assertThat(event.getThrowableProxy()).as(event.getFormattedMessage()).isNull());
				assertThat(doctorOf(log)).anySatisfy((line) -> assertThat(line).contains("can't be examined",
						kind.message, "check the DataSource", UNREACHABLE));
				this.failure.set(null);
				Jobs jobs = context.getBean(Jobs.class);
				jobs.inTransaction();
				jobs.recorded("4711");
				Awaitility.await()
					.atMost(Patience.TIME)
					.ignoreExceptionsInstanceOf(DataAccessException.class)
					.until(() -> {
						jobs.inSession();
						return true;
					});
				assertThat(jobs.runs()).hasValue(3);
			});
		}
	}

	@Test
	void leaderIsElectedLater() {
		this.failure.set(new IllegalStateException("the store is down"));
		application(Kind.CREDENTIALS).withBean(Leader.class).run((context) -> {
			assertThat(context).hasNotFailed();
			this.failure.set(null);
			LeaderElection election = context.getBean(LeaderElection.class);
			Awaitility.await().atMost(Patience.TIME).until(() -> election.isLeader("unreachable"));
		});
	}

	@Test
	void transactionManagerThatThrowsIsToldInOneLine() {
		try (LogRecorder log = LogRecorder.of("io.github.advisorylock", "WARN")) {
			application(Kind.DATA_SOURCE)
				.withBean(PlatformTransactionManager.class, () -> new AbstractPlatformTransactionManager() {

					@Override
					protected Object doGetTransaction() {
						throw new IllegalStateException("there is no tenant");
					}

					@Override
					protected void doBegin(Object transaction, TransactionDefinition definition) {
					}

					@Override
					protected void doCommit(DefaultTransactionStatus status) {
					}

					@Override
					protected void doRollback(DefaultTransactionStatus status) {
					}

				})
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(doctorOf(log)).anySatisfy((line) -> assertThat(line).contains("can't be examined",
							"there is no tenant", UNREACHABLE));
				});
		}
	}

	@ParameterizedTest
	@EnumSource
	void startIsNotToldWhereNobodyWantsToKnow(Kind kind) {
		this.failure.set(new IllegalStateException("the store is down"));
		try (LogRecorder log = LogRecorder.of("io.github.advisorylock", "WARN")) {
			application(kind).withPropertyValues(UNREACHABLE + "=off").run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(doctorOf(log)).noneMatch((line) -> line.contains(UNREACHABLE));
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void startIsStoppedWhereThatIsAskedFor(Kind kind) {
		this.failure.set(new IllegalStateException("the store is down"));
		assertThat(DoctorContexts.failureOf(application(kind).withPropertyValues(UNREACHABLE + "=fail")))
			.contains("can't be examined", kind.message);
	}

	@ParameterizedTest
	@EnumSource
	void runsFailWithReasonWhileItLasts(Kind kind) {
		application(kind).withPropertyValues("advisory-lock.session.when-lost=report").run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.recorded("4711");
			// before, as the pool opens a connection in the place of one that was evicted
			this.failure.set(new IllegalStateException("the store is down"));
			context.getBeansOfType(HikariDataSource.class)
				.values()
				.forEach((pool) -> pool.getHikariPoolMXBean().softEvictConnections());
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(jobs::inTransaction)
				.withStackTraceContaining(kind.message);
			if (kind == Kind.CREDENTIALS) {
				TestPostgres.terminate("test");
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(jobs::inSession)
					.withMessageContaining("test/unreachable-session")
					.withStackTraceContaining(kind.message);
			}
			this.failure.set(null);
			Awaitility.await().until(() -> runsInTransaction(jobs));
			assertThat(jobs.runs()).hasValue(2);
		});
	}

	/**
	 * A pool that was refused pauses before it tries again.
	 */
	private static boolean runsInTransaction(Jobs jobs) {
		try {
			jobs.inTransaction();
			return true;
		}
		catch (CannotCreateTransactionException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@EnumSource
	void errorStopsTheStart(Kind kind) {
		LinkageError error = new LinkageError("expected");
		this.failure.set(error);
		assertThatExceptionOfType(Throwable.class)
			.isThrownBy(() -> application(kind).withPropertyValues(UNREACHABLE + "=off")
				.run((context) -> fail("started", context.getStartupFailure())))
			.withStackTraceContaining("LinkageError: expected");
	}

	private ApplicationContextRunner application(Kind kind) {
		ApplicationContextRunner runner = LockContextRunner.withoutDatabase()
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class))
			.withBean(DataSource.class, () -> kind.open(this::open))
			.withBean(Jobs.class)
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=unreachable.al_");
		return (kind == Kind.CREDENTIALS) ? runner
				: runner.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url());
	}

	private void open() {
		Throwable failure = this.failure.get();
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure != null) {
			throw (RuntimeException) failure;
		}
	}

	private static List<String> doctorOf(LogRecorder log) {
		return log.events()
			.stream()
			.filter((event) -> event.getLoggerName().contains(".doctor."))
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	/**
	 * What throws.
	 */
	enum Kind {

		/**
		 * A DataSource that finds no target, as there is no current tenant.
		 */
		ROUTING("Cannot determine target DataSource") {
			@Override
			DataSource open(Runnable fail) {
				AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

					@Override
					protected @Nullable Object determineCurrentLookupKey() {
						try {
							fail.run();
							return "tenant";
						}
						catch (IllegalStateException ex) {
							return null;
						}
					}

				};
				routing.setTargetDataSources(Map.of("tenant", new DriverManagerDataSource(TestPostgres.url())));
				return routing;
			}
		},

		/**
		 * A pool that has no credentials.
		 */
		CREDENTIALS("the store is down") {
			@Override
			DataSource open(Runnable fail) {
				HikariDataSource pool = TestPostgres.pool(4);
				pool.setMinimumIdle(0);
				pool.setConnectionTimeout(500);
				pool.setCredentialsProvider(() -> {
					fail.run();
					return Credentials.of(null, null);
				});
				return pool;
			}
		},

		/**
		 * A DataSource of another kind, or its driver.
		 */
		DATA_SOURCE("the store is down") {
			@Override
			DataSource open(Runnable fail) {
				return new DriverManagerDataSource(TestPostgres.url()) {

					@Override
					public Connection getConnection() {
						fail.run();
						return TestPostgres.open();
					}

				};
			}
		};

		private final String message;

		Kind(String message) {
			this.message = message;
		}

		abstract DataSource open(Runnable fail);

	}

	/**
	 * Users of each part of the library.
	 */
	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		AtomicInteger runs() {
			return this.runs;
		}

		@SingleRunner(key = "unreachable-transaction")
		void inTransaction() {
			this.runs.incrementAndGet();
		}

		@SingleRunner(key = "unreachable-session", scope = LockScope.SESSION)
		void inSession() {
			this.runs.incrementAndGet();
		}

		@SingleRunner(key = "unreachable:#{#id}", once = Once.PER_KEY)
		void recorded(String id) {
			this.runs.incrementAndGet();
		}

	}

	/**
	 * A candidate.
	 */
	static class Leader {

		@LeaderOnly("unreachable")
		void run() {
		}

	}

}
