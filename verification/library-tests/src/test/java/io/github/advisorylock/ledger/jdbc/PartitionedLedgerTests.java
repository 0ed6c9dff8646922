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
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link PostgresAdvisoryLockLedger} on tables that somebody has partitioned:
 * where a row lies is unique in one partition only.
 */
class PartitionedLedgerTests extends AbstractLedgerTests {

	private static final String PARTITIONED = "ledger_partitioned_";

	@BeforeAll
	static void partitionTables() {
		PostgresAdvisoryLockLedger plain = NamedJobs.ledger(new DriverManagerDataSource(TestPostgres.url()),
				new LedgerSettings(PREFIX, true, Duration.ofDays(30), 1000, Duration.ofDays(7)), NAMESPACE, "host:1",
				List::of);
		plain.prepare();
		tables().forEach((table) -> {
			String partitioned = PARTITIONED + table;
			String by = "instance".equals(table) ? "instance" : "namespace".equals(table) ? "namespace" : "key";
			TestPostgres.execute("DROP TABLE IF EXISTS " + partitioned + " CASCADE; CREATE TABLE " + partitioned
					+ " (LIKE " + PREFIX + table + " INCLUDING ALL) PARTITION BY HASH (" + by + ")");
			IntStream.range(0, 4)
				.forEach((i) -> TestPostgres.execute("CREATE TABLE " + partitioned + i + " PARTITION OF " + partitioned
						+ " FOR VALUES WITH (MODULUS 4, REMAINDER " + i + ")"));
		});
		TestPostgres.execute("CREATE SEQUENCE IF NOT EXISTS " + PARTITIONED + "fencing_token AS bigint");
	}

	@AfterAll
	static void dropTables() {
		tables().forEach((table) -> TestPostgres.execute("DROP TABLE " + PARTITIONED + table + " CASCADE"));
		TestPostgres.execute("DROP SEQUENCE " + PARTITIONED + "fencing_token");
		TestPostgres.execute("DROP TABLE IF EXISTS " + PARTITIONED + "question");
	}

	private static Stream<String> tables() {
		return Stream.of("job", "run", "completion", "instance", "pause");
	}

	@Override
	LedgerSettings settings() {
		return new LedgerSettings(PARTITIONED, true, Duration.ofDays(30), 3, Duration.ofDays(7));
	}

	@Test
	void onlyWhatIsOldIsForgottenInAllTables() {
		TestPostgres.execute(
				"""
						INSERT INTO ledger_partitioned_completion (namespace, key, remember_until)
						  SELECT 'tests', due.text || n, now() + due.until FROM generate_series(1, 400) n,
						    (VALUES ('old-', interval '-1 hour'), ('kept-', interval '1 hour')) due (text, until);
						INSERT INTO ledger_partitioned_job (namespace, key, remember_until)
						  SELECT namespace, key, remember_until FROM ledger_partitioned_completion;
						INSERT INTO ledger_partitioned_run (namespace, key, scope, instance, fencing_token, started_at, finished_at,
						    outcome, keep_until)
						  SELECT namespace, key, 'SESSION', 'host:1', 1, now(), now(), 'EXECUTED', remember_until
						  FROM ledger_partitioned_completion;
						INSERT INTO ledger_partitioned_instance (namespace, instance, seen_at)
						  SELECT namespace, key, remember_until - interval '1 day' FROM ledger_partitioned_completion""");
		purge();
		for (String table : List.of("job", "run", "completion")) {
			assertThat(TestPostgres.query("SELECT left(key, 3) || ',' || count(*) FROM ledger_partitioned_" + table
					+ " GROUP BY left(key, 3)"))
				.as(table)
				.containsExactly("kep,400");
		}
		assertThat(TestPostgres.query(
				"SELECT left(instance, 3) || ',' || count(*) FROM ledger_partitioned_instance GROUP BY left(instance, 3)"))
			.contains("kep,400")
			.noneMatch((row) -> row.startsWith("old"));
	}

	@ParameterizedTest
	@EnumSource
	void historyOfKeyIsCutAndThatOfOthersIsNot(LockScope scope) {
		IntStream.range(0, 40).forEach((i) -> execute(LockRequest.of("other-" + i).scope(scope).oncePerKey()));
		IntStream.range(0, 9).forEach((i) -> execute(request(scope).oncePerTick(TICK.plusSeconds(i))));
		purge();
		assertThat(TestPostgres
			.query("SELECT key || ',' || count(*) FROM ledger_partitioned_run WHERE key LIKE '%job' GROUP BY key"))
			.containsExactly("job,3");
		assertThat(TestPostgres.query("SELECT count(*) FROM ledger_partitioned_run WHERE key LIKE 'other%'"))
			.containsExactly("40");
	}

	@ParameterizedTest
	@EnumSource
	void promisesAreKept(LockScope scope) {
		LockRequest once = request(scope).oncePerKey();
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(once, (lock) -> {
			throw new IllegalStateException("expected");
		})).withMessage("expected").satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(execute(once)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(execute(once)).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(TestPostgres.query("SELECT outcome FROM ledger_partitioned_run ORDER BY fencing_token"))
			.containsExactly("FAILED", "EXECUTED");
	}

	private void purge() {
		this.ledger.housekeeping(LockScheduler.Threads.ofCurrent()).purge();
		TestPostgres.execute("DELETE FROM ledger_partitioned_completion WHERE namespace = ''");
	}

}
