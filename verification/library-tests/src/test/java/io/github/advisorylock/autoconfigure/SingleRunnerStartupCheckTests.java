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

import javax.sql.DataSource;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerStartupCheck} with what ends a run that lasts too long,
 * and with methods of one key in two databases.
 */
class SingleRunnerStartupCheckTests {

	private final ApplicationContextRunner hiding = LockContextRunner.create()
		.withBean(DataSource.class, HidingDataSource::new);

	@Test
	void longestTimeOfRunNeedsSession() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.hiding.withBean("jobs", LimitedJob.class));
		assertThat(analysis.getDescription()).contains("method 'run'", LimitedJob.class.getName(), "bean 'jobs'",
				"attribute 'maxRun' (PT30M)", "does not tell its URL");
		assertThat(analysis.getAction()).contains("'advisory-lock.session.url', 'username' and 'password'",
				"remove 'maxRun'");
	}

	@Test
	void longestTimeOfPropertyNeedsSession() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(
				this.hiding.withBean("jobs", Job.class).withPropertyValues("advisory-lock.jobs.unlimited.max-run=10m"));
		assertThat(analysis.getDescription()).contains("bean 'jobs'", "attribute 'maxRun' (PT10M)");
		assertThat(analysis.getAction()).contains("'max-run' of the job");
	}

	@Test
	void longestTimeOfRunStartsWhereSessionIs() {
		LockContextRunner.create().withBean(LimitedJob.class).run((context) -> assertThat(context).hasNotFailed());
		this.hiding.withBean(Job.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(classes = { LimitedHiddenJob.class, SessionHiddenJob.class })
	void propertiesOfFurtherDatabaseAreNamed(Class<?> job) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(ReportingDatabase.application()
			.withBean("hiddenTx", PlatformTransactionManager.class,
					() -> new JdbcTransactionManager(new HidingDataSource()))
			.withBean("jobs", job));
		assertThat(analysis.getDescription()).contains("bean 'jobs'", "does not tell its URL");
		assertThat(analysis.getAction()).contains("'advisory-lock.databases.hiddenTx.session.url'");
	}

	@Test
	void methodsThatShareKeyInTwoDatabasesAreRefused() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(ReportingDatabase.application()
			.withBean("one", SharingJob.class)
			.withBean("two", SharingReportingJob.class));
		assertThat(analysis.getDescription()).contains("on bean 'one'", "on bean 'two'", "'shared'",
				"'allowSharedKey' does not make them exclude each other", "'mainTx'", "'reportingTx'");
		assertThat(analysis.getAction()).contains("same 'transactionManager' on both", "its own 'key'");
	}

	@Test
	void methodsThatShareKeyInOneDatabaseStart() {
		ReportingDatabase.application()
			.withBean("one", SharingReportingJob.class)
			.withBean("two", SharingReportingJob.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class LimitedJob {

		@SingleRunner(key = "limited", maxRun = "30m")
		void run() {
		}

	}

	static class Job {

		@SingleRunner("unlimited")
		void run() {
		}

	}

	static class LimitedHiddenJob {

		@SingleRunner(key = "limited-hidden", maxRun = "30m", transactionManager = "hiddenTx")
		void run() {
		}

	}

	static class SessionHiddenJob {

		@SingleRunner(key = "session-hidden", scope = LockScope.SESSION, transactionManager = "hiddenTx")
		void run() {
		}

	}

	static class SharingJob {

		@SingleRunner(key = "shared", allowSharedKey = true)
		void run() {
		}

	}

	static class SharingReportingJob {

		@SingleRunner(key = "shared", allowSharedKey = true, transactionManager = "reportingTx")
		void run() {
		}

	}

	/**
	 * Does not tell what it connects to.
	 */
	private static final class HidingDataSource extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			return TestPostgres.open();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

}
