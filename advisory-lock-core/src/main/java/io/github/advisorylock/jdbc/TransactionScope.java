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
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.NonTransientDataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSuspensionNotSupportedException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Locks that live in a transaction: the caller's, or one that is begun for the run. The
 * connection is that transaction's own, so that the lock ends with it, however it ends.
 */
final class TransactionScope {

	private static final Log logger = LogFactory.getLog(TransactionScope.class);

	/**
	 * Never joins: a manager takes a transaction that is completing for one that can be
	 * joined, and commits what is written in it then even if that fails.
	 */
	private static final TransactionDefinition OWN = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private static final int REFUSED = -1;

	private static final String POSTGRESQL = "PostgreSQL";

	private final LockResources resources;

	private final HoldRegistry holds;

	private final TransactionCoverage coverage;

	private final JdbcOperations jdbc;

	private final @Nullable PlatformTransactionManager transactionManager;

	private final @Nullable TransactionWatch watch;

	/**
	 * Create a scope.
	 * @param resources what its calls have in common with those of the other scope
	 * @param dataSource has the locks
	 * @param transactionManager begins transactions, {@code null} to refuse that
	 */
	TransactionScope(LockResources resources, DataSource dataSource,
			@Nullable PlatformTransactionManager transactionManager) {
		this(resources, statements(dataSource), transactionManager,
				(resources.session() != null) ? new TransactionWatch(resources.holds(), resources.session()) : null);
	}

	private TransactionScope(LockResources resources, JdbcOperations jdbc,
			@Nullable PlatformTransactionManager transactionManager, @Nullable TransactionWatch watch) {
		this.resources = resources;
		this.holds = resources.holds();
		this.coverage = resources.coverage();
		this.jdbc = jdbc;
		this.transactionManager = transactionManager;
		this.watch = watch;
	}

	private static JdbcTemplate statements(DataSource dataSource) {
		JdbcTemplate statements = new JdbcTemplate(dataSource);
		statements.setFetchSize(PgDriver.ALL_ROWS);
		return statements;
	}

	/**
	 * Return this scope with transactions of another manager of the same DataSource.
	 * @param coverage knows its transactions
	 */
	TransactionScope with(PlatformTransactionManager manager, TransactionCoverage coverage) {
		return new TransactionScope(this.resources.with(coverage), this.jdbc, manager, this.watch);
	}

	LockCall call(AdvisoryLockKey key, @Nullable Deadline deadline, LockRequest request) {
		return new Call(key, deadline, request);
	}

	/**
	 * Return whether any session of the database holds a key.
	 */
	boolean isHeldAnywhere(AdvisoryLockKey key) {
		return Boolean.TRUE.equals(this.jdbc.queryForObject(PostgresAdvisoryLockFunctions.isHeld(key), Boolean.class,
				Integer.toUnsignedLong(key.classId()), Integer.toUnsignedLong(key.objectId())));
	}

	/**
	 * Find out what else the database is, after it has refused a statement.
	 * @return its name, {@code null} if it is PostgreSQL, or does not say
	 */
	private @Nullable String findOtherProduct(Exception failure) {
		try {
			String product = this.jdbc
				.execute((Connection connection) -> connection.getMetaData().getDatabaseProductName());
			return POSTGRESQL.equals(product) ? null : product;
		}
		catch (DataAccessException ex) {
			failure.addSuppressed(ex);
			return null;
		}
	}

	/**
	 * A call whose lock lives in a transaction.
	 */
	private final class Call extends LockCall {

		private Call(AdvisoryLockKey key, @Nullable Deadline deadline, LockRequest request) {
			super(TransactionScope.this.resources, key, LockScope.TRANSACTION, deadline, request);
		}

		@Override
		Hold newHold() {
			LockSession session = this.recorded ? TransactionScope.this.resources.session() : null;
			return new Hold.InTransaction(this.key, this.request.mode(), this.request.permits(),
					TransactionScope.this.resources.ticker(), TransactionWatch::confirm,
					(session != null) ? session::sideConnection : null);
		}

		/**
		 * The transaction has a connection where the session could have none.
		 */
		@Override
		boolean isKept(AdvisoryLockKey tick) {
			PreparedStatementCallback<Boolean> question = (statement) -> {
				statement.setLong(1, Integer.toUnsignedLong(tick.classId()));
				statement.setLong(2, Integer.toUnsignedLong(tick.objectId()));
				return answer(statement).getBoolean(1);
			};
			return Boolean.TRUE
				.equals(TransactionScope.this.jdbc.execute(PostgresAdvisoryLockFunctions.IS_TICK_KEPT, question));
		}

		/**
		 * A request that names a manager does not join a transaction of another database
		 * that is active.
		 */
		private boolean isInCallersTransaction() {
			TransactionCoverage coverage = TransactionScope.this.coverage;
			return coverage.isInTransaction() && (this.request.transactionManager() == null || coverage.isCovered());
		}

