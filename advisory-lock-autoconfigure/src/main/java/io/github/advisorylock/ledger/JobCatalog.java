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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * All jobs as operators look at them: by pages, in an order, or in short. The database
 * does that, however many there are; what it can't know comes with the question.
 *
 * @since 0.1.0
 */
public final class JobCatalog {

	private static final int MOST_SCHEDULES = 10_000;

	private static final int MOST_TICKS = 1000;

	private final LedgerConnections connections;

	private final LedgerStatements statements;

	JobCatalog(LedgerConnections connections, LedgerStatements statements) {
		this.connections = connections;
		this.statements = statements;
	}

	/**
	 * Return the schedules that jobs have, each once.
	 * @return the schedules, as {@link JobFacts#schedules()} has them, 10,000 at most
	 */
	public List<String> schedules() {
		return this.connections.reading((jdbc) -> JdbcClient.create(jdbc)
			.sql(this.statements.schedules())
			.param("most", MOST_SCHEDULES)
			.query(String.class)
			.list());
	}

	/**
	 * Return a page of the jobs.
	 * @param known what the ledger does not know
	 * @param text what their names or methods must contain
	 * @param state the state they must have, {@code problem} or {@code all}
	 * @param sort their order: by key, what is next, ran last, took longest, or failed
	 * most often in a row first
	 * @param offset how many to leave out
	 * @param limit how many at most
	 * @return their names, in the order
	 */
	public JobRepository.JobNamesPage jobs(Known known, String text, String state, String sort, int offset, int limit) {
		return this.connections
			.reading((jdbc) -> bind(jdbc(jdbc, this.statements.listed(sort)), known).param("text", text)
				.param("state", state)
				.param("offset", offset)
				.param("limit", limit)
				.query(JobRepository::page));
	}

	/**
	 * Return in short how the jobs are.
	 * @param known what the ledger does not know
	 * @param running how many of those that run are told at most
	 * @param latest how many problems of each kind are told at most
	 * @return what there is
	 */
	public Summary summary(Known known, int running, int latest) {
		Map<String, Integer> states = new LinkedHashMap<>();
		List<Trouble> runs = new ArrayList<>();
		List<Trouble> problems = new ArrayList<>();
		this.connections.reading((jdbc) -> bind(jdbc(jdbc, this.statements.summary()), known).param("running", running)
			.param("latest", latest)
			.query((row, number) -> {
				switch (row.getString("kind")) {
					case "STATE" -> states.put(row.getString("key"), row.getInt("count"));
					case "RUNNING" -> runs.add(trouble(row));
					default -> problems.add(trouble(row));
				}
				return true;
			})
			.list());
		return new Summary(states, runs, problems);
	}

	private static Trouble trouble(ResultSet row) throws SQLException {
		return new Trouble(row.getString("kind"), new JobName(row.getString("namespace"), row.getString("key")),
				row.getInt("count"), JobRepository.instant(row, "at"), row.getString("instance"),
				row.getString("error_class"), row.getString("error"), row.getString("who"), row.getString("why"),
				row.getObject("failures", Long.class));
	}

	/**
	 * Return a page of the runs of a job. Those of a template are the runs of all its
	 * keys that were not executed.
	 * @param name the job
	 * @param outcome how they must have ended, {@code RUNNING}, or {@code all}
	 * @param longest whether the longest come first, rather than the latest
	 * @param offset how many to leave out
	 * @param limit how many at most
	 * @return the runs, with their stack traces
	 */
	public RunPage runs(JobName name, String outcome, boolean longest, int offset, int limit) {
		List<LedgerRun> runs = new ArrayList<>();
		List<Integer> totals = this.connections
			.reading((jdbc) -> jdbc(jdbc, this.statements.runsMatching()).param("namespace", name.namespace())
				.param("key", name.key())
				.param("outcome", outcome)
				.param("longest", longest)
				.param("offset", offset)
				.param("limit", limit)
				.query((row, number) -> {
					if (row.getString("key") != null) {
						runs.add(JobRepository.run(row, number));
					}
					return row.getInt("total");
				})
				.list());
		return new RunPage(totals.isEmpty() ? 0 : totals.get(0), runs);
	}

