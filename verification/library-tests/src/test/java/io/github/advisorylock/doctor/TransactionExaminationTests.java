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

package io.github.advisorylock.doctor;

import javax.sql.DataSource;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.DocumentTransactionManager;
import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.InvalidIsolationLevelException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionExamination} with transactions that a method's own
 * {@code @Transactional} asks for.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionExaminationTests {

	private final ApplicationContextRunner runner = LockContextRunner.create().withUserConfiguration(Managers.class);

	@Test
	void transactionalOfManagerThatDoesNotCoverTheLocksIsRefused() {
		ApplicationContextRunner runner = this.runner.withBean("jobs", DocumentJob.class);
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(runner);
		assertThat(analysis.getDescription()).contains("method 'run'", DocumentJob.class.getName(), "bean 'jobs'",
				DocumentTransactionManager.class.getName(), "do not cover the DataSource of the advisory locks");
		assertThat(analysis.getAction()).contains("its @Transactional", "'scope' to SESSION",
				"advisory-lock.doctor.transaction-manager");
	}

	@Test
	void runUnderManagerThatDoesNotCoverTheLocksSaysSo(CapturedOutput output) {
		this.runner.withBean("jobs", DocumentJob.class)
			.withPropertyValues("advisory-lock.doctor.transaction-manager=warn")
			.run((context) -> {
				assertThat(output).contains("WARN", "do not cover");
				assertThatExceptionOfType(IllegalTransactionStateException.class)
					.isThrownBy(() -> context.getBean(DocumentJob.class).run())
					.withMessageContainingAll("'test/documents'", "does not cover the lock's DataSource",
							"scope SESSION");
			});
	}

	@Test
	void transactionThatManagerCanNotBeginIsRefused() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withBean("jobs", SerializableJob.class));
		assertThat(analysis.getDescription()).contains("method 'run'", SerializableJob.class.getName(), "bean 'jobs'",
				PlainTransactionManager.class.getName(), "can't begin", "custom isolation levels");
		assertThat(analysis.getAction()).contains("its @Transactional", "advisory-lock.doctor.transaction-manager");
	}

	@Test
	void transactionsThatManagersBeginStart(CapturedOutput output) {
		this.runner.withBean("default", Job.class)
			.withBean("serializable", JdbcSerializableJob.class)
			.withBean("readOnly", ReadOnlyJob.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(JdbcSerializableJob.class).run();
				context.getBean(ReadOnlyJob.class).run();
				assertThat(output).contains("Advisory locks are ready in scope TRANSACTION");
			});
	}

	@Test
	void databaseOfReadOnlyTransactionsThatIsNotThereIsAWarning(CapturedOutput output) {
		this.runner.withUserConfiguration(UnreachableReplica.class)
			.withBean("jobs", ReplicaJob.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("WARN", "method 'run' of class '" + ReplicaJob.class.getName() + "'",
						"advisory-lock.doctor.unreachable");
			});
	}

	static class Job {

		@SingleRunner("job")
		void run() {
		}

	}

	static class DocumentJob {

		@Transactional("documents")
		@SingleRunner("documents")
		void run() {
		}

	}

	static class SerializableJob {

		@Transactional(transactionManager = "plain", isolation = Isolation.SERIALIZABLE)
		@SingleRunner("serializable")
		void run() {
		}

	}

	static class JdbcSerializableJob {

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@SingleRunner("jdbc-serializable")
		void run() {
		}

	}

	static class ReadOnlyJob {

		@Transactional(readOnly = true)
		@SingleRunner("read-only")
		void run() {
		}

	}

	static class ReplicaJob {

		@Transactional(transactionManager = "replicated", readOnly = true)
		@SingleRunner("replica")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		@Primary
		JdbcTransactionManager jdbc(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		DocumentTransactionManager documents() {
			return new DocumentTransactionManager();
		}

		@Bean
		PlainTransactionManager plain(DataSource dataSource) {
			return new PlainTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnreachableReplica {

		@Bean
		JdbcTransactionManager replicated() {
			LazyConnectionDataSourceProxy routing = new LazyConnectionDataSourceProxy(
					new DriverManagerDataSource(TestPostgres.url()));
			routing.setReadOnlyDataSource(
					new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody"));
			return new JdbcTransactionManager(routing);
		}

	}

	/**
	 * Knows one isolation level only, as one of JTA does.
	 */
	static class PlainTransactionManager extends JdbcTransactionManager {

		PlainTransactionManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			if (definition.getIsolationLevel() != TransactionDefinition.ISOLATION_DEFAULT) {
				throw new InvalidIsolationLevelException("custom isolation levels are not supported");
			}
			super.doBegin(transaction, definition);
		}

	}

}
