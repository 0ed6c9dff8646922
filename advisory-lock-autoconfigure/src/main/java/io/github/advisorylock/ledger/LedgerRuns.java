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

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Writes runs into the ledger: on the connection of the current transaction, or on one of
 * their own.
 */
final class LedgerRuns {

	private final LedgerConnections connections;

	private final PostgresLedgerStatements statements;

	private final String instance;

	private final JdbcOperations jdbc;

	LedgerRuns(DataSource dataSource, LedgerConnections connections, PostgresLedgerStatements statements,
			String instance) {
		this.connections = connections;
		this.statements = statements;
		this.instance = instance;
		this.jdbc = new JdbcTemplate(dataSource);
	}

	/**
	 * Return what would be decided about a tick, as far as can be seen without the lock.
	 */
	LockOutcome foresee(AdvisoryLockKey key, Instant tick) {
		return this.connections
			.reading((reading) -> reading.execute(this.statements.foresee(), (PreparedStatement statement) -> {
				bindInstant(statement, 1, tick);
				statement.setString(2, key.namespace());
				statement.setString(3, key.name());
				return LockOutcome.valueOf(query(statement).getString(1));
			}));
	}

	/**
	 * Decide about a run in the current transaction, and write nothing yet.
	 */
	RecordedRun decide(RecordedRun run) {
		return run.with(this.jdbc.execute(this.statements.decide(), (PreparedStatement statement) -> {
			bindDecision(statement, run);
			return decision(statement);
		}));
	}

	/**
	 * Write a run that has come to its end, in its transaction.
	 * @throws IllegalStateException if somebody else did the same meanwhile
	 */
	void complete(RecordedRun run) {
		boolean first = this.jdbc.execute(this.statements.complete(), (PreparedStatement statement) -> {
			int next = bindKeyTwice(statement, bindRun(statement, run), run);
			statement.setBoolean(next++, run.oncePerKey());
			statement.setString(next++, run.template());
			statement.setBoolean(next, run.keepsJob());
			ResultSet answer = query(statement);
			return (answer.getInt(1) == 1 || !run.oncePerKey()) && (answer.getInt(2) == 1 || !run.keepsJob());
		});
		if (!first) {
			throw new IllegalStateException("Failed to complete the run of advisory lock '"
					+ AdvisoryLockKey.display(run.name().toString()) + "': somebody else has completed it meanwhile");
		}
	}

	/**
	 * Write a run whose transaction was rolled back, once that is over.
	 */
	void fail(RecordedRun run, Throwable failure) {
		this.connections.apart((apart) -> fail(apart, run, RunFailure.of(failure)));
	}

	/**
	 * Write a run whose transaction was rolled back, on the connection that this
	 * transaction still occupies: there may be no other in the pool.
	 */
	void failAfterCompletion(RecordedRun run, RunFailure failure) {
		this.connections.afterCompletion((left) -> fail(left, run, failure));
	}

	/**
	 * Decide about a run, and write that it has begun, for all to see.
	 */
	RecordedRun begin(RecordedRun run) {
		return run.with(this.connections
			.apart((apart) -> apart.execute(this.statements.begin(), (PreparedStatement statement) -> {
				int next = bindKeyTwice(statement, bindDecision(statement, run), run);
				statement.setString(next++, run.namespace());
				statement.setString(next++, run.key());
				bindInstant(statement, next++, run.tick());
				statement.setString(next++, run.scope().name());
				statement.setString(next++, this.instance);
				statement.setString(next++, run.namespace());
				statement.setString(next++, run.key());
				statement.setString(next++, run.template());
				statement.setBoolean(next, run.keepsJob());
				return decision(statement);
			})));
	}

	/**
	 * Write how a run ended that was begun.
	 * @return {@code false} if somebody else has given it up
	 */
	boolean end(RecordedRun run, RunOutcome outcome, @Nullable Throwable failure) {
		return this.connections.apart((apart) -> apart.execute(this.statements.end(), (PreparedStatement statement) -> {
			statement.setString(1, outcome.name());
			bindFailure(statement, 2, (failure != null) ? RunFailure.of(failure) : null);
			statement.setString(4, run.namespace());
			statement.setString(5, run.key());
			statement.setLong(6, run.fencingToken().orElseThrow());
			statement.setBoolean(7, run.oncePerKey());
			return query(statement).getInt(1) == 1;
		}));
	}

	private int fail(JdbcOperations jdbc, RecordedRun run, RunFailure failure) {
		return jdbc.execute(this.statements.fail(), (PreparedStatement statement) -> {
			int next = bindFailure(statement, bindRun(statement, run), failure);
			statement.setString(next++, run.template());
			statement.setBoolean(next, run.keepsJob());
			return statement.executeUpdate();
		});
	}

	private static int bindFailure(PreparedStatement statement, int index, @Nullable RunFailure failure)
			throws SQLException {
		statement.setString(index, (failure != null) ? failure.type() : null);
		statement.setString(index + 1, (failure != null) ? failure.text() : null);
		return index + 2;
	}

	private static int bindDecision(PreparedStatement statement, RecordedRun run) throws SQLException {
		statement.setString(1, run.namespace());
		statement.setString(2, run.key());
		bindInstant(statement, 3, run.tick());
		statement.setString(4, run.oncePerKey() ? run.namespace() : null);
		statement.setString(5, run.oncePerKey() ? run.key() : null);
		Duration minInterval = run.minInterval();
		if (minInterval != null) {
			statement.setLong(6, Micros.of(minInterval));
		}
		else {
			statement.setNull(6, Types.BIGINT);
		}
		return 7;
	}

	private static RecordedRun.Decision decision(PreparedStatement statement) throws SQLException {
		ResultSet answer = query(statement);
		LockOutcome outcome = LockOutcome.valueOf(answer.getString(1));
		OffsetDateTime time = answer.getObject(3, OffsetDateTime.class);
		return new RecordedRun.Decision(outcome, answer.getObject(2, Long.class),
				(time != null) ? time.toInstant() : null);
	}

	private int bindRun(PreparedStatement statement, RecordedRun run) throws SQLException {
		statement.setString(1, run.namespace());
		statement.setString(2, run.key());
		bindInstant(statement, 3, run.tick());
		statement.setString(4, run.scope().name());
		statement.setString(5, this.instance);
		statement.setLong(6, run.fencingToken().orElseThrow());
		bindInstant(statement, 7, run.decision().startedAt());
		return 8;
	}

	private static int bindKeyTwice(PreparedStatement statement, int index, RecordedRun run) throws SQLException {
		for (int i = index; i < index + 4; i += 2) {
			statement.setString(i, run.namespace());
			statement.setString(i + 1, run.key());
		}
		return index + 4;
	}

	private static void bindInstant(PreparedStatement statement, int index, @Nullable Instant instant)
			throws SQLException {
		statement.setObject(index, (instant != null) ? instant.atOffset(ZoneOffset.UTC) : null,
				Types.TIMESTAMP_WITH_TIMEZONE);
	}

	/**
	 * Execute a statement that may be followed by others in its flight.
	 */
	private static ResultSet query(PreparedStatement statement) throws SQLException {
		statement.execute();
		ResultSet answer = statement.getResultSet();
		answer.next();
		return answer;
	}

}