		@Override
		<T extends @Nullable Object, X extends Exception> @Nullable T executeAlone(Hold hold, LockCallback<T, X> action)
				throws X {
			if (isInCallersTransaction()) {
				return executeInCallersTransaction(hold, action);
			}
			PlatformTransactionManager manager = TransactionScope.this.transactionManager;
			TransactionStatus transaction = null;
			T result = null;
			try {
				if (manager == null) {
					throw new IllegalStateException("Failed to begin a transaction for advisory lock '" + this.key
							+ "': there is no transaction manager for its DataSource");
				}
				transaction = begin(manager);
				TransactionScope.this.coverage.check(this.key);
				if (acquireUnlessInterrupted(hold, manager, transaction)) {
					result = isTickStillDue() ? run(hold, RunRecord.Boundary.OWN_TRANSACTION, action) : null;
				}
				else if (transaction.isCompleted()) {
					return null;
				}
				deferInterruptUntilClosed();
				if (!hold.beginCompletion()) {
					throw hold.lostException();
				}
				if (this.outcome != LockOutcome.EXECUTED) {
					transaction.setRollbackOnly();
				}
				else {
					tick(TickLocks.Tick::keep);
					if (this.end != null) {
						this.end.register();
					}
				}
				commit(manager, transaction);
				if (this.end != null) {
					this.end.decide(true);
				}
				tick(TickLocks.Tick::awaitKept);
				return result;
			}
			catch (Throwable ex) {
				deferInterruptUntilClosed();
				noteFailure(ex);
				hold.beginCompletion();
				if (transaction != null && !transaction.isCompleted() && this.record != null) {
					this.record.failWhileHeld(ex);
				}
				rollback(manager, transaction, ex);
				if (this.end != null) {
					this.end.decide(false);
				}
				if (this.record != null && (this.end == null || this.end.isUndone())) {
					this.record.fail(ex);
				}
				throw ex;
			}
			finally {
				TransactionScope.this.holds.leave(hold);
			}
		}

		/**
		 * The hold stays when this method returns, until the caller's transaction
		 * completes.
		 */
		private <T extends @Nullable Object, X extends Exception> @Nullable T executeInCallersTransaction(Hold hold,
				LockCallback<T, X> action) throws X {
			RunRecord.Boundary boundary;
			boolean acquired = false;
			try {
				boundary = boundary();
				TransactionScope.this.coverage.check(this.key);
				acquired = acquire(hold);
			}
			finally {
				if (!acquired) {
					TransactionScope.this.holds.leave(hold);
				}
			}
			if (!acquired) {
				return null;
			}
			HoldSynchronization.register(hold, this.tickLock, TransactionScope.this.coverage,
					TransactionScope.this.holds::leave);
			return isTickStillDue() ? runInTransaction(hold, boundary, action) : null;
		}

		/**
		 * As {@link #acquire}, in a transaction of ours. An interrupt that comes while a
		 * virtual thread waits for an answer closes the socket: then the wait is over,
		 * and so is the transaction, with whatever it had. That its connection can't be
		 * rolled back any more is no news.
		 * @return whether the lock was taken
		 */
		private boolean acquireUnlessInterrupted(Hold hold, PlatformTransactionManager manager,
				TransactionStatus transaction) {
			try {
				return acquire(hold);
			}
			catch (DataAccessResourceFailureException ex) {
				if (this.deadline == null || !DeferredInterrupt.isPending()) {
					throw ex;
				}
				rollback(manager, transaction, ex);
				logger.debug("The wait for advisory lock '" + this.key + "' has ended at an interrupt");
				this.outcome = LockOutcome.BUSY;
				return false;
			}
		}

		/**
		 * Take the lock, polling for it until the deadline. A wait in the server's queue
		 * would keep a snapshot open, answer no interrupt, and end with the connection
		 * where it is longer than the driver's patience.
		 * @return whether it was taken; after an interrupt, whose flag stays set, there
		 * is no other attempt
		 */
		private boolean acquire(Hold hold) {
			boolean mayWait = this.deadline != null && this.deadline.isAhead();
			if (!tryAcquireFirst(hold, mayWait)
					&& (this.deadline == null || !this.deadline.pollWhile(false, () -> tryAcquire(hold, mayWait)))) {
				this.outcome = LockOutcome.BUSY;
				return false;
			}
			if (TransactionScope.this.watch != null) {
				TransactionScope.this.watch.expect();
			}
			return true;
		}

		/**
		 * Another database than PostgreSQL refuses the statement with a syntax error that
		 * does not say why.
		 */
		private boolean tryAcquireFirst(Hold hold, boolean mayWait) {
			try {
				return Thread.currentThread().isInterrupted()
						? DeferredInterrupt.during(() -> tryAcquire(hold, mayWait)) : tryAcquire(hold, mayWait);
			}
			catch (NonTransientDataAccessException ex) {
				String product = TransactionScope.this.findOtherProduct(ex);
				if (product == null) {
					throw ex;
				}
				UnsupportedDatabaseException refusal = UnsupportedDatabaseException.otherThanPostgres(product);
				refusal.initCause(ex);
				throw refusal;
			}
		}

