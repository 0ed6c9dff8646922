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
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerHousekeeping}.
 */
@Tag("gate")
class LedgerHousekeepingTests {

	/**
	 * The first round comes at any time within ten minutes.
	 */
	private static final Duration ROUNDS = Duration.ofMinutes(21);

	private final SettableTicker ticker = new SettableTicker();

	private final ApplicationContextRunner runner = this.ticker.in(LockContextRunner.create())
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=housekeeping_tests.ledger_");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS housekeeping_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA housekeeping_tests");
	}

	@Test
	void roundIsLeftToOneInstance() {
		this.runner.withBean(Jobs.class)
			.run((context) -> this.runner.withPropertyValues("advisory-lock.namespace=another")
				.withBean(Jobs.class)
				.run((another) -> {
					List<LedgerHousekeeping> all = housekeeping(context, another);
					all.get(0).purge();
					insertOldCompletions();
					all.get(1).purge();
					assertThat(completions()).hasSize(1200);
					TestPostgres.execute("UPDATE housekeeping_tests.ledger_completion SET remember_until = now()");
					all.get(1).purge();
					assertThat(completions()).isEmpty();
				}));
	}

	/**
	 * Somebody changes the table: what waited for that would go on after the application
	 * has ended, and keep others waiting behind it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "run", "completion" })
	void purgeWaitsForNobodyForLong(String table) throws Exception {
		try (Connection other = TestPostgres.open()) {
			this.runner.withBean(Jobs.class).run((context) -> {
				LedgerHousekeeping housekeeping = housekeeping(context).get(0);
				lock(other, table);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(housekeeping::purge)
					.extracting(SqlState::of)
					.isEqualTo("55P03");
				assertThat(waiting(table)).isEmpty();
			});
			other.rollback();
		}
	}

	@Test
	void roundsComeUntilTheApplicationEnds() {
		this.runner.withBean(Jobs.class).run(LockContextRunner.started(() -> {
			for (int round = 0; round < 2; round++) {
				insertOldCompletions();
				this.ticker.advance(ROUNDS);
				assertThat(completions()).isEmpty();
				TestPostgres.execute("UPDATE housekeeping_tests.ledger_completion SET remember_until = now()");
			}
		}));
		insertOldCompletions();
		this.ticker.advance(ROUNDS);
		assertThat(completions()).hasSize(1200);
	}

	@Test
	void nothingIsCreatedWhenNoMethodNeedsTheLedger() {
		this.runner.withBean(PlainJobs.class).run((context) -> {
			assertThat(context.getBean(PlainJobs.class).run()).isEqualTo("ran");
			this.ticker.advance(ROUNDS);
			assertThat(TestPostgres
				.query("SELECT relname FROM pg_class WHERE relnamespace = " + "'housekeeping_tests'::regnamespace"))
				.isEmpty();
		});
	}

	@Test
	void roundsBeginWithFirstRequestThatNeedsTheLedger() {
		this.runner.run((context) -> {
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			assertThat(operations.execute(LockRequest.of("job").oncePerKey(), (lock) -> true).executed()).isTrue();
			insertOldCompletions();
			this.ticker.advance(ROUNDS);
			assertThat(completions()).isEmpty();
		});
	}

	/**
	 * Return what has rounds when the test wants one, and no others: the first may come
	 * as soon as the application is there.
	 */
	private static List<LedgerHousekeeping> housekeeping(ApplicationContext... contexts) {
		List<LedgerLifecycle> lifecycles = Arrays.stream(contexts)
			.map((context) -> context.getBean(LedgerLifecycle.class))
			.toList();
		lifecycles.forEach(LedgerLifecycle::stop);
		TestPostgres.execute("DELETE FROM housekeeping_tests.ledger_completion");
		List<LedgerHousekeeping> all = lifecycles.stream().map(LedgerLifecycle::housekeeping).toList();
		assertThat(all).isNotEmpty().doesNotContainNull();
		return all;
	}

	private static void lock(Connection connection, String table) throws SQLException {
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			statement.execute("LOCK TABLE housekeeping_tests.ledger_" + table + " IN ACCESS EXCLUSIVE MODE");
		}
	}

	private static void insertOldCompletions() {
		TestPostgres.execute("INSERT INTO housekeeping_tests.ledger_completion (namespace, key, remember_until) "
				+ "SELECT 'test', 'old' || i, now() - interval '1 day' FROM generate_series(1, 1200) i");
	}

	private static List<String> completions() {
		return TestPostgres.query("SELECT key FROM housekeeping_tests.ledger_completion WHERE key LIKE 'old%'");
	}

	private static List<String> waiting(String table) {
		return TestPostgres.query("SELECT l.pid FROM pg_locks l WHERE NOT l.granted AND l.locktype = 'relation' "
				+ "AND l.relation = 'housekeeping_tests.ledger_" + table + "'::regclass");
	}

	static class Jobs {

		@SingleRunner(key = "job", once = Once.PER_KEY)
		void run() {
		}

	}

	static class PlainJobs {

		@SingleRunner("plain")
		String run() {
			return "ran";
		}

	}

}
