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
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.Hold;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.util.Assert;

/**
 * Writes runs into the ledger: on the connection of the current transaction, or on one of
 * their own.
 */
final class RunRepository {

	private static final Log logger = LogFactory.getLog(RunRepository.class);

	private static final int MOST_SKIPPED = 10_000;

	private final LedgerConnections connections;

	private final NamedParameterJdbcOperations current;

	private final LedgerStatements statements;

	private final LedgerSettings settings;

	private final String decide;

	private final String decideBeforeSavepoint;

	private final String precheck;

	private final String draw;

	private final String instance;

	private final RecentKeys recentKeys;

	private final Set<JobName> skipped = ConcurrentHashMap.newKeySet();

	RunRepository(LedgerConnections connections, LedgerStatements statements, LedgerSettings settings, String instance,
			RecentKeys recentKeys) {
		this.connections = connections;
		this.current = connections.current();
		this.statements = statements;
		this.settings = settings;
		this.decide = statements.decide();
		this.decideBeforeSavepoint = LedgerStatements.beforeSavepoint(this.decide);
		this.precheck = statements.precheck();
		this.draw = statements.draw();
		this.instance = instance;
		this.recentKeys = recentKeys;
	}

	/**
	 * Return whether the last tick of a job that came here was skipped for a reason that
	 * can be seen without the lock. Then somebody else runs them, or nobody does: whoever
	 * looks first has no transaction to begin.
	 */
	boolean wasSkipped(JobName name) {
		return this.skipped.contains(name);
	}

	/**
	 * Note what became of a tick here.
	 */
	void noteTick(JobName name, LockOutcome outcome) {
		if (outcome == LockOutcome.EXECUTED) {
			this.skipped.remove(name);
		}
		else if (this.skipped.size() < MOST_SKIPPED) {
			this.skipped.add(name);
		}
	}

	/**
	 * Note that the history of a key grows.
	 */
	void noteRun(JobName name) {
		this.recentKeys.note(name);
	}

	LedgerSettings settings() {
		return this.settings;
	}

	String instance() {
		return this.instance;
	}

	/**
	 * Return what the encoding of the database can have.
	 */
	StorableText text() {
		return this.connections.text();
	}

	/**
	 * Return what would be decided about a tick, as far as can be seen without the lock.
	 */
	Decision precheck(MapSqlParameterSource run) {
		return this.connections
			.reading((reading) -> query(reading, this.precheck, run, (row, number) -> decision(row)));
	}

	/**
	 * Return what would be decided about a run whose lock is held, and draw its token if
	 * it goes on. The token is that of the holder if the lock is still held afterwards.
	 * @param joined whether the run is part of the current transaction
	 */
	Decision draw(MapSqlParameterSource run, boolean joined) {
		RowMapper<Decision> mapper = (row, number) -> decision(row);
		return joined ? query(this.current, this.draw, run, mapper)
				: this.connections.apart((apart) -> query(apart, this.draw, run, mapper));
	}

	/**
	 * Decide about a run in the current transaction, and write nothing yet.
	 */
	Decision decide(MapSqlParameterSource run, boolean savepoint) {
		String sql = savepoint ? this.decideBeforeSavepoint : this.decide;
		return query(this.current, sql, run, (row, number) -> decision(row));
	}

	/**
	 * Make sure that the server does not give a token again after a crash.
	 */
	void makeDurable(@Nullable Hold hold) {
		Hold.SideConnection side = (hold != null) ? hold.sideConnection() : null;
		if (side != null) {
			try {
				side.ask(LedgerStatements.flush(), List.of());
				return;
			}
			catch (DataAccessException ex) {
				logger.debug("The connection of session locks can't make a token durable", ex);
			}
		}
		this.connections.apart((apart) -> {
			apart.getJdbcOperations().execute(LedgerStatements.flush());
			return true;
		});
	}

	/**
	 * Undo what a run did in its transaction, write that it failed, and commit, which
	 * frees the lock.
	 */
	void failInside(MapSqlParameterSource run, Throwable failure) {
		this.current.getJdbcOperations().execute(LedgerStatements.undo());
		fail(this.current, run, LedgerRun.Failure.of(failure));
		this.current.getJdbcOperations().execute(LedgerStatements.commit());
	}

