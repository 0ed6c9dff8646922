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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.Assert;

/**
 * The tables of the ledger, as they were found.
 *
 * @param names how each is named in SQL, in its schema, by what its name ends with
 */
record LedgerTables(Map<String, String> names) {

	/**
	 * Put the names of the tables into a statement, in the place of {@code {job}},
	 * {@code {run}} and so on, also where that stands in quotes; {@code {jobs}} are jobs
	 * with their pauses.
	 */
	String in(String sql) {
		String named = sql.replace("{jobs}", JobStatements.JOBS);
		for (Map.Entry<String, String> table : this.names.entrySet()) {
			String placeholder = "{" + table.getKey() + "}";
			named = named.replace("'" + placeholder + "'", "'" + table.getValue().replace("'", "''") + "'")
				.replace(placeholder, table.getValue());
		}
		return named;
	}

	/**
	 * Return a statement whose SQL has placeholders for the tables.
	 */
	JdbcClient.StatementSpec statement(NamedParameterJdbcOperations jdbc, String sql) {
		return JdbcClient.create(jdbc).sql(in(sql));
	}

	/**
	 * Return a statement on one job.
	 */
	JdbcClient.StatementSpec statement(NamedParameterJdbcOperations jdbc, JobName job, String sql) {
		return statement(jdbc, sql).param("namespace", job.namespace()).param("key", job.key());
	}

	static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
		return (time != null) ? time.toInstant() : null;
	}

	static Instant required(ResultSet row, String column) throws SQLException {
		Instant time = instant(row, column);
		Assert.state(time != null, () -> "'" + column + "' must not be null");
		return time;
	}

}
