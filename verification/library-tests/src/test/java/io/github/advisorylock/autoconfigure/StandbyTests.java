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
import java.util.Map;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications on a hot standby.
 */
@Tag("servers")
class StandbyTests {

	private static TestServer primary;

	private static TestServer standby;

	@BeforeAll
	static void start(@TempDir Path directory) {
		primary = TestServer.start(directory.resolve("primary"), Map.of());
		standby = primary.startStandby(directory.resolve("standby"));
	}

	@AfterAll
	static void stop() {
		standby.close();
		primary.close();
	}

	@Test
	void standbyFollowsItsPrimaryAndGrantsWhatThatGrants() {
		assertThat(primary.query("SELECT pg_is_in_recovery()")).isEqualTo("f");
		assertThat(standby.query("SELECT pg_is_in_recovery()")).isEqualTo("t");
		assertThat(standby.query("SELECT status FROM pg_stat_wal_receiver")).isEqualTo("streaming");
		assertThat(standby.query("SELECT pg_try_advisory_xact_lock(1)")).isEqualTo("t");
	}

	@Test
	void transactionScopeIsRefusedAtStart() {
		assertThat(DoctorContexts.failureOf(DoctorContexts.inTransaction(standby.url()))).contains("is a standby",
				"spring.datasource.url", "advisory-lock.doctor.standby");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&targetServerType=any" })
	void sessionScopeWithUrlOfStandbyIsRefusedAtStart(String parameter) {
		String failure = DoctorContexts.failureOf(DoctorContexts.inSession(primary.url())
			.withPropertyValues("advisory-lock.session.url=" + standby.url() + parameter));
		assertThat(failure).contains("server of the session locks is a standby", "advisory-lock.session.url");
	}

	@Test
	void readOnlyTransactionsThatAreRoutedToStandbyAreRefusedAtStart() {
		String failure = DoctorContexts.failureOf(routed().withBean("jobs", ReadOnlyJob.class));
		assertThat(failure).contains("Method 'report' of class '" + ReadOnlyJob.class.getName() + "' on bean 'jobs'",
				"@Transactional(readOnly = true)", "standby", "Remove 'readOnly'", "'scope' to SESSION",
				"advisory-lock.doctor.standby");
	}

	@Test
	void readOnlyTransactionThatIsRoutedToStandbyIsRefusedWhenTheDoctorLooksAway() {
		routed().withBean("jobs", ReadOnlyJob.class)
			.withPropertyValues("advisory-lock.doctor.standby=off")
			.run((context) -> assertThatExceptionOfType(UnsupportedDatabaseException.class)
				.isThrownBy(() -> context.getBean(ReadOnlyJob.class).report())
				.withMessageContainingAll("it is a standby", "'doctor/read-only'",
						"the transaction '" + ReadOnlyJob.class.getName() + ".report'",
						"is read-only ('readOnly' of @Transactional)", "'scope' to SESSION"));
	}

	@Test
	void readOnlyTransactionsThatAreRoutedToStandbyRunInScopeSession() {
		routed().withBean("jobs", ReadOnlySessionJob.class)
			.withPropertyValues("advisory-lock.session.url=" + primary.url())
			.run((context) -> assertThat(context.getBean(ReadOnlySessionJob.class).report()).isTrue());
	}

	/**
	 * Create an application whose read-only transactions go to the standby.
	 */
	private static ApplicationContextRunner routed() {
		return DoctorContexts.create(primary.url()).withBean(DataSource.class, () -> {
			LazyConnectionDataSourceProxy routing = new LazyConnectionDataSourceProxy(
					new DriverManagerDataSource(primary.url()));
			routing.setReadOnlyDataSource(new DriverManagerDataSource(standby.url()));
			return routing;
		});
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runIsRefusedWhenTheDoctorLooksAway(LockScope scope) {
		DoctorContexts.create(standby.url() + "&targetServerType=any")
			.withPropertyValues("advisory-lock.doctor.standby=off",
					"advisory-lock.session.url=" + standby.url() + "&targetServerType=any")
			.run((context) -> {
				AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
				assertThatExceptionOfType(UnsupportedDatabaseException.class)
					.isThrownBy(() -> operations.execute(LockRequest.of("standby").scope(scope), (lock) -> true))
					.withMessageContaining("standby");
			});
	}

	static class ReadOnlyJob {

		@Transactional(readOnly = true)
		@SingleRunner("read-only")
		void report() {
		}

	}

	static class ReadOnlySessionJob {

		private final JdbcTemplate jdbc;

		ReadOnlySessionJob(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional(readOnly = true)
		@SingleRunner(key = "read-only-session", scope = LockScope.SESSION)
		Boolean report() {
			return this.jdbc.queryForObject("SELECT pg_is_in_recovery()", Boolean.class);
		}

	}

}