	/**
	 * Return the ticks that runs of a job are known of.
	 * @param name the job
	 * @return the ticks, latest first, a thousand at most
	 */
	public List<Instant> ticks(JobName name) {
		return this.connections
			.reading((jdbc) -> jdbc(jdbc, this.statements.ticks()).param("namespace", name.namespace())
				.param("key", name.key())
				.param("most", MOST_TICKS)
				.query((row, number) -> Objects.requireNonNull(JobRepository.instant(row, "tick"),
						"'tick' must not be null"))
				.list());
	}

	private static JdbcClient.StatementSpec jdbc(NamedParameterJdbcOperations jdbc, String sql) {
		return JdbcClient.create(jdbc).sql(sql);
	}

	private static JdbcClient.StatementSpec bind(JdbcClient.StatementSpec statement, Known known) {
		return statement.param("namespaces", array("text", known.own, (own) -> own.name.namespace()))
			.param("keys", array("text", known.own, (own) -> own.name.key()))
			.param("methods", array("text", known.own, OwnJob::method))
			.param("locks", array("text", known.own, OwnJob::lock))
			.param("paused", array("boolean", known.own, OwnJob::paused))
			.param("troubled", array("boolean", known.own, OwnJob::troubled))
			.param("schedules", array("text", known.plans, Plan::schedules))
			.param("nexts", array("text", known.plans, (plan) -> text(plan.next)))
			.param("dues", array("text", known.plans, (plan) -> text(plan.due)))
			.param("intervals",
					array("bigint", known.plans,
							(plan) -> (plan.interval != null) ? LedgerSettings.micros(plan.interval) : null))
			.param("delays", array("boolean", known.plans, Plan::delay));
	}

	private static @Nullable String text(@Nullable Instant time) {
		return (time != null) ? time.toString() : null;
	}

	private static <T> SqlArrayValue array(String type, Collection<T> all, Function<T, @Nullable Object> element) {
		return new SqlArrayValue(type, all.stream().map(element).toArray());
	}

	/**
	 * What the ledger does not know.
	 *
	 * @param own the jobs of the methods of whoever asks, each once
	 * @param plans what follows from the schedules of jobs
	 */
	public record Known(Collection<OwnJob> own, Collection<Plan> plans) {

	}

	/**
	 * A job of a method of whoever asks.
	 *
	 * @param name its name
	 * @param method the method as {@code Class.method}
	 * @param lock the entry of its lock, {@code null} if its key depends on arguments
	 * @param paused whether it is paused by its configuration
	 * @param troubled whether it has a problem that the ledger knows nothing of
	 */
	public record OwnJob(JobName name, String method, @Nullable String lock, boolean paused, boolean troubled) {

	}

	/**
	 * What follows from a schedule.
	 *
	 * @param schedules the schedules, as {@link JobFacts#schedules()} has them
	 * @param next when their next tick is, {@code null} if there is none
	 * @param due which tick should have been completed by now, {@code null} if there is
	 * none
	 * @param interval the time between calls, {@code null} if there is none
	 * @param delay whether that begins with the end of a run
	 */
	public record Plan(String schedules, @Nullable Instant next, @Nullable Instant due, @Nullable Duration interval,
			boolean delay) {

	}

	/**
	 * How the jobs are.
	 *
	 * @param states how many are in each state, as far as there are any
	 * @param running some of those that run, which began first before others
	 * @param problems the latest problems of each kind, latest first
	 */
	public record Summary(Map<String, Integer> states, List<Trouble> running, List<Trouble> problems) {

	}

	/**
	 * A job that an operator should look at.
	 *
	 * @param kind {@code FAILED}, {@code ABANDONED}, {@code OVERDUE},
	 * {@code FUTURE_TICK}, {@code PAUSED} or {@code RUNNING}
	 * @param name its name
	 * @param count how many there are of the kind
	 * @param at since when, {@code null} if that is not known
	 * @param instance where its last run failed, {@code null} if it has not
	 * @param errorClass the class of the failure
	 * @param error the failure
	 * @param by who paused it, {@code null} if nobody has
	 * @param reason why
	 * @param failures how many runs in a row were not executed, {@code null} where that
	 * is not asked for
	 */
	public record Trouble(String kind, JobName name, int count, @Nullable Instant at, @Nullable String instance,
			@Nullable String errorClass, @Nullable String error, @Nullable String by, @Nullable String reason,
			@Nullable Long failures) {

	}

	/**
	 * Some runs.
	 *
	 * @param total how many are asked for
	 * @param runs those of the page
	 */
	public record RunPage(int total, List<LedgerRun> runs) {

	}

}
