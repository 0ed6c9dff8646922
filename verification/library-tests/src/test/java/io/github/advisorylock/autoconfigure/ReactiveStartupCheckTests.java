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

import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ReactiveTransaction;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TransactionStartupCheck} and {@link SingleRunnerStartupCheck} in
 * applications that use R2DBC beside JDBC.
 */
class ReactiveStartupCheckTests {

	private static final AtomicInteger RUNS = new AtomicInteger();

	private final ApplicationContextRunner runner = LockContextRunner.create();

	private final ApplicationContextRunner beside = this.runner.withUserConfiguration(Jdbc.class, Reactive.class,
			JdbcManager.class);

	@Test
	void connectionFactoryThatKeepsBootFromMakingDataSourceIsTold() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withUserConfiguration(Reactive.class).withBean("jobs", Job.class));
		assertThat(analysis.getDescription()).contains("method 'run'", Job.class.getName(), "bean 'jobs'",
				"needs a DataSource, and there is none",
				"Spring Boot makes none beside the R2DBC ConnectionFactory of bean 'reactiveConnections'");
		assertThat(analysis.getAction()).contains("@Import(DataSourceAutoConfiguration.class)",
				"'spring.datasource.url'", "define a DataSource bean");
	}

	@Test
	void whatTheMessageAdvisesStarts() {
		this.runner.withUserConfiguration(Jdbc.class, Reactive.class, JdbcManager.class)
			.withBean(Job.class)
			.run((context) -> {
				int before = RUNS.get();
				context.getBean(Job.class).run();
				assertThat(RUNS).hasValue(before + 1);
			});
	}

	@Test
	void reactiveManagerThatKeepsBootFromMakingAnotherIsTold() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withUserConfiguration(Jdbc.class, Reactive.class).withBean("jobs", Job.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "bean 'jobs'", "attribute 'scope' TRANSACTION",
				"there is none", "Spring Boot makes none beside the reactive one of bean 'reactiveTx'");
		assertThat(analysis.getAction()).contains("JdbcTransactionManager", "'scope' to SESSION");
	}

	@ParameterizedTest
	@ValueSource(classes = { TransactionalJob.class, TransactionalSessionJob.class })
	void transactionalThatNamesNeitherOfTwoManagersIsRefused(Class<?> job) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.beside.withBean("jobs", job));
		assertThat(analysis.getDescription()).contains("method 'run'", job.getName(), "bean 'jobs'",
				"its @Transactional names no transaction manager", "[reactiveTx, jdbcTx]");
		assertThat(analysis.getAction()).contains("@Transactional(\"jdbcTx\")", "@Primary");
	}

	@Test
	void transactionalOfReactiveManagerIsRefused() {
		for (ApplicationContextRunner runner : new ApplicationContextRunner[] {
				this.beside.withUserConfiguration(PrimaryReactive.class).withBean("jobs", TransactionalJob.class),
				this.beside.withBean("jobs", ReactiveJob.class) }) {
			FailureAnalysis analysis = LockContextRunner.analyzeFailure(runner);
			assertThat(analysis.getDescription()).contains("method 'run'", "bean 'jobs'", "@Transactional",
					"is a reactive one");
			assertThat(analysis.getAction()).contains("@Transactional(\"jdbcTx\")");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { NamedJob.class, QualifiedJob.class })
	void transactionalThatNamesItsManagerRunsBesideReactiveOne(Class<? extends Runnable> job) {
		this.beside.withBean(job).run((context) -> {
			int before = RUNS.get();
			context.getBean(job).run();
			assertThat(RUNS).hasValue(before + 1);
		});
	}

	static class Job {

		@SingleRunner("job")
		void run() {
			RUNS.incrementAndGet();
		}

	}

	static class TransactionalJob {

		@Transactional
		@SingleRunner("transactional")
		void run() {
		}

	}

	static class TransactionalSessionJob {

		@Transactional
		@SingleRunner(key = "transactional-session", scope = LockScope.SESSION)
		void run() {
		}

	}

	static class ReactiveJob {

		@Transactional("reactiveTx")
		@SingleRunner("reactive")
		void run() {
		}

	}

	static class NamedJob implements Runnable {

		@Override
		@Transactional("jdbcTx")
		@SingleRunner("named")
		public void run() {
			RUNS.incrementAndGet();
		}

	}

	@Qualifier("jdbcTx")
	static class QualifiedJob implements Runnable {

		@Override
		@Transactional
		@SingleRunner("qualified")
		public void run() {
			RUNS.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(DataSourceAutoConfiguration.class)
	static class Jdbc {

	}

	@Configuration(proxyBeanMethods = false)
	static class JdbcManager {

		@Bean
		JdbcTransactionManager jdbcTx(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Reactive {

		@Bean
		ConnectionFactory reactiveConnections() {
			return new NoConnections();
		}

		@Bean
		ReactiveTransactionManager reactiveTx() {
			return new NoReactiveTransactions();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryReactive {

		@Bean
		@Primary
		ReactiveTransactionManager otherReactiveTx() {
			return new NoReactiveTransactions();
		}

	}

	/**
	 * Is there, and is never asked.
	 */
	private static final class NoConnections implements ConnectionFactory {

		@Override
		public Publisher<? extends Connection> create() {
			return Mono.error(new UnsupportedOperationException());
		}

		@Override
		public ConnectionFactoryMetadata getMetadata() {
			return () -> "none";
		}

	}

	/**
	 * Is there, and is never asked.
	 */
	private static final class NoReactiveTransactions implements ReactiveTransactionManager {

		@Override
		public Mono<ReactiveTransaction> getReactiveTransaction(TransactionDefinition definition) {
			return Mono.error(new UnsupportedOperationException());
		}

		@Override
		public Mono<Void> commit(ReactiveTransaction transaction) {
			return Mono.error(new UnsupportedOperationException());
		}

		@Override
		public Mono<Void> rollback(ReactiveTransaction transaction) {
			return Mono.error(new UnsupportedOperationException());
		}

	}

}
