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

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.SmartTransactionObject;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Begins and ends transactions on nothing, with all that Spring does around them. Those
 * of a fleet need its database.
 */
class UnboundTransactionManager extends AbstractPlatformTransactionManager implements ResourceTransactionManager {

	private final @Nullable Fleet fleet;

	/**
	 * Create a transaction manager.
	 * @param fleet has the database, {@code null} without one
	 */
	UnboundTransactionManager(@Nullable Fleet fleet) {
		this.fleet = fleet;
	}

	@Override
	public Object getResourceFactory() {
		return this;
	}

	@Override
	protected Object doGetTransaction() {
		Object current = TransactionSynchronizationManager.getResource(this);
		return (current != null) ? current : new Unbound(outages());
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return TransactionSynchronizationManager.hasResource(this);
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		if (this.fleet != null && this.fleet.isDatabaseDown()) {
			throw new CannotCreateTransactionException(
					"Failed to begin a transaction: the database is down, as Fleet.databaseDown() says");
		}
		TransactionSynchronizationManager.bindResource(this, transaction);
	}

	@Override
	protected Object doSuspend(Object transaction) {
		return TransactionSynchronizationManager.unbindResource(this);
	}

	@Override
	protected void doResume(@Nullable Object transaction, Object suspendedResources) {
		TransactionSynchronizationManager.bindResource(this, suspendedResources);
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		if (((Unbound) status.getTransaction()).outages != outages()) {
			throw new TransactionSystemException(
					"Failed to commit a transaction: the database was down since it began, "
							+ "as Fleet.databaseDown() says");
		}
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
	}

	@Override
	protected void doSetRollbackOnly(DefaultTransactionStatus status) {
		((Unbound) status.getTransaction()).rollbackOnly = true;
	}

	@Override
	protected void doCleanupAfterCompletion(Object transaction) {
		TransactionSynchronizationManager.unbindResource(this);
	}

	private int outages() {
		return (this.fleet != null) ? this.fleet.outages() : 0;
	}

	/**
	 * A transaction, of which only its end can be known.
	 */
	private static final class Unbound implements SmartTransactionObject {

		private final int outages;

		private boolean rollbackOnly;

		/**
		 * Create a transaction.
		 * @param outages how often the database has gone down before
		 */
		private Unbound(int outages) {
			this.outages = outages;
		}

		@Override
		public boolean isRollbackOnly() {
			return this.rollbackOnly;
		}

	}

}
