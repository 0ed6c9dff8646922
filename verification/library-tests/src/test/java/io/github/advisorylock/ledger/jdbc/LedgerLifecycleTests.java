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

import java.net.ConnectException;
import java.time.Duration;

import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.IllegalTransactionStateException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LedgerLifecycle} where the database comes up after the application.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class LedgerLifecycleTests {

	private final int port = FreePort.find();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withPropertyValues("advisory-lock.ledger.table-prefix=starter_tests.ledger_",
				"spring.datasource.hikari.connection-timeout=500");

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS starter_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA starter_tests");
	}

	@ParameterizedTest
	@ValueSource(strings = { "always", "embedded", "never" })
	void firstRunPreparesLedgerWhenDatabaseWasDownAtStartUp(String mode, CapturedOutput output) {
		if (!mode.equals("always")) {
			createTables();
		}
		this.runner
			.withPropertyValues("advisory-lock.ledger.initialize-schema=" + mode,
					"spring.datasource.url=" + TestProxy.url(this.port))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output.getOut()
					.lines()
					.filter((line) -> line.contains("The ledger of advisory locks could not be prepared yet")))
					.singleElement()
					.asString()
					.contains("WARN", "the first run tries again", "refused");
				// what an earlier test has left behind in this JVM may print its own
				assertThat(output).doesNotContain("\tat " + LedgerLifecycleTests.class.getName());
				Jobs jobs = context.getBean(Jobs.class);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> jobs.pay("1"))
					.withRootCauseInstanceOf(ConnectException.class);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> jobs.refresh("1"))
					.withRootCauseInstanceOf(ConnectException.class);
				try (TestProxy database = new TestProxy(Duration.ZERO, this.port)) {
					assertThat(jobs.pay("1").executed()).isTrue();
					assertThat(jobs.pay("1").executed()).isFalse();
					assertThat(jobs.refresh("1").executed()).isTrue();
					assertThat(context.getBean(AdvisoryLockLedger.class).jobs("test", "", 10))
						.extracting(LedgerJob::key)
						.contains("nightly");
				}
			});
	}

	@Test
	void poolThatOnlyReadsIsToldByKeyAndProperty() {
		createTables();
		this.runner.withPropertyValues("spring.datasource.hikari.read-only=true")
			.run((context) -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> context.getBean(Jobs.class).pay("read-only"))
				.withMessageContainingAll("'test/payment:read-only'", "transaction is read-only",
						"'spring.datasource.hikari.read-only'"));
	}

	private void createTables() {
		this.runner.withPropertyValues("advisory-lock.ledger.initialize-schema=always")
			.run((context) -> assertThat(context).hasNotFailed());
		TestPostgres.execute("DELETE FROM starter_tests.ledger_job");
	}

	static class Jobs {

		@SingleRunner(key = "payment:#{#id}", once = Once.PER_KEY)
		LockResult<String> pay(String id) {
			return LockResult.executed(id);
		}

		@SingleRunner(key = "refresh:#{#id}", scope = LockScope.SESSION, minInterval = "10m")
		LockResult<String> refresh(String id) {
			return LockResult.executed(id);
		}

		@SingleRunner(key = "nightly", minInterval = "10m")
		void nightly() {
		}

	}

}
