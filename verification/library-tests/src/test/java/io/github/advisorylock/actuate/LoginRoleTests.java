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

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for instances that log in with a role each, of which all are members of one role
 * that has the tables, as dynamic credentials make them.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class LoginRoleTests {

	private static final String GROUP = "operated_shop";

	@BeforeEach
	void createRoles() {
		OperatedApplication.dropTables();
		TestPostgres.execute("DROP SEQUENCE IF EXISTS operated_fencing_token");
		TestPostgres.execute("CREATE ROLE " + GROUP + "; CREATE SCHEMA " + GROUP + " AUTHORIZATION " + GROUP);
		createLogin("operated_v1");
		createLogin("operated_v2");
	}

	@AfterEach
	void dropRoles() {
		TestPostgres.execute("DROP ROLE IF EXISTS operated_v1; DROP ROLE IF EXISTS operated_v2;"
				+ " DROP ROLE IF EXISTS operated_v3; DROP OWNED BY " + GROUP + " CASCADE; DROP ROLE " + GROUP);
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session", "statement" })
	void runIsCancelledOnAnInstanceWithAnotherLoginOfTheSameRole(String key) {
		try (OperatedApplication holder = start("operated_v1"); OperatedApplication asked = start("operated_v2")) {
			CompletableFuture<Void> run = hang(holder, key);
			awaitRun(asked, key);
			assertThat(asked.setState(key, "cancelled").body()).contains("\"outcome\":\"ENDED\"");
			assertThat(run).failsWithin(Patience.TIME)
				.withThrowableThat()
				.satisfies((failure) -> assertThat(failure)
					.hasStackTraceContaining("it was cancelled by unauthenticated"));
		}
	}

	@Test
	void cancellationThatTheHolderDoesNotBelieveIsRefused() {
		for (String login : List.of("operated_v1", "operated_v2")) {
			TestPostgres.execute("ALTER ROLE " + login + " RESET role");
		}
		try (OperatedApplication holder = start("operated_v1"); OperatedApplication asked = start("operated_v2")) {
			CompletableFuture<Void> run = hang(holder, "session");
			awaitRun(asked, "session");
			HttpResponse<String> answer = asked.setState("session", "cancelled");
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(answer.body()).contains("'operated_v1'", "'operated_v2'", "SET role");
			assertThat(run).isNotDone();
			assertThat(holder.setState("session", "cancelled").body()).contains("ENDED");
			Gate.assertThatCancellationEnds(run);
		}
	}

	/**
	 * PostgreSQL lets a role be dropped whose connections are open.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void instanceWhoseLoginIsDroppedAndReplacedGoesOn(String key, CapturedOutput output) {
		try (OperatedApplication rotated = start("operated_v1"); OperatedApplication other = start("operated_v2")) {
			rotated.bean(Jobs.class).quick();
			CompletableFuture<Void> run = hang(rotated, key);
			awaitRun(other, key);
			createLogin("operated_v3");
			TestPostgres.execute("DROP ROLE operated_v1");
			assertThat(other.setState(key, "cancelled").body()).contains("\"outcome\":\"ENDED\"");
			Gate.assertThatCancellationEnds(run);
			HikariDataSource pool = rotated.bean(HikariDataSource.class);
			pool.getHikariConfigMXBean().setUsername("operated_v3");
			pool.getHikariPoolMXBean().softEvictConnections();
			TestPostgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity a"
					+ " WHERE usesysid IS NOT NULL AND usename IS NULL");
			Awaitility.await().untilAsserted(() -> rotated.bean(Jobs.class).quick());
			assertThat(new JdbcTemplate(pool).queryForObject("SELECT session_user", String.class))
				.isEqualTo("operated_v3");
			CompletableFuture<Void> next = hang(other, key);
			awaitRun(rotated, key);
			assertThat(rotated.setState(key, "cancelled").body()).contains("\"outcome\":\"ENDED\"");
			Gate.assertThatCancellationEnds(next);
			assertThat(output).doesNotContain("invalid role OID", "\tat org.postgresql");
		}
	}

	private static void createLogin(String login) {
		TestPostgres.execute("CREATE ROLE " + login + " LOGIN PASSWORD 'low' IN ROLE " + GROUP + "; ALTER ROLE " + login
				+ " SET search_path = " + GROUP + "; ALTER ROLE " + login + " SET role = " + GROUP);
	}

	private static OperatedApplication start(String login) {
		boolean shared = TestPostgres.query("SELECT rolconfig::text FROM pg_roles WHERE rolname = '" + login + "'")
			.get(0)
			.contains("role=");
		return OperatedApplication.start(Jobs.class, "advisory-lock.ledger.enabled=" + shared,
				"spring.datasource.url=" + TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""),
				"spring.datasource.username=" + login, "spring.datasource.password=low",
				"management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.access=unrestricted", "advisory-lock.session.heartbeat=200ms");
	}

	private static void awaitRun(OperatedApplication asked, String key) {
		Awaitility.await()
			.untilAsserted(() -> assertThat(EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/" + key))
				.<List<String>>read("$.job..actions[*]")).contains("cancelled"));
	}

	private static CompletableFuture<Void> hang(OperatedApplication application, String key) {
		Jobs jobs = application.bean(Jobs.class);
		return Gate.runAsync(() -> {
			try {
				switch (key) {
					case "transaction" -> jobs.transaction();
					case "session" -> jobs.session();
					default -> jobs.statement();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRunner("transaction")
		void transaction() throws InterruptedException {
			new CountDownLatch(1).await(60, TimeUnit.SECONDS);
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() throws InterruptedException {
			new CountDownLatch(1).await(60, TimeUnit.SECONDS);
		}

		@SingleRunner("statement")
		void statement() {
			this.jdbc.execute("SELECT pg_sleep(60)");
		}

		@SingleRunner(key = "quick", scope = LockScope.SESSION)
		void quick() {
		}

	}

}
