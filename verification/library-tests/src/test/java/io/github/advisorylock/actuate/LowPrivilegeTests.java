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

package io.github.advisorylock.actuate;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the {@link AdvisoryLocksEndpoint} of an application whose role may see the
 * statements of no other.
 */
@Tag("slow")
class LowPrivilegeTests {

	@BeforeEach
	void createRole() {
		OperatedApplication.dropTables();
		// of another role, and would be found before one is made
		TestPostgres.execute("DROP SEQUENCE IF EXISTS operated_fencing_token");
		TestPostgres.execute("CREATE ROLE operated_low LOGIN PASSWORD 'low'");
		TestPostgres.execute("CREATE SCHEMA operated_low AUTHORIZATION operated_low");
	}

	@AfterEach
	void dropRole() {
		TestPostgres.execute("DROP OWNED BY operated_low CASCADE; DROP ROLE operated_low");
	}

	@Test
	void holderOfAnotherRoleIsToldByInstanceWithoutItsStatement() throws SQLException {
		try (OperatedApplication application = start();
				Connection other = TestPostgres.open();
				Statement statement = other.createStatement()) {
			hold(statement);
			assertThat(holder(application)).containsEntry("instance", "other-host:77")
				.containsEntry("user", user())
				.containsKeys("pid", "application")
				.doesNotContainKeys("query", "state", "since", "client");
			assertThat(EndpointAnswer.of(application.setState("report", "running")).<String>read("$.outcome"))
				.isEqualTo("BUSY");
		}
	}

	@Test
	void statementIsToldOnceRoleMayReadAllStatistics() throws SQLException {
		try (OperatedApplication application = start();
				Connection other = TestPostgres.open();
				Statement statement = other.createStatement()) {
			hold(statement);
			TestPostgres.execute("GRANT pg_read_all_stats TO operated_low");
			assertThat(holder(application)).containsKeys("state", "since", "client")
				.extractingByKey("query")
				.asString()
				.contains("pg_advisory_xact_lock");
		}
	}

	private static OperatedApplication start() {
		String url = TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", "");
		return OperatedApplication.start(Jobs.class, "spring.datasource.url=" + url,
				"spring.datasource.username=operated_low", "spring.datasource.password=low",
				"management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.access=unrestricted",
				"management.endpoint.advisorylocks.show-values=always");
	}

	/**
	 * Be an instance that logs in with another role.
	 */
	private static void hold(Statement statement) throws SQLException {
		statement.execute("SET application_name = 'al:report@other-host:77'");
		statement.execute("BEGIN");
		statement.execute("SELECT pg_advisory_xact_lock(" + AdvisoryLockKey.of("shop", "report").value() + ")");
	}

	private static String user() {
		return TestPostgres.query("SELECT session_user").get(0);
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> holder(OperatedApplication application) {
		Map<String, Object> job = EndpointAnswer.job(application, "report");
		assertThat(job).containsEntry("state", "running");
		return ((List<Map<String, Object>>) job.get("holders")).get(0);
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

	}

}
