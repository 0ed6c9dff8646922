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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;

import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.util.Assert;

/**
 * Writes runs into the ledger: on the connection of the current transaction, or on one of
 * their own.
 */
final class RunRepository {

	private final LedgerConnections connections;

	private final NamedParameterJdbcOperations current;

	private final LedgerStatements statements;

	private final String decide;

	private final String foresee;

	private final String complete;

	private final String instance;

	private final RecentKeys recentKeys;

	RunRepository(LedgerConnections connections, LedgerStatements statements, String instance, RecentKeys recentKeys) {
		this.connections = connections;
		this.current = connections.current();
		this.statements = statements;
		this.decide = statements.decide();
		this.foresee = statements.foresee();
		this.complete = statements.complete();
		this.instance = instance;
		this.recentKeys = recentKeys;
	}

	/**
	 * Note that the history of a key has grown.
	 */
	void noteRun(JobName name) {
		this.recentKeys.note(name);
	}

	/**
	 * Return what would be decided about a tick, as far as can be seen without the lock.
	 */
	LockOutcome foresee(MapSqlParameterSource run) {
		return this.connections.reading(
				(reading) -> query(reading, this.foresee, run, (row, number) -> LockOutcome.valueOf(row.getString(1))));
	}

	/**
	 * Decide about a run in the current transaction, and write nothing yet.
	 */
	Decision decide(MapSqlParameterSource run) {
		return query(this.current, this.decide, run, (row, number) -> decision(row));
	}

	/**
	 * Write a run that has come to its end, in its transaction.
	 * @return {@code false} if somebody else did the same meanwhile
	 */
	boolean complete(MapSqlParameterSource run, boolean oncePerKey, boolean keepsJob) {
		return query(this.current, this.complete, run.addValue("instance", this.instance),
				(row, number) -> (row.getInt(1) == 1 || !oncePerKey) && (row.getInt(2) == 1 || !keepsJob));
	}

	/**
	 * Write a run whose transaction was rolled back, once that is over.
	 */
	void fail(MapSqlParameterSource run, Throwable failure) {
		this.connections.apart((apart) -> fail(apart, run, LedgerRun.Failure.of(failure)));
	}

	/**
	 * Write a run whose transaction was rolled back, on the connection that this
	 * transaction still occupies: there may be no other in the pool.
	 */
	void failAfterCompletion(MapSqlParameterSource run, LedgerRun.Failure failure) {
		this.connections.afterCompletion((left) -> fail(left, run, failure));
	}

	private int fail(NamedParameterJdbcOperations jdbc, MapSqlParameterSource run, LedgerRun.Failure failure) {
		return jdbc.update(this.statements.fail(), with(run, failure).addValue("instance", this.instance));
	}

	/**
	 * Decide about a run, and write that it has begun, for all to see.
	 */
	Decision begin(MapSqlParameterSource run) {
		return this.connections.apart((apart) -> query(apart, this.statements.begin(),
				run.addValue("instance", this.instance), (row, number) -> decision(row)));
	}

	/**
	 * Write how a run ended that was begun.
	 * @return {@code false} if somebody else has given it up
	 */
	boolean end(MapSqlParameterSource run, LedgerRun.Outcome outcome, @Nullable Throwable failure) {
		MapSqlParameterSource parameters = with(run, (failure != null) ? LedgerRun.Failure.of(failure) : null)
			.addValue("outcome", outcome.name());
		return this.connections
			.apart((apart) -> query(apart, this.statements.end(), parameters, (row, number) -> row.getInt(1) == 1));
	}

	private static MapSqlParameterSource with(MapSqlParameterSource parameters, LedgerRun.@Nullable Failure failure) {
		return parameters.addValue("errorClass", (failure != null) ? failure.type() : null, Types.VARCHAR)
			.addValue("error", (failure != null) ? failure.text() : null, Types.VARCHAR);
	}

	private static Decision decision(ResultSet row) throws SQLException {
		return new Decision(LockOutcome.valueOf(row.getString(1)), row.getObject(2, Long.class),
				row.getObject(3, OffsetDateTime.class));
	}

	/**
	 * Execute a statement that has one row, and may be followed by others in its flight,
	 * which no query of Spring's may.
	 */
	private static <T> T query(NamedParameterJdbcOperations jdbc, String sql, MapSqlParameterSource parameters,
			RowMapper<T> mapper) {
		T answer = jdbc.execute(sql, parameters, (PreparedStatement statement) -> {
			statement.execute();
			ResultSet row = statement.getResultSet();
			row.next();
			return mapper.mapRow(row, 1);
		});
		Assert.state(answer != null, "'answer' must not be null");
		return answer;
	}

	/**
	 * What the ledger decided about a run.
	 *
	 * @param outcome {@link LockOutcome#EXECUTED} to go on, else why not
	 * @param token the fencing token of a run that goes on
	 * @param startedAt when it started
	 */
	record Decision(LockOutcome outcome, @Nullable Long token, @Nullable OffsetDateTime startedAt) {
	}

}
