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

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerSchema} with jobs that change their search path, as those do
 * that work for one tenant after another.
 */
@Tag("gate")
class LedgerSearchPathTests extends AbstractLedgerTests {

	private static final String HOME = "\"ledger's home:1\"";

	@BeforeEach
	void createSchemasWithTables() {
		for (String schema : new String[] { HOME, "ledger_tenant" }) {
			TestPostgres.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE; CREATE SCHEMA " + schema);
		}
		useSchema("ledger_tenant");
		useSchema(HOME);
	}

	@AfterEach
	void dropSchemas() {
		TestPostgres.execute("DROP SCHEMA " + HOME + ", ledger_tenant CASCADE");
	}

	@Override
	LedgerSettings settings() {
		return new LedgerSettings("al_", true, Duration.ofDays(30), 1000, Duration.ofDays(7));
	}

	@ParameterizedTest
	@CsvSource({ "TRANSACTION, SET LOCAL", "TRANSACTION, SET", "SESSION, SET LOCAL", "SESSION, SET" })
	void jobThatChangesSearchPathHasOneLedger(LockScope scope, String set) {
		LockRequest request = request(scope).oncePerTick(Instant.parse("2026-03-01T03:00:00Z"));
		LockOutcome outcome = transaction().execute((status) -> this.template.execute(request, (lock) -> {
			this.jdbc.execute(set + " search_path TO ledger_tenant");
			return true;
		}).outcome());
		assertThat(outcome).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.template.execute(request, (lock) -> true).outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
		assertThat(TestPostgres.query("SELECT outcome FROM " + HOME + ".al_run")).containsExactly("EXECUTED");
		assertThat(TestPostgres.query("SELECT outcome FROM ledger_tenant.al_run")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET LOCAL", "SET" })
	void transactionThatComesFirstDoesNotDecideWhichLedgerItIs(String set) {
		HikariDataSource pool = TestPostgres.pool(2);
		pool.setConnectionInitSql("SET search_path TO " + HOME);
		usePool(pool);
		LockRequest request = request(LockScope.TRANSACTION).oncePerTick(Instant.parse("2026-03-01T03:00:00Z"));
		LockOutcome outcome = transaction().execute((status) -> {
			this.jdbc.execute(set + " search_path TO ledger_tenant");
			return this.template.execute(request, (lock) -> true).outcome();
		});
		assertThat(outcome).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.query("SELECT outcome FROM " + HOME + ".al_run")).containsExactly("EXECUTED");
		assertThat(TestPostgres.query("SELECT outcome FROM ledger_tenant.al_run")).isEmpty();
	}

	@Test
	void transactionOfTheOnlyConnectionIsToldWhatToSet() {
		HikariDataSource pool = TestPostgres.pool(1);
		pool.setConnectionTimeout(300);
		usePool(pool);
		LockRequest request = request(LockScope.TRANSACTION).oncePerTick(Instant.parse("2026-03-01T03:00:00Z"));
		assertThatExceptionOfType(LedgerSchemaException.class).isThrownBy(() -> transaction().execute((status) -> {
			this.jdbc.execute("SET LOCAL search_path TO ledger_tenant");
			return this.template.execute(request, (lock) -> true);
		})).withMessageContaining("advisory-lock.ledger.table-prefix");
		assertThat(TestPostgres.query("SELECT outcome FROM ledger_tenant.al_run")).isEmpty();
	}

	private void useSchema(String schema) {
		HikariDataSource pool = TestPostgres.pool(2);
		pool.setConnectionInitSql("SET search_path TO " + schema);
		usePool(pool);
		this.ledger.prepare();
	}

}
