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
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for applications whose Hibernate gives connections back before the transaction
 * ends, and its lock with them.
 */
@Tag("gate")
class HibernateConnectionTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(classes = { Job.class, TransactionalJob.class })
	void methodWhoseTransactionGivesItsConnectionBackIsRefused(Class<?> job) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(releasing("DELAYED_ACQUISITION_AND_RELEASE_AFTER_STATEMENT").withBean("jobs", job));
		assertThat(analysis.getDescription()).contains("method 'bill'", "would lose its lock while it runs",
				"'transactionManager'");
		assertThat(analysis.getAction()).contains("'hibernate.connection.handling_mode'", "'scope' to SESSION");
	}

	@ParameterizedTest
	@ValueSource(strings = { "DELAYED_ACQUISITION_AND_HOLD", "DELAYED_ACQUISITION_AND_RELEASE_AFTER_TRANSACTION" })
	void connectionThatIsKeptUntilTheEndIsEnough(String mode) {
		releasing(mode).withBean(Job.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void lockOfTheSessionNeedsNoConnectionOfTheTransaction() {
		releasing("DELAYED_ACQUISITION_AND_RELEASE_AFTER_STATEMENT").withBean(SessionJob.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner releasing(String mode) {
		return this.runner.withPropertyValues("spring.jpa.properties.hibernate.connection.handling_mode=" + mode);
	}

	static class Job {

		@SingleRunner("bills")
		void bill() {
		}

	}

	static class TransactionalJob {

		@Transactional
		@SingleRunner("bills")
		void bill() {
		}

	}

	static class SessionJob {

		@SingleRunner(key = "bills", scope = LockScope.SESSION)
		void bill() {
		}

	}

}
