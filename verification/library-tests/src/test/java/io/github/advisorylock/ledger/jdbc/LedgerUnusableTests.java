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

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerSchemaException}: what is said of a database that has no tables,
 * or no tables any more, or none that can be written to.
 */
@Tag("gate")
class LedgerUnusableTests {

	private static final String SCHEMA = "ledger_unusable";

	private static final AtomicInteger RUNS = new AtomicInteger();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("spring.datasource.hikari.schema=" + SCHEMA,
				"advisory-lock.ledger.initialize-schema=always")
		.withBean(Payments.class);

	@BeforeEach
	void createSchema() {
		RUNS.set(0);
		TestPostgres.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE; CREATE SCHEMA " + SCHEMA);
	}

	@AfterEach
	void dropSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
	}

	@Test
	void runAfterTablesWereDroppedSaysWhatIsMissing() {
		this.runner.run((context) -> {
			TestPostgres.execute("DROP SCHEMA " + SCHEMA + " CASCADE; CREATE SCHEMA " + SCHEMA);
			Payments payments = context.getBean(Payments.class);
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> payments.pay("1"),
					() -> payments.payInTransaction("1"), () -> payments.payInSession("1"), payments::poll,
					payments::pollInSession)) {
				assertThatExceptionOfType(AdvisoryLockConfigurationException.class).isThrownBy(call)
					.withMessageContainingAll("The ledger of advisory locks can't be used",
							"a table or a column is missing", "relation \"" + SCHEMA + ".advisory_lock_",
							"its DDL is 'classpath:")
					.withStackTraceContaining("PSQLException");
			}
			assertThat(RUNS).hasValue(0);
		});
	}

	@Test
	void viewInPlaceOfTableStopsTheStart() {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		TestPostgres
			.execute("SET search_path = " + SCHEMA + "; ALTER TABLE advisory_lock_completion RENAME TO completions; "
					+ "CREATE VIEW advisory_lock_completion AS SELECT * FROM completions");
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner);
		assertThat(analysis.getDescription()).contains(SCHEMA + ".advisory_lock_completion is a view, not a table");
		assertThat(analysis.getAction()).contains("'advisory-lock.ledger.table-prefix'");
	}

	@Test
	void runsThatArePartitionedByTimeStopTheStart() {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		TestPostgres.execute("SET search_path = " + SCHEMA + "; ALTER TABLE advisory_lock_run RENAME TO runs; "
				+ "CREATE TABLE advisory_lock_run (LIKE runs INCLUDING DEFAULTS INCLUDING IDENTITY, "
				+ "PRIMARY KEY (namespace, key, fencing_token, started_at)) PARTITION BY RANGE (started_at)");
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner);
		assertThat(analysis.getDescription()).contains(
				SCHEMA + ".advisory_lock_run has no unique index on (namespace, key, fencing_token) alone",
				"ADD PRIMARY KEY (namespace, key, fencing_token);");
	}

	@Test
	void secondDatabaseWithoutTablesIsToldAtStart() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(ReportingDatabase.application()
			.withPropertyValues("advisory-lock.ledger.table-prefix=unusable_")
			.withBean("jobs", ReportingJob.class));
		assertThat(analysis.getDescription())
			.contains("relation 'unusable_job' does not exist in database 'reporting'");
		assertThat(analysis.getAction()).contains("'advisory-lock.ledger.initialize-schema'");
	}

	@Test
	void secondDatabaseWithoutTablesIsToldAtFirstRequest() {
		ReportingDatabase.application()
			.withPropertyValues("advisory-lock.ledger.table-prefix=unusable_")
			.run((context) -> assertThatExceptionOfType(AdvisoryLockConfigurationException.class)
				.isThrownBy(() -> context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("report").transactionManager("reportingTx").oncePerKey(),
							(lock) -> RUNS.incrementAndGet()))
				.withMessageContaining("relation 'unusable_job' does not exist in database 'reporting'"));
		assertThat(RUNS).hasValue(0);
	}

	@ParameterizedTest
	@CsvSource({ "DATABASE ledger_archive", "ROLE ledger_archivist",
			"ROLE ledger_archivist IN DATABASE ledger_archive" })
	void databaseThatIsReadOnlyIsToldAtStartAndStartsWithWhatIsNamed(String target) {
		TestPostgres.execute("CREATE ROLE ledger_archivist LOGIN PASSWORD 'low'");
		TestPostgres.execute("CREATE DATABASE ledger_archive OWNER ledger_archivist");
		ApplicationContextRunner archive = LockContextRunner.create()
			.withPropertyValues(
					"spring.datasource.url=" + ReportingDatabase.url()
						.replace("/reporting", "/ledger_archive")
						.replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""),
					"spring.datasource.username=ledger_archivist", "spring.datasource.password=low",
					"advisory-lock.ledger.table-prefix=archive_")
			.withBean(Payments.class);
		try {
			TestPostgres.execute("ALTER " + target + " SET default_transaction_read_only = on");
			String reset = "ALTER " + target + " RESET default_transaction_read_only;";
			for (String mode : List.of("always", "never")) {
				assertThat(LockContextRunner
					.analyzeFailure(archive.withPropertyValues("advisory-lock.ledger.initialize-schema=" + mode))
					.getDescription()).contains("database ledger_archive is read-only for role ledger_archivist",
							"'default_transaction_read_only'", reset);
			}
			TestPostgres.execute(reset);
			archive.withPropertyValues("advisory-lock.ledger.initialize-schema=always")
				.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
		}
		finally {
			TestPostgres.execute("DROP DATABASE ledger_archive WITH (FORCE)");
			TestPostgres.execute("DROP ROLE ledger_archivist");
		}
	}

	static class Payments {

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		String pay(String id) {
			RUNS.incrementAndGet();
			return "paid";
		}

		@Transactional
		@SingleRunner(key = "payment-in-transaction:#{#id}", once = Once.PER_KEY)
		String payInTransaction(String id) {
			return pay(id);
		}

		@SingleRunner(key = "payment-in-session:#{#id}", once = Once.PER_KEY, scope = LockScope.SESSION)
		String payInSession(String id) {
			return pay(id);
		}

		@SingleRunner(key = "poll", minInterval = "1s")
		void poll() {
			RUNS.incrementAndGet();
		}

		@SingleRunner(key = "poll-in-session", minInterval = "1s", scope = LockScope.SESSION)
		void pollInSession() {
			RUNS.incrementAndGet();
		}

	}

	static class ReportingJob {

		@SingleRunner(key = "report:#{#id}", once = Once.PER_KEY, transactionManager = "reportingTx")
		String report(String id) {
			return id;
		}

	}

}
