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

package io.github.advisorylock.ledger.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterUtils;
import org.springframework.jdbc.core.namedparam.ParsedSql;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Connections for what the ledger commits at once, whatever transaction the thread is in
 * and whether or not the pool commits by itself.
 */
final class LedgerConnections {

	/**
	 * Has nobody be waited for for more than a second in the current transaction.
	 */
	static final String HURRY = "SET LOCAL lock_timeout = '1s'";

	/**
	 * Whatever the database has as its default: what the ledger writes for itself depends
	 * on no snapshot.
	 */
	private static final String READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

	private static final int ATTEMPTS = 4;

	private static final int LONGEST_SILENCE_MILLIS = 10_000;

	private static final int LONGEST_STATEMENT_SECONDS = 8;

	private final DataSource dataSource;

	private final ServerJudge.Opening opening;

	private final Map<String, ParsedSql> parsed = new ConcurrentHashMap<>();

	private final NamedParameterJdbcOperations current;

	private volatile boolean strict;

	private volatile StorableText text = StorableText.in("UTF8");

	LedgerConnections(DataSource dataSource) {
		this.dataSource = dataSource;
		this.opening = ServerJudge.Opening.checked(dataSource::getConnection);
		this.current = new Statements(dataSource);
	}

	/**
	 * Set whether the database's own choice is another isolation level than READ
	 * COMMITTED, which is that of all that the ledger does apart.
	 */
	void useReadCommitted(boolean strict) {
		this.strict = strict;
	}

	/**
	 * Set what the encoding of the database can have.
	 */
	void useText(StorableText text) {
		this.text = text;
	}

	/**
	 * Return what the encoding of the database can have.
	 */
	StorableText text() {
		return this.text;
	}

	/**
	 * Return a text as the encoding of the database can have it.
	 */
	@Nullable String storable(@Nullable String text) {
		return (text != null) ? this.text.of(text) : null;
	}

	/**
	 * Return what works on the connection of the current transaction.
	 */
	NamedParameterJdbcOperations current() {
		return this.current;
	}

	/**
	 * Return whether the current transaction has a connection, which may be the only one
	 * of the pool.
	 */
	boolean areInTransaction() {
		return TransactionSynchronizationManager.hasResource(this.dataSource);
	}

	/**
	 * Read on the connection of the current transaction, or on one of its own where there
	 * is none.
	 */
	<R extends @Nullable Object> R reading(Function<NamedParameterJdbcOperations, R> work) {
		return areInTransaction() ? DeferredInterrupt.during(() -> work.apply(this.current)) : apart(work);
	}

	/**
	 * Work on a connection of its own, whatever transaction the thread is in. What loses
	 * against somebody else's transaction is done again, so the work should be one
	 * statement: where the pool commits by itself, each is a transaction.
	 */
	<R extends @Nullable Object> R apart(Function<NamedParameterJdbcOperations, R> work) {
		return DeferredInterrupt.during(() -> repeat(work, this.strict));
	}

	/**
	 * As {@link #reading(Function)} for operators, who are told when a table is locked or
	 * the server is silent.
	 */
	<R extends @Nullable Object> R readingBriefly(Function<NamedParameterJdbcOperations, R> work) {
		return areInTransaction() ? reading(work) : apartBriefly(work);
	}

