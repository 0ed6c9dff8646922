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
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunStatements} on two connections: a run whose lock was lost unnoticed
 * writes at the same moment as its successor.
 */
class RunGuardTests extends AbstractLedgerTests {

	private final RunStatements statements = new RunStatements(TABLES);

	@Test
	void lowerTokenThatBeginsAtTheSameMomentNeverOverwritesHigherOne() throws Exception {
		try (Connection one = TestPostgres.open(); Connection other = TestPostgres.open()) {
			one.setAutoCommit(false);
			send(one, this.statements.begin, 6, "");
			Future<List<Map<String, Object>>> lower = this.threads
				.submit(() -> send(other, this.statements.begin, 5, ""));
			awaitWaiting();
			one.commit();
			assertThat(lower.get(Patience.SECONDS, TimeUnit.SECONDS).get(0)).containsEntry("started_at", null);
			assertThat(runs()).containsExactly("6 -");
			send(one, this.statements.end, 6, "EXECUTED");
			one.commit();
			assertThat(send(other, this.statements.end, 5, "EXECUTED")).containsExactly(Map.of("count", 0L));
		}
		assertThat(TestPostgres.query("SELECT fencing_token FROM ledger_tests_job")).containsExactly("6");
		assertThat(runs()).containsExactly("6 EXECUTED");
	}

	@Test
	void tickThatTwoRunsEndAtTheSameMomentHasOneExecutedRow() throws Exception {
		try (Connection one = TestPostgres.open(); Connection other = TestPostgres.open()) {
			one.setAutoCommit(false);
			assertThat(send(one, this.statements.end, 6, "EXECUTED")).containsExactly(Map.of("count", 1L));
			Future<List<Map<String, Object>>> lower = this.threads
				.submit(() -> send(other, this.statements.end, 5, "EXECUTED"));
			awaitWaiting();
			one.commit();
			assertThat(lower.get(Patience.SECONDS, TimeUnit.SECONDS)).containsExactly(Map.of("count", 0L));
			assertThat(send(other, this.statements.end, 7, "EXECUTED")).as("the same tick, with a higher token")
				.containsExactly(Map.of("count", 0L));
			assertThat(send(other, this.statements.end, 5, "FAILED")).containsExactly(Map.of("count", 1L));
		}
		assertThat(TestPostgres.query("SELECT fencing_token || last_outcome FROM ledger_tests_job"))
			.containsExactly("6EXECUTED");
		assertThat(runs()).containsExactly("5 FAILED", "6 EXECUTED");
	}

	private static void awaitWaiting() {
		Awaitility.await()
			.until(() -> !TestPostgres
				.query("SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
				.isEmpty());
	}

	private static List<String> runs() {
		return TestPostgres.query("SELECT fencing_token || ' ' || coalesce(outcome, '-') FROM ledger_tests_run "
				+ "ORDER BY fencing_token");
	}

	private static List<Map<String, Object>> send(Connection connection, String sql, long token, String outcome) {
		OffsetDateTime tick = TICK.atOffset(ZoneOffset.UTC);
		MapSqlParameterSource parameters = new MapSqlParameterSource().addValue("namespace", "tests")
			.addValue("key", "job")
			.addValue("tick", tick, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("scope", "SESSION")
			.addValue("instance", "host:" + token)
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
			.addValue("ofTick", tick, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("attempt", 1)
			.addValue("startedAt", OffsetDateTime.now(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("outcome", outcome)
			.addValue("errorClass", null, Types.VARCHAR)
			.addValue("error", null, Types.VARCHAR)
			.addValue("stackTrace", null, Types.VARCHAR)
			.addValue("hangStack", null, Types.VARCHAR)
			.addValue("traceId", null, Types.VARCHAR)
			.addValue("result", null, Types.VARCHAR)
			.addValue("nextAt", null, Types.TIMESTAMP_WITH_TIMEZONE);
		return new NamedParameterJdbcTemplate(new SingleConnectionDataSource(connection, true)).queryForList(sql,
				parameters);
	}

}
