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

package io.github.advisorylock.doctor;

import java.util.List;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Looks whether the transactions of a manager are such that a lock can live in them, by
 * beginning one and rolling it back.
 */
final class TransactionExamination {

	private static final Log logger = LogFactory.getLog(TransactionExamination.class);

	private final DataSource dataSource;

	private final @Nullable PlatformTransactionManager transactionManager;

	private final BooleanSupplier covered;

	/**
	 * Create an examination.
	 * @param covered whether the current transaction is one that locks can live in
	 */
	TransactionExamination(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager,
			BooleanSupplier covered) {
		this.dataSource = (dataSource instanceof TransactionAwareDataSourceProxy proxy
				&& proxy.getTargetDataSource() != null) ? proxy.getTargetDataSource() : dataSource;
		this.transactionManager = transactionManager;
		this.covered = covered;
	}

	void examine(List<Finding> findings) {
		if (this.transactionManager == null) {
			return;
		}
		try {
			if (!isCovered(this.transactionManager)) {
				findings.add(new Finding(DoctorCheck.TRANSACTION_MANAGER,
						"Transactions of " + this.transactionManager.getClass().getName()
								+ " do not cover the DataSource of the advisory locks (" + this.dataSource
								+ "), and methods of scope TRANSACTION fail in them",
						"set 'advisory-lock.transaction-manager' to the name of the manager that does, or 'scope' to "
								+ "SESSION"));
			}
		}
		catch (TransactionException ex) {
			// the database can't be reached, which is said elsewhere, or will be
			logger.debug("The transaction manager could not be examined", ex);
		}
	}

	private boolean isCovered(PlatformTransactionManager manager) {
		return Boolean.TRUE.equals(new TransactionTemplate(manager).execute((status) -> {
			status.setRollbackOnly();
			return this.covered.getAsBoolean();
		}));
	}

}
