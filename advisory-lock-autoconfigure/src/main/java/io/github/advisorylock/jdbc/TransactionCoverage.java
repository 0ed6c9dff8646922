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

package io.github.advisorylock.jdbc;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Makes sure that the transaction a lock is about to join is one on the lock's
 * DataSource. Without the check the lock would end up on some other connection, in
 * autocommit, and protect nothing.
 */
final class TransactionCoverage {

	private final DataSource dataSource;

	private final List<PlatformTransactionManager> transactionManagers;

	TransactionCoverage(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager) {
		this.dataSource = dataSource;
		// the second one recognizes transactions of another manager on the same
		// DataSource
		this.transactionManagers = Stream.of(transactionManager, new DataSourceTransactionManager(dataSource))
			.filter(Objects::nonNull)
			.toList();
	}

	void check(AdvisoryLockKey key) {
		if (!isCovered()) {
			throw new IllegalTransactionStateException("Failed to acquire advisory lock '" + key
					+ "' in the current transaction: that transaction does not cover the lock's DataSource; set "
					+ "'advisory-lock.transaction-manager' to the manager that does, or use scope SESSION");
		}
	}

	/**
	 * Return whether the current transaction is one on the lock's DataSource.
	 */
	boolean isCovered() {
		return TransactionSynchronizationManager.hasResource(this.dataSource)
				&& this.transactionManagers.stream().anyMatch(this::isInTransaction);
	}

	/**
	 * Ask the manager itself, by taking part in its transaction if there is one.
	 */
	private boolean isInTransaction(PlatformTransactionManager transactionManager) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(
				TransactionDefinition.PROPAGATION_SUPPORTS);
		definition.setReadOnly(TransactionSynchronizationManager.isCurrentTransactionReadOnly());
		TransactionStatus participation = transactionManager.getTransaction(definition);
		boolean inTransaction = participation.hasTransaction();
		transactionManager.commit(participation);
		return inTransaction;
	}

}
