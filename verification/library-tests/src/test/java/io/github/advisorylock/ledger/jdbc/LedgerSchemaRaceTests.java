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

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LedgerSchema} where several instances create the same tables.
 */
@Tag("gate")
class LedgerSchemaRaceTests {

	private static final int THREADS = 8;

	private static final AdvisoryLockKey HOUSEKEEPING = AdvisoryLockKey.of(PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY);

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("CREATE SCHEMA ledger_race");
	}

	@AfterEach
	void dropSchema() {
		this.threads.shutdownNow();
		TestPostgres.execute("DROP SCHEMA ledger_race CASCADE");
	}

	@Test
	void instancesThatPrepareAtOnceAllFindEverything() throws Exception {
		try (HikariDataSource onePool = TestPostgres.pool(THREADS);
				HikariDataSource otherPool = TestPostgres.pool(THREADS)) {
			for (int round = 0; round < 10; round++) {
				String prefix = "ledger_race.round" + round + "_";
				CyclicBarrier start = new CyclicBarrier(THREADS);
				List<Future<?>> prepared = new ArrayList<>();
				for (int i = 0; i < THREADS; i++) {
					PostgresAdvisoryLockLedger ledger = ledger((i % 2 == 0) ? onePool : otherPool, prefix);
					prepared.add(this.threads.submit(() -> prepare(ledger, start)));
				}
				for (Future<?> each : prepared) {
					each.get(Patience.SECONDS, TimeUnit.SECONDS);
				}
				assertThat(ledger(onePool, prefix).jobs("", "", 10)).isEmpty();
			}
		}
	}

	@Test
	void instanceWithPoolOfOneFindsWhatAnotherOneCreatedMeanwhile() throws Exception {
		try (HikariDataSource pool = TestPostgres.pool(1); Connection other = TestPostgres.open()) {
			other.setAutoCommit(false);
			try (HikariDataSource template = TestPostgres.pool(2)) {
				ledger(template, "ledger_race.template_").prepare();
			}
			try (Statement statement = other.createStatement()) {
				for (String table : List.of("job", "run", "completion", "instance", "pause", "question", "schedule",
						"backfill")) {
					statement.execute("CREATE TABLE ledger_race.late_" + table + " (LIKE ledger_race.template_" + table
							+ " INCLUDING ALL)");
				}
				statement.execute("CREATE SEQUENCE ledger_race.late_fencing_token AS bigint");
				// as the view itself, it names the outcome
				statement.execute("CREATE VIEW ledger_race.late_job_state AS "
						+ "SELECT * FROM ledger_race.template_job_state WHERE state <> 'CANCELLED'");
			}
			Future<?> prepared = this.threads.submit(() -> ledger(pool, "ledger_race.late_").prepare());
			Awaitility.await().until(LedgerSchemaRaceTests::isSomebodyWaiting);
			other.commit();
			prepared.get(Patience.SECONDS, TimeUnit.SECONDS);
		}
	}

	/**
	 * As the last ones of a large fleet that starts at once.
	 */
	@Test
	void instanceStaysInLineForLong() throws Exception {
		try (ForeignSession creator = ForeignSession.holding(HOUSEKEEPING);
				HikariDataSource pool = TestPostgres.pool(2)) {
			Future<?> prepared = this.threads.submit(() -> ledger(pool, "ledger_race.line_").prepare());
			Awaitility.await().pollDelay(Duration.ofSeconds(7)).until(() -> !prepared.isDone());
			assertThat(creator.unlock(HOUSEKEEPING)).isTrue();
			prepared.get(Patience.SECONDS, TimeUnit.SECONDS);
		}
	}

	/**
	 * Whoever looked before the tables were there leaves them alone when it comes to
	 * create them.
	 */
	@Test
	void instanceWhoseTurnComesLateDoesNotTouchTablesThatOthersUse() throws Exception {
		try (ForeignSession creator = ForeignSession.holding(HOUSEKEEPING);
				HikariDataSource pool = TestPostgres.pool(2);
				HikariDataSource template = TestPostgres.pool(2);
				Connection user = TestPostgres.open()) {
			Future<?> prepared = this.threads.submit(() -> ledger(pool, "ledger_race.used_").prepare());
			Awaitility.await()
				.untilAsserted(() -> assertThat(TestPostgres
					.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' "
							+ "AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"))
					.hasSize(1));
			LedgerSettings settings = new LedgerSettings("ledger_race.used_", false, Duration.ofDays(30), 1000,
					Duration.ofDays(7));
			create(template, "ledger_race.used_");
			NamedJobs.ledger(template, settings, "tests", "host:2", List::of).prepare();
			user.setAutoCommit(false);
			try (Statement statement = user.createStatement()) {
				statement.execute("LOCK TABLE ledger_race.used_job, ledger_race.used_run IN ROW EXCLUSIVE MODE");
				assertThat(creator.unlock(HOUSEKEEPING)).isTrue();
				prepared.get(Patience.SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	private static void create(HikariDataSource pool, String prefix) throws Exception {
		String ddl = new ClassPathResource(LedgerSchemaException.LOCATION).getContentAsString(StandardCharsets.UTF_8)
			.replaceAll("(INDEX IF NOT EXISTS|CONSTRAINT|CONSTRAINT IF EXISTS) advisory_lock_", "$1 used_")
			.replace("advisory_lock_", prefix);
		try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(ddl);
		}
	}

	private static boolean isSomebodyWaiting() {
		return !TestPostgres
			.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE TABLE%'")
			.isEmpty();
	}

	private static Void prepare(PostgresAdvisoryLockLedger ledger, CyclicBarrier start) throws Exception {
		start.await(Patience.SECONDS, TimeUnit.SECONDS);
		ledger.prepare();
		for (int i = 0; i < 20; i++) {
			ledger.jobs("", "", 10);
		}
		return null;
	}

	private static PostgresAdvisoryLockLedger ledger(HikariDataSource pool, String prefix) {
		LedgerSettings settings = new LedgerSettings(prefix, true, Duration.ofDays(30), 1000, Duration.ofDays(7));
		return NamedJobs.ledger(pool, settings, "tests", "host:1", List::of);
	}

}
