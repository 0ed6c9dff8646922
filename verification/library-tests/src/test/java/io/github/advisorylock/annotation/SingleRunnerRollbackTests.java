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

import java.util.List;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SingleRunner} methods that catch what a {@code @Transactional} service
 * throws for one of many items.
 */
class SingleRunnerRollbackTests {

	private static final String SPRING = "Transaction rolled back because it has been marked as rollback-only";

	private static final List<String> ITEMS = List.of("1", "bad", "3");

	private final ApplicationContextRunner runner = LockContextRunner.create().withUserConfiguration(Beans.class);

	@BeforeEach
	void createTable() {
		TestPostgres.execute("CREATE TABLE bill (item text)");
	}

	@AfterEach
	void dropTable() {
		TestPostgres.execute("DROP TABLE bill");
	}

	@Test
	void itemThatFailsInTransactionOfTheLockIsTold() {
		this.runner.run((context) -> {
			assertThatRollbackOf(() -> context.getBean(Jobs.class).billAll())
				.withMessageContainingAll("'Jobs.billAll'", "advisory lock 'test/bill-all'",
						"scope TRANSACTION has made the whole run one transaction", "'scope' to SESSION",
						"propagation REQUIRES_NEW")
				.havingCause()
				.isInstanceOf(UnexpectedRollbackException.class)
				.withMessage(SPRING);
			assertThat(rows()).isEmpty();
			assertThat(context.getBean(Failures.class).failure).hasMessageContaining("'scope' to SESSION");
		});
	}

	@Test
	void itemThatFailsInTransactionOfTheAnnotationIsTold() {
		this.runner.run((context) -> {
			assertThatRollbackOf(() -> context.getBean(Jobs.class).billInTransaction()).withMessageContainingAll(
					"'Jobs.billInTransaction'", "advisory lock 'test/bill-in-transaction'",
					"the @Transactional of the method makes all of it one transaction, with and without @SingleRunner",
					"propagation REQUIRES_NEW",
					"remove that @Transactional and set 'scope' of @SingleRunner to SESSION")
				.withMessageNotContaining("scope TRANSACTION has made")
				.havingCause()
				.isInstanceOf(UnexpectedRollbackException.class)
				.withMessage(SPRING);
			assertThat(rows()).isEmpty();
		});
	}

	@Test
	void itemThatFailsUnderLockInCodeIsTold() {
		this.runner.run((context) -> {
			Bills bills = context.getBean(Bills.class);
			assertThatRollbackOf(() -> context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("bill-in-code"), (lock) -> bills.addAll(bills::add)))
				.withMessageContainingAll("advisory lock 'test/bill-in-code'",
						"scope TRANSACTION has made the whole run one transaction", "'scope' to SESSION",
						"propagation REQUIRES_NEW")
				.havingCause()
				.isInstanceOf(UnexpectedRollbackException.class)
				.withMessage(SPRING);
			assertThat(rows()).isEmpty();
		});
	}

	@Test
	void transactionOfTheCallerFailsInTheWordsOfSpring() {
		this.runner.run((context) -> {
			TransactionTemplate caller = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			assertThatRollbackOf(() -> caller.executeWithoutResult((status) -> context.getBean(Jobs.class).billAll()))
				.withMessage(SPRING);
		});
	}

	@Test
	void failureOfTheWorkIsLeftAsItIs() {
		this.runner.run((context) -> {
			UnexpectedRollbackException failure = new UnexpectedRollbackException("of a service");
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> context.getBean(Jobs.class).fail(failure),
					() -> context.getBean(Jobs.class).failInTransaction(failure))) {
				assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(call).isSameAs(failure);
			}
		});
	}

	@Test
	void otherItemsAreCommittedByWhatTheMessageAdvises() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class).billAllInSession();
			assertThat(rows()).containsExactly("1", "3");
			TestPostgres.execute("DELETE FROM bill");
			context.getBean(Jobs.class).billEach();
			assertThat(rows()).containsExactly("1", "3");
		});
	}

	private static ThrowableAssertAlternative<UnexpectedRollbackException> assertThatRollbackOf(ThrowingCallable call) {
		return assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(call)
			.withMessageContaining("rollback-only");
	}

	private static List<String> rows() {
		return TestPostgres.query("SELECT item FROM bill ORDER BY item");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Beans {

		@Bean
		Bills bills(JdbcTemplate jdbc) {
			return new Bills(jdbc);
		}

		@Bean
		Jobs jobs(Bills bills) {
			return new Jobs(bills);
		}

		@Bean
		Failures failures() {
			return new Failures();
		}

	}

	static class Failures implements ApplicationListener<PayloadApplicationEvent<SingleRunnerFinishedEvent>> {

		private volatile Throwable failure;

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<SingleRunnerFinishedEvent> event) {
			this.failure = event.getPayload().failure();
		}

	}

	static class Bills {

		private final JdbcTemplate jdbc;

		Bills(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		void add(String item) {
			insert(item);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void addApart(String item) {
			insert(item);
		}

		private void insert(String item) {
			this.jdbc.update("INSERT INTO bill VALUES (?)", item);
			if (item.equals("bad")) {
				throw new IllegalArgumentException(item);
			}
		}

		boolean addAll(Consumer<String> add) {
			for (String item : ITEMS) {
				try {
					add.accept(item);
				}
				catch (IllegalArgumentException ex) {
					assertThat(ex).hasMessage("bad");
				}
			}
			return true;
		}

	}

	static class Jobs {

		private final Bills bills;

		Jobs(Bills bills) {
			this.bills = bills;
		}

		@SingleRunner("bill-all")
		void billAll() {
			this.bills.addAll(this.bills::add);
		}

		@Transactional
		@SingleRunner("bill-in-transaction")
		void billInTransaction() {
			this.bills.addAll(this.bills::add);
		}

		@SingleRunner(key = "bill-all-in-session", scope = LockScope.SESSION)
		void billAllInSession() {
			this.bills.addAll(this.bills::add);
		}

		@SingleRunner("bill-each")
		void billEach() {
			this.bills.addAll(this.bills::addApart);
		}

		@SingleRunner("fail")
		void fail(UnexpectedRollbackException failure) {
			throw failure;
		}

		@Transactional
		@SingleRunner("fail-in-transaction")
		void failInTransaction(UnexpectedRollbackException failure) {
			throw failure;
		}

	}

}
