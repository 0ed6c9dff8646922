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

package io.github.advisorylock.test;

import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.test.pay.PayApplication;
import io.github.advisorylock.test.pay.Reminders;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for methods that name a transaction manager, with locks in memory.
 */
class NamedManagersTests {

	private static boolean isIn(PlatformTransactionManager manager) {
		return TransactionSynchronizationManager.hasResource(manager);
	}

	private static boolean isInAny() {
		return TransactionSynchronizationManager.isActualTransactionActive();
	}

	@ParameterizedTest
	@CsvSource({ "Slice, attribute 'transactionManager'", "Fleet, the manager of its @Transactional" })
	void nameThatIsNoneIsRefusedAtTheStart(String test, String who) throws ClassNotFoundException {
		TestContext context = new TestContextManager(
				Class.forName(NamedManagersTests.class.getName() + "$WithoutTheManager" + test))
			.getTestContext();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(context::getApplicationContext)
			.havingCause()
			.isInstanceOf(InvalidSingleRunnerException.class)
			.withMessageContaining("is unusable: " + who
					+ " is 'accounts': There is no transaction manager 'accounts', there is [first, second]");
	}

	/**
	 * Without managers and without a database.
	 */
	@Nested
	@AdvisoryLockTest(value = Reminders.class, properties = "advisory-lock.transaction-manager=books")
	@Import({ Accounts.class, Statements.class, Postings.class })
	@ContextConfiguration(classes = PayApplication.class)
	class InASlice {

		@Autowired
		private Accounts accounts;

		@Autowired
		private Statements statements;

		@Autowired
		private Postings postings;

		@Autowired
		private PlatformTransactionManager primary;

		@Test
		void runIsInATransactionOfTheNamedManager(@Autowired @Qualifier("accounts") PlatformTransactionManager named) {
			assertThat(this.accounts.close(() -> isIn(named))).isTrue();
			assertThat(this.statements.write(() -> isIn(named))).isTrue();
			assertThatLock("accounts").hasRunOnce();
		}

		@Test
		void runDoesNotJoinTheTransactionOfAnotherDatabase() {
			new TransactionTemplate(this.primary).executeWithoutResult((status) -> {
				assertThat(this.accounts.close(() -> isIn(this.primary))).isTrue();
				assertThatLock("accounts").hasRunOnce().isFree();
			});
		}

		@Test
		void managerOfThePropertyIsThatOfAllWhoNameNone() {
			new TransactionTemplate(this.primary).executeWithoutResult((status) -> {
				assertThat(this.postings.post(() -> isIn(this.primary))).isTrue();
				assertThatLock("postings").hasRunOnce().isHeld();
			});
		}

	}

	/**
	 * On instances without managers.
	 */
	@Nested
	@FleetTest(Reminders.class)
	@Import({ Accounts.class, Postings.class })
	@ContextConfiguration(classes = PayApplication.class)
	class OnAFleet {

		@Test
		void eachInstanceHasTheNamedManager(Fleet fleet) {
			assertThat(fleet.instances()).hasSize(3).allSatisfy((instance) -> {
				PlatformTransactionManager primary = fleet.bean(instance, PlatformTransactionManager.class);
				Accounts accounts = fleet.bean(instance, Accounts.class);
				assertThat(accounts.close(() -> isInAny() && !isIn(primary))).isTrue();
				assertThat(fleet.bean(instance, Postings.class).post(() -> isIn(primary))).isTrue();
			});
			assertThatLock("accounts").hasRun(3);
		}

	}

	/**
	 * With the managers of the application.
	 */
	abstract static class WithSeveral {

		@Autowired
		Postings postings;

		@Autowired
		@Qualifier("first")
		PlatformTransactionManager first;

		@Autowired
		@Qualifier("second")
		PlatformTransactionManager second;

	}

	/**
	 * A test whose managers are others than the one that is named.
	 */
	@AdvisoryLockTest(Reminders.class)
	@Import({ Archive.class, Managers.class })
	@ContextConfiguration(classes = PayApplication.class)
	static class WithoutTheManagerSlice {

	}

	/**
	 * A test of a fleet whose managers are others than the one that is named.
	 */
	@FleetTest(Reminders.class)
	@Import({ Statements.class, Managers.class })
	@ContextConfiguration(classes = PayApplication.class)
	static class WithoutTheManagerFleet {

	}

	/**
	 * Where nothing says which.
	 */
	@Nested
	@AdvisoryLockTest(Reminders.class)
	@Import({ Postings.class, Managers.class })
	@ContextConfiguration(classes = PayApplication.class)
	class WithoutTheProperty extends WithSeveral {

		@Test
		void managerHasToBeNamed() {
			assertThatExceptionOfType(AdvisoryLockConfigurationException.class)
				.isThrownBy(() -> this.postings.post(() -> fail("ran")))
				.withMessage("There is no single transaction manager, there is [first, second]");
		}

		@Test
		void transactionOfTheCallerIsJoined() {
			new TransactionTemplate(this.first).executeWithoutResult((status) -> {
				assertThat(this.postings.post(() -> isIn(this.first))).isTrue();
				assertThatLock("postings").isHeld();
			});
		}

	}

	/**
	 * Where the property says which.
	 */
	@Nested
	@AdvisoryLockTest(value = Reminders.class, properties = "advisory-lock.transaction-manager=second")
	@Import({ Postings.class, Managers.class })
	@ContextConfiguration(classes = PayApplication.class)
	class WithTheProperty extends WithSeveral {

		@Test
		void runIsInATransactionOfThatManager() {
			assertThat(this.postings.post(() -> isIn(this.second) && !isIn(this.first))).isTrue();
		}

		@Test
		void transactionOfAnotherDatabaseIsRefused() {
			TransactionTemplate transaction = new TransactionTemplate(this.first);
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> transaction.execute((status) -> this.postings.post(() -> fail("ran"))))
				.withMessageContaining("that is not one of transaction manager 'second'");
		}

	}

	/**
	 * Two managers, each of a database of its own.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		PlatformTransactionManager first() {
			return new UnboundTransactionManager(null);
		}

		@Bean
		PlatformTransactionManager second() {
			return new UnboundTransactionManager(null);
		}

	}

	/**
	 * Names managers.
	 */
	@Component
	static class Accounts {

		@SingleRunner(key = "accounts", transactionManager = "accounts")
		Boolean close(Supplier<Boolean> work) {
			return work.get();
		}

	}

	/**
	 * Names a manager in scope SESSION.
	 */
	@Component
	static class Archive {

		@SingleRunner(key = "archive", transactionManager = "accounts", scope = LockScope.SESSION)
		void archive() {
		}

	}

	/**
	 * Names a manager for its transactions.
	 */
	@Component
	static class Statements {

		@Transactional("accounts")
		@SingleRunner("statements")
		Boolean write(Supplier<Boolean> work) {
			return work.get();
		}

	}

	/**
	 * Names no manager.
	 */
	@Component
	static class Postings {

		@SingleRunner("postings")
		Boolean post(Supplier<Boolean> work) {
			return work.get();
		}

	}

}
