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

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.health.AdvisoryLockHealthAutoConfiguration;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests for locks in a database besides the default one.
 */
@Tag("gate")
class LockDatabasesTests {

	@Test
	void managerOfTransactionDecidesWhichDatabaseHasTheLock() {
		ReportingDatabase.application().withBean(TransactionalJob.class).run((context) -> {
			TransactionalJob job = context.getBean(TransactionalJob.class);
			assertThat(job.run(LockDatabasesTests::databases)).containsExactly("reporting");
			assertThat(job.run(LockDatabasesTests::databases)).containsExactly("reporting");
		});
	}

	@Test
	void attributeDecidesWhichDatabaseHasTheLock() {
		ReportingDatabase.application().withBean(NamingJobs.class).run((context) -> {
			NamingJobs jobs = context.getBean(NamingJobs.class);
			assertThat(jobs.inTransaction(LockDatabasesTests::databases)).containsExactly("reporting");
			assertThat(jobs.inSession(LockDatabasesTests::databases)).containsExactly("reporting");
			assertThat(jobs.inDefault(LockDatabasesTests::databases)).containsExactly("postgres");
		});
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void requestDecidesWhichDatabaseHasTheLock(LockScope scope) {
		ReportingDatabase.application().run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("requested").scope(scope);
			operations.execute(request,
					(main) -> operations.execute(request.transactionManager("reportingTx"), (reporting) -> {
						assertThat(ReportingDatabase.databasesWith(main.key())).containsExactly("postgres",
								"reporting");
						return null;
					}).orElseThrow())
				.orElseThrow();
			try (HeldLock held = operations.tryAcquire(LockRequest.of("held").transactionManager("reportingTx"))
				.orElseThrow()) {
				assertThat(ReportingDatabase.databasesWith(held.key())).containsExactly("reporting");
				assertThat(operations.tryAcquire(LockRequest.of("held").transactionManager("reportingTx"))).isEmpty();
			}
		});
	}

	@Test
	void ledgerIsThatOfTheDatabase() {
		ReportingDatabase.application().withPropertyValues(LEDGER).run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("ticking")
				.transactionManager("reportingTx")
				.oncePerTick(Instant.now());
			assertThat(operations.execute(request, (lock) -> 1).outcome()).isEqualTo(LockOutcome.EXECUTED);
			assertThat(operations.execute(request, (lock) -> 1).outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(TestPostgres.query(ReportingDatabase.url(), "SELECT key FROM several_databases_run"))
				.contains("ticking");
			assertThat(TestPostgres.query("SELECT to_regclass('several_databases_run')")).containsOnlyNulls();
		});
	}

	@Test
	void unknownManagerOfMethodIsRefusedAtStart() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(ReportingDatabase.application().withBean("job", UnknownManagerJob.class));
		assertThat(analysis.getDescription()).contains("'run'", UnknownManagerJob.class.getName(), "bean 'job'",
				"attribute 'transactionManager'", "'missingTx'", "mainTx, reportingTx");
		assertThat(analysis.getAction()).contains("Name one of those");
	}

	@Test
	void managersThatContradictEachOtherAreRefusedAtStart() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(ReportingDatabase.application().withBean("job", ContradictoryJob.class));
		assertThat(analysis.getDescription()).contains("'run'", "bean 'job'", "'reportingTx'", "'mainTx'",
				"contradict each other");
		assertThat(analysis.getAction()).contains("@Transactional(\"reportingTx\")");
	}

	@Test
	void unknownManagerOfRequestIsRefused() {
		ReportingDatabase.application()
			.run((context) -> assertThatExceptionOfType(AdvisoryLockConfigurationException.class)
				.isThrownBy(() -> context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("any").transactionManager("missingTx"), (lock) -> null))
				.withMessageContaining("'missingTx'"));
	}

	@Test
	void lossIsThatOfTheDatabaseOnly() {
		ReportingDatabase.application().run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			try (HeldLock main = operations.tryAcquire(LockRequest.of("kept")).orElseThrow();
					HeldLock reporting = operations.tryAcquire(LockRequest.of("lost").transactionManager("reportingTx"))
						.orElseThrow()) {
				TestPostgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
						+ "WHERE datname = 'reporting' AND application_name LIKE 'al:test@%'");
				Awaitility.await().atMost(Patience.TIME).until(() -> !reporting.isHeld());
				assertThat(main.isHeld()).isTrue();
				assertThat(ReportingDatabase.databasesWith(main.key())).containsExactly("postgres");
			}
		});
	}

	@Test
	void healthNamesTheDatabase() {
		ReportingDatabase.application()
			.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class))
			.run((context) -> {
				HealthIndicator health = context.getBean(HealthIndicator.class);
				assertThat(Objects.requireNonNull(health.health()).getDetails()).doesNotContainKey("databases");
				HeldLock held = context.getBean(AdvisoryLockOperations.class)
					.tryAcquire(LockRequest.of("healthy").transactionManager("reportingTx"))
					.orElseThrow();
				assertThat(Objects.requireNonNull(health.health()).getDetails())
					.containsEntry("databases",
							Map.of("reportingTx", Map.of("session", "connected", "ledger", "not used")))
					.containsEntry("session", "not connected");
				held.close();
			});
	}

	@Test
	void ledgerOfTheOtherDatabaseThatCannotBeReadIsDown() {
		ReportingDatabase.application()
			.withPropertyValues(LEDGER)
			.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class))
			.run((context) -> {
				HealthIndicator health = context.getBean(HealthIndicator.class);
				context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("healthy").transactionManager("reportingTx").oncePerTick(Instant.now()),
							(lock) -> 1)
					.orElseThrow();
				assertThat(Objects.requireNonNull(health.health()).getDetails().get("databases")).asString()
					.contains("ledger=reachable");
				TestPostgres.execute(ReportingDatabase.url(),
						"ALTER TABLE several_databases_run RENAME TO several_databases_ran");
				try {
					Health down = Objects.requireNonNull(health.health());
					assertThat(down.getStatus()).isEqualTo(Status.DOWN);
					assertThat(down.getDetails().get("databases")).asString().contains("ledger=unreachable");
				}
				finally {
					TestPostgres.execute(ReportingDatabase.url(),
							"ALTER TABLE several_databases_ran RENAME TO several_databases_run");
				}
			});
	}

	@Test
	void gaugesNameTheDatabase() {
		metered().withBean(NamingJobs.class).run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			context.getBean(NamingJobs.class).inSession(() -> {
				assertThat(held(meters, "reportingTx")).isOne();
				assertThat(held(meters, "mainTx")).isZero();
				return List.of();
			});
			assertThat(meters.find("advisory.lock.held").gauges()).hasSize(2);
			assertThat(meters.find("advisory.lock.clock.skew").gauges()).hasSize(2);
			context.getBean("reportingDataSource", HikariDataSource.class).close();
			assertThat(skew(meters, "reportingTx")).isNaN();
			assertNoSkew(meters, "mainTx");
		});
	}

	@Test
	void databaseThatOnlyRequestsNameIsNotAskedForItsTimeBefore() {
		metered().run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			assertThat(held(meters, "mainTx")).isZero();
			assertThat(held(meters, "reportingTx")).isZero();
			assertThat(skew(meters, "reportingTx")).isNaN();
			assertThat(context.getBean("reportingDataSource", HikariDataSource.class).isRunning()).isFalse();
			operations.execute(LockRequest.of("metered").transactionManager("reportingTx"), (lock) -> {
				assertThat(held(meters, "reportingTx")).isOne();
				assertNoSkew(meters, "reportingTx");
				return true;
			}).orElseThrow();
			assertThat(held(meters, "mainTx")).isZero();
		});
	}

	@Test
	void lossNamesTheDatabase() {
		Queue<LockLostEvent> events = new ConcurrentLinkedQueue<>();
		ReportingDatabase.application()
			.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class))
			.withInitializer((context) -> context
				.addApplicationListener(ApplicationListener.forPayload((LockLostEvent event) -> events.add(event))))
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				LockRequest request = LockRequest.of("lost").maxRun(Duration.ofMillis(1));
				try (LogRecorder alerts = LogRecorder.of(LockLog.ALERT, "warn")) {
					for (String manager : List.of("mainTx", "reportingTx")) {
						operations.tryAcquire(request.transactionManager(manager)).orElseThrow();
						Awaitility.await()
							.untilAsserted(
									() -> assertThat(events).extracting(LockLostEvent::database).endsWith(manager));
						// listeners are told one after the other
						Awaitility.await()
							.untilAsserted(() -> assertThat(
									Objects.requireNonNull(context.getBean(HealthIndicator.class).health())
										.getDetails())
								.hasEntrySatisfying("lastLoss",
										(loss) -> assertThat(loss).asInstanceOf(InstanceOfAssertFactories.MAP)
											.containsEntry("database", manager)));
						assertThat(alerts.events()).anySatisfy((event) -> assertThat(event.getFormattedMessage())
							.contains("on 'test/lost' in the database of transaction manager '" + manager + "'"));
					}
				}
			});
	}

	private static ApplicationContextRunner metered() {
		return ReportingDatabase.application()
			.withConfiguration(AutoConfigurations.of(AdvisoryLockMetricsAutoConfiguration.class))
			.withBean(SimpleMeterRegistry.class);
	}

	private static double held(MeterRegistry meters, String database) {
		return meters.get("advisory.lock.held").tag("database", database).gauge().value();
	}

	/**
	 * Server and application have one clock: the error is half of what the question took.
	 */
	private static void assertNoSkew(MeterRegistry meters, String database) {
		long begin = System.nanoTime();
		double skew = skew(meters, database);
		assertThat(skew).isCloseTo(0, within((System.nanoTime() - begin) / 2e9 + 0.001));
	}

	private static double skew(MeterRegistry meters, String database) {
		return meters.get("advisory.lock.clock.skew").tag("database", database).gauge().value();
	}

	@Test
	void doctorNamesTheDatabase() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(ReportingDatabase.application()
			.withBean(NamingJobs.class)
			.withPropertyValues("advisory-lock.databases.reportingtx.session.url="
					+ ReportingDatabase.url().replace("/reporting", "/nowhere")));
		assertThat(analysis.getDescription()).startsWith("Database of transaction manager 'reportingTx': ");
	}

	@Test
	void propertiesOfTheDefaultDatabaseByNameAreRefusedAtStart() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(ReportingDatabase.application()
			.withPropertyValues("advisory-lock.databases.mainTx.session.username=somebody"));
		assertThat(analysis.getDescription() + analysis.getAction()).contains("advisory-lock.databases.mainTx",
				"advisory-lock.session");
	}

	@Test
	void lockInOtherDatabaseDoesNotJoinTheTransactionOfTheCaller() {
		ReportingDatabase.application().withBean(NamingJobs.class).run((context) -> {
			NamingJobs jobs = context.getBean(NamingJobs.class);
			TransactionTemplate main = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			assertThat(main.<List<String>>execute((status) -> jobs.inTransaction(LockDatabasesTests::databases)))
				.containsExactly("reporting");
		});
	}

	/**
	 * As a caller's transaction does that no request names.
	 */
	@Test
	void transactionOfTheManagerThatARequestNamesKeepsTheLock() {
		ReportingDatabase.application().run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			LockRequest request = LockRequest.of("joined").transactionManager("reportingTx");
			AdvisoryLockKey key = new TransactionTemplate(
					context.getBean("reportingTx", PlatformTransactionManager.class))
				.execute((status) -> {
					AdvisoryLockKey joined = operations.execute(request, LockContext::key).orElseThrow();
					assertThat(ReportingDatabase.databasesWith(joined)).containsExactly("reporting");
					return joined;
				});
			assertThat(ReportingDatabase.databasesWith(key)).isEmpty();
		});
	}

	private static final String[] LEDGER = { "advisory-lock.ledger.initialize-schema=always",
			"advisory-lock.ledger.table-prefix=several_databases_" };

	private static List<String> databases() {
		AdvisoryLockKey key = LockContext.current().orElseThrow().key();
		return ReportingDatabase.databasesWith(key);
	}

	static class TransactionalJob {

		@SingleRunner("several-transactional")
		@Transactional("reportingTx")
		List<String> run(Supplier<List<String>> work) {
			return work.get();
		}

	}

	static class NamingJobs {

		@SingleRunner(key = "several-transaction", transactionManager = "reportingTx")
		List<String> inTransaction(Supplier<List<String>> work) {
			return work.get();
		}

		@SingleRunner(key = "several-session", scope = LockScope.SESSION, transactionManager = "${no:reportingTx}")
		List<String> inSession(Supplier<List<String>> work) {
			return work.get();
		}

		@SingleRunner("several-default")
		List<String> inDefault(Supplier<List<String>> work) {
			return work.get();
		}

	}

	static class UnknownManagerJob {

		@SingleRunner(key = "several-unknown", transactionManager = "missingTx")
		void run() {
		}

	}

	static class ContradictoryJob {

		@SingleRunner(key = "several-contradictory", transactionManager = "reportingTx")
		@Transactional("mainTx")
		void run() {
		}

	}

}
