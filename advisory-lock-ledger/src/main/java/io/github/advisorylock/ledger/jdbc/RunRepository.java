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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.ledger.LedgerRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.util.Assert;

/**
 * Writes runs into the ledger: on the connection of the current transaction, or on one of
 * their own. Knows some thousands of the keys that it has written runs of, so that nobody
 * has to look for long histories in the whole table; those that come later than these are
 * noted after the next question.
 */
final class RunRepository {

	private static final Log logger = LogFactory.getLog(RunRepository.class);

	private static final int MOST_KEYS = 10_000;

	private static final PreparedStatementCallback<Decision> DECISION = (statement) -> {
		ResultSet row = answer(statement);
		return new Decision(row.getString(1), row.getObject(2, Long.class), row.getObject(3, OffsetDateTime.class),
				row.getInt(4), row.getObject(5, OffsetDateTime.class), row.getInt(6), row.getBoolean(7));
	};

	private final LedgerConnections connections;

	private final RunStatements statements;

	private final String namespace;

	private final Supplier<String> instance;

	private final Runnable schedules;

	private final Runnable drained;

	private final long keepRuns;

	/**
	 * How long a key that was completed is remembered, in microseconds.
	 */
	final long rememberKeys;

	/**
	 * How many runs were written since somebody asked.
	 */
	private final Map<JobName, Integer> written = new ConcurrentHashMap<>();

	/**
	 * The jobs whose last tick that came here was run here.
	 */
	private final Set<JobName> ticks = ConcurrentHashMap.newKeySet();

	/**
	 * The jobs of this application by their names: several methods may have one key.
	 */
	private volatile Map<JobName, JobFacts> jobs = Map.of();

	/**
	 * Create it.
	 * @param namespace that of this instance, which keys need not have
	 * @param schedules looks up the schedules that operators have chosen
	 * @param drained has this instance know that it is drained
	 */
	RunRepository(LedgerConnections connections, RunStatements statements, LedgerSettings settings, String namespace,
			Supplier<String> instance, Runnable schedules, Runnable drained) {
		this.connections = connections;
		this.statements = statements;
		this.namespace = namespace;
		this.instance = instance;
		this.schedules = schedules;
		this.drained = drained;
		this.keepRuns = LedgerSettings.micros(settings.keepRunsFor());
		this.rememberKeys = LedgerSettings.micros(settings.rememberKeys());
	}

	/**
	 * Have it know the jobs of this application.
	 */
	void know(List<JobFacts> jobs) {
		this.jobs = jobs.stream().collect(Collectors.toMap(JobFacts::name, (job) -> job, (one, other) -> one));
	}

	/**
	 * Return what is known of every run before it begins.
	 */
	MapSqlParameterSource parameters() {
		return new MapSqlParameterSource().addValue("home", this.namespace)
			.addValue("instance", this.instance.get())
			.addValue("born", InstanceRepository.BORN)
			.addValue("keepRuns", this.keepRuns)
			.addValue("rememberKeys", this.rememberKeys)
			.addValue("result", null, Types.VARCHAR)
			.addValue("givenUp", false)
			.addValue("badOutcome", LedgerRun.Outcome.FAILED.name())
			.addValue("traceId", null, Types.VARCHAR);
	}

	/**
	 * Note that a run was written. A key that was completed once and for all has no
	 * longer history to come, and need not be noted.
	 */
	void note(JobName name) {
		if (this.written.size() < MOST_KEYS || this.written.containsKey(name)) {
			this.written.merge(name, 1, Integer::sum);
		}
	}

	/**
	 * Return the keys that were noted and the numbers of their runs, and begin anew.
	 */
	Map<JobName, Integer> takeNoted() {
		Map<JobName, Integer> taken = new ConcurrentHashMap<>();
		this.written.keySet().forEach((name) -> this.written.computeIfPresent(name, (key, count) -> {
			taken.put(key, count);
			return null;
		}));
		return taken;
	}

	/**
	 * Return whether a tick is looked up before the lock is asked for: unless the last
	 * one was run here, it may be that of others. Whoever took the lock only to learn
	 * that would keep it from an instance whose clock is ahead, which asks for a later
	 * tick at that moment, and does not come again.
	 */
	boolean looksFirst(JobName name) {
		return !this.ticks.remove(name);
	}

