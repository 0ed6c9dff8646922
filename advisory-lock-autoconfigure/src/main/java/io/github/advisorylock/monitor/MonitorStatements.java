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

package io.github.advisorylock.monitor;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Executes the statements of the monitor. They fetch all rows of an answer at once,
 * whatever {@code defaultRowFetchSize} says, and fail with a {@link DataAccessException}
 * for whatever the DataSource throws: an {@link UnsupportedDatabaseException} where the
 * database turns out to be no PostgreSQL.
 */
final class MonitorStatements extends JdbcTemplate {

	private static final String POSTGRESQL = "PostgreSQL";

	private final ServerJudge.Opening opening;

	MonitorStatements(DataSource dataSource) {
		this(ServerJudge.Opening.checked(dataSource::getConnection), dataSource);
	}

	private MonitorStatements(ServerJudge.Opening opening, DataSource dataSource) {
		super(new DelegatingDataSource(dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				return opening.open();
			}

		});
		super.setFetchSize(0);
		this.opening = opening;
	}

	@Override
	protected DataAccessException translateException(String task, @Nullable String sql, SQLException ex) {
		DataAccessException failure = super.translateException(task, sql, ex);
		// a connection that was lost is not replaced only to find that out
		String product = (failure instanceof NonTransientDataAccessResourceException) ? null : findProduct(failure);
		if (product == null || POSTGRESQL.equals(product)) {
			return failure;
		}
		UnsupportedDatabaseException refusal = UnsupportedDatabaseException.otherThanPostgres(product);
		refusal.initCause(failure);
		return refusal;
	}

	private @Nullable String findProduct(DataAccessException failure) {
		try (Connection connection = this.opening.open()) {
			return connection.getMetaData().getDatabaseProductName();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			return null;
		}
	}

}
