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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotNull;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.validation.annotation.Validated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SingleRunnerAnnotationBeanPostProcessor}: where the lock stands among
 * the other advice of a method.
 */
@Tag("gate")
class SingleRunnerAdviceOrderTests {

	private static final AdvisoryLockKey SESSION = AdvisoryLockKey.of("test", "session");

	private static final AdvisoryLockKey TRANSACTION = AdvisoryLockKey.of("test", "transaction");

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Jobs.class);

	@Test
	void sessionLockIsReleasedAfterCommit() {
		run((jobs, context) -> {
			AtomicInteger heldAfterCommit = new AtomicInteger();
			jobs.session(() -> afterCommit(() -> heldAfterCommit.set(ForeignSession.holders(SESSION).size())));
			assertThat(heldAfterCommit).hasValue(1);
			assertThat(ForeignSession.isHeld(SESSION)).isFalse();
		});
	}

	@Test
	void sessionLockIsNotOnTheConnectionOfTheTransaction() {
		run((jobs, context) -> assertThat(jobs.session(() -> ForeignSession.holders(SESSION))).hasSize(1)
			.isNotEqualTo(jobs.session(() -> pids(context))));
	}

	@Test
	void transactionLockIsOnTheConnectionOfTheMethodsTransaction() {
		run((jobs, context) -> jobs.required(() -> {
			assertThat(ForeignSession.holders(TRANSACTION)).isEqualTo(pids(context));
			return null;
		}));
		assertThat(ForeignSession.isHeld(TRANSACTION)).isFalse();
	}

	@Test
	void transactionLockWithoutTransactionalBeginsTransaction() {
		run((jobs, context) -> jobs.plain(() -> {
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			assertThat(ForeignSession.holders(AdvisoryLockKey.of("test", "plain"))).isEqualTo(pids(context));
			return null;
		}));
	}

	@Test
	void transactionLockJoinsTransactionOfCallerAndStaysToItsEnd() {
		run((jobs, context) -> transaction(context).executeWithoutResult((status) -> {
			List<String> caller = pids(context);
			assertThat(jobs.required(() -> ForeignSession.holders(TRANSACTION))).isEqualTo(caller);
			assertThat(ForeignSession.holders(TRANSACTION)).isEqualTo(caller);
		}));
		assertThat(ForeignSession.isHeld(TRANSACTION)).isFalse();
	}

	@Test
	void transactionLockOfRequiresNewIsInsideTheNewTransaction() {
		run((jobs, context) -> transaction(context).executeWithoutResult((status) -> {
			List<String> caller = pids(context);
			jobs.requiresNew(() -> {
				assertThat(ForeignSession.holders(TRANSACTION)).isEqualTo(pids(context)).isNotEqualTo(caller);
				return null;
			});
			assertThat(ForeignSession.isHeld(TRANSACTION)).isFalse();
		}));
	}

	@Test
	void transactionLockOfNestedIsFreedByRollbackToItsSavepoint() {
		run((jobs, context) -> transaction(context).executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> jobs.nested(() -> {
				assertThat(ForeignSession.holders(TRANSACTION)).isEqualTo(pids(context));
				throw new IllegalStateException("roll back");
			})).withMessage("roll back");
			assertThat(ForeignSession.isHeld(TRANSACTION)).isFalse();
			assertThat(jobs.nested(() -> "again")).isEqualTo("again");
			assertThat(ForeignSession.isHeld(TRANSACTION)).isTrue();
		}));
	}

	@Test
	void attributesOfTransactionalDecideTheTransaction() {
		run((jobs, context) -> jobs.serializable(() -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			assertThat(jdbc.queryForObject("SHOW transaction_isolation", String.class)).isEqualTo("serializable");
			assertThat(jdbc.queryForObject("SHOW transaction_read_only", String.class)).isEqualTo("on");
			assertThat(ForeignSession.holders(TRANSACTION)).isEqualTo(pids(context));
			return null;
		}));
	}

	@Test
	void rollbackOnlyOfTheJobRollsBackAndReleases() {
		run((jobs, context) -> {
			TransactionStatus status = jobs.required(() -> {
				TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
				return TransactionAspectSupport.currentTransactionStatus();
			});
			assertThat(status.isCompleted()).isTrue();
			assertThat(ForeignSession.isHeld(TRANSACTION)).isFalse();
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { TransactionsFirst.class, TransactionsLast.class })
	void orderOfImportsMakesNoDifference(Class<?> imports) {
		ApplicationContextRunner plain = new ApplicationContextRunner()
			.withPropertyValues("spring.application.name=test");
		run(plain.withUserConfiguration(imports).withBean(Jobs.class), (jobs, context) -> {
			AtomicInteger heldAfterCommit = new AtomicInteger();
			jobs.session(() -> afterCommit(() -> heldAfterCommit.set(ForeignSession.holders(SESSION).size())));
			assertThat(heldAfterCommit).hasValue(1);
			assertThat(jobs.requiresNew(() -> ForeignSession.holders(TRANSACTION).equals(pids(context)))).isTrue();
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { AsyncByDefault.class, AsyncFirst.class, AsyncTransactionsFirst.class })
	void lockIsHeldWhileAsynchronousMethodRuns(Class<?> imports) {
		this.runner.withUserConfiguration(imports).withBean(AsyncJobs.class).run((context) -> {
			AsyncJobs jobs = context.getBean(AsyncJobs.class);
			Thread caller = Thread.currentThread();
			assertThat(holdersDuring("async-transaction", (work) -> jobs.transaction(caller, work))).isEqualTo(1);
			assertThat(holdersDuring("async-session", (work) -> jobs.session(caller, work))).isEqualTo(1);
		});
	}

	@Test
	void lockIsHeldInEachAttemptOfRetry() {
		this.runner.withUserConfiguration(Retries.class).withBean(RetriedJobs.class).run((context) -> {
			RetriedJobs jobs = context.getBean(RetriedJobs.class);
			assertThat(attempts("retry-transaction", jobs::transaction)).containsExactly(true, true, true);
			assertThat(attempts("retry-session", jobs::session)).containsExactly(true, true, true);
		});
	}

	@Test
	void argumentsAreValidatedAndNothingStaysLocked() {
		this.runner.withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
			.withBean(ValidatedJobs.class)
			.run((context) -> {
				ValidatedJobs jobs = context.getBean(ValidatedJobs.class);
				assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> jobs.transaction(null))
					.satisfies((ex) -> assertThat(ex.getConstraintViolations()).singleElement()
						.extracting(ConstraintViolation::getPropertyPath)
						.hasToString("transaction.work"));
				assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> jobs.session(null))
					.satisfies((ex) -> assertThat(ex.getConstraintViolations()).singleElement()
						.extracting(ConstraintViolation::getPropertyPath)
						.hasToString("session.work"));
				assertThat(TestPostgres.locks()).isEmpty();
				assertThat(jobs.transaction(LockContext::current)).isNotEqualTo(Optional.empty());
				assertThat(jobs.session(LockContext::current)).isNotEqualTo(Optional.empty());
			});
	}

	@Test
	void scheduledMethodRunsUnderItsLock() {
		this.runner.withUserConfiguration(Scheduling.class).withBean(ScheduledJobs.class).run((context) -> {
			ScheduledJobs jobs = context.getBean(ScheduledJobs.class);
			assertThat(jobs.done().await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(jobs.held()).containsEntry("scheduled-transaction", true)
				.containsEntry("scheduled-session", true);
		});
	}

	private void run(JobsConsumer consumer) {
		run(this.runner, consumer);
	}

	private static void run(ApplicationContextRunner runner, JobsConsumer consumer) {
		runner.run((ContextConsumer<AssertableApplicationContext>) (context) -> consumer
			.accept(context.getBean(Jobs.class), context));
	}

	private static int holdersDuring(String name, Consumer<Runnable> start) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);
		AtomicInteger holders = new AtomicInteger();
		start.accept(() -> {
			holders.set(ForeignSession.holders(AdvisoryLockKey.of("test", name)).size());
			done.countDown();
		});
		assertThat(done.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		return holders.get();
	}

	private static List<Boolean> attempts(String name, Consumer<Runnable> method) {
		List<Boolean> held = new ArrayList<>();
		method.accept(() -> {
			held.add(ForeignSession.isHeld(AdvisoryLockKey.of("test", name)));
			if (held.size() < 3) {
				throw new IllegalStateException("attempt " + held.size());
			}
		});
		return held;
	}

	private static Object afterCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
		return "registered";
	}

	private static List<String> pids(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT pg_backend_pid()::text", String.class);
	}

	private static TransactionTemplate transaction(AssertableApplicationContext context) {
		return context.getBean(TransactionTemplate.class);
	}

	/**
	 * What a test does with the jobs.
	 */
	@FunctionalInterface
	interface JobsConsumer {

		void accept(Jobs jobs, AssertableApplicationContext context) throws Exception;

	}

	static class Jobs {

		@Transactional
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		<T> T session(Supplier<T> work) {
			return work.get();
		}

		@SingleRunner("plain")
		<T> T plain(Supplier<T> work) {
			return work.get();
		}

		@Transactional
		@SingleRunner(key = "transaction", allowSharedKey = true)
		<T> T required(Supplier<T> work) {
			return work.get();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@SingleRunner(key = "transaction", allowSharedKey = true)
		<T> T requiresNew(Supplier<T> work) {
			return work.get();
		}

		@Transactional(propagation = Propagation.NESTED)
		@SingleRunner(key = "transaction", allowSharedKey = true)
		<T> T nested(Supplier<T> work) {
			return work.get();
		}

		@Transactional(isolation = Isolation.SERIALIZABLE, readOnly = true)
		@SingleRunner(key = "transaction", allowSharedKey = true)
		<T> T serializable(Supplier<T> work) {
			return work.get();
		}

	}

	static class AsyncJobs {

		@Async
		@SingleRunner(key = "async-transaction")
		void transaction(Thread caller, Runnable work) {
			assertThat(Thread.currentThread()).isNotSameAs(caller);
			work.run();
		}

		@Async
		@Transactional
		@SingleRunner(key = "async-session", scope = LockScope.SESSION)
		void session(Thread caller, Runnable work) {
			assertThat(Thread.currentThread()).isNotSameAs(caller);
			work.run();
		}

	}

	static class RetriedJobs {

		@Retryable(maxRetries = 2, delay = 1)
		@Transactional
		@SingleRunner("retry-transaction")
		void transaction(Runnable work) {
			work.run();
		}

		@Retryable(maxRetries = 2, delay = 1)
		@Transactional
		@SingleRunner(key = "retry-session", scope = LockScope.SESSION)
		void session(Runnable work) {
			work.run();
		}

	}

	@Validated
	static class ValidatedJobs {

		@Transactional
		@SingleRunner("valid-transaction")
		Object transaction(@NotNull Supplier<?> work) {
			return work.get();
		}

		@SingleRunner(key = "valid-session", scope = LockScope.SESSION)
		Object session(@NotNull Supplier<?> work) {
			return work.get();
		}

	}

	static class ScheduledJobs {

		private final Map<String, Boolean> held = new ConcurrentHashMap<>();

		private final CountDownLatch done = new CountDownLatch(2);

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@SingleRunner("scheduled-transaction")
		void transaction() {
			note("scheduled-transaction");
		}

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@SingleRunner(key = "scheduled-session", scope = LockScope.SESSION)
		void session() {
			note("scheduled-session");
		}

		private void note(String name) {
			this.held.put(name, ForeignSession.isHeld(AdvisoryLockKey.of("test", name)));
			this.done.countDown();
		}

		CountDownLatch done() {
			return this.done;
		}

		Map<String, Boolean> held() {
			return this.held;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Database {

		@Bean
		HikariDataSource dataSource() {
			return TestPostgres.pool(4);
		}

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Database.class, Transactions.class, AdvisoryLockAutoConfiguration.class })
	static class TransactionsFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Database.class, AdvisoryLockAutoConfiguration.class, Transactions.class })
	static class TransactionsLast {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class AsyncByDefault {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = 0)
	static class AsyncFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = 0)
	@EnableTransactionManagement(order = 0)
	static class AsyncTransactionsFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Retries {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

}