	/**
	 * Note that a tick is run here.
	 */
	void noteTick(JobName name) {
		if (this.ticks.size() < MOST_KEYS) {
			this.ticks.add(name);
		}
	}

	/**
	 * Look up the schedules that operators have chosen.
	 */
	void learnSchedules() {
		this.schedules.run();
	}

	/**
	 * Have this instance know that it is drained.
	 */
	void learnDrained() {
		this.drained.run();
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
	Decision precheck(RunStatements.Kind kind, MapSqlParameterSource run) {
		return this.connections
			.reading((reading) -> query(reading, this.statements.decisions(kind).look(), run, DECISION));
	}

	/**
	 * Decide about a run, draw its token if it goes on, and write nothing yet.
	 * @param joined whether the run is part of the current transaction
	 * @param savepoint whether its work is to be undone apart from its lock
	 */
	Decision decide(RunStatements.Kind kind, MapSqlParameterSource run, boolean joined, boolean savepoint) {
		RunStatements.Decisions decisions = this.statements.decisions(kind);
		if (!joined) {
			return this.connections.apart((apart) -> query(apart, decisions.apart(), run, DECISION));
		}
		String sql = savepoint ? decisions.beforeSavepoint() : decisions.inside();
		return query(this.connections.current(), sql, run, DECISION);
	}

	/**
	 * Write that a run has begun, for all to see.
	 * @return when, {@code null} if somebody else has had its lock since its token was
	 * drawn
	 */
	@Nullable OffsetDateTime begin(MapSqlParameterSource run) {
		return this.connections
			.apart((apart) -> query(apart, this.statements.begin, run,
					(statement) -> Optional.ofNullable(answer(statement).getObject(1, OffsetDateTime.class))))
			.orElse(null);
	}

	/**
	 * Write what a run is doing that has begun for all to see, besides the pool.
	 */
	void hang(Hold.SideConnection side, AdvisoryLockKey key, long token, String stack) {
		Map<String, Object> run = Map.of("namespace", key.namespace(), "key", key.name(), "token", token, "hangStack",
				stack);
		this.connections.aside(side, (jdbc) -> jdbc.update(this.statements.hang, run));
	}

	/**
	 * Return what is kept of the result of a key that was completed.
	 */
	@Nullable String result(MapSqlParameterSource run, boolean joined) {
		PreparedStatementCallback<Optional<String>> text = (statement) -> Optional
			.ofNullable(answer(statement).getString(1));
		Optional<String> result = joined ? query(this.connections.current(), this.statements.result, run, text)
				: this.connections.apart((apart) -> query(apart, this.statements.result, run, text));
		return result.orElse(null);
	}

	/**
	 * Write that a run has come to its end.
	 * @param joined whether it is part of the current transaction
	 * @return {@code false} if another run has completed it, or given it up
	 */
	boolean complete(MapSqlParameterSource run, boolean joined) {
		return joined ? end(this.connections.current(), run, null, false)
				: this.connections.apart((apart) -> end(apart, run, null, false));
	}

	/**
	 * Write that a run has failed and is done all the same, as the current transaction is
	 * about to be committed.
	 * @throws IllegalStateException if another run has completed it: then what this one
	 * did must not be committed
	 */
	void completeFailed(MapSqlParameterSource run, Throwable failure) {
		boolean written = end(this.connections.current(), run, LedgerRun.Failure.committed(failure), true);
		Assert.state(written, () -> "Failed to complete the run of advisory lock '" + run.getValue("key")
				+ "', which has failed: another run has completed it meanwhile");
	}

	/**
	 * Make sure that the server does not give a token again after a crash.
	 */
	void makeDurable(@Nullable Hold hold) {
		Hold.SideConnection side = (hold != null) ? hold.sideConnection() : null;
		if (side != null) {
			try {
				side.ask(RunStatements.flush(), List.of());
				return;
			}
			catch (DataAccessException ex) {
				logger.debug("The connection of session locks can't make a token durable", ex);
			}
		}
		this.connections.apart((apart) -> {
			apart.getJdbcOperations().execute(RunStatements.flush());
			return true;
		});
	}

	/**
	 * Undo what a run did in its transaction, write that it failed, and commit, which
	 * frees the lock.
	 */
	void failInside(MapSqlParameterSource run, Throwable failure) {
		NamedParameterJdbcOperations current = this.connections.current();
		current.getJdbcOperations().execute(RunStatements.undo());
		end(current, run, LedgerRun.Failure.of(failure), false);
		current.getJdbcOperations().execute(RunStatements.commit());
	}

	/**
	 * Write that a run failed while its transaction goes on, besides that and the pool.
	 */
	void failAside(Hold.SideConnection side, MapSqlParameterSource run, Throwable failure) {
		this.connections.aside(side, (jdbc) -> end(jdbc, run, LedgerRun.Failure.of(failure), false));
	}

	/**
	 * Write that a run failed, once its transaction is over, if it had one.
	 * @param occupied whether that transaction still occupies its connection: there may
	 * be no other in the pool
	 */
	void fail(MapSqlParameterSource run, Throwable failure, boolean occupied) {
		LedgerRun.Failure reason = LedgerRun.Failure.of(failure);
		if (occupied) {
			this.connections.afterCompletion((left) -> end(left, run, reason, false));
		}
		else {
			this.connections.apart((apart) -> end(apart, run, reason, false));
		}
	}

	private boolean end(NamedParameterJdbcOperations jdbc, MapSqlParameterSource run,
			LedgerRun.@Nullable Failure failure, boolean committed) {
		run.addValue("outcome", (failure != null) ? run.getValue("badOutcome") : LedgerRun.Outcome.EXECUTED.name())
			.addValue("committed", committed)
			.addValue("errorClass", (failure != null) ? text().of(failure.type()) : null, Types.VARCHAR)
			.addValue("error", (failure != null) ? text().of(failure.text()) : null, Types.VARCHAR)
			.addValue("stackTrace", this.connections.storable((failure != null) ? failure.stackTrace() : null),
					Types.VARCHAR);
		return query(jdbc, this.statements.end, run, (statement) -> answer(statement).getInt(1) == 1);
	}

	/**
	 * Return when the schedule calls a job again. Of ticks, a run by hand says nothing.
	 */
	@Nullable OffsetDateTime next(JobName name, MapSqlParameterSource run) {
		JobFacts job = this.jobs.get(name);
		if (job == null || !(run.getValue("startedAt") instanceof OffsetDateTime start)
				|| (job.isOncePerTick() && run.getValue("tick") == null)) {
			return null;
		}
		Instant next = job.next(start.toInstant(), Instant.now());
		return (next != null) ? next.atOffset(ZoneOffset.UTC) : null;
	}

	/**
	 * Execute a statement that has one row, and may be followed by others in its flight,
	 * which no query of Spring's may.
	 */
	private static <T> T query(NamedParameterJdbcOperations jdbc, String sql, MapSqlParameterSource parameters,
			PreparedStatementCallback<T> question) {
		try {
			T answer = jdbc.execute(sql, parameters, question);
			Assert.state(answer != null, "'answer' must not be null");
			return answer;
		}
		catch (DataAccessException ex) {
			throw LedgerSchemaException.explain(ex);
		}
	}

	private static ResultSet answer(PreparedStatement statement) throws SQLException {
		statement.execute();
		ResultSet row = statement.getResultSet();
		row.next();
		return row;
	}

	/**
	 * What the ledger decided about a run.
	 *
	 * @param answer the name of an outcome, {@link LockOutcome#EXECUTED} to go on, or
	 * {@link RunStatements#AHEAD}
	 * @param token the fencing token of a run that goes on
	 * @param time when the question was answered
	 * @param attempt how often its tick was tried, this time included
	 * @param ignored a time of the job that says nothing as it is in the future,
	 * {@code null} if there is none
	 * @param failedAttempts how many attempts of its tick have failed
	 * @param earlier whether its tick is backfilled, and the job has had that or a later
	 * one: the run tells the job of none
	 */
	record Decision(String answer, @Nullable Long token, OffsetDateTime time, int attempt,
			@Nullable OffsetDateTime ignored, int failedAttempts, boolean earlier) {

	}

}
