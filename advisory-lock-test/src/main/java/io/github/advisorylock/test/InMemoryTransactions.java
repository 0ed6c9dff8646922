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

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;
import io.github.advisorylock.database.TransactionManagers;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions that locks in memory live in: those of the manager that a request
 * names, else of that of the property, else of the only or primary one.
 */
final class InMemoryTransactions {

	private final TransactionManagers managers;

	private final Supplier<AdvisoryLockProperties> properties;

	/**
	 * Create transactions.
	 * @param beans has the managers, none to run without transactions
	 * @param properties may name one of them
	 */
	InMemoryTransactions(ConfigurableListableBeanFactory beans, Supplier<AdvisoryLockProperties> properties) {
		this.managers = new TransactionManagers(beans);
		this.properties = properties;
	}

	/**
	 * Make sure that there is the manager which a method names.
	 */
	void check(SingleRunnerMethod method) {
		TransactionManagers.named(method, (manager, said) -> this.managers.get(manager));
	}

	/**
	 * Return the manager of a request.
	 * @return the manager, {@code null} if there is none, or nothing tells which
	 * @throws AdvisoryLockConfigurationException if there is none of the name
	 */
	@Nullable PlatformTransactionManager of(LockRequest request) {
		String name = (request.transactionManager() != null) ? request.transactionManager()
				: this.properties.get().transactionManager();
		return (name != null) ? this.managers.get(name) : this.managers.unique();
	}

	/**
	 * Return what begins the transaction of a request.
	 * @return the manager, {@code null} if there is none
	 */
	@Nullable PlatformTransactionManager beginner(LockRequest request) {
		PlatformTransactionManager manager = of(request);
		if (manager == null && !this.managers.names().isEmpty()) {
			throw new AdvisoryLockConfigurationException(
					"There is no single transaction manager, there is " + this.managers.names(),
					"Set 'advisory-lock.transaction-manager' to the name of one of those.");
		}
		return manager;
	}

	/**
	 * Return whether a request is made in a transaction that its lock can live in.
	 */
	boolean isIn(LockRequest request) {
		PlatformTransactionManager manager = of(request);
		boolean in = InMemoryHold.isInTransaction();
		if (!in || manager == null || isOf(manager)) {
			return in;
		}
		if (request.transactionManager() == null && InMemoryLockOperations.scope(request) == LockScope.TRANSACTION) {
			throw new IllegalTransactionStateException("Failed to acquire an advisory lock in the current transaction: "
					+ "that is not one of transaction manager '" + this.managers.nameOf(manager)
					+ "'; name the manager that began it, by 'transactionManager' of the annotation or request or "
					+ "'advisory-lock.transaction-manager', or use scope SESSION");
		}
		return false;
	}

	/**
	 * Return whether the current transaction is one of a manager, or of its database.
	 */
	private boolean isOf(PlatformTransactionManager manager) {
		DataSource dataSource = this.managers.dataSourceOf(manager);
		return (dataSource != null) ? TransactionSynchronizationManager.hasResource(dataSource)
				: !(manager instanceof ResourceTransactionManager known)
						|| TransactionSynchronizationManager.hasResource(known.getResourceFactory());
	}

}
