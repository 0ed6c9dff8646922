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

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Looks whether the transactions of a manager are such that a lock can live in them, by
 * beginning one and rolling it back.
 */
final class TransactionExamination implements Examination {

	private static final Log logger = LogFactory.getLog(TransactionExamination.class);

	/**
	 * Waiting for a connection that does not come takes its time, and once is enough.
	 */
	@Override
	public void examine(Subject subject, Diagnosis diagnosis) {
		PlatformTransactionManager manager = subject.transactionManager();
		if (manager == null || !subject.usesTransactions() || diagnosis.has(DoctorCheck.UNREACHABLE)) {
			return;
		}
		try {
			if (!isCovered(manager, subject)) {
				diagnosis.found(DoctorCheck.TRANSACTION_MANAGER,
						"Transactions of " + manager.getClass().getName()
								+ " do not cover the DataSource of the advisory locks (" + unwrap(subject.dataSource())
								+ "), and methods of scope TRANSACTION fail in them",
						"set 'advisory-lock.transaction-manager' to the name of the manager that does, or 'scope' to "
								+ "SESSION");
			}
		}
		catch (TransactionException ex) {
			// the database can't be reached, which is said elsewhere, or will be
			logger.debug("The transaction manager could not be examined", ex);
		}
		catch (RuntimeException ex) {
			logger.debug("The transaction manager could not be examined", ex);
			diagnosis.found(DoctorCheck.UNREACHABLE,
					"Transactions can't be begun, methods of scope TRANSACTION will fail until they can ("
							+ JdbcUrl.redact(String.valueOf(ex.getMessage())) + ")",
					"check the transaction manager, a " + manager.getClass().getName()
							+ ", if that does not change");
		}
	}

	private static boolean isCovered(PlatformTransactionManager manager, Subject subject) {
		return Boolean.TRUE.equals(new TransactionTemplate(manager).execute((status) -> {
			status.setRollbackOnly();
			return subject.template().isInLockTransaction();
		}));
	}

	private static DataSource unwrap(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? proxy.getTargetDataSource() : dataSource;
	}

}
