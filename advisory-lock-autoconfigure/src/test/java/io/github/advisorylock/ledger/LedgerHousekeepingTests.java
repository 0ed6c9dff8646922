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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link LedgerHousekeeping}.
 */
class LedgerHousekeepingTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
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
					housekeeping(context).purge();
					insertOldCompletions();
					housekeeping(another).purge();
					assertThat(completions()).hasSize(1200);
					TestPostgres.execute("UPDATE housekeeping_tests.ledger_completion SET remember_until = now()");
					housekeeping(another).purge();
					assertThat(completions()).isEmpty();
				}));
	}

	/**
	 * Somebody changes the table, and what waits for that on the server would go on
	 * waiting.
	 */
	@Test
	void purgeThatWaitsIsCancelledByStop() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			this.runner.withBean(Jobs.class).run((context) -> {
				LedgerHousekeeping housekeeping = housekeeping(context);
				statement.execute("LOCK TABLE housekeeping_tests.ledger_run IN ACCESS EXCLUSIVE MODE");
				AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
				Thread thread = new Thread(() -> failure.set(catchThrowable(housekeeping::purge)));
				thread.start();
				Awaitility.await().untilAsserted(() -> assertThat(waiting()).isNotEmpty());
				thread.interrupt();
				housekeeping.stop();
				thread.join(5000);
				assertThat(thread.isAlive()).isFalse();
				assertThat(failure.get()).isInstanceOf(DataAccessException.class)
					.extracting(SqlState::of)
					.isEqualTo("57014");
				Awaitility.await().untilAsserted(() -> assertThat(waiting()).isEmpty());
			});
			other.rollback();
		}
	}

	@Test
	void threadIsGoneAfterClose() {
		this.runner.withBean(Jobs.class).run((context) -> assertThat(threads()).hasSize(1));
		Awaitility.await().untilAsserted(() -> assertThat(threads()).isEmpty());
	}

	@Test
	void nothingIsCreatedAndNoThreadStartsWhenNoMethodNeedsTheLedger() {
		this.runner.withBean(PlainJobs.class).run((context) -> {
			assertThat(context.getBean(PlainJobs.class).run()).isEqualTo("ran");
			assertThat(TestPostgres
				.query("SELECT relname FROM pg_class WHERE relnamespace = " + "'housekeeping_tests'::regnamespace"))
				.isEmpty();
			assertThat(threads()).isEmpty();
		});
	}

	@Test
	void threadStartsWithFirstRequestThatNeedsTheLedger() {
		this.runner.run((context) -> {
			assertThat(threads()).isEmpty();
			AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
			assertThat(operations.execute(LockRequest.of("job").oncePerKey(), (lock) -> true).executed()).isTrue();
			assertThat(threads()).hasSize(1);
		});
	}

	private static LedgerHousekeeping housekeeping(ApplicationContext context) {
		LedgerHousekeeping housekeeping = context.getBean(LedgerLifecycle.class).housekeeping();
		assertThat(housekeeping).isNotNull();
		return housekeeping;
	}

	private static void insertOldCompletions() {
		TestPostgres.execute("INSERT INTO housekeeping_tests.ledger_completion (namespace, key, remember_until) "
				+ "SELECT 'test', 'old' || i, now() - interval '1 day' FROM generate_series(1, 1200) i");
	}

	private static List<String> completions() {
		return TestPostgres.query("SELECT key FROM housekeeping_tests.ledger_completion WHERE key LIKE 'old%'");
	}

	private static List<String> waiting() {
		return TestPostgres.query("SELECT l.pid FROM pg_locks l WHERE NOT l.granted AND l.locktype = 'relation' "
				+ "AND l.relation = 'housekeeping_tests.ledger_run'::regclass");
	}

	private static List<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.equals("advisory-lock-housekeeping"))
			.toList();
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
