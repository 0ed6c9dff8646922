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
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the tables of the ledger and who makes them, each in a schema of its own.
 */
@Tag("gate")
class LedgerSchemaTests {

	private static final AtomicInteger NUMBER = new AtomicInteger();

	private final String schema = "ledger_schema_" + NUMBER.incrementAndGet();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("spring.datasource.hikari.schema=" + this.schema)
		.withBean(Payments.class);

	private final ExecutorService starter = Executors.newSingleThreadExecutor();

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS " + this.schema + " CASCADE; CREATE SCHEMA " + this.schema);
	}

	@AfterEach
	void dropSchema() {
		this.starter.shutdownNow();
		TestPostgres.execute("DROP SCHEMA " + this.schema + " CASCADE");
	}

	@Test
	void tablesHaveTheColumnsThatAreDocumented() {
		always(this.runner).run(LockContextRunner.started(() -> assertThat(columns()).containsExactly(
				"advisory_lock_backfill: namespace, key, from_at, to_at, ticks, done, skipped, current_tick, instance, "
						+ "started_by, started_at, seen_at, outcome, error_class, error",
				"advisory_lock_completion: namespace, key, completed_at, remember_until, result",
				"advisory_lock_instance: namespace, instance, born_at, started_at, seen_at, stopped_at, version, "
						+ "library, clock_skew_ms, roles, terms, led_since, schedules, backend, drained_at, "
						+ "drained_by",
				"advisory_lock_job: namespace, key, first_seen_at, last_tick, last_started_at, last_finished_at, "
						+ "last_outcome, fencing_token, template, resumed_at, open_tick, attempts, failed_attempts, given_up, "
						+ "cancelled_at, failures, retry_at, next_at, remember_until, held_until, held_since, method, scope, schedules, once, "
						+ "min_interval, catch_up, period, recorded, lock",
				"advisory_lock_job_state: namespace, key, state, since, problem, overdue_tick, run_key, fencing_token",
				"advisory_lock_pause: namespace, key, paused_at, paused_by, reason",
				"advisory_lock_question: id, lock, asked_at, instances, threads, thread_states, stacks, processes",
				"advisory_lock_run: id, namespace, key, tick, scope, instance, fencing_token, started_at, finished_at, "
						+ "outcome, failed, error, error_class, attempt, template, lock, keep_until, trace_id, stack_trace, "
						+ "hang_stack, bad_end",
				"advisory_lock_schedule: namespace, key, expression, zone, effective_at, changed_at, changed_by, "
						+ "reason, schedules")));
	}

	@Test
	void secondStartKeepsWhatIsThere() {
		always(this.runner).run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
		always(this.runner).run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isNull());
	}

	@Test
	void instancesThatStartTogetherCreateTablesOnce() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Future<?>> starts = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				starts.add(
						threads.submit(() -> always(this.runner).run((context) -> assertThat(context).hasNotFailed())));
			}
			for (Future<?> start : starts) {
				start.get(60, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(columns()).hasSize(9);
	}

	@Test
	void prefixMayNameSchemaAndTwoPrefixesMayShareOne() {
		for (String prefix : List.of("al_", "other_")) {
			always(this.runner)
				.withPropertyValues("advisory-lock.ledger.table-prefix=" + this.schema + "." + prefix,
						"spring.datasource.hikari.schema=public")
				.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
			assertThat(query("SELECT key FROM %s." + prefix + "completion WHERE namespace = 'test'"))
				.containsExactly("payment:1");
		}
		assertThat(query(
				"SELECT count(*) FROM pg_indexes WHERE schemaname = '%s' AND indexname LIKE '%%completion_until'"))
			.containsExactly("2");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "never" })
	void missingTablesStopTheStartAndTheDdlIsNamed(String mode) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("advisory-lock.ledger.initialize-schema=" + mode));
		assertThat(analysis.getDescription()).contains("a table or a column is missing").contains("advisory_lock_job");
		assertThat(analysis.getAction()).contains("classpath:io/github/advisorylock/ledger/R__advisory_lock_ledger.sql")
			.contains("advisory-lock.ledger.initialize-schema");
		assertThat(columns()).isEmpty();
	}

	/**
	 * The order of a locale changes with the operating system: what was written in the
	 * old order is not found, and a payment is made twice.
	 */
	@Test
	void textThatIsComparedIsOrderedByItsBytes() {
		always(this.runner).run(LockContextRunner
			.started(() -> assertThat(query("SELECT c.relname || '.' || a.attname FROM pg_attribute a "
					+ "JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' "
					+ "JOIN pg_collation n ON n.oid = a.attcollation AND n.collname <> 'C' "
					+ "WHERE c.relnamespace = '%1$s'::regnamespace AND (a.attname IN ('namespace', 'key', 'instance', 'template') "
					+ "OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey)))"))
				.isEmpty()));
	}

	@Test
	void textThatIsOrderedByLocaleStopsTheStartAndStatementsAreNamed() {
		always(this.runner).run((context) -> assertThat(context).hasNotFailed());
		TestPostgres.execute("ALTER TABLE " + this.schema + ".advisory_lock_completion ALTER key TYPE text COLLATE "
				+ "\"default\", ALTER namespace TYPE text COLLATE \"default\"");
		String problem = LockContextRunner.analyzeFailure(always(this.runner)).getDescription();
		assertThat(problem).contains("text of " + this.schema + ".advisory_lock_completion is ordered by a locale");
		TestPostgres.execute(problem.substring(problem.indexOf("ALTER TABLE")));
		always(this.runner).run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * A writer keeps whoever indexes a table waiting, and that one all that come after
	 * it.
	 */
	@Test
	void tableThatIsMissingIsMadeWithoutWaitingForWritersOfOthers() throws Exception {
		always(this.runner).run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
		TestPostgres.execute("DROP TABLE " + this.schema + ".advisory_lock_pause CASCADE");
		try (Connection dump = TestPostgres.open(); Statement statement = dump.createStatement()) {
			dump.setAutoCommit(false);
			for (String table : List.of("job", "run", "completion", "instance")) {
				statement.execute("LOCK TABLE " + this.schema + ".advisory_lock_" + table + " IN ROW EXCLUSIVE MODE");
			}
			Future<?> start = this.starter.submit(
					() -> always(this.runner).run(LockContextRunner.started(() -> assertThat(columns()).hasSize(9))));
			start.get(Patience.SECONDS, TimeUnit.SECONDS);
		}
	}

	@Test
	void processThatKeepsTablesFromBeingMadeIsNamed() throws Exception {
		try (Connection migration = TestPostgres.open(); Statement statement = migration.createStatement()) {
			migration.setAutoCommit(false);
			statement.execute("SET application_name = 'a migration'");
			statement.execute("CREATE TABLE " + this.schema + ".advisory_lock_job (namespace text)");
			FailureAnalysis analysis = LockContextRunner.analyzeFailure(always(this.runner));
			assertThat(analysis.getDescription()).contains("its tables could not be created, server process ",
					"('a migration', role ");
			assertThat(analysis.getAction()).isEqualTo("Have that end its transaction, and start again.");
		}
	}

	@Test
	void missingColumnStopsTheStartAndIsNamed() {
		always(this.runner).run((context) -> assertThat(context).hasNotFailed());
		TestPostgres.execute("ALTER TABLE " + this.schema + ".advisory_lock_job DROP COLUMN retry_at");
		assertThat(LockContextRunner.analyzeFailure(always(this.runner)).getDescription())
			.contains("advisory_lock_job lacks retry_at");
	}

	/**
	 * As they were before a run could be cancelled, with a row in each.
	 */
	@Test
	void tablesOfEarlierVersionLearnOutcomesWhereTheyMayBeChanged() {
		always(this.runner).run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
		String prefix = this.schema + ".advisory_lock_";
		for (String outcome : List.of("job.last_outcome", "run.outcome")) {
			String[] parts = outcome.split("\\.");
			String name = "advisory_lock_" + parts[0] + "_" + parts[1] + "_check";
			TestPostgres.execute("ALTER TABLE " + prefix + parts[0] + " DROP CONSTRAINT " + name + ", ADD CONSTRAINT "
					+ name + " CHECK (" + parts[1] + " IN ('EXECUTED', 'FAILED', 'ABANDONED'))");
		}
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("advisory-lock.ledger.initialize-schema=never"));
		assertThat(analysis.getDescription()).contains("advisory_lock_job is of an earlier version");
		assertThat(analysis.getAction()).contains("R__advisory_lock_ledger.sql");
		TestPostgres.execute("ALTER TABLE " + prefix + "instance DROP COLUMN schedules");
		analysis = LockContextRunner
			.analyzeFailure(this.runner.withPropertyValues("advisory-lock.ledger.initialize-schema=never"));
		assertThat(analysis.getDescription()).contains("advisory_lock_instance lacks schedules");
		TestPostgres.execute("ALTER TABLE " + prefix + "instance DROP COLUMN backend, DROP COLUMN drained_at, "
				+ "DROP COLUMN drained_by");
		TestPostgres.execute("ALTER TABLE " + prefix + "run DROP COLUMN bad_end");
		assertThat(indexesOfLatestRuns()).isEmpty();
		always(this.runner).run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isNull());
		this.runner.withPropertyValues("advisory-lock.ledger.initialize-schema=never").run((context) -> {
			assertThat(context).hasNotFailed();
			TestPostgres.execute("UPDATE " + prefix + "run SET outcome = 'CANCELLED'");
		});
		assertThat(indexesOfLatestRuns()).hasSize(2);
	}

	@Test
	void scriptMayRunAgainOverTablesWithData() throws IOException {
		String script = "SET search_path TO " + this.schema + "; "
				+ new ClassPathResource(LedgerSchemaException.LOCATION).getContentAsString(StandardCharsets.UTF_8);
		TestPostgres.execute(script);
		this.runner.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid"));
		TestPostgres.execute("ALTER TABLE " + this.schema + ".advisory_lock_run DROP COLUMN bad_end");
		TestPostgres.execute(script);
		assertThat(indexesOfLatestRuns()).hasSize(2);
		assertThat(query("SELECT bad_end FROM %s.advisory_lock_run")).containsExactly("");
		this.runner.run((context) -> assertThat(context.getBean(Payments.class).pay("1")).isNull());
	}

	private List<String> indexesOfLatestRuns() {
		return query(
				"SELECT indexname FROM pg_indexes WHERE schemaname || '.' = '%s.' AND indexname LIKE '%%latest%%'");
	}

	@Test
	void applicationThatNeedsNoLedgerHasNoTables() {
		always(LockContextRunner.create().withPropertyValues("spring.datasource.hikari.schema=" + this.schema))
			.withBean(Plain.class)
			.run((context) -> {
				context.getBean(Plain.class).run();
				assertThat(columns()).isEmpty();
			});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void flywayMigratesLedgerBeforeItIsUsed(boolean lazy) {
		flyway(lazy).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(Payments.class).pay("1")).isEqualTo("paid");
			assertThat(query("SELECT count(*) FROM %s.of_application")).containsExactly("0");
			assertThat(query("SELECT description FROM %s.flyway_schema_history WHERE version IS NULL AND type = 'SQL'"))
				.containsExactly("advisory lock ledger");
		});
		List<String> migrated = columns();
		dropSchema();
		createSchema();
		always(this.runner).run(LockContextRunner.started(() -> assertThat(columns()).isEqualTo(migrated)));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void liquibaseMigratesLedgerBeforeItIsUsed(boolean lazy) {
		for (int start = 0; start < 2; start++) {
			liquibase(lazy).run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(Payments.class).pay("1");
			});
		}
		assertThat(query("SELECT key FROM %s.advisory_lock_completion WHERE namespace = 'test'"))
			.containsExactly("payment:1");
		assertThat(query("SELECT id FROM %s.databasechangelog ORDER BY orderexecuted"))
			.containsExactly("of-application", "advisory-lock-ledger");
	}

	@Tag("slow")
	@Test
	void ledgerIsThereForBeanThatUsesItAsSoonAsItIsCreated() {
		flyway(false).withBean(Eager.class).run((context) -> assertThat(context).hasNotFailed());
		dropSchema();
		createSchema();
		liquibase(false).withBean(Eager.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner flyway(boolean lazy) {
		return lazy(this.runner, lazy).withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
			.withPropertyValues("spring.flyway.default-schema=" + this.schema,
					"spring.flyway.locations=classpath:db/ledger-test,classpath:io/github/advisorylock/ledger");
	}

	private ApplicationContextRunner liquibase(boolean lazy) {
		return lazy(this.runner, lazy).withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class))
			.withPropertyValues("spring.liquibase.default-schema=" + this.schema,
					"spring.liquibase.liquibase-schema=" + this.schema,
					"spring.liquibase.change-log=classpath:db/ledger-test/changelog.yaml");
	}

	private static ApplicationContextRunner lazy(ApplicationContextRunner runner, boolean lazy) {
		return !lazy ? runner : runner.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
	}

	private static ApplicationContextRunner always(ApplicationContextRunner runner) {
		return runner.withPropertyValues("advisory-lock.ledger.initialize-schema=always");
	}

	private List<String> columns() {
		return query("SELECT table_name || ': ' || string_agg(column_name, ', ' ORDER BY ordinal_position) "
				+ "FROM information_schema.columns WHERE table_schema = '%s' AND table_name LIKE 'advisory_lock%%' "
				+ "AND table_name <> 'advisory_lock_fencing_token' GROUP BY table_name ORDER BY table_name");
	}

	private List<String> query(String sql) {
		return TestPostgres.query(sql.formatted(this.schema));
	}

	static class Payments {

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		String pay(String id) {
			return "paid";
		}

	}

	static class Plain {

		@SingleRunner("plain")
		void run() {
		}

	}

	static class Eager {

		private final AdvisoryLockLedger ledger;

		Eager(AdvisoryLockLedger ledger) {
			this.ledger = ledger;
		}

		@PostConstruct
		void look() {
			assertThat(this.ledger.jobs("", "", 10)).isEmpty();
		}

	}

}
