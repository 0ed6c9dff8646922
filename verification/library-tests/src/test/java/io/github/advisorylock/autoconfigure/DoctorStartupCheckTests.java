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

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.UntoldConnections;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DoctorStartupCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class DoctorStartupCheckTests {

	private static final String READY = "Advisory locks are ready in ";

	@Test
	void healthyApplicationIsOneLine(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withBean(DoctorContexts.SessionJob.class)
			.run(LockContextRunner
				.started(() -> assertThat(output.getAll().lines().filter((line) -> line.contains("LockDoctor")))
					.singleElement()
					.asString()
					.contains("INFO", READY + "scopes TRANSACTION and SESSION", "pool of 4",
							"session locks straight to the server")));
	}

	/**
	 * With this setting the driver spoils queries of different columns that it executes
	 * together.
	 */
	@Test
	void driverThatAsksForBinaryOnlyIsNoReasonForAWarning(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url() + "&prepareThreshold=-1")
			.withBean(DoctorContexts.SessionJob.class)
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.TransactionJob.class).run(runs::incrementAndGet);
				context.getBean(DoctorContexts.SessionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(2);
				assertThat(output).contains(READY).doesNotContain("WARN");
			});
	}

	@Test
	void keysCanNotFakeLinesOfTheStart(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("advisory-lock.jobs[none].paused=true")
			.withBean(HostileJob.class)
			.run(LockContextRunner.started(() -> {
				assertThat(output).contains("; a?ERROR fake?[31m?b: ", "the keys are [a?ERROR fake?[31m?b, ");
				assertThat(output.getAll()).doesNotContain("\u001b", "\u202e", "\nERROR fake");
			}));
	}

	@Test
	void manyMethodsAreGroupedByWhatTheyAre(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withBean(DoctorContexts.SessionJob.class)
			.withBean(ManyJobs.class)
			.run(LockContextRunner.started(() -> {
				List<String> lines = output.getAll().lines().filter((line) -> line.contains("LockDoctor")).toList();
				assertThat(lines).isNotEmpty()
					.allMatch((line) -> line.length() < 500)
					.anyMatch((line) -> line.contains(READY) && line.endsWith("; 26 methods:"))
					.anyMatch((line) -> line.contains(": doctor-transaction, job-1, job-10, job-11,")
							&& line.endsWith(", job-3, job-4 and 5 more"))
					.anyMatch((line) -> line.contains(" in scope SESSION: "));
			}));
	}

	@Test
	void serverIsAskedOnce() {
		long unasked = roundTripsOfStart(Query.class);
		assertThat(roundTripsOfStart(Query.class, DoctorContexts.TransactionJob.class)).isEqualTo(unasked + 1);
	}

	/**
	 * Return the least that one of several starts has sent, as the pool may open another
	 * connection. It does not ask whether one is alive, however long a start takes.
	 */
	private static long roundTripsOfStart(Class<?>... beans) {
		ApplicationContextRunner runner = DoctorContexts.create(CountingSocketFactory.addTo(TestPostgres.url()))
			.withSystemProperties("com.zaxxer.hikari.aliveBypassWindowMs=600000");
		for (Class<?> bean : beans) {
			runner = runner.withBean(bean.getSimpleName(), bean);
		}
		ApplicationContextRunner counted = runner;
		return IntStream.range(0, 3).mapToLong((i) -> {
			long before = CountingSocketFactory.roundTrips();
			AtomicLong after = new AtomicLong();
			counted.run((context) -> {
				assertThat(context).hasNotFailed();
				after.set(CountingSocketFactory.roundTrips());
			});
			return after.get() - before;
		}).min().orElseThrow();
	}

	@Test
	void applicationWithoutLocksIsNotLookedAt(CapturedOutput output) {
		DoctorContexts.create("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("LockDoctor");
		});
	}

	@Test
	void userOfLocksWithoutMethodsIsLookedAt(CapturedOutput output) {
		DoctorContexts.create(TestPostgres.url())
			.withBean(Role.class)
			.run(LockContextRunner.started(() -> assertThat(output).contains(READY + "scope SESSION")));
	}

	@Test
	void databaseThatIsNotThereIsAWarning(CapturedOutput output) {
		DoctorContexts.inTransaction("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN", "can't be examined", "advisory-lock.doctor.unreachable")
				.doesNotContain(READY);
		});
	}

	@Test
	void databaseThatIsNotThereStopsTheStartWhereAskedTo() {
		String failure = DoctorContexts
			.failureOf(DoctorContexts.inTransaction("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody")
				.withPropertyValues("advisory-lock.doctor.unreachable=fail"));
		assertThat(failure).contains("can't be examined", "Check 'spring.datasource.url'");
	}

	@Test
	void sessionDatabaseThatDoesNotExistIsMistakeOfItsProperty() {
		ApplicationContextRunner runner = DoctorContexts.inSession(TestPostgres.url())
			.withPropertyValues("advisory-lock.session.url=" + TestPostgres.url().replace("/postgres?", "/nowhere?"));
		assertThat(DoctorContexts.failureOf(runner)).contains("nowhere", "Correct 'advisory-lock.session.url'",
				"advisory-lock.doctor.session-login");
	}

	@Test
	void otherDatabaseStopsTheStart() {
		assertThat(DoctorContexts.failureOf(DoctorContexts.inTransaction("jdbc:h2:mem:doctor")))
			.contains("it is 'H2'", "set 'advisory-lock.enabled' to false")
			.contains("@AutoConfigureInMemoryLocks")
			.doesNotContain("advisory-lock.doctor.not-postgresql");
	}

	@Test
	void otherDatabaseThatIsToleratedRefusesEachLock() {
		DoctorContexts.inTransaction("jdbc:h2:mem:doctor")
			.withPropertyValues("advisory-lock.doctor.not-postgresql=off")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				DoctorContexts.TransactionJob job = context.getBean(DoctorContexts.TransactionJob.class);
				assertThatExceptionOfType(UnsupportedDatabaseException.class).isThrownBy(() -> job.run(() -> {
				})).withMessageContaining("it is 'H2'").withMessageContaining("@AutoConfigureInMemoryLocks");
			});
	}

	@Test
	void severalFindingsAreListedTogether() {
		String failure = DoctorContexts.failureOf(DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("advisory-lock.max-held-locks=1000000", "advisory-lock.doctor.lock-table=fail",
					"spring.datasource.hikari.maximum-pool-size=1", "advisory-lock.doctor.pool-size=fail",
					"spring.task.scheduling.pool.size=3", "spring.threads.virtual.enabled=false")
			.withUserConfiguration(SchedulingConfiguration.class));
		assertThat(failure).contains("1000000 locks", "advisory-lock.max-held-locks", "The scheduler has 3 threads",
				"at least 4");
	}

	@ParameterizedTest
	@ValueSource(strings = { "idle_in_transaction_session_timeout=60000", "transaction_timeout=60000" })
	void timeoutThatEndsHoldersIsNamed(String setting, CapturedOutput output) {
		if (setting.startsWith("transaction")
				&& TestPostgres.query("SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'").isEmpty()) {
			return;
		}
		DoctorContexts.inTransaction(withOption(setting))
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN", setting.split("=")[0], "60000 ms",
					"advisory-lock.doctor.holder-timeout")));
	}

	@Test
	void timeoutOfADayIsFine(CapturedOutput output) {
		DoctorContexts.inTransaction(withOption("idle_in_transaction_session_timeout=1d"))
			.run(LockContextRunner.started(() -> assertThat(output).contains(READY)));
	}

	@Test
	void isolationThatForbidsToWaitIsNamed(CapturedOutput output) {
		DoctorContexts.create(withOption("default_transaction_isolation=serializable"))
			.withBean(DoctorContexts.WaitingJob.class)
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN", "'serializable'", "waitFor",
					"advisory-lock.doctor.isolation")));
	}

	@Test
	void isolationIsFineWhereNobodyWaits(CapturedOutput output) {
		DoctorContexts.inTransaction(withOption("default_transaction_isolation=serializable"))
			.run(LockContextRunner.started(() -> assertThat(output).contains(READY)));
	}

	@Test
	void poolThatDoesNotCommitIsNamedInScopeSession(CapturedOutput output) {
		DoctorContexts.inSession(TestPostgres.url())
			.withPropertyValues("spring.datasource.hikari.auto-commit=false")
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN", "do not commit by themselves",
					"advisory-lock.doctor.auto-commit")));
	}

	@ParameterizedTest
	@EnumSource
	void driverThatCannotBeAskedIsNamedOnce(UntoldConnections connections, CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withBean(DataSource.class, () -> connections.pool(2))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output.getAll().lines().filter((line) -> line.contains("WARN"))).singleElement()
					.asString()
					.contains("LockDoctor", "The driver of the pool's connections can't be asked",
							"org.postgresql:postgresql", "isWrapperFor and unwrap",
							"advisory-lock.doctor.foreign-driver");
			});
	}

	@Test
	void sessionWhoseDriverCannotBeAskedIsNamed(CapturedOutput output) {
		DoctorContexts.inSession(UntoldConnections.HidingDriver.URL)
			.withPropertyValues("spring.datasource.driver-class-name=" + UntoldConnections.HidingDriver.class.getName())
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("The driver of the connection of the session locks can't be asked",
						"set 'spring.datasource.url'");
			});
	}

	@Test
	void poolThatIsSmallerThanTheSchedulerIsNamed(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withUserConfiguration(SchedulingConfiguration.class)
			.withPropertyValues("spring.task.scheduling.pool.size=4", "spring.threads.virtual.enabled=false")
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN", "The scheduler has 4 threads",
					"pool 4 connections", "at least 5", "advisory-lock.doctor.pool-size")));
	}

	@Test
	void poolThatIsSmallerThanWhatRunsOnThreadsOfTheirOwnIsNamed(CapturedOutput output) {
		DoctorContexts.create(TestPostgres.url())
			.withBean(DoctorContexts.ScheduledJob.class)
			.withBean("taskScheduler", SimpleAsyncTaskScheduler.class)
			.withUserConfiguration(SchedulingConfiguration.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1")
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN", "a thread for each run",
					"1 scheduled methods", "spring.task.scheduling.simple.concurrency-limit")));
	}

	@Test
	void poolOfOneWorks(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1", "advisory-lock.doctor.pool-size=off")
			.run((context) -> {
				AtomicInteger runs = new AtomicInteger();
				context.getBean(DoctorContexts.TransactionJob.class).run(runs::incrementAndGet);
				assertThat(runs).hasValue(1);
				assertThat(output).contains(READY);
			});
	}

	@ParameterizedTest
	@EnumSource
	void everyCheckHasAPropertyWithItsDefault(DoctorCheck check) {
		DoctorContexts.create(TestPostgres.url())
			.run((context) -> assertThat(context.getBean(AdvisoryLockProperties.class).doctor().apply(check)).asString()
				.isEqualToIgnoringCase((String) AdvisoryLockPropertiesTests.defaultOf(check.property())));
		DoctorContexts.create(TestPostgres.url())
			.withPropertyValues(check.property() + "=off")
			.run((context) -> assertThat(context.getBean(AdvisoryLockProperties.class).doctor().apply(check))
				.hasToString("OFF"));
	}

	@Test
	void everyPropertyHasADefault() {
		assertThat(AdvisoryLockPropertiesTests.metadata()
			.filter((property) -> ((String) property.get("name")).startsWith("advisory-lock.doctor."))
			.filter((property) -> property.containsKey("defaultValue"))).hasSize(1 + DoctorCheck.values().length);
		assertThat(AdvisoryLockPropertiesTests.defaultOf("advisory-lock.doctor.long-hold")).isEqualTo("10m");
	}

	private static String withOption(String setting) {
		String url = TestPostgres.url();
		return url + (url.contains("?") ? "&" : "?") + "options=-c%20" + setting;
	}

	static class HostileJob {

		@SingleRunner("a\nERROR fake\u001b[31m\u202eb")
		void run() {
		}

	}

	/**
	 * A method that only a leader runs.
	 */
	static class Role {

		@LeaderOnly("doctor")
		void run() {
		}

	}

	/**
	 * Opens the pool, as most applications do while they start.
	 */
	static class Query {

		Query(JdbcTemplate jdbcTemplate) {
			jdbcTemplate.execute("SELECT 1");
		}

	}

	/**
	 * Brings a scheduler.
	 */
	@EnableScheduling
	static class SchedulingConfiguration {

	}

	static class ManyJobs {

		@SingleRunner("job-1")
		void job1() {
		}

		@SingleRunner("job-2")
		void job2() {
		}

		@SingleRunner("job-3")
		void job3() {
		}

		@SingleRunner("job-4")
		void job4() {
		}

		@SingleRunner("job-5")
		void job5() {
		}

		@SingleRunner("job-6")
		void job6() {
		}

		@SingleRunner("job-7")
		void job7() {
		}

		@SingleRunner("job-8")
		void job8() {
		}

		@SingleRunner("job-9")
		void job9() {
		}

		@SingleRunner("job-10")
		void job10() {
		}

		@SingleRunner("job-11")
		void job11() {
		}

		@SingleRunner("job-12")
		void job12() {
		}

		@SingleRunner("job-13")
		void job13() {
		}

		@SingleRunner("job-14")
		void job14() {
		}

		@SingleRunner("job-15")
		void job15() {
		}

		@SingleRunner("job-16")
		void job16() {
		}

		@SingleRunner("job-17")
		void job17() {
		}

		@SingleRunner("job-18")
		void job18() {
		}

		@SingleRunner("job-19")
		void job19() {
		}

		@SingleRunner("job-20")
		void job20() {
		}

		@SingleRunner("job-21")
		void job21() {
		}

		@SingleRunner("job-22")
		void job22() {
		}

		@SingleRunner("job-23")
		void job23() {
		}

		@SingleRunner("job-24")
		void job24() {
		}

	}

}
