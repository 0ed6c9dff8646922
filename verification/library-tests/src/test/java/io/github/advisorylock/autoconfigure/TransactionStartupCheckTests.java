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

package io.github.advisorylock.autoconfigure;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TransactionStartupCheck} with transactions that time out while a
 * method waits for its lock.
 */
class TransactionStartupCheckTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(TransactionManagerCustomizationAutoConfiguration.class))
		.withPropertyValues("spring.transaction.default-timeout=10s");

	@ParameterizedTest
	@ValueSource(classes = { Waiting.class, WaitingInTransaction.class })
	void waitThatIsNotOverBeforeTheDefaultTimeoutIsRefused(Class<?> job) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.runner.withBean("jobs", job));
		assertThat(analysis.getDescription())
			.contains("method 'run'", job.getName(), "bean 'jobs'",
					"waits for its lock for PT10S inside its transaction, which times out after PT10S",
					"'spring.transaction.default-timeout'", "transaction manager 'transactionManager'")
			.doesNotContain("'advisory-lock.wait-for'");
		assertThat(analysis.getAction()).contains("'waitFor' to less", "'timeout' of its @Transactional",
				"'scope' to SESSION");
		assertThat(analysis.getCause()).isInstanceOf(InvalidSingleRunnerException.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.wait-for", "advisory-lock.jobs.job.wait-for" })
	void propertyThatSetsTheTimeToWaitIsNamed(String property) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withBean("jobs", Plain.class).withPropertyValues(property + "=1m"));
		assertThat(analysis.getDescription()).contains("bean 'jobs'", "for PT1M inside its transaction",
				"'spring.transaction.default-timeout'", "'advisory-lock.wait-for'",
				"'advisory-lock.jobs.<key>.wait-for'");
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, WaitingLess.class, WaitingInLongTransaction.class, WaitingInSession.class })
	void whatOnlyLooksWrongStarts(Class<?> job) {
		this.runner.withBean("jobs", job).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void waitIsUnlimitedWithoutDefaultTimeout() {
		LockContextRunner.create().withBean(Waiting.class).run((context) -> assertThat(context).hasNotFailed());
	}

	static class Plain {

		@SingleRunner("job")
		void run() {
		}

	}

	static class Waiting {

		@SingleRunner(key = "job", waitFor = "10s")
		void run() {
		}

	}

	static class WaitingInTransaction {

		@Transactional
		@SingleRunner(key = "job", waitFor = "10s")
		void run() {
		}

	}

	static class WaitingLess {

		@SingleRunner(key = "job", waitFor = "9s")
		void run() {
		}

	}

	static class WaitingInLongTransaction {

		@Transactional(timeout = 60)
		@SingleRunner(key = "job", waitFor = "30s")
		void run() {
		}

	}

	static class WaitingInSession {

		@Transactional
		@SingleRunner(key = "job", waitFor = "30s", scope = LockScope.SESSION)
		void run() {
		}

	}

}
