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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * The tables of the ledger. Creates them where it may, and never drops anything.
 */
final class LedgerSchema {

	private final DataSource dataSource;

	private final LedgerConnections connections;

	private final LedgerSettings settings;

	private final LedgerStatements statements;

	LedgerSchema(DataSource dataSource, LedgerConnections connections, LedgerSettings settings,
			LedgerStatements statements) {
		this.dataSource = dataSource;
		this.connections = connections;
		this.settings = settings;
		this.statements = statements;
	}

	/**
	 * Create what is missing if that is wanted.
	 * @throws LedgerSchemaException if tables or columns are missing in the end
	 */
	void prepare() {
		if (this.settings.initializeSchema() && !exists()) {
			create();
		}
		check();
	}

	private boolean exists() {
		return this.connections.reading(
				(jdbc) -> Boolean.TRUE.equals(jdbc.queryForObject(this.statements.exists(), Map.of(), Boolean.class)));
	}

	/**
	 * An instance that does the same at the same time waits for this one, fails, and then
	 * finds everything there.
	 */
	private void create() {
		try (Connection connection = connect()) {
			createInTransaction(connection);
		}
		catch (SQLException ex) {
			throw new LedgerSchemaException("its tables could not be created", ex);
		}
		catch (ScriptException ex) {
			if (!exists()) {
				throw new LedgerSchemaException("its tables could not be created", ex);
			}
		}
	}

	/**
	 * A transaction of somebody else is no place for tables: it may be rolled back.
	 */
	private Connection connect() throws SQLException {
		try {
			return this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			if (!this.connections.areInTransaction()) {
				throw ex;
			}
			throw new LedgerSchemaException("its tables could not be created, which needs a connection besides that of "
					+ "the current transaction", ex);
		}
	}

	private void createInTransaction(Connection connection) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		connection.setAutoCommit(false);
		boolean created = false;
		try {
			new ResourceDatabasePopulator(script()).populate(connection);
			connection.commit();
			created = true;
		}
		finally {
			if (!created) {
				connection.rollback();
			}
			connection.setAutoCommit(autoCommit);
		}
	}

	void check() {
		this.connections.reading((jdbc) -> {
			for (String sql : this.statements.check()) {
				check(jdbc, sql);
			}
			return true;
		});
	}

	private static void check(NamedParameterJdbcOperations jdbc, String sql) {
		try {
			jdbc.query(sql, (row) -> {
			});
		}
		catch (DataAccessException ex) {
			throw new LedgerSchemaException(isUndefined(ex.getMostSpecificCause()) ? "a table or a column is missing"
					: "its tables can't be read", ex);
		}
	}

	/**
	 * A missing table, column or schema, in the words of PostgreSQL.
	 */
	private static boolean isUndefined(Throwable cause) {
		return cause instanceof SQLException ex && ("42P01".equals(ex.getSQLState()) || "42703".equals(ex.getSQLState())
				|| "3F000".equals(ex.getSQLState()));
	}

	/**
	 * The script for the configured names. An index has no schema of its own.
	 */
	private Resource script() {
		try {
			String ddl = new ClassPathResource(LedgerSchemaException.LOCATION)
				.getContentAsString(StandardCharsets.UTF_8);
			String prefix = this.settings.tablePrefix();
			String named = ddl
				.replace("INDEX IF NOT EXISTS " + LedgerSettings.DEFAULT_TABLE_PREFIX, "INDEX IF NOT EXISTS ?")
				.replace(LedgerSettings.DEFAULT_TABLE_PREFIX, prefix)
				.replace("?", prefix.substring(prefix.indexOf('.') + 1));
			return new ByteArrayResource(named.getBytes(StandardCharsets.UTF_8), LedgerSchemaException.LOCATION);
		}
		catch (IOException ex) {
			throw new LedgerSchemaException("its DDL can't be read", ex);
		}
	}

}
