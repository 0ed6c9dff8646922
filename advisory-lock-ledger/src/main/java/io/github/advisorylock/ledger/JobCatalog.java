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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

	private static final int MOST_UNTOLD = 10_000;

	private static final int MOST_JOBS = 50_000;

	private static final int MOST_TEMPLATES = 1000;

	private static final int MOST_TICKS = 1000;

	/**
	 * Among how many runs of the ledger those of a template are looked for.
	 */
	private static final int RECENT_RUNS = 50_000;

	private final LedgerConnections connections;

	private final LedgerTables tables;

	JobCatalog(LedgerConnections connections, LedgerTables tables) {
		this.connections = connections;
		this.tables = tables;
	}

	/**
	 * Return what has to be worked out before jobs can be listed.
	 * @return schedules, and jobs whose locks nobody has told
	 */
	public Hints hints() {
		Hints hints = new Hints(new ArrayList<>(), new ArrayList<>(), new HashSet<>());
		this.connections
			.reading((jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.HINTS)).param("mostSchedules", MOST_SCHEDULES)
				.param("mostJobs", MOST_UNTOLD)
				.query((row, number) -> switch (row.getString("kind")) {
					case "SCHEDULE" -> hints.schedules.add(row.getString("key"));
					case "JOB" -> hints.untold.add(new JobName(row.getString("namespace"), row.getString("key")));
					default -> hints.held.add(row.getString("key"));
				})
				.list());
		return hints;
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
	public JobPage jobs(Known known, String text, String state, String sort, int offset, int limit) {
		return this.connections
			.reading((jdbc) -> bind(jdbc(jdbc, this.tables.in(JobStatements.PAGE)), known).param("text", text)
				.param("sort", sort)
				.param("state", state)
				.param("offset", offset)
				.param("limit", limit)
				.query(JobCatalog::page));
	}

	private static JobPage page(ResultSet rows) throws SQLException {
		int seen = 0;
		int total = 0;
		List<Place> places = new ArrayList<>();
		while (rows.next()) {
			seen = rows.getInt("seen");
			total = rows.getInt("total");
			if (rows.getString("key") != null) {
				places.add(new Place(new JobName(rows.getString("namespace"), rows.getString("key")),
						rows.getObject("rank", Double.class)));
			}
		}
		return new JobPage(seen, total, places);
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
		Map<String, JobRepository.PauseOfAll> pauses = new LinkedHashMap<>();
		this.connections
			.reading((jdbc) -> bind(jdbc(jdbc, this.tables.in(JobStatements.SUMMARY)), known).param("running", running)
				.param("latest", latest)
				.query((row, number) -> {
					switch (row.getString("kind")) {
						case "STATE" -> states.put(row.getString("key"), row.getInt("count"));
						case "EVERYTHING" -> pauses.put(row.getString("namespace"), JobRepository.pauseOfAll(row));
						case "RUNNING" -> runs.add(trouble(row));
						default -> problems.add(trouble(row));
					}
					return true;
				})
				.list());
		return new Summary(states, runs, problems, pauses);
	}

	private static Trouble trouble(ResultSet row) throws SQLException {
		return new Trouble(row.getString("kind"), new JobName(row.getString("namespace"), row.getString("key")),
				row.getInt("count"), JobRepository.instant(row, "at"), row.getString("instance"),
				row.getString("error_class"), row.getString("error"), row.getString("who"), row.getString("why"),
				row.getObject("failures", Long.class));
	}

	/**
	 * Return a page of the runs of a job. Those of a template are the runs of all its
	 * keys: the latest 50,000 that were not executed, and the executed ones among the
	 * latest 50,000 runs of the ledger.
	 * @param name the job
	 * @param outcome how they must have ended, {@code RUNNING}, or {@code all}
	 * @param longest whether the longest come first, rather than the latest
	 * @param offset how many to leave out
	 * @param limit how many at most
	 * @return the runs, with their stack traces
	 */
	public RunPage runs(JobName name, String outcome, boolean longest, int offset, int limit) {
		List<LedgerRun> runs = new ArrayList<>();
		List<Integer> totals = this.connections.reading(
				(jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.RUNS_MATCHING)).param("namespace", name.namespace())
					.param("key", name.key())
					.param("outcome", outcome)
					.param("longest", longest)
					.param("recent", RECENT_RUNS)
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
			.reading((jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.TICKS)).param("namespace", name.namespace())
				.param("key", name.key())
				.param("most", MOST_TICKS)
				.query((row, number) -> Objects.requireNonNull(JobRepository.instant(row, "tick"),
						"'tick' must not be null"))
				.list());
	}

	/**
	 * Return whose locks are.
	 * @param locks the entries of the locks
	 * @return the owners of those that are locks of jobs, or of runs in scope
	 * {@code SESSION}
	 */
	public List<LockOwner> owners(Collection<String> locks) {
		return this.connections.reading((jdbc) -> jdbc(jdbc, this.tables.in(JobStatements.OWNERS))
			.param("locks", array("text", locks, (lock) -> lock))
			.query((row, number) -> new LockOwner(row.getString("lock"),
					new JobName(row.getString("namespace"), row.getString("key")), row.getString("method"),
					row.getString("instance"), JobRepository.instant(row, "started_at")))
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
			.param("delays", array("boolean", known.plans, Plan::delay))
			.param("mostJobs", MOST_JOBS)
			.param("mostTemplates", MOST_TEMPLATES)
			.param("mostFailures", JobRepository.MOST_FAILURES);
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
	 * What has to be worked out before jobs can be listed.
	 *
	 * @param schedules the schedules of jobs, as {@link JobFacts#schedules()} has them,
	 * each once, 10,000 at most
	 * @param untold jobs whose locks nobody has told, 10,000 at most
	 * @param held the entries of all locks that are held or waited for, none where there
	 * are no such jobs
	 */
	public record Hints(List<String> schedules, List<JobName> untold, Set<String> held) {

	}

	/**
	 * Whose a lock is.
	 *
	 * @param lock the entry of the lock
	 * @param name the job or key
	 * @param method its method as {@code Class.method}, {@code null} if nobody has told
	 * @param instance where it runs, {@code null} if that is not recorded yet
	 * @param startedAt since when, {@code null} if that is not recorded yet
	 */
	public record LockOwner(String lock, JobName name, @Nullable String method, @Nullable String instance,
			@Nullable Instant startedAt) {

	}

	/**
	 * A page of jobs.
	 *
	 * @param seen how many jobs there are, as far as they are looked at
	 * @param total how many of these are asked for
	 * @param places those of the page
	 */
	public record JobPage(int seen, int total, List<Place> places) {

	}

	/**
	 * A job in an order.
	 *
	 * @param name its name
	 * @param rank what is lower comes first, {@code null} last; jobs of one rank are in
	 * the order of their names
	 */
	public record Place(JobName name, @Nullable Double rank) {

	}

	/**
	 * A job that whoever asks knows more of.
	 *
	 * @param name its name
	 * @param method its methods as {@code Class.method}, {@code null} if there are none
	 * @param lock the entry of its lock, {@code null} if its key depends on arguments
	 * @param paused whether it is paused by its configuration
	 * @param troubled whether it has a problem that the ledger knows nothing of
	 */
	public record OwnJob(JobName name, @Nullable String method, @Nullable String lock, boolean paused,
			boolean troubled) {

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
	 * @param pauses the pauses of all jobs of a namespace
	 */
	public record Summary(Map<String, Integer> states, List<Trouble> running, List<Trouble> problems,
			Map<String, JobRepository.PauseOfAll> pauses) {

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
