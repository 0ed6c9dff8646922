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

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link LedgerPurge} reads of large tables, counted in the pages that the
 * server touches, which no other load changes. {@code -Dvolume=5000000} has as many runs,
 * and takes minutes.
 */
@Tag("chaos")
class LedgerVolumeTests extends AbstractLedgerTests {

	private static final int RUNS = Integer.getInteger("volume", 60_000);

	private static final Pattern PAGES = Pattern.compile(
			"Node Type: \"(?:Aggregate|ModifyTable)\".*?Shared Hit Blocks: (\\d+)\\s+Shared Read Blocks: (\\d+)",
			Pattern.DOTALL);

	/**
	 * Two of five runs are those of keys that run once, the others of as many keys as
	 * have the most runs that are kept. Of open runs whose time is over there are too few
	 * for the server to find it cheaper to read this small table whole.
	 */
	@BeforeEach
	void fillTables() {
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome, keep_until) SELECT 'shop', CASE WHEN i % 5 < 2 THEN 'payment:' || i "
					+ "ELSE 'job-' || (i % " + (RUNS / 1000 * 3 / 5 + 1) + ") END, 'TRANSACTION', 'host:1', "
					+ "nextval('ledger_tests_fencing_token'), now(), now(), 'EXECUTED', now() + i * interval '0.4 s' "
					+ "+ interval '1 day' FROM generate_series(1, " + RUNS + ") i");
		TestPostgres.execute("INSERT INTO ledger_tests_completion SELECT 'shop', 'payment:' || i, now(), "
				+ "now() + interval '1 day' + i * interval '1 s' FROM generate_series(1, " + RUNS * 2 / 5 + ") i");
		TestPostgres.execute("INSERT INTO ledger_tests_job (namespace, key, template, remember_until) "
				+ "SELECT 'shop', 'refresh:' || i, 'refresh:', now() + interval '1 day' + i * interval '1 s' "
				+ "FROM generate_series(1, " + RUNS / 5 + ") i");
		insertOpenRuns(100);
		insertInstances("alive", "now()");
		Stream.of("run", "completion", "job", "instance")
			.forEach((table) -> TestPostgres.execute("VACUUM ANALYZE " + PREFIX + table));
	}

	@Test
	void roundWithNothingToDoReadsNextToNothing() {
		assertThat(this.ledger.purge().outdated()).isNotEmpty()
			.allSatisfy((work) -> assertThat(pages(work)).as(work.sql()).isLessThan(50));
		assertThat(pages(this.ledger.purge().lostRuns())).isLessThan(2000);
		assertThat(pages(this.ledger.purge().runsOf(new JobName("shop", "job-2"), 1000))).isLessThan(1200);
	}

	@Test
	void batchOfBacklogReadsWhatItDeletes() {
		TestPostgres.execute("UPDATE ledger_tests_run SET keep_until = keep_until - interval '100 days' "
				+ "WHERE ctid < '(400,0)'");
		TestPostgres.execute("UPDATE ledger_tests_completion SET remember_until = remember_until - interval '100 days' "
				+ "WHERE ctid < '(200,0)'");
		TestPostgres.execute("UPDATE ledger_tests_job SET remember_until = remember_until - interval '100 days' "
				+ "WHERE ctid < '(100,0)'");
		insertInstances("gone", "now() - interval '2 days'");
		List<LedgerPurge.Work> works = this.ledger.purge().outdated();
		assertThat(works).hasSize(4).allSatisfy((work) -> assertThat(pages(work)).as(work.sql()).isBetween(1000, 9999));
	}

	@Test
	void longHistoryIsCutInBatchesThatReadWhatTheyDelete() {
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "finished_at, outcome) SELECT 'shop', 'long', 'TRANSACTION', 'host:1', "
					+ "nextval('ledger_tests_fencing_token'), now(), now(), 'EXECUTED' FROM generate_series(1, 30000) i");
		LedgerPurge.Work work = this.ledger.purge().runsOf(new JobName("shop", "long"), 1000);
		assertThat(pages(work)).isBetween(1000, 9999);
	}

	private static void insertInstances(String name, String seenAt) {
		TestPostgres.execute("INSERT INTO ledger_tests_instance (namespace, instance, seen_at) SELECT 'shop', '" + name
				+ ":' || i, " + seenAt + " FROM generate_series(1, 1000) i");
	}

	private static void insertOpenRuns(int count) {
		TestPostgres
			.execute("INSERT INTO ledger_tests_run (namespace, key, scope, instance, fencing_token, started_at, "
					+ "keep_until) SELECT 'shop', 'open-' || i, 'SESSION', 'host:1', nextval('ledger_tests_fencing_token'), "
					+ "now() - interval '1 hour', now() - interval '1 day' FROM generate_series(1, " + count + ") i");
	}

	/**
	 * Return how many pages one batch touches, those of changes that nobody reads, which
	 * come after the plan, included.
	 */
	private int pages(LedgerPurge.Work work) {
		MapSqlParameterSource parameters = new MapSqlParameterSource(work.parameters()).addValue("after", work.first())
			.addValue("batch", LedgerPurge.BATCH);
		NamedParameterJdbcTemplate jdbc = new NamedParameterJdbcTemplate(this.pool);
		String plan = String.join("\n", jdbc.queryForList(
				"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT YAML) " + this.ledger.purge().sql(work),
				parameters, String.class));
		return PAGES.matcher(plan)
			.results()
			.mapToInt((pages) -> Integer.parseInt(pages.group(1)) + Integer.parseInt(pages.group(2)))
			.sum();
	}

}
