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
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.AbstractLockTests;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * What all tests of the ledger share: tables of their own, which are looked at from
 * outside, and templates that record in them.
 */
abstract class AbstractLedgerTests extends AbstractLockTests {

	static final String PREFIX = "ledger_tests_";

	static final LedgerTables TABLES = new LedgerTables(
			Map.of("job", PREFIX + "job", "job_state", PREFIX + "job_state", "pause", PREFIX + "pause", "run",
					PREFIX + "run", "completion", PREFIX + "completion", "schedule", PREFIX + "schedule", "instance",
					PREFIX + "instance", "backfill", PREFIX + "backfill", "token", PREFIX + "fencing_token"));

	static final Instant TICK = Instant.parse("2026-03-01T03:00:00Z");

	PostgresAdvisoryLockLedger ledger;

	@BeforeEach
	void emptyTables() {
		this.ledger.prepare();
		String tables = Stream.of("job", "run", "completion", "instance", "pause", "question", "backfill")
			.map((table) -> "DELETE FROM " + settings().tablePrefix() + table + ";")
			.collect(Collectors.joining());
		TestPostgres.execute(tables + "CREATE TABLE IF NOT EXISTS ledger_effect (id text, "
				+ "checked_at_commit int UNIQUE DEFERRABLE INITIALLY DEFERRED);DELETE FROM ledger_effect");
	}

	/**
	 * Create the template of one more instance, or of the only one.
	 */
	@Override
	protected PostgresAdvisoryLockTemplate createTemplate(DataSource dataSource,
			PlatformTransactionManager transactionManager, DataSource connectionSource) {
		LockSession session = new LockSession(connectionSource, NAMESPACE, sessionSettings(), this.events::add);
		this.sessions.add(session);
		PostgresAdvisoryLockLedger ledger = NamedJobs.ledger(dataSource, settings(), NAMESPACE, "host:1",
				this::ledgerMethods);
		if (dataSource == this.pool) {
			this.ledger = ledger;
		}
		return new PostgresAdvisoryLockTemplate(dataSource, transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000, Precheck.of(ledger));
	}

	/**
	 * Return the methods that are recorded under keys of their own.
	 */
	List<JobFinder.LedgerMethod> ledgerMethods() {
		return List.of();
	}

	LedgerSettings settings() {
		return new LedgerSettings(PREFIX, true, Duration.ofDays(30), 1000, Duration.ofDays(7));
	}

	LockSessionSettings sessionSettings() {
		return LockSessionSettings.DEFAULT;
	}

	/**
	 * Run for a tick, with an effect in the database, and have the ledger decide under
	 * the lock.
	 */
	LockOutcome execute(LockScope scope, Instant tick) {
		return Precheck.without(() -> execute(request(scope).oncePerTick(tick)));
	}

	/**
	 * Run with an effect in the database.
	 */
	LockOutcome execute(LockRequest request) {
		return this.template.execute(request, (lock) -> insertEffect("job")).outcome();
	}

	/**
	 * Run for a tick, with an effect in the database, and fail.
	 */
	void executeAndFail(LockScope scope, Instant tick) {
		this.template.execute(request(scope).oncePerTick(tick), (lock) -> {
			insertEffect("job");
			throw new IllegalStateException("expected");
		});
	}

	int insertEffect(String id) {
		return this.jdbc.update("INSERT INTO ledger_effect (id) VALUES (?)", id);
	}

	/**
	 * Return the effects that are committed.
	 */
	static List<String> effects() {
		return TestPostgres.query("SELECT id FROM ledger_effect ORDER BY id");
	}

	/**
	 * Return how the runs ended that are committed, {@code OPEN} for one that did not, in
	 * the order of their tokens.
	 */
	static List<String> outcomes() {
		return TestPostgres.query("SELECT coalesce(outcome, 'OPEN') FROM ledger_tests_run ORDER BY fencing_token");
	}

	/**
	 * Return why the runs failed that did.
	 */
	static List<String> errors() {
		return TestPostgres.query("SELECT error FROM ledger_tests_run WHERE error IS NOT NULL ORDER BY fencing_token");
	}

	/**
	 * Add a run that was begun and is gone, with the latest token.
	 */
	static void insertOpenRun() {
		insertRowOfOpenRun();
		TestPostgres.execute("INSERT INTO ledger_tests_job AS j (namespace, key, last_started_at, fencing_token) "
				+ "SELECT namespace, key, started_at, fencing_token FROM ledger_tests_run WHERE finished_at IS NULL "
				+ "ON CONFLICT (namespace, key) DO UPDATE SET last_started_at = excluded.last_started_at, "
				+ "fencing_token = excluded.fencing_token");
	}

	/**
	 * Add a run that was begun and is gone, and leave the row of its job alone.
	 */
	static void insertRowOfOpenRun() {
		TestPostgres.execute("INSERT INTO ledger_tests_run (namespace, key, tick, scope, instance, fencing_token, "
				+ "started_at) VALUES ('tests', 'job', '" + TICK + "', 'SESSION', 'gone:1', "
				+ "(1::bigint << 44) + nextval('ledger_tests_fencing_token'), clock_timestamp())");
	}

	/**
	 * Return how many rows all tables have.
	 */
	static int rows() {
		return Integer.parseInt(TestPostgres
			.query("SELECT (SELECT count(*) FROM ledger_tests_job) "
					+ "+ (SELECT count(*) FROM ledger_tests_run) + (SELECT count(*) FROM ledger_tests_completion)")
			.get(0));
	}

}
