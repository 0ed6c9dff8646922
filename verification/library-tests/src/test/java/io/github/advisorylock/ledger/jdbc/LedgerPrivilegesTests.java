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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerSchema} with a role that may not do all that is needed.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class LedgerPrivilegesTests {

	private static final String ROLE = "ledger_clerk";

	private static final String PAUSE = "privileges.advisory_lock_pause, privileges.advisory_lock_question, "
			+ "privileges.advisory_lock_schedule, privileges.advisory_lock_backfill";

	private static final String OTHERS = "privileges.advisory_lock_job, privileges.advisory_lock_run, "
			+ "privileges.advisory_lock_completion, privileges.advisory_lock_instance";

	private static final String TABLES = OTHERS + ", " + PAUSE;

	private static final String VIEW = "privileges.advisory_lock_job_state";

	private static final Pattern STATEMENT = Pattern.compile("CREATE POLICY [^;]+;");

	private static final Pattern GRANT = Pattern.compile("GRANT [^;]+;");

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues(
				"spring.datasource.url=" + TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""),
				"spring.datasource.username=" + ROLE, "spring.datasource.password=low",
				"spring.datasource.hikari.schema=privileges", "advisory-lock.ledger.initialize-schema=never")
		.withBean(Payments.class);

	@BeforeEach
	void createRoleAndTables() throws IOException {
		TestPostgres.execute("DROP SCHEMA IF EXISTS privileges CASCADE; CREATE SCHEMA privileges");
		TestPostgres.execute("CREATE ROLE " + ROLE + " LOGIN PASSWORD 'low' NOINHERIT");
		TestPostgres.execute("SET search_path TO privileges; "
				+ new ClassPathResource(LedgerSchemaException.LOCATION).getContentAsString(StandardCharsets.UTF_8));
		TestPostgres.execute("GRANT USAGE ON SCHEMA privileges TO " + ROLE);
	}

	@AfterEach
	void dropRole() {
		TestPostgres
			.execute("DROP OWNED BY " + ROLE + " CASCADE; DROP ROLE " + ROLE + "; DROP SCHEMA privileges CASCADE");
	}

	@Test
	void roleThatMayOnlyReadIsToldAtStartAndStartsWithWhatIsNamed() {
		grant("SELECT ON " + TABLES + ", " + VIEW);
		String problem = LockContextRunner.analyzeFailure(this.runner).getDescription();
		assertThat(problem).contains("permission denied, role " + ROLE + " lacks INSERT, UPDATE on " + OTHERS
				+ "; INSERT, UPDATE, DELETE on " + PAUSE + "; USAGE on privileges.advisory_lock_fencing_token");
		assertThatStartSucceedsWith(problem);
	}

	@Test
	void roleThatMayNotUseSchemaIsToldAtStartAndStartsWithWhatIsNamed() {
		TestPostgres.execute("REVOKE USAGE ON SCHEMA privileges FROM " + ROLE);
		for (String prefix : List.of("privileges.advisory_lock_", "advisory_lock_")) {
			String problem = LockContextRunner
				.analyzeFailure(this.runner.withPropertyValues("advisory-lock.ledger.table-prefix=" + prefix))
				.getDescription();
			assertThat(problem).contains("lacks USAGE on schema privileges; SELECT, INSERT, UPDATE on " + OTHERS);
			assertThat(GRANT.matcher(problem).results()).hasSize(5);
		}
		assertThatStartSucceedsWith(LockContextRunner.analyzeFailure(this.runner).getDescription());
	}

	@Test
	void roleThatMayNotDeleteRunsAndIsToldOnceWithoutHousekeeping(CapturedOutput output) {
		grant("SELECT, INSERT, UPDATE ON " + TABLES);
		grant("DELETE ON " + PAUSE);
		grant("SELECT ON " + VIEW);
		grant("USAGE ON SEQUENCE privileges.advisory_lock_fencing_token");
		this.runner.run((context) -> {
			assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid");
			assertThat(context.getBean(Payments.class).pay("1")).isNull();
			assertThat(context.getBean(LedgerLifecycle.class).housekeeping()).isNull();
		});
		assertThat(output).containsOnlyOnce("is not purged by this instance: role " + ROLE + " lacks DELETE on "
				+ OTHERS + ". To grant that: GRANT DELETE ON " + OTHERS + " TO " + ROLE + ";");
	}

	@ParameterizedTest
	@CsvSource({ "privileges.al_, permission denied for schema privileges",
			"nowhere.al_, schema \"nowhere\" does not exist" })
	void reasonWhyTablesAreNotCreatedIsTold(String prefix, String reason) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner.withPropertyValues(
				"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.table-prefix=" + prefix));
		assertThat(analysis.getDescription()).contains("its tables could not be created").contains(reason);
		assertThat(analysis.getCause()).hasMessageContaining(reason);
	}

	@ParameterizedTest
	@ValueSource(strings = { "privileges.al_", "al_" })
	void roleThatMayNotCreateTablesIsToldWhatToGrant(String prefix) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner.withPropertyValues(
				"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.table-prefix=" + prefix));
		assertThat(analysis.getAction())
			.contains("GRANT CREATE ON SCHEMA privileges TO " + ROLE + ";",
					"'advisory-lock.ledger.initialize-schema' to 'never'", LedgerSchemaException.LOCATION)
			.doesNotContain("'always'");
		Matcher grant = GRANT.matcher(analysis.getAction());
		assertThat(grant.find()).isTrue();
		TestPostgres.execute(grant.group());
		this.runner
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=" + prefix)
			.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
	}

	@Test
	void rowSecurityWithoutPolicyIsToldAtStartAndStartsWithWhatIsNamed() {
		grantAll();
		secure("");
		String problem = LockContextRunner.analyzeFailure(this.runner).getDescription();
		assertThat(problem).contains("row level security hides rows of " + TABLES + " from role " + ROLE,
				"CREATE POLICY advisory_lock ON privileges.advisory_lock_job TO " + ROLE
						+ " USING (true) WITH CHECK (true);");
		STATEMENT.matcher(problem).results().map(MatchResult::group).forEach(TestPostgres::execute);
		this.runner.run((context) -> {
			assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid");
			assertThat(context.getBean(Payments.class).pay("1")).isNull();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "FOR SELECT USING (true)", "USING (current_user = 'test')",
			"USING (true) WITH CHECK (current_user = 'test')", "TO pg_monitor USING (true)",
			"AS RESTRICTIVE USING (true)" })
	void policyThatDoesNotLetEachRowThroughIsToldAtStart(String policy) {
		grantAll();
		secure(policy);
		assertThat(LockContextRunner.analyzeFailure(this.runner).getDescription())
			.contains("row level security hides rows of " + TABLES + " from role " + ROLE);
	}

	@Test
	void restrictivePolicyBesidesOneForEachRowIsToldAtStart() {
		grantAll();
		secure("USING (true)");
		TestPostgres.execute("CREATE POLICY more ON privileges.advisory_lock_run AS RESTRICTIVE USING (tick IS NULL)");
		assertThat(LockContextRunner.analyzeFailure(this.runner).getDescription())
			.contains("row level security hides rows of privileges.advisory_lock_run from role " + ROLE);
	}

	@Test
	void policyThatLetsEachRowThroughStarts() {
		grantAll();
		secure("USING (true)");
		this.runner.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
	}

	@Test
	void privilegeThatIsTakenAwayLaterIsToldByTheRun() {
		grantAll();
		this.runner.run((context) -> {
			TestPostgres.execute("REVOKE INSERT ON privileges.advisory_lock_completion FROM " + ROLE);
			assertThatExceptionOfType(LedgerSchemaException.class)
				.isThrownBy(() -> context.getBean(Payments.class).pay("1"))
				.withMessageContainingAll("The ledger of advisory locks can't be used: its tables can't be used",
						"permission denied for table advisory_lock_completion");
		});
	}

	@Test
	void rowSecurityThatIsSwitchedOnLaterIsToldByTheRun() {
		grantAll();
		this.runner.run((context) -> {
			secure("");
			assertThatExceptionOfType(LedgerSchemaException.class)
				.isThrownBy(() -> context.getBean(Payments.class).pay("1"))
				.withMessageContainingAll("The ledger of advisory locks can't be used: its tables can't be used",
						"row-level security");
		});
	}

	private static void grantAll() {
		grant("SELECT ON " + VIEW);
		grant("SELECT, INSERT, UPDATE, DELETE ON " + TABLES);
		grant("USAGE ON SEQUENCE privileges.advisory_lock_fencing_token");
	}

	/**
	 * Switch row security on, with a policy on each table, or none.
	 */
	private static void secure(String policy) {
		for (String table : TABLES.split(", ")) {
			TestPostgres.execute("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY");
			if (!policy.isEmpty()) {
				TestPostgres.execute("CREATE POLICY own ON " + table + " " + policy);
			}
		}
	}

	@Test
	void schemaThatIsNotThereIsTold() {
		String problem = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("advisory-lock.ledger.table-prefix=nowhere.al_"))
			.getDescription();
		assertThat(problem).contains("schema does not exist of 'nowhere.al_job'");
	}

	private void assertThatStartSucceedsWith(String problem) {
		GRANT.matcher(problem).results().map(MatchResult::group).forEach(TestPostgres::execute);
		this.runner.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
	}

	private static void grant(String privileges) {
		TestPostgres.execute("GRANT " + privileges + " TO " + ROLE);
	}

	static class Payments {

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		String pay(String id) {
			return "paid";
		}

	}

}