		/**
		 * Try to take the lock.
		 * @return whether it was taken
		 */
		private boolean tryAcquire(Hold hold, boolean mayWait) {
			if (hold.permits > 1) {
				return TransactionScope.this.resources.permits()
					.ask(hold, (permits) -> tryAcquirePermit(hold, permits, mayWait));
			}
			String sql = mayWait
					? PostgresAdvisoryLockFunctions.tryTransactionLockBeforeWait(this.key, this.request.mode())
					: PostgresAdvisoryLockFunctions.tryTransactionLock(this.key, this.request.mode());
			return isGranted(sql, (statement) -> {
				PostgresAdvisoryLockFunctions.bindHolder(statement, this.key,
						TransactionScope.this.resources.instance());
				ResultSet answer = answer(statement);
				int process = answer.getInt(1);
				return answer.wasNull() ? REFUSED : (process > 0) ? accept(hold, statement, process) : process;
			});
		}

		private boolean tryAcquirePermit(Hold hold, List<AdvisoryLockKey> permits, boolean mayWait) {
			String sql = PostgresAdvisoryLockFunctions.tryTransactionPermits(permits, mayWait);
			return isGranted(sql, (statement) -> {
				PostgresAdvisoryLockFunctions.bindHolder(statement, this.key,
						TransactionScope.this.resources.instance(), permits);
				ResultSet answer = answer(statement);
				int granted = answer.getInt(1);
				if (answer.wasNull() || granted == 0) {
					return answer.wasNull() ? REFUSED : 0;
				}
				hold.take(permits.get(granted - 1));
				return accept(hold, statement, answer.getInt(2));
			});
		}

		private static ResultSet answer(PreparedStatement statement) throws SQLException {
			statement.execute();
			ResultSet answer = statement.getResultSet();
			answer.next();
			return answer;
		}

		/**
		 * Ask for the lock.
		 * @param question answers the process that has taken it, 0 if none has, or
		 * {@value #REFUSED}
		 */
		private boolean isGranted(String sql, PreparedStatementCallback<Integer> question) {
			int process = TransactionScope.this.jdbc.execute(sql, question);
			if (process == REFUSED) {
				throw refusal();
			}
			return process != 0;
		}

		/**
		 * A lock that was taken outside a transaction is free again already, whatever the
		 * transaction manager believes to have begun.
		 */
		private int accept(Hold hold, Statement statement, int process) throws SQLException {
			Connection connection = PgDriver.unwrap(statement.getConnection());
			if (!PgDriver.isTransactionOpen(connection)) {
				throw TransactionScope.this.coverage.refusal(this.key);
			}
			if (hold instanceof Hold.InTransaction own) {
				own.acquired(connection, process);
			}
			return process;
		}

		/**
		 * Asked on each run rather than once for a connection: a DataSource may route
		 * read-only transactions to a standby.
		 */
		private RuntimeException refusal() {
			Boolean standby = TransactionScope.this.jdbc.queryForObject(PostgresAdvisoryLockFunctions.IS_THIS_STANDBY,
					Boolean.class);
			if (Boolean.TRUE.equals(standby)) {
				return TransactionCoverage.standby(this.key);
			}
			return new IllegalTransactionStateException("Failed to wait for advisory lock '" + this.key
					+ "': the snapshot of a REPEATABLE READ or SERIALIZABLE transaction would be older than the lock; "
					+ "do not set 'waitFor', or use scope SESSION");
		}

		/**
		 * A transaction that a named manager can't suspend is its own, and does not cover
		 * the lock's DataSource.
		 */
		private TransactionStatus begin(PlatformTransactionManager manager) {
			try {
				return manager.getTransaction(OWN);
			}
			catch (TransactionSuspensionNotSupportedException ex) {
				IllegalTransactionStateException refusal = TransactionScope.this.coverage.refusal(this.key);
				refusal.initCause(ex);
				throw refusal;
			}
		}

		private void commit(PlatformTransactionManager manager, TransactionStatus transaction) {
			try {
				manager.commit(transaction);
			}
			catch (UnexpectedRollbackException ex) {
				throw TransactionCoverage.explainRollback(this.key, ex);
			}
		}

		private void rollback(@Nullable PlatformTransactionManager manager, @Nullable TransactionStatus transaction,
				Throwable failure) {
			if (manager != null && transaction != null && !transaction.isCompleted()) {
				try {
					manager.rollback(transaction);
				}
				catch (RuntimeException | Error ex) {
					failure.addSuppressed(ex);
				}
			}
		}

	}

}
