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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for the privileges that the document on security names: an application with no
 * others does everything.
 */
@Tag("gate")
class GrantTests {

	private static final Path DOCUMENT = Path.of("../../docs/security.md");

	private static final Pattern GRANT = Pattern.compile("(?m)^(GRANT [^;]+);");

	@BeforeEach
	void createRoleAndTables() throws IOException {
		TestPostgres.execute("DROP SCHEMA IF EXISTS granted CASCADE; CREATE SCHEMA granted");
		TestPostgres.execute("CREATE ROLE granted_low LOGIN PASSWORD 'low' NOINHERIT");
		TestPostgres.execute("SET search_path TO granted; "
				+ new ClassPathResource("io/github/advisorylock/ledger/R__advisory_lock_ledger.sql")
					.getContentAsString(StandardCharsets.UTF_8));
	}

	@AfterEach
	void dropRole() {
		TestPostgres.execute("DROP OWNED BY granted_low CASCADE; DROP ROLE granted_low; DROP SCHEMA granted CASCADE");
	}

	@Test
	void grantsOfDocumentSufficeForEverything() throws IOException {
		assertThat(grants()).hasSize(6).allSatisfy(TestPostgres::execute);
		try (OperatedApplication application = start("ledger.enabled=true")) {
			Jobs jobs = application.bean(Jobs.class);
			assertThat(jobs.export()).isEqualTo("exported");
			assertThat(jobs.pay("1")).isEqualTo("paid");
			assertThat(jobs.pay("1")).isNull();
			for (String state : List.of("running", "paused", "resumed")) {
				assertThat(application.setState("report", state).statusCode()).isEqualTo(200);
			}
			assertThat(EndpointAnswer.job(application, "report")).containsKey("lastRun");
			assertThat(application.get("actuator/advisorylockspage").statusCode()).isEqualTo(200);
		}
	}

	@Test
	void locksNeedNoneButToConnect() {
		try (OperatedApplication application = start("ledger.enabled=false")) {
			assertThat(application.bean(Jobs.class).export()).isEqualTo("exported");
			assertThat(EndpointAnswer.job(application, "export")).containsEntry("state", "idle");
		}
	}

	@Test
	void missingGrantsOfTheLedgerAreToldAtStart() throws IOException {
		for (String missing : List.of("advisory_lock_job", "SEQUENCE")) {
			grants().stream().filter((grant) -> !grant.contains(missing)).forEach(TestPostgres::execute);
			assertThatException().isThrownBy(() -> start("ledger.enabled=true").close())
				.withMessageContaining("permission denied")
				.withMessageContaining(
						"granted.advisory_lock_" + (missing.equals("SEQUENCE") ? "fencing_token" : "job"));
			TestPostgres.execute("DROP OWNED BY granted_low");
		}
	}

	/**
	 * What the document grants, for the names of this test.
	 */
	private static List<String> grants() throws IOException {
		String database = TestPostgres.query("SELECT current_database()").get(0);
		return GRANT.matcher(Files.readString(DOCUMENT))
			.results()
			.map((MatchResult result) -> result.group(1)
				.replace("DATABASE shop", "DATABASE \"" + database + "\"")
				.replace("SCHEMA public", "SCHEMA granted")
				.replace("advisory_lock_", "granted.advisory_lock_")
				.replace("TO shop", "TO granted_low"))
			.toList();
	}

	private static OperatedApplication start(String ledger) {
		String url = TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", "");
		return OperatedApplication.start(ledger.endsWith("true") ? LedgerJobs.class : Jobs.class,
				"spring.datasource.url=" + url, "spring.datasource.username=granted_low",
				"spring.datasource.password=low", "advisory-lock." + ledger,
				"advisory-lock.ledger.initialize-schema=never",
				"advisory-lock.ledger.table-prefix=granted.advisory_lock_",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted");
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

		@SingleRunner(key = "export", scope = LockScope.SESSION)
		String export() {
			return "exported";
		}

		String pay(String id) {
			return id;
		}

	}

	/**
	 * The same with a method that needs the ledger.
	 */
	static class LedgerJobs extends Jobs {

		@Override
		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		String pay(String id) {
			return "paid";
		}

	}

}
