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

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.configuration.support.JdbcDefaultBatchConfiguration;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.repository.support.ResourcelessJobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link BatchExamination} and for what a run of Spring Batch is told that it
 * fails of, with Spring Batch.
 */
@ExtendWith(OutputCaptureExtension.class)
class BatchExaminationTests {

	private static final String SCHEMA = "batch_examination";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(BatchConfiguration.class)
		.withPropertyValues("spring.datasource.url=" + url());

	@BeforeAll
	static void createTables() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE; CREATE SCHEMA " + SCHEMA);
		try (HikariDataSource tables = TestPostgres.pool(url(), 1)) {
			new ResourceDatabasePopulator(new ClassPathResource("org/springframework/batch/core/schema-postgresql.sql"))
				.execute(tables);
		}
	}

	@AfterAll
	static void dropTables() {
		TestPostgres.execute("DROP SCHEMA " + SCHEMA + " CASCADE");
	}

	@Test
	void batchInScopeTransactionIsRefused() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withBean("imports", TransactionImports.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'imports'", "Spring Batch refuses");
	}

	@Test
	void batchInScopeTransactionThatIsLetThroughExplainsItsFailure(CapturedOutput output) {
		this.runner.withBean("imports", TransactionImports.class)
			.withPropertyValues("advisory-lock.doctor.spring-batch=warn")
			.run((context) -> {
				assertThat(output).contains("method 'run'", "on bean 'imports'", "Spring Batch refuses",
						"set 'scope' to SESSION (advisory-lock.doctor.spring-batch)");
				assertThatIllegalStateException().isThrownBy(context.getBean(TransactionImports.class)::run)
					.withMessageStartingWith("Existing transaction detected in JobRepository")
					.satisfies((failure) -> assertThat(failure.getSuppressed()).singleElement()
						.asString()
						.contains("test/batch", "'TransactionImports.run'",
								"set 'scope' of its @SingleRunner to SESSION"));
			});
	}

	@Test
	void batchInScopeSessionWorks(CapturedOutput output) {
		this.runner.withBean("imports", SessionImports.class).run((context) -> {
			assertThat(output).doesNotContain("advisory-lock.doctor.spring-batch");
			assertThat(context.getBean(SessionImports.class).run().getStatus()).isEqualTo(BatchStatus.COMPLETED);
		});
	}

	@Test
	void batchWithoutTablesIsNotWarnedOf(CapturedOutput output) {
		LockContextRunner.create()
			.withBean(JobRepository.class, ResourcelessJobRepository::new)
			.withBean(OwnRepository.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("advisory-lock.doctor.spring-batch");
			});
	}

	private static JobParameters parameters() {
		return new JobParametersBuilder().addLong("run", System.nanoTime()).toJobParameters();
	}

	private static String url() {
		return TestPostgres.url() + (TestPostgres.url().contains("?") ? "&" : "?") + "currentSchema=" + SCHEMA;
	}

	@Configuration
	static class BatchConfiguration extends JdbcDefaultBatchConfiguration {

		@Bean
		Job importJob(JobRepository repository, PlatformTransactionManager transactionManager) {
			return new JobBuilder("import", repository)
				.start(new StepBuilder("step", repository)
					.tasklet((contribution, context) -> RepeatStatus.FINISHED, transactionManager)
					.build())
				.build();
		}

		@Override
		protected DataSource getDataSource() {
			return this.applicationContext.getBean(DataSource.class);
		}

		@Override
		protected PlatformTransactionManager getTransactionManager() {
			return this.applicationContext.getBean(PlatformTransactionManager.class);
		}

	}

	static class TransactionImports {

		private final JobOperator operator;

		private final Job job;

		TransactionImports(JobOperator operator, Job job) {
			this.operator = operator;
			this.job = job;
		}

		@SingleRunner("batch")
		JobExecution run() throws Exception {
			return this.operator.start(this.job, parameters());
		}

	}

	static class SessionImports {

		private final JobOperator operator;

		private final Job job;

		SessionImports(JobOperator operator, Job job) {
			this.operator = operator;
			this.job = job;
		}

		@SingleRunner(key = "batch", scope = LockScope.SESSION)
		JobExecution run() throws Exception {
			return this.operator.start(this.job, parameters());
		}

	}

	static class OwnRepository {

		private final JobRepository repository;

		OwnRepository(JobRepository repository) {
			this.repository = repository;
		}

		@SingleRunner("batch")
		Object jobs() {
			return this.repository.getJobNames();
		}

	}

}
