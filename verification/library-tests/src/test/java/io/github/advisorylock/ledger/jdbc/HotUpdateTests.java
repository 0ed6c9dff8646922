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

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the end of a run costs: no index gets an entry (a HOT update), where the
 * page of the row has room.
 */
class HotUpdateTests extends AbstractLedgerTests {

	private static final int RUNS = 200;

	/**
	 * A snapshot of another session, as of an ANALYZE, would keep old versions of a row
	 * in its page.
	 */
	@BeforeEach
	void createTablesThatWereNeverUpdated() {
		Awaitility.await()
			.until(() -> TestPostgres
				.query("SELECT pid FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()")
				.isEmpty());
		TestPostgres.execute("DROP TABLE ledger_tests_run, ledger_tests_job CASCADE");
		this.ledger.prepare();
	}

	@Test
	void endOfRunTouchesNoIndex() {
		for (int i = 0; i < RUNS; i++) {
			execute(LockScope.SESSION, TICK.plusSeconds(i));
		}
		assertThatUpdatesAreHot();
	}

	@Test
	void endOfRunOfTemplateTouchesNoIndex() {
		for (int i = 0; i < RUNS; i++) {
			LockRequest request = LockRequest.of("refresh:" + i % 5)
				.with(new Recorded("refresh:#{#id}"))
				.scope(LockScope.SESSION)
				.minInterval(Duration.ofNanos(1000));
			assertThat(execute(request)).isEqualTo(LockOutcome.EXECUTED);
		}
		assertThatUpdatesAreHot();
	}

	/**
	 * Each backend tells its counts within ten seconds, up to PostgreSQL 14 at the end of
	 * a transaction only: the connection that this thread had last is asked for one.
	 */
	private void assertThatUpdatesAreHot() {
		Awaitility.await().pollInSameThread().pollInterval(Duration.ofMillis(600)).untilAsserted(() -> {
			this.ledger.check();
			Map<String, long[]> updates = updates();
			assertThat(updates.get("ledger_tests_run")[0]).isEqualTo(RUNS);
			assertThat(updates.get("ledger_tests_job")[0]).isGreaterThan(RUNS);
		});
		assertThat(updates()).hasSize(2)
			.allSatisfy((table, counts) -> assertThat(counts[1]).as(table).isGreaterThan(counts[0] * 9 / 10));
	}

	private static Map<String, long[]> updates() {
		List<String> rows = TestPostgres.query("SELECT relname || ' ' || n_tup_upd || ' ' || n_tup_hot_upd "
				+ "FROM pg_stat_user_tables WHERE relname IN ('ledger_tests_run', 'ledger_tests_job')");
		return rows.stream()
			.map((row) -> row.split(" "))
			.collect(Collectors.toMap((row) -> row[0],
					(row) -> new long[] { Long.parseLong(row[1]), Long.parseLong(row[2]) }));
	}

}
