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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link PostgresAdvisoryLockLedger} keeps and forgets.
 */
class LedgerPurgeTests extends AbstractLedgerTests {

	@Override
	LedgerSettings settings() {
		return new LedgerSettings(PREFIX, true, Duration.ofDays(30), 3, Duration.ofDays(7));
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void keyIsRememberedForAsLongAsSettingsSay(LockScope scope) {
		LockRequest request = request(scope).oncePerKey();
		execute(request);
		age("completion", "completed_at", "6 days 23 hours");
		assertThat(purge()).isFalse();
		assertThat(execute(request)).isEqualTo(LockOutcome.ALREADY_RAN);
		age("completion", "completed_at", "7 days 1 minute");
		assertThat(purge()).isFalse();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_completion")).isEmpty();
		assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void oldRunsAreForgottenButOpenOnesAreNot() {
		insertRuns("old", 1, "31 days", "EXECUTED");
		insertRuns("open", 1, "31 days", null);
		insertRuns("young", 1, "29 days", "FAILED");
		purge();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_run ORDER BY key")).containsExactly("open",
				"young");
	}

	@Test
	void runsOfKeyThatHasManyAreForgottenButOpenOnesAreNot() {
		insertRuns("many", 1, "1 day", null);
		insertRuns("many", 4, "1 day", "EXECUTED");
		insertRuns("few", 3, "1 day", "EXECUTED");
		List<String> newest = TestPostgres
			.query("SELECT id FROM ledger_tests_run WHERE key = 'many' ORDER BY id DESC LIMIT 3");
		purge();
		assertThat(TestPostgres
			.query("SELECT id FROM ledger_tests_run WHERE key = 'many' AND outcome IS NOT NULL " + "ORDER BY id DESC"))
			.isEqualTo(newest);
		assertThat(outcomes().stream().filter("OPEN"::equals)).hasSize(1);
		assertThat(TestPostgres.query("SELECT id FROM ledger_tests_run WHERE key = 'few'")).hasSize(3);
	}

	@Test
	void purgeGoesInBatchesUntilNothingIsLeftToForget() {
		TestPostgres.execute("INSERT INTO ledger_tests_completion SELECT 'tests', 'event-' || n, "
				+ "now() - interval '8 days' FROM generate_series(1, 700) n");
		assertThat(purge()).isTrue();
		assertThat(rows()).isEqualTo(200);
		assertThat(purge()).isFalse();
		assertThat(rows()).isZero();
	}

	@Test
	void jobsWithTickOrPauseOrMethodStayAndOthersGo() {
		this.ledger = new PostgresAdvisoryLockLedger(this.pool, settings(), NAMESPACE, "host:1",
				() -> List.of(new JobFinder.LedgerMethod(NAMESPACE, "registered", null)));
		String started = "'tests', now() - interval '8 days', now() - interval '8 days'";
		TestPostgres.execute("INSERT INTO ledger_tests_job (key, namespace, first_seen_at, last_started_at, last_tick, "
				+ "paused_at) VALUES ('ticking', " + started + ", now(), NULL), ('paused', " + started
				+ ", NULL, now()), ('registered', " + started + ", NULL, NULL), ('gone', " + started
				+ ", NULL, NULL), ('young', 'tests', now(), now(), NULL, NULL)");
		purge();
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_job ORDER BY key")).containsExactly("paused",
				"registered", "ticking", "young");
	}

	private boolean purge() {
		return Boolean.TRUE.equals(transaction().execute((status) -> this.ledger.purgeBatch()));
	}

	private static void age(String table, String column, String age) {
		TestPostgres
			.execute("UPDATE " + PREFIX + table + " SET " + column + " = clock_timestamp() - interval '" + age + "'");
	}

	private static void insertRuns(String key, int count, String age, String outcome) {
		String end = (outcome != null) ? "now(), '" + outcome + "'" : "NULL, NULL";
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'tests', '" + key
					+ "', 'SESSION', 'host:1', nextval('ledger_tests_fencing_token'), now() - interval '" + age + "', "
					+ end + " FROM generate_series(1, " + count + ")");
	}

}
