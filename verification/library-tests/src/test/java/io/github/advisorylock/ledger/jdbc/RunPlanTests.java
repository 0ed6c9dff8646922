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

import java.sql.Connection;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.SqlArrayValue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a run looks up by key what it wants to know of a ledger that is large.
 */
@Tag("slow")
class RunPlanTests extends AbstractLedgerTests {

	private static final int RUNS = 3_000_000;

	private static final RunStatements.Kind KIND = new RunStatements.Kind(true, false, true, false);

	private final RunStatements statements = new RunStatements(TABLES);

	@Test
	void statementsOfARunReadNoTableFromEndToEnd() throws Exception {
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'tests', CASE WHEN n % 3 = 0 THEN 'job' ELSE 'job-' || n % 1000 END, 'SESSION', "
					+ "'host:1', n, now() - interval '1 hour', now() - interval '1 hour', 'EXECUTED' FROM generate_series(1, "
					+ RUNS + ") n");
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key) SELECT 'tests', 'job-' || n FROM "
				+ "generate_series(1, 10000) n");
		TestPostgres.execute("INSERT INTO ledger_tests_completion (namespace, key) SELECT 'tests', 'key-' || n FROM "
				+ "generate_series(1, 10000) n");
		for (String table : List.of("run", "job", "completion")) {
			TestPostgres.execute("VACUUM ANALYZE ledger_tests_" + table);
		}
		try (Connection connection = TestPostgres.open()) {
			for (String sql : List.of(this.statements.decisions(KIND).apart(), this.statements.begin,
					this.statements.end, this.statements.result, this.statements.hang)) {
				List<String> plan = plan(connection, sql, 4_000_000);
				assertThat(plan).isNotEmpty()
					.noneMatch((line) -> line.contains("Seq Scan on ledger_tests_run")
							|| line.contains("Seq Scan on ledger_tests_job")
							|| line.contains("Seq Scan on ledger_tests_completion"));
			}
		}
	}

	/**
	 * A plan is kept for as long as nobody analyzes the table.
	 */
	@Test
	void statementsOfARunUseTheKeyInASmallTableThatNobodyHasAnalyzed() throws Exception {
		TestPostgres.execute("ALTER TABLE ledger_tests_run SET (autovacuum_enabled = off); TRUNCATE ledger_tests_run; "
				+ "DELETE FROM pg_statistic WHERE starelid = 'ledger_tests_run'::regclass");
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at) "
					+ "SELECT 'tests', 'job', 'SESSION', 'host:1', n, now() FROM generate_series(1, 500) n");
		try (Connection connection = TestPostgres.open()) {
			for (String sql : List.of(this.statements.decisions(KIND).apart(), this.statements.begin,
					this.statements.end, this.statements.result, this.statements.hang)) {
				assertThat(plan(connection, sql, 501)).isNotEmpty().noneMatch((line) -> line.contains("run_latest"));
			}
		}
		finally {
			TestPostgres.execute("ALTER TABLE ledger_tests_run RESET (autovacuum_enabled)");
		}
	}

	/**
	 * Of all instances, and of one; of one that is long gone, of nobody; one run was
	 * cancelled, long ago.
	 */
	@Test
	void latestRunsReadNextToNothingHoweverRareTheyAre() throws Exception {
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'tests', 'job-' || n % 1000, 'SESSION', CASE WHEN n < 20 THEN "
					+ "'gone:1' ELSE 'host:' || n % 10 END, n, now() - (" + RUNS + " - n) * interval '1 s', now(), "
					+ "CASE WHEN n = 5 THEN 'CANCELLED' WHEN n % 50 = 0 THEN 'FAILED' ELSE 'EXECUTED' END "
					+ "FROM generate_series(1, " + RUNS + ") n");
		TestPostgres.execute("VACUUM ANALYZE ledger_tests_run");
		try (Connection connection = TestPostgres.open()) {
			for (String instance : List.of("", "host:7", "gone:1", "nobody")) {
				assertThat(pages(connection, instance, "", "FAILED", "ABANDONED", "CANCELLED")).isLessThan(1000);
				for (String badEnd : List.of("", "FAILED", "ABANDONED", "CANCELLED")) {
					assertThat(pages(connection, instance, badEnd)).as(instance + " " + badEnd).isLessThan(1000);
				}
			}
		}
	}

	/**
	 * Return how many pages are read for the latest 50 runs.
	 */
	private static int pages(Connection connection, String instance, String... badEnds) {
		String sql = TABLES.in(instance.isEmpty() ? JobStatements.LATEST : JobStatements.LATEST_OF_INSTANCE);
		String plan = String.join("\n",
				new NamedParameterJdbcTemplate(new SingleConnectionDataSource(connection, true)).queryForList(
						"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + sql,
						new MapSqlParameterSource().addValue("namespace", "tests")
							.addValue("badEnds", new SqlArrayValue("text", (Object[]) badEnds))
							.addValue("ended", badEnds.length == 1)
							.addValue("from", null, Types.TIMESTAMP_WITH_TIMEZONE)
							.addValue("to", null, Types.TIMESTAMP_WITH_TIMEZONE)
							.addValue("instance", instance)
							.addValue("limit", 50),
						String.class));
		Matcher pages = Pattern.compile("Buffers: shared hit=(\\d+)(?: read=(\\d+))?").matcher(plan);
		assertThat(pages.find()).as(plan).isTrue();
		return Integer.parseInt(pages.group(1)) + ((pages.group(2) != null) ? Integer.parseInt(pages.group(2)) : 0);
	}

	private static List<String> plan(Connection connection, String sql, long token) {
		OffsetDateTime tick = TICK.atOffset(ZoneOffset.UTC);
		MapSqlParameterSource parameters = new MapSqlParameterSource().addValue("namespace", "tests")
			.addValue("key", "job")
			.addValue("tick", tick, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("ofTick", tick, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("scheduleKnown", null, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("again", false)
			.addValue("scope", "SESSION")
			.addValue("instance", "host:" + token)
			.addValue("home", "tests")
			.addValue("born", tick)
			.addValue("oncePerKey", false)
			.addValue("backOff", false)
			.addValue("failedAttempts", 0)
			.addValue("givenUp", false)
			.addValue("committed", false)
			.addValue("pausable", true)
			.addValue("minInterval", null, Types.BIGINT)
			.addValue("template", null, Types.VARCHAR)
			.addValue("keepsJob", true)
			.addValue("keepRuns", 1_000_000_000L)
			.addValue("rememberKeys", 1_000_000_000L)
			.addValue("remembered", false)
			.addValue("rememberJob", 1_000_000_000L)
			.addValue("lock", "1:2:1")
			.addValue("token", token)
			.addValue("attempt", 1)
			.addValue("startedAt", OffsetDateTime.now(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("outcome", "EXECUTED")
			.addValue("badOutcome", "FAILED")
			.addValue("errorClass", null, Types.VARCHAR)
			.addValue("error", null, Types.VARCHAR)
			.addValue("stackTrace", null, Types.VARCHAR)
			.addValue("hangStack", null, Types.VARCHAR)
			.addValue("traceId", null, Types.VARCHAR)
			.addValue("result", null, Types.VARCHAR)
			.addValue("nextAt", null, Types.TIMESTAMP_WITH_TIMEZONE);
		return new NamedParameterJdbcTemplate(new SingleConnectionDataSource(connection, true))
			.queryForList("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) " + sql, parameters, String.class);
	}

}
