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

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord.Boundary;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What the transaction that the current thread is in means for a lock: whether it is one
 * on the lock's DataSource, whether it is going on, and whether it can still be
 * committed. Asks the connection that is bound, whoever bound it; a transaction manager
 * only knows what it meant to do.
 */
final class TransactionCoverage {

	private static final TransactionSynchronization COMMITTING = new TransactionSynchronization() {
	};

	/**
	 * What Spring says at the commit of a transaction that something has marked.
	 */
	private static final String MARKED = "marked as rollback-only";

	private final DataSource dataSource;

	private final String manager;

	private final BoundConnection bound;

	TransactionCoverage(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager) {
		this.dataSource = dataSource;
		this.manager = (transactionManager != null) ? transactionManager.getClass().getName() : "none";
		this.bound = new BoundConnection(dataSource);
		if (transactionManager instanceof ConfigurableTransactionManager configurable) {
			configurable.addListener(new CommitListener());
		}
	}

	/**
	 * Return whether the current thread is in a transaction that is going on, on whatever
	 * resource. One that is completing is not, although much of it still looks alive:
	 * what is written then is committed even when it fails.
	 */
	boolean isInTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive()
				&& !TransactionSynchronizationManager.getSynchronizations().contains(COMMITTING);
	}

	/**
	 * Return whether the current transaction is one on the lock's DataSource.
	 */
	boolean isCovered() {
		return isCovered(this.bound.get());
	}

	private boolean isCovered(@Nullable ConnectionHolder holder) {
		// a holder that only follows the transaction of some other manager was bound by a
		// mere use of the DataSource, and its connection commits by itself, or never
		return holder != null && (this.bound.isInTransaction() || !holder.isSynchronizedWithTransaction());
	}

	/**
	 * Make sure that a lock on the current connection will live in the current
	 * transaction. To be asked once that has begun, whoever began it.
	 */
	void check(AdvisoryLockKey key) {
		if (!isCovered()) {
			throw refusal(key);
		}
	}

	/**
	 * Return what a run in the current transaction of a caller is part of.
	 * @throws IllegalTransactionStateException if the run has to be recorded in it, and
	 * can't be
	 */
	Boundary boundary(AdvisoryLockKey key, LockScope scope, boolean recorded) {
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		if (scope == LockScope.SESSION && (readOnly || !isCovered())) {
			return Boundary.NONE;
		}
		if (readOnly && recorded) {
			throw new IllegalTransactionStateException("Failed to record a run of advisory lock '" + key
					+ "' in the current transaction: that transaction is read-only");
		}
		return Boundary.CALLERS_TRANSACTION;
	}

	/**
	 * Return what to say of a lock that is not in a transaction.
	 */
	IllegalTransactionStateException refusal(AdvisoryLockKey key) {
		return new IllegalTransactionStateException("Failed to acquire advisory lock '" + key
				+ "' in the current transaction: that transaction does not cover the lock's DataSource ("
				+ this.dataSource + ", transaction manager " + this.manager
				+ "); name the manager that does, by 'transactionManager' of the annotation or request or "
				+ "'advisory-lock.transaction-manager', or use scope SESSION");
	}

	/**
	 * Return what to say of a current transaction on a standby. A DataSource may lead
	 * read-only transactions there.
	 */
	static UnsupportedDatabaseException standby(AdvisoryLockKey key) {
		String standby = "it is a standby, which grants the same locks as its primary; ";
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		return new UnsupportedDatabaseException(!TransactionSynchronizationManager.isCurrentTransactionReadOnly()
				? standby + "connect to the primary"
				: standby + "the transaction " + ((name != null) ? "'" + name + "' " : "") + "of advisory lock '" + key
						+ "' is read-only ('readOnly' of @Transactional), and may be led to a standby for "
						+ "that: remove 'readOnly', or set 'scope' to SESSION, or connect to the primary");
	}

	/**
	 * Return what to say of a transaction that was begun for a run and is rolled back
	 * although the run has ended well. Other reasons than a mark are in its own words.
	 * @param ex what the transaction manager says
	 */
	static UnexpectedRollbackException explainRollback(AdvisoryLockKey key, UnexpectedRollbackException ex) {
		if (!String.valueOf(ex.getMessage()).contains(MARKED)) {
			return ex;
		}
		return new UnexpectedRollbackException("Failed to commit the run of advisory lock '" + key
				+ "': a part of it has marked its transaction as rollback-only, as a "
				+ "@Transactional method does when it fails, even if the exception is caught; scope TRANSACTION has made "
				+ "the whole run one transaction, so nothing of it is committed; set 'scope' to SESSION to let each part "
				+ "commit by itself, or propagation REQUIRES_NEW on the part that may fail", ex);
	}

	/**
	 * Make sure that PostgreSQL has not aborted the current transaction on the lock's
	 * DataSource, if there is one. The end of such a transaction is a rollback, whatever
	 * it is called. Where the driver does not tell, the server is asked, and then along
	 * with that, whether it has the lock.
	 * @throws LockLostException if the server answers that it has not
	 */
	void checkNotAborted(Hold hold) {
		if (!hold.isKnownByServerOnly()) {
			checkNotAborted(hold.key());
			return;
		}
		try {
			hold.confirm();
		}
		catch (LockLostException ex) {
			if (ex.getCause() instanceof SQLException answer && isOfAborted(answer)) {
				UnexpectedRollbackException aborted = aborted(hold.key());
				aborted.initCause(answer);
				throw aborted;
			}
			throw ex;
		}
	}

	/**
	 * Work whose transaction PostgreSQL has aborted, or whose lock was lost on the way,
	 * has not come to a good end. The session is asked before that is written down.
	 */
	void checkGoodEnd(Hold hold, boolean recorded) {
		if (hold.isRevoked()) {
			throw hold.lostException();
		}
		checkNotAborted(hold);
		hold.checkActive();
		if (recorded && hold.scope() == LockScope.SESSION) {
			hold.confirm();
		}
	}

	private void checkNotAborted(AdvisoryLockKey key) {
		ConnectionHolder holder = this.bound.get();
		if (holder != null && isCovered(holder) && isAborted(key, holder)) {
			throw aborted(key);
		}
	}

	private static UnexpectedRollbackException aborted(AdvisoryLockKey key) {
		return new UnexpectedRollbackException("Failed to complete the run of advisory lock '" + key
				+ "': PostgreSQL has aborted its transaction after an SQL error that was not passed on, and rolls "
				+ "everything back that was done in it; let the error through, or do what may fail in a "
				+ "transaction or savepoint of its own");
	}

	private static boolean isAborted(AdvisoryLockKey key, ConnectionHolder holder) {
		Connection connection = holder.getConnection();
		return switch (PgDriver.transactionState(connection)) {
			case NONE, OPEN -> false;
			case ABORTED -> true;
			case UNTOLD -> isAnsweredAsAborted(key, connection);
		};
	}

	/**
	 * A failure of another kind is no {@link TransactionException}: Spring takes one of
	 * those for news of the end of a transaction, and does not roll it back.
	 */
	private static boolean isAnsweredAsAborted(AdvisoryLockKey key, Connection connection) {
		try (Statement statement = connection.createStatement()) {
			statement.execute(PostgresAdvisoryLockFunctions.IS_COMMITTABLE);
			return false;
		}
		catch (SQLException ex) {
			if (isOfAborted(ex)) {
				return true;
			}
			throw new DataAccessResourceFailureException("Failed to complete the run of advisory lock '" + key
					+ "': its driver does not tell whether its transaction can be committed, and the server could not "
					+ "be asked", ex);
		}
	}

	private static boolean isOfAborted(SQLException answer) {
		return PgDriver.IN_FAILED_TRANSACTION.equals(answer.getSQLState());
	}

	/**
	 * Find the key that the current transaction, which is about to be committed, is to be
	 * judged for: that of the run around it, else of one that is part of it.
	 * @return the key, {@code null} also where the driver says that it can be committed
	 */
	private static @Nullable AdvisoryLockKey findDoubted() {
		AdvisoryLockKey found = null;
		for (TransactionSynchronization synchronization : TransactionSynchronizationManager.getSynchronizations()) {
			if (synchronization instanceof TransactionPart part) {
				if (part.hold.isCommittable()) {
					return null;
				}
				found = (found != null) ? found : part.hold.key();
			}
		}
		LockContext context = LockContext.current().orElse(null);
		return (context != null) ? context.key() : found;
	}

	/**
	 * Looks at a transaction of whatever manager as the one of JDBC does, which alone may
	 * see whether a holder's transaction is active. Takes part in nothing.
	 */
	private static final class BoundConnection extends DataSourceTransactionManager {

		BoundConnection(DataSource dataSource) {
			super(dataSource);
		}

		@Nullable ConnectionHolder get() {
			return (ConnectionHolder) TransactionSynchronizationManager.getResource(obtainDataSource());
		}

		boolean isInTransaction() {
			return isExistingTransaction(doGetTransaction());
		}

	}

	/**
	 * Leaves a mark in a transaction whose commit begins, and refuses that commit to work
	 * under a lock when it would be a rollback: the last to see the transaction before
	 * the driver, which need not say so.
	 */
	private final class CommitListener implements TransactionExecutionListener {

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (transaction.isNewTransaction() && TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization(COMMITTING);
				AdvisoryLockKey key = findDoubted();
				if (key != null) {
					checkNotAborted(key);
				}
			}
		}

	}

}
