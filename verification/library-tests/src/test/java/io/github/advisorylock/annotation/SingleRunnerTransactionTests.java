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

package io.github.advisorylock.annotation;

import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunner} methods and the transactions around them.
 */
class SingleRunnerTransactionTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("test", "job");

	private final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(Beans.class)
		.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2",
				"spring.datasource.hikari.connection-timeout=1000");

	@AfterEach
	void stopThreads() {
		this.threads.shutdownNow();
	}

	@Test
	void callsThatWaitForOwnApplicationOccupyNoConnection() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			CountDownLatch running = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			List<Future<LockResult<Integer>>> calls = new ArrayList<>();
			calls.add(this.threads.submit(() -> jobs.wait(running, end)));
			running.await();
			CountDownLatch arrived = new CountDownLatch(5);
			for (int i = 0; i < 5; i++) {
				calls.add(this.threads.submit(() -> {
					arrived.countDown();
					return jobs.wait(running, end);
				}));
			}
			arrived.await();
			assertThat(end.await(300, TimeUnit.MILLISECONDS)).isFalse();
			assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections()).isOne();
			assertThat(context.getBean(JdbcTemplate.class).queryForObject("SELECT 1", Integer.class)).isOne();
			end.countDown();
			for (Future<LockResult<Integer>> call : calls) {
				assertThat(call.get(Patience.SECONDS, TimeUnit.SECONDS).executed()).isTrue();
			}
		});
	}

	@Test
	void waitIsOverForOthersWhenTheTransactionCouldNotBegin() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			HikariDataSource pool = context.getBean(HikariDataSource.class);
			try (Connection first = pool.getConnection(); Connection second = pool.getConnection()) {
				Future<?> failing = this.threads.submit(() -> jobs.wait(new CountDownLatch(1), new CountDownLatch(0)));
				assertThat(failing).failsWithin(Patience.TIME)
					.withThrowableOfType(ExecutionException.class)
					.withCauseInstanceOf(CannotCreateTransactionException.class)
					.havingRootCause()
					.isInstanceOf(SQLTransientConnectionException.class);
			}
			assertThat(jobs.wait(new CountDownLatch(1), new CountDownLatch(0)).executed()).isTrue();
		});
	}

	@Test
	void listenerForCommittedTransactionRunsInTransactionOfItsOwn() {
		TestPostgres.execute("CREATE TABLE heard (name text)");
		this.runner.withPropertyValues("spring.datasource.hikari.maximum-pool-size=3").run((context) -> {
			ApplicationEventPublisher publisher = context;
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> publisher.publishEvent("event"));
			assertThat(context.getBean(Jobs.class).failures()).isEqualTo(1);
		});
		assertThat(TestPostgres.query("SELECT name FROM heard ORDER BY name")).containsExactly("new", "plain");
		TestPostgres.execute("DROP TABLE heard");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Beans {

		@Bean
		Jobs jobs(JdbcTemplate jdbc) {
			return new Jobs(jdbc);
		}

	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		private volatile int failures;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@SingleRunner(key = "job", waitFor = "30s")
		LockResult<Integer> wait(CountDownLatch running, CountDownLatch end) throws Exception {
			assertThat(ForeignSession.isFree(KEY)).isFalse();
			running.countDown();
			end.await(Patience.SECONDS, TimeUnit.SECONDS);
			return LockResult.executed(1);
		}

		int failures() {
			return this.failures;
		}

		@TransactionalEventListener
		@SingleRunner("plain")
		void plain(String event) {
			this.jdbc.update("INSERT INTO heard VALUES ('plain')");
		}

		@Order(1)
		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@SingleRunner("new")
		void inNewTransaction(String event) {
			this.jdbc.update("INSERT INTO heard VALUES ('new')");
		}

		// after one that has begun and ended a transaction, which clears marks of the
		// thread
		@Order(Ordered.LOWEST_PRECEDENCE)
		@TransactionalEventListener
		@SingleRunner("failing")
		void fail(String event) {
			this.jdbc.update("INSERT INTO heard VALUES ('failing')");
			this.failures++;
			throw new IllegalStateException("expected");
		}

	}

}
