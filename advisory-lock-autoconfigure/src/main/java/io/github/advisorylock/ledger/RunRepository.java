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
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
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

	private final LedgerStatements statements;

	private final String instance;

	RunRepository(LedgerConnections connections, LedgerStatements statements, String instance) {
		this.connections = connections;
		this.statements = statements;
		this.instance = instance;
	}

	/**
	 * Return what would be decided about a tick, as far as can be seen without the lock.
	 */
	LockOutcome foresee(RecordedRun run) {
		return this.connections.reading((reading) -> query(reading, this.statements.foresee(), parameters(run),
				(row, number) -> LockOutcome.valueOf(row.getString(1))));
	}

	/**
	 * Decide about a run in the current transaction, and write nothing yet.
	 */
	RecordedRun decide(RecordedRun run) {
		return run.with(query(this.connections.current(), this.statements.decide(), parameters(run),
				(row, number) -> decision(row)));
	}

	/**
	 * Write a run that has come to its end, in its transaction.
	 * @throws IllegalStateException if somebody else did the same meanwhile
	 */
	void complete(RecordedRun run) {
		boolean first = query(this.connections.current(), this.statements.complete(), parameters(run),
				(row, number) -> (row.getInt(1) == 1 || !run.oncePerKey()) && (row.getInt(2) == 1 || !run.keepsJob()));
		if (!first) {
			throw new IllegalStateException("Failed to complete the run of advisory lock '"
					+ AdvisoryLockKey.display(run.name().toString()) + "': somebody else has completed it meanwhile");
		}
	}

	/**
	 * Write a run whose transaction was rolled back, once that is over.
	 */
	void fail(RecordedRun run, Throwable failure) {
		this.connections.apart((apart) -> fail(apart, run, LedgerRun.Failure.of(failure)));
	}

	/**
	 * Write a run whose transaction was rolled back, on the connection that this
	 * transaction still occupies: there may be no other in the pool.
	 */
	void failAfterCompletion(RecordedRun run, LedgerRun.Failure failure) {
		this.connections.afterCompletion((left) -> fail(left, run, failure));
	}

	private int fail(NamedParameterJdbcOperations jdbc, RecordedRun run, LedgerRun.Failure failure) {
		return jdbc.update(this.statements.fail(), with(parameters(run), failure));
	}

	/**
	 * Decide about a run, and write that it has begun, for all to see.
	 */
	RecordedRun begin(RecordedRun run) {
		return run.with(this.connections
			.apart((apart) -> query(apart, this.statements.begin(), parameters(run), (row, number) -> decision(row))));
	}

	/**
	 * Write how a run ended that was begun.
	 * @return {@code false} if somebody else has given it up
	 */
	boolean end(RecordedRun run, LedgerRun.Outcome outcome, @Nullable Throwable failure) {
		MapSqlParameterSource parameters = with(parameters(run),
				(failure != null) ? LedgerRun.Failure.of(failure) : null)
			.addValue("outcome", outcome.name());
		return this.connections
			.apart((apart) -> query(apart, this.statements.end(), parameters, (row, number) -> row.getInt(1) == 1));
	}

	private MapSqlParameterSource parameters(RecordedRun run) {
		Duration minInterval = run.minInterval();
		return new MapSqlParameterSource().addValue("namespace", run.namespace())
			.addValue("key", run.key())
			.addValue("tick", time(run.tick()), Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("scope", run.scope().name())
			.addValue("instance", this.instance)
			.addValue("oncePerKey", run.oncePerKey())
			.addValue("minInterval", (minInterval != null) ? TimeUnit.MICROSECONDS.convert(minInterval) : null,
					Types.BIGINT)
			.addValue("template", run.template(), Types.VARCHAR)
			.addValue("keepsJob", run.keepsJob())
			.addValue("token", run.decision().token(), Types.BIGINT)
			.addValue("startedAt", time(run.decision().startedAt()), Types.TIMESTAMP_WITH_TIMEZONE);
	}

	private static MapSqlParameterSource with(MapSqlParameterSource parameters, LedgerRun.@Nullable Failure failure) {
		return parameters.addValue("errorClass", (failure != null) ? failure.type() : null, Types.VARCHAR)
			.addValue("error", (failure != null) ? failure.text() : null, Types.VARCHAR);
	}

	private static @Nullable OffsetDateTime time(@Nullable Instant instant) {
		return (instant != null) ? instant.atOffset(ZoneOffset.UTC) : null;
	}

	private static RecordedRun.Decision decision(ResultSet row) throws SQLException {
		OffsetDateTime time = row.getObject(3, OffsetDateTime.class);
		return new RecordedRun.Decision(LockOutcome.valueOf(row.getString(1)), row.getObject(2, Long.class),
				(time != null) ? time.toInstant() : null);
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

}
