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
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what operators see of a lock that a prepared transaction holds, which no
 * transaction manager has ended.
 */
@Tag("servers")
class PreparedHolderTests {

	/**
	 * As SQL has it.
	 */
	private static final String GID = "'orphan''s 1'";

	private static TestServer server;

	private static OperatedApplication asked;

	@BeforeAll
	static void start(@TempDir Path directory) throws SQLException {
		server = TestServer.start(directory.resolve("server"), Map.of("max_prepared_transactions", "4"));
		asked = OperatedApplication.start(Application.class, "spring.datasource.url=" + server.url(),
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted");
		try (Connection connection = DriverManager.getConnection(server.url());
				Statement statement = connection.createStatement()) {
			statement.execute("BEGIN; SELECT pg_advisory_xact_lock(" + AdvisoryLockKey.of("shop", "report").value()
					+ "); PREPARE TRANSACTION " + GID);
		}
	}

	@AfterAll
	static void stop() {
		asked.close();
		server.close();
	}

	@Test
	void endpointNamesThePreparedTransaction() {
		EndpointAnswer answer = EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/report"));
		assertThat(answer.<Integer>read("$.job.holders[0].pid")).isZero();
		assertThat(answer.<String>read("$.job.holders[0].application")).isEqualTo("prepared transaction " + GID);
	}

	@Test
	void operatorIsToldHowToEndIt() {
		HttpResponse<String> answer = asked.setState("report", "cancelled");
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("held by prepared transaction " + GID, "ROLLBACK PREPARED " + GID,
				"COMMIT PREPARED " + GID);
		assertThat(server.query("SELECT count(*) FROM pg_prepared_xacts")).isEqualTo("1");
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

	}

	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

	}

}
