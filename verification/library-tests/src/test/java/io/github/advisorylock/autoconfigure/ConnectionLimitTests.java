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

import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the doctor says of servers that do not allow as many connections as the
 * pool may open.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConnectionLimitTests {

	private static final String CHECK = "advisory-lock.doctor.pool-size";

	@BeforeEach
	void createRoleAndDatabase() {
		dropRoleAndDatabase();
		TestPostgres.execute("CREATE ROLE limited_role LOGIN PASSWORD 'low'");
		TestPostgres.execute("CREATE DATABASE limited_database");
	}

	@AfterEach
	void dropRoleAndDatabase() {
		TestPostgres.execute("DROP DATABASE IF EXISTS limited_database WITH (FORCE)");
		TestPostgres.execute("DROP ROLE IF EXISTS limited_role");
	}

	@Test
	void limitOfRoleThatIsBelowThePoolIsTold(CapturedOutput output) {
		TestPostgres.execute("ALTER ROLE limited_role CONNECTION LIMIT 3");
		inTransaction().run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains(CHECK, "role limited_role has a limit of 3 connections", "pool opens up to 4",
					"ALTER ROLE limited_role CONNECTION LIMIT 4", "'spring.datasource.hikari.maximum-pool-size'");
		});
	}

	@Test
	void limitOfRoleThatLeavesNoneForSessionLocksIsTold(CapturedOutput output) {
		TestPostgres.execute("ALTER ROLE limited_role CONNECTION LIMIT 4");
		inTransaction().withBean(DoctorContexts.SessionJob.class)
			.run(LockContextRunner.started(() -> assertThat(output).contains(CHECK, "pool opens up to 4",
					"the library 1 more for session locks", "CONNECTION LIMIT 5")));
	}

	@Test
	void limitOfDatabaseThatIsBelowThePoolIsTold(CapturedOutput output) {
		TestPostgres.execute("ALTER DATABASE limited_database CONNECTION LIMIT 2");
		inTransaction().run(LockContextRunner
			.started(() -> assertThat(output).contains(CHECK, "database limited_database has a limit of 2 connections",
					"ALTER DATABASE limited_database CONNECTION LIMIT 4")));
	}

	@Test
	void roomOfServerThatIsBelowThePoolIsTold(CapturedOutput output) {
		String room = TestPostgres
			.query("SELECT current_setting('max_connections')::int "
					+ "- current_setting('superuser_reserved_connections')::int")
			.get(0);
		inTransaction()
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=500",
					"spring.datasource.hikari.minimum-idle=0")
			.run(LockContextRunner.started(() -> assertThat(output).contains(CHECK,
					"The server has a limit of " + room + " connections", "'max_connections = 503'")));
	}

	@Test
	void limitsStopTheStartTogetherWhereAskedTo() {
		TestPostgres.execute("ALTER ROLE limited_role CONNECTION LIMIT 1");
		TestPostgres.execute("ALTER DATABASE limited_database CONNECTION LIMIT 2");
		assertThat(DoctorContexts.failureOf(inTransaction().withPropertyValues(CHECK + "=fail")))
			.contains("ALTER ROLE limited_role", "ALTER DATABASE limited_database");
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 4 })
	void poolThatFitsIsNotTold(int limit, CapturedOutput output) {
		TestPostgres.execute("ALTER ROLE limited_role CONNECTION LIMIT " + limit);
		TestPostgres.execute("ALTER DATABASE limited_database CONNECTION LIMIT " + limit);
		inTransaction().run(LockContextRunner
			.started(() -> assertThat(output).contains("Advisory locks are ready").doesNotContain(CHECK)));
	}

	@Test
	void superuserHasNoLimit(CapturedOutput output) {
		TestPostgres.execute("ALTER ROLE limited_role SUPERUSER CONNECTION LIMIT 2");
		TestPostgres.execute("ALTER DATABASE limited_database CONNECTION LIMIT 2");
		inTransaction().run(LockContextRunner
			.started(() -> assertThat(output).contains("Advisory locks are ready").doesNotContain(CHECK)));
	}

	private static ApplicationContextRunner inTransaction() {
		String url = TestPostgres.url()
			.replaceAll("(?<=[?&])(user|password)=[^&]*&?", "")
			.replaceAll("/[^/?]*\\?", "/limited_database?");
		return DoctorContexts.inTransaction(url)
			.withPropertyValues("spring.datasource.username=limited_role", "spring.datasource.password=low");
	}

}