	/**
	 * Write that a run failed while its transaction goes on, besides that and the pool.
	 */
	void failAside(Hold.SideConnection side, MapSqlParameterSource run, Throwable failure) {
		this.connections.aside(side, (jdbc) -> fail(jdbc, run, LedgerRun.Failure.of(failure)));
	}

	/**
	 * Write a run that has come to its end, in its transaction.
	 * @return {@code false} if somebody else did the same meanwhile
	 */
	boolean complete(MapSqlParameterSource run, boolean oncePerKey, boolean keepsJob) {
		return query(this.current, this.statements.complete(),
				with(run, null).addValue("outcome", LedgerRun.Outcome.EXECUTED.name()),
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

	private boolean fail(NamedParameterJdbcOperations jdbc, MapSqlParameterSource run, LedgerRun.Failure failure) {
		return query(jdbc, this.statements.fail(),
				with(run, failure).addValue("outcome", LedgerRun.Outcome.FAILED.name()),
				(row, number) -> row.getInt(1) == 1);
	}

	/**
	 * Decide about a run, and write that it has begun, for all to see.
	 */
	Decision begin(MapSqlParameterSource run) {
		return this.connections
			.apart((apart) -> query(apart, this.statements.begin(), run, (row, number) -> decision(row)));
	}

	/**
	 * Write how a run ended that was begun.
	 * @return {@code false} if somebody else has given it up
	 * @throws IllegalStateException if its row has gone
	 */
	boolean end(MapSqlParameterSource run, LedgerRun.Outcome outcome, @Nullable Throwable failure) {
		MapSqlParameterSource parameters = with(run, (failure != null) ? LedgerRun.Failure.of(failure) : null)
			.addValue("outcome", outcome.name());
		return this.connections.apart((apart) -> query(apart, this.statements.end(), parameters, (row, number) -> {
			Assert.state(row.getInt(2) == 1, "Failed to record the end of the run: its row has gone from the ledger");
			return row.getInt(1) == 1;
		}));
	}

	private MapSqlParameterSource with(MapSqlParameterSource parameters, LedgerRun.@Nullable Failure failure) {
		StorableText text = this.connections.text();
		return parameters
			.addValue("errorClass", text.ofNullable((failure != null) ? failure.type() : null), Types.VARCHAR)
			.addValue("error", text.ofNullable((failure != null) ? failure.text() : null), Types.VARCHAR)
			.addValue("stackTrace", text.ofNullable((failure != null) ? failure.stackTrace() : null), Types.VARCHAR);
	}

	static Decision decision(ResultSet row) throws SQLException {
		return new Decision(row.getString(1), row.getObject(2, Long.class), row.getObject(3, OffsetDateTime.class),
				Math.max(1, row.getInt(4)), row.getObject(5, OffsetDateTime.class));
	}

	/**
	 * Execute a statement that has one row, and may be followed by others in its flight,
	 * which no query of Spring's may.
	 */
	private static <T> T query(NamedParameterJdbcOperations jdbc, String sql, MapSqlParameterSource parameters,
			RowMapper<T> mapper) {
		T answer;
		try {
			answer = jdbc.execute(sql, parameters, (PreparedStatement statement) -> {
				statement.execute();
				ResultSet row = statement.getResultSet();
				row.next();
				return mapper.mapRow(row, 1);
			});
		}
		catch (DataAccessException ex) {
			throw LedgerSchemaException.explain(ex);
		}
		Assert.state(answer != null, "'answer' must not be null");
		return answer;
	}

	/**
	 * What the ledger decided about a run.
	 *
	 * @param answer the name of an outcome, {@link LockOutcome#EXECUTED} to go on, or
	 * {@link LedgerStatements#AHEAD} or {@link LedgerStatements#OVERTAKEN}
	 * @param token the fencing token of a run that goes on
	 * @param time when it started, or the question was answered
	 * @param attempt how often its tick was tried, this time included
	 * @param ignored a time of the job that says nothing as it is in the future,
	 * {@code null} if there is none
	 */
	record Decision(String answer, @Nullable Long token, OffsetDateTime time, int attempt,
			@Nullable OffsetDateTime ignored) {
	}

}
