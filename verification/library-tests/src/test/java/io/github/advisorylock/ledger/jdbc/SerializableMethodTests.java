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

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the start says of methods whose runs are recorded in SERIALIZABLE
 * transactions.
 */
@ExtendWith(OutputCaptureExtension.class)
class SerializableMethodTests {

	private static final String FAIL = "make each other fail with 'could not serialize access': ";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=serializable_tests_");

	@Test
	void methodsInSerializableTransactionsAreNamedOnceWithTheWayOut(CapturedOutput output) {
		this.runner.withBean("jobs", Jobs.class)
			.withPropertyValues("spring.datasource.hikari.data-source-properties.options="
					+ "-c default_transaction_isolation=serializable")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsOnlyOnce(FAIL)
					.contains(
							FAIL + "'chosen' of method 'chosen' of class '" + Jobs.class.getName()
									+ "' on bean 'jobs', 'plain' of method 'plain' of class",
							"'default_transaction_isolation'", "@Transactional(isolation = Isolation.READ_COMMITTED)",
							"'scope' to SESSION", "advisory-lock.doctor.isolation");
			});
	}

	@Test
	void methodThatChoosesIsNamedWhateverTheDefaultIs(CapturedOutput output) {
		this.runner.withBean("jobs", Jobs.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains(FAIL + "'chosen' of method").doesNotContain("'plain' of method");
		});
	}

	static class Jobs {

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@SingleRunner(key = "chosen")
		void chosen() {
		}

		@Transactional(isolation = Isolation.READ_COMMITTED)
		@SingleRunner(key = "committed")
		void committed() {
		}

		@SingleRunner("plain")
		void plain() {
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
		}

	}

}