	/**
	 * As {@link #apart(Function)}, and give a statement up after eight seconds, as one
	 * that waits for a locked table, and the connection after ten seconds of silence. Who
	 * takes over for others must not fall silent with it, and who looks or acts again and
	 * again must not use up the pool.
	 */
	<R extends @Nullable Object> R apartBriefly(Function<NamedParameterJdbcOperations, R> work) {
		return apart((apart) -> apart.getJdbcOperations().execute((Connection connection) -> {
			((JdbcTemplate) apart.getJdbcOperations()).setQueryTimeout(LONGEST_STATEMENT_SECONDS);
			int timeout = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, LONGEST_SILENCE_MILLIS);
			try {
				return work.apply(apart);
			}
			finally {
				if (!connection.isClosed()) {
					connection.setNetworkTimeout(Runnable::run, timeout);
				}
			}
		}));
	}

	/**
	 * Work in one transaction of its own, whatever the pool and the thread do. Is done
	 * again as {@link #apart(Function)} is.
	 */
	<R extends @Nullable Object> R inTransaction(Function<NamedParameterJdbcOperations, R> work) {
		return DeferredInterrupt.during(() -> repeat(work, true));
	}

	private <R extends @Nullable Object> R repeat(Function<NamedParameterJdbcOperations, R> work, boolean transaction) {
		for (int attempt = 1;; attempt++) {
			try (Connection connection = this.opening.open()) {
				return transaction ? inTransaction(connection, work) : on(connection, work);
			}
			catch (SQLException ex) {
				if (attempt == ATTEMPTS || !isRepeatable(ex)) {
					throw new DataAccessResourceFailureException(
							"Failed to use a connection for the ledger of advisory locks", ex);
				}
			}
			catch (DataAccessException ex) {
				if (attempt == ATTEMPTS || !isRepeatable(ex.getRootCause())) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Work in one transaction of its own, on a connection that is none of the pool, and
	 * wait for nobody for more than a second: it may be the current transaction that
	 * stands in the way.
	 */
	<R extends @Nullable Object> R aside(Hold.SideConnection side, Function<NamedParameterJdbcOperations, R> work) {
		try (Connection connection = side.open()) {
			return inTransaction(connection, (jdbc) -> {
				jdbc.getJdbcOperations().execute(HURRY);
				return work.apply(jdbc);
			});
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("Failed to use a connection besides those of the pool", ex);
		}
	}

	/**
	 * Work on the connection that a transaction still occupies after its end: there may
	 * be no other in the pool. If that is why the transaction ended, another one is used.
	 * Spring rolls nothing back when a commit was refused because the server has aborted
	 * the transaction already.
	 */
	<R extends @Nullable Object> R afterCompletion(Function<NamedParameterJdbcOperations, R> work) {
		if (!areInTransaction()) {
			return apart(work);
		}
		Connection connection = DataSourceUtils.getConnection(this.dataSource);
		try {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
			return inTransaction(connection, work);
		}
		catch (SQLException | DataAccessException ex) {
			if (isAlive(connection)) {
				throw (ex instanceof DataAccessException failure) ? failure : new DataAccessResourceFailureException(
						"Failed to use the connection of the last transaction", ex);
			}
			return apart(work);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	private static boolean isAlive(Connection connection) {
		try {
			return connection.isValid(1);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Whether a transaction lost against another one, as in a deadlock.
	 */
	private static boolean isRepeatable(@Nullable Throwable failure) {
		return failure instanceof SQLException ex
				&& ("40001".equals(ex.getSQLState()) || "40P01".equals(ex.getSQLState()));
	}

	private <R extends @Nullable Object> R inTransaction(Connection connection,
			Function<NamedParameterJdbcOperations, R> work) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		connection.setAutoCommit(false);
		try {
			return on(connection, (jdbc) -> {
				jdbc.getJdbcOperations().execute(READ_COMMITTED);
				return work.apply(jdbc);
			});
		}
		finally {
			if (!connection.isClosed()) {
				connection.setAutoCommit(autoCommit);
			}
		}
	}

	/**
	 * What went wrong is not hidden by a rollback that fails on the same connection.
	 */
	private <R extends @Nullable Object> R on(Connection connection, Function<NamedParameterJdbcOperations, R> work)
			throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		try {
			R result = work.apply(new Statements(new SingleConnectionDataSource(connection, true)));
			if (!autoCommit) {
				connection.commit();
			}
			return result;
		}
		catch (SQLException | RuntimeException | Error ex) {
			if (!autoCommit) {
				rollBack(connection, ex);
			}
			throw ex;
		}
	}

	private static void rollBack(Connection connection, Throwable failure) {
		try {
			connection.rollback();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Statements with named parameters, each parsed once, whatever connection it is for.
	 * They fetch all rows at once, whatever {@code defaultRowFetchSize} says, so that the
	 * server keeps no snapshot until the transaction ends.
	 */
	private final class Statements extends NamedParameterJdbcTemplate {

		Statements(DataSource dataSource) {
			super(new JdbcTemplate(dataSource));
			getJdbcTemplate().setFetchSize(0);
		}

		@Override
		protected ParsedSql getParsedSql(String sql) {
			return LedgerConnections.this.parsed.computeIfAbsent(sql, NamedParameterUtils::parseSqlStatement);
		}

	}

}
