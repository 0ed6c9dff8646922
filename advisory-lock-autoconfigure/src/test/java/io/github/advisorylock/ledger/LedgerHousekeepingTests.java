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

import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

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
	void oldCompletionsAreForgottenByOneInstanceOnly() {
		this.runner.withBean(Jobs.class).run((context) -> {
			TestPostgres.execute("INSERT INTO housekeeping_tests.ledger_completion "
					+ "SELECT 'test', 'old' || i, now() - interval '8 days' FROM generate_series(1, 1200) i");
			TestPostgres.execute("INSERT INTO housekeeping_tests.ledger_completion VALUES ('test', 'new', now())");
			LedgerHousekeeping housekeeping = context.getBean(LedgerLifecycle.class).housekeeping();
			try (ForeignSession other = ForeignSession
				.holding(AdvisoryLockKey.of("test", "advisory-lock:ledger-housekeeping"))) {
				housekeeping.purge();
				assertThat(completions()).hasSize(1201);
			}
			housekeeping.purge();
			assertThat(completions()).containsExactly("new");
		});
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

	private static List<String> completions() {
		return TestPostgres.query("SELECT key FROM housekeeping_tests.ledger_completion");
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
