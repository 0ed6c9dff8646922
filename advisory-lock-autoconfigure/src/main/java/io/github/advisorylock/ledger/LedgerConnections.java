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

package io.github.advisorylock.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

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

	private final DataSource dataSource;

	private final Map<String, ParsedSql> parsed = new ConcurrentHashMap<>();

	private final NamedParameterJdbcOperations current;

	LedgerConnections(DataSource dataSource) {
		this.dataSource = dataSource;
		this.current = new Statements(dataSource);
	}

	/**
	 * Return what works on the connection of the current transaction, or on any where
	 * there is none.
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
		return areInTransaction() ? work.apply(this.current) : apart(work);
	}

	/**
	 * Work on a connection of its own, whatever transaction the thread is in.
	 */
	<R extends @Nullable Object> R apart(Function<NamedParameterJdbcOperations, R> work) {
		try (Connection connection = this.dataSource.getConnection()) {
			return on(connection, work);
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("Failed to get a connection for the ledger of advisory locks",
					ex);
		}
	}

	/**
	 * Work on the connection that a transaction still occupies after its end: there may
	 * be no other in the pool.
	 */
	<R extends @Nullable Object> R afterCompletion(Function<NamedParameterJdbcOperations, R> work) {
		if (!areInTransaction()) {
			return apart(work);
		}
		Connection connection = DataSourceUtils.getConnection(this.dataSource);
		try {
			return on(connection, work);
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("Failed to use the connection of the last transaction", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	private <R extends @Nullable Object> R on(Connection connection, Function<NamedParameterJdbcOperations, R> work)
			throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		boolean done = false;
		try {
			R result = work.apply(new Statements(new SingleConnectionDataSource(connection, true)));
			if (!autoCommit) {
				connection.commit();
			}
			done = true;
			return result;
		}
		finally {
			if (!done && !autoCommit) {
				connection.rollback();
			}
		}
	}

	/**
	 * Statements with named parameters, each parsed once, whatever connection it is for.
	 */
	private final class Statements extends NamedParameterJdbcTemplate {

		Statements(DataSource dataSource) {
			super(new JdbcTemplate(dataSource));
		}

		@Override
		protected ParsedSql getParsedSql(String sql) {
			return LedgerConnections.this.parsed.computeIfAbsent(sql, NamedParameterUtils::parseSqlStatement);
		}

	}

}
