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

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.TransactionManagers;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

/**
 * Makes sure that an annotated method gets the transaction that its lock is to live in,
 * as far as that is known without a database.
 */
record TransactionStartupCheck(TransactionManagers managers) {

	/**
	 * Check a method.
	 * @param database has its lock
	 */
	void check(SingleRunnerMethod method, LockDatabase database) {
		PlatformTransactionManager manager = managerOf(method, database);
		if (manager != null && method.operation().scope() == LockScope.TRANSACTION) {
			checkDatabase(method, database, manager);
			checkConnection(method, manager);
			TransactionAttribute transactional = this.managers.transactionalOf(method);
			if (transactional == null || transactional.getTimeout() == TransactionDefinition.TIMEOUT_DEFAULT) {
				checkTimeout(method, manager);
			}
		}
	}

	private @Nullable PlatformTransactionManager managerOf(SingleRunnerMethod method, LockDatabase database) {
		try {
			return this.managers.of(method, database);
		}
		catch (AdvisoryLockConfigurationException ex) {
			throw new InvalidSingleRunnerException(method.beanName(), method.method(),
					"can't get a transaction: " + ex.getMessage(), ex.getAction(), ex);
		}
	}

	/**
	 * A lock can't live in a transaction of another database than its own.
	 */
	private void checkDatabase(SingleRunnerMethod method, LockDatabase database, PlatformTransactionManager manager) {
		DataSource dataSource = this.managers.dataSourceOf(manager);
		if (dataSource != null && !database.isOn(dataSource)) {
			throw invalid(method,
					"has its lock in the database of transaction manager '" + database.name()
							+ "', and its @Transactional begins transactions of '" + this.managers.nameOf(manager)
							+ "', which is another one: attributes 'transactionManager' contradict each other",
					"Name the same transaction manager in both, as in @Transactional(\"" + database.name()
							+ "\"), or set 'scope' to SESSION.");
		}
	}

	/**
	 * A lock goes with the connection of its transaction.
	 */
	private void checkConnection(SingleRunnerMethod method, PlatformTransactionManager manager) {
		if (this.managers.releaseEarly(manager)) {
			throw invalid(method,
					"would lose its lock while it runs: Hibernate gives the connection of a transaction of '"
							+ this.managers.nameOf(manager) + "' back before that ends",
					"Remove the property 'hibernate.connection.handling_mode', or set 'scope' to SESSION.");
		}
	}

	/**
	 * The wait for a lock is a part of its transaction, however long that may last.
	 */
	private void checkTimeout(SingleRunnerMethod method, PlatformTransactionManager manager) {
		int seconds = (manager instanceof AbstractPlatformTransactionManager known) ? known.getDefaultTimeout()
				: TransactionDefinition.TIMEOUT_DEFAULT;
		Duration timeout = Duration.ofSeconds(seconds);
		Duration waitFor = method.operation().waitFor();
		if (seconds > 0 && waitFor.compareTo(timeout) >= 0) {
			throw invalid(method,
					"waits for its lock for " + waitFor + " inside its transaction, which times out after " + timeout
							+ " by 'spring.transaction.default-timeout', the default of transaction manager '"
							+ this.managers.nameOf(manager) + "'" + source(method),
					"Set 'waitFor' to less than that, or 'timeout' of its @Transactional to more than 'waitFor', or "
							+ "'scope' to SESSION, which locks before the transaction begins.");
		}
	}

	/**
	 * Say what has set the time to wait, where that is not the annotation.
	 */
	private static String source(SingleRunnerMethod method) {
		SingleRunner annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), SingleRunner.class);
		return (annotation != null && annotation.waitFor().isEmpty())
				? " (the time to wait is set by 'advisory-lock.wait-for' or 'advisory-lock.jobs.<key>.wait-for')" : "";
	}

	/**
	 * Return what to say of a method whose transactions nothing begins.
	 */
	InvalidSingleRunnerException missingManager(SingleRunnerMethod method) {
		List<String> reactive = this.managers.reactiveNames();
		if (this.managers.names().isEmpty() && !reactive.isEmpty()) {
			return invalid(method,
					"needs a transaction manager for attribute 'scope' TRANSACTION, and there is none: Spring Boot makes "
							+ "none beside the reactive one of bean '" + reactive.get(0) + "'",
					"Define a bean of class JdbcTransactionManager for the DataSource of the locks, or set 'scope' to "
							+ "SESSION.");
		}
		return invalid(method,
				"needs a transaction manager for attribute 'scope' TRANSACTION, and there is no single one",
				"Set 'advisory-lock.transaction-manager' to the name of the one that manages the DataSource of the locks, "
						+ "or 'scope' to SESSION.");
	}

	private static InvalidSingleRunnerException invalid(SingleRunnerMethod method, String problem, String action) {
		return new InvalidSingleRunnerException(method.beanName(), method.method(), problem, action, null);
	}

}
