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

import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.testsupport.DocumentTransactionManager;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockDatabaseConfiguration}.
 */
class LockDatabaseConfigurationTests {

	@Test
	void managerOfJpaTellsWhichOfTwoDataSourcesHasTheLocks() {
		LockContextRunner.create()
			.withUserConfiguration(TwoDataSources.class, JpaOnSecond.class)
			.withPropertyValues("advisory-lock.transaction-manager=jpa")
			.run((context) -> {
				JdbcTemplate second = new JdbcTemplate(context.getBean("second", DataSource.class));
				List<String> holders = context.getBean(AdvisoryLockOperations.class)
					.execute(LockRequest.of("any"), (lock) -> {
						assertThat(ForeignSession.holders(lock.key()))
							.isEqualTo(second.queryForList("SELECT pg_backend_pid()::text", String.class));
						return ForeignSession.holders(lock.key());
					})
					.orElseThrow();
				assertThat(holders).hasSize(1);
			});
	}

	@Test
	void managerThatDoesNotTellItsDataSourceIsRefusedWhereThereAreTwo() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create()
			.withUserConfiguration(TwoDataSources.class)
			.withBean("documents", PlatformTransactionManager.class, DocumentTransactionManager::new)
			.withPropertyValues("advisory-lock.transaction-manager=documents"));
		assertThat(analysis.getDescription()).contains("[first, second]", "DocumentTransactionManager");
		assertThat(analysis.getAction()).contains("'advisory-lock.transaction-manager'");
	}

	@Test
	void onlyManagerThatDoesNotCoverTheDataSourceIsRefusedByTheDoctor() {
		ApplicationContextRunner runner = LockContextRunner.create()
			.withBean(PlatformTransactionManager.class, DocumentTransactionManager::new)
			.withBean(Job.class);
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(runner);
		assertThat(analysis.getDescription()).contains("DocumentTransactionManager", "do not cover",
				"method 'run' of class '" + Job.class.getName());
		assertThat(analysis.getAction()).contains("'advisory-lock.transaction-manager'", "'advisory-lock.scope'");
		runner.withPropertyValues("advisory-lock.doctor.transaction-manager=warn")
			.run((context) -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> context.getBean(Job.class).run())
				.withMessageContaining("that transaction does not cover the lock's DataSource"));
	}

	@Test
	void scopeOfAllMethodsNeedsNoManager() {
		ApplicationContextRunner runner = LockContextRunner.create()
			.withBean(PlatformTransactionManager.class, DocumentTransactionManager::new)
			.withBean(Job.class)
			.withPropertyValues("advisory-lock.scope=session");
		runner.run((context) -> {
			assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods()).singleElement()
				.extracting((method) -> method.operation().scope())
				.isEqualTo(LockScope.SESSION);
			context.getBean(Job.class).run();
		});
		assertThat(
				LockContextRunner.analyzeFailure(runner.withPropertyValues("advisory-lock.jobs.job.scope=transaction"))
					.getDescription())
			.contains("do not cover");
	}

	@Test
	void scopeOfAllMethodsLeavesThoseThatSaySession() {
		LockContextRunner.create()
			.withBean(SessionJob.class)
			.withPropertyValues("advisory-lock.scope=transaction")
			.run((context) -> assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
				.getMethods()
				.get(0)
				.operation()
				.scope()).isEqualTo(LockScope.SESSION));
	}

	static class SessionJob {

		@SingleRunner(key = "session-job", scope = LockScope.SESSION)
		void run() {
		}

	}

	static class Job {

		@SingleRunner("job")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		@Primary
		HikariDataSource first() {
			return TestPostgres.pool(1);
		}

		@Bean
		HikariDataSource second() {
			return TestPostgres.pool(1);
		}

		@Bean
		@Primary
		JdbcTransactionManager firstManager(DataSource first) {
			return new JdbcTransactionManager(first);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JpaOnSecond {

		@Bean
		LocalContainerEntityManagerFactoryBean entities(@Qualifier("second") HikariDataSource second) {
			LocalContainerEntityManagerFactoryBean entities = new LocalContainerEntityManagerFactoryBean();
			entities.setDataSource(second);
			entities.setPackagesToScan("none");
			entities.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
			return entities;
		}

		@Bean
		JpaTransactionManager jpa(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

	}

}
