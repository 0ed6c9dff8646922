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
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * Reads jobs and their runs for operators, once the ledger is in use, and writes what
 * operators change of them.
 * <p>
 * Rows are mapped by hand: Spring's mappers find a column with an underscore by an
 * exception for each row, and get no {@link Instant} from the driver.
 *
 * @since 0.1.0
 */
public class JobRepository {

	private static final int MOST_KEYS_OF_TEMPLATE = 1000;

	/**
	 * Among how many failures of keys of one template those are looked for that have not
	 * run since.
	 */
	static final int MOST_FAILURES = 50;

	private static final int MOST_INSTANCES = 1000;

	/**
	 * Among how many runs of the ledger those of a template are looked for.
	 */
	private static final int RECENT_RUNS = 50_000;

	private final LedgerConnections connections;

	private final LedgerTables tables;

	private final InstanceRepository instances;

	private final RunQuestions questions;

	JobRepository(LedgerConnections connections, LedgerTables tables, Supplier<String> instance) {
		this.connections = connections;
		this.tables = tables;
		this.instances = new InstanceRepository(connections, tables, instance);
		this.questions = new RunQuestions(connections, tables, instance);
	}

	/**
	 * Ask the instances that hold a lock what they do under it.
	 * @param lock the lock, as the lock table of the server has it
	 * @param wake tells instances that there is a question; called now and then
	 * @param enough whether that are all answers that are to be expected
	 * @param patience how long to wait for these
	 * @return what was answered until then
	 */
	public List<KnownInstance.Answer> ask(String lock, Runnable wake, Predicate<List<KnownInstance.Answer>> enough,
			Duration patience) {
		return this.questions.ask(lock, wake, enough, patience);
	}

	/**
	 * Return what is said of instances.
	 */
	InstanceRepository instances() {
		return this.instances;
	}

	/**
	 * Return what has the questions of others.
	 */
	RunQuestions questions() {
		return this.questions;
	}

	/**
	 * Add those of some jobs that are not there yet, and tell what they are and when they
	 * are called next where that is not known.
	 */
	void register(Collection<JobFacts> jobs) {
		this.instances.untold(jobs);
		Instant now = Instant.now();
		List<JobName> names = jobs.stream().map(JobFacts::name).toList();
		this.connections.apart((apart) -> bind(this.tables.statement(apart, JobStatements.REGISTER), names)
			.param("methods", RunQuestions.array(jobs, (job) -> this.connections.storable(job.method())))
			.param("scopes", RunQuestions.array(jobs, JobFacts::scope))
			.param("schedules", RunQuestions.array(jobs, (job) -> this.connections.storable(job.toJson())))
			.param("onces", RunQuestions.array(jobs, JobFacts::once))
			.param("intervals", micros(jobs, JobFacts::minInterval))
			.param("windows", micros(jobs, JobFacts::catchUp))
			.param("locks", RunQuestions.array(jobs, JobFacts::lock))
			.param("periods", micros(jobs, (job) -> job.period(now)))
			.param("templates", RunQuestions.array(jobs, (job) -> job.template() ? job.name().key() : null))
			.param("recorded", new SqlArrayValue("boolean", jobs.stream().map(JobFacts::recorded).toArray()))
			.param("next", RunQuestions.array(jobs, (job) -> Objects.toString(job.nextTick(now), null)))
			.update());
	}

	/**
	 * Return what a list of jobs shows, in one round trip to the server.
	 * @param namespace the namespace of the instances, and of the pause of all jobs
	 * @param most how many jobs at most
	 * @return the jobs that are listed on their own with their state and the run it is
	 * about, those of keys with arguments under what they were made from
	 */
	public Overview overview(String namespace, int most) {
		String sql = this.tables.in(JobStatements.INSTANCES) + ";" + this.tables.in(JobStatements.PAUSE_OF_ALL) + ";"
				+ this.tables.in(JobStatements.DIFFERING) + ";" + this.tables.in(JobStatements.LISTED);
		Map<String, Object> parameters = Map.of("namespace", namespace, "instances", MOST_INSTANCES, "most", most);
		return this.connections.readingBriefly((jdbc) -> jdbc.execute(sql, parameters, (statement) -> {
			statement.execute();
			List<KnownInstance> instances = next(statement, InstanceRepository::instance);
			statement.getMoreResults();
			List<PauseOfAll> pause = next(statement, (row, number) -> new PauseOfAll(LedgerTables.required(row, "at"),
					row.getString("who"), row.getString("why")));
			statement.getMoreResults();
			List<Differing> differing = next(statement, (row, number) -> new Differing(row.getString("key"),
					LedgerTables.required(row, "since"), row.getString("instance"), row.getString("detail")));
			statement.getMoreResults();
			return new Overview(next(statement, JobRepository::state), instances, pause.isEmpty() ? null : pause.get(0),
					differing);
		}));
	}

	private static <T> List<T> next(Statement statement, RowMapper<T> mapper) throws SQLException {
		return new RowMapperResultSetExtractor<>(mapper).extractData(statement.getResultSet());
	}

	/**
	 * Return the jobs of a namespace that come after one, in the order of their keys.
	 */
	List<LedgerJob> jobs(String namespace, String after, int limit) {
		return this.connections.readingBriefly(
				(jdbc) -> this.tables.statement(jdbc, new JobName(namespace, after), JobStatements.PAGE_OF_NAMESPACE)
					.param("limit", limit)
					.query(JobRepository::job)
					.list());
	}

	/**
	 * Return one job.
	 */
	Optional<LedgerJob> job(JobName name) {
		return this.connections.readingBriefly(
				(jdbc) -> this.tables.statement(jdbc, name, JobStatements.ONE).query(JobRepository::job).optional());
	}

	/**
	 * Look at some jobs and the holders of their locks, with one statement.
	 * @param keys the keys of the jobs
	 * @return what is seen of each, in the order of the keys
	 */
	List<ObservedJob> observe(List<AdvisoryLockKey> keys) {
		List<JobName> names = keys.stream().map(JobName::of).toList();
		Object[] locks = keys.stream().map(PostgresAdvisoryLockTemplate::lockEntry).toArray();
		return this.connections.apartBriefly((apart) -> bind(this.tables.statement(apart, JobStatements.OBSERVE), names)
			.param("locks", new SqlArrayValue("text", locks))
			.query(JobRepository::observed)
			.list());
	}

	/**
	 * Return whether there is a job or a run.
	 */
	boolean knows(JobName name) {
		return this.connections.readingBriefly(
				(jdbc) -> this.tables.statement(jdbc, name, JobStatements.KNOWS).query(Boolean.class).single());
	}

	/**
	 * Return one job with its state and the run that is about. A key that only its runs
	 * or its completion tell of is a job, too.
	 * @param name its name
	 * @return the job, or empty if nothing is known of it
	 */
	public Optional<JobState> state(JobName name) {
		return this.connections.readingBriefly((jdbc) -> this.tables.statement(jdbc, name, JobStatements.DESCRIBED)
			.query(JobRepository::state)
			.optional());
	}

	/**
	 * Return the jobs that are overdue, and those whose last tick is yet to come.
	 */
	List<LateJob> late() {
		return this.connections.apartBriefly((apart) -> this.tables.statement(apart, JobStatements.LATE)
			.query((row, number) -> new LateJob(new JobName(row.getString("namespace"), row.getString("key")),
					LedgerTables.instant(row, "overdue_tick"), LedgerTables.instant(row, "last_tick"),
					LedgerTables.required(row, "clock"), row.getBoolean("ahead")))
			.list());
	}

	/**
	 * Return the keys made from a template whose last run has failed within a day.
	 * @param template the template, in the place of a key
	 * @param latest how many keys
	 * @return the latest of them by their last run
	 */
	public Some<LedgerRun> failures(JobName template, int latest) {
		return some((jdbc) -> this.tables.statement(jdbc, template, JobStatements.FAILURES)
			.param("mostFailures", MOST_FAILURES)
			.param("latest", latest), JobRepository::run);
	}

	/**
	 * Return the keys that were made from a template.
	 * @param template the template, in the place of a key
	 * @param latest how many keys
	 * @return the latest of them; 1,000 stands for as many or more
	 */
	public Some<LedgerJob> keys(JobName template, int latest) {
		return some((jdbc) -> this.tables.statement(jdbc, template, JobStatements.KEYS)
			.param("most", MOST_KEYS_OF_TEMPLATE)
			.param("latest", latest), JobRepository::job);
	}

	private <T> Some<T> some(Function<NamedParameterJdbcOperations, JdbcClient.StatementSpec> question,
			RowMapper<T> mapper) {
		int[] count = new int[1];
		List<T> latest = this.connections.readingBriefly((jdbc) -> question.apply(jdbc).query((row, number) -> {
			count[0] = row.getInt("count");
			return mapper.mapRow(row, number);
		}).list());
		return new Some<>(count[0], latest);
	}

	/**
	 * Return the last runs of the keys that were made from a template: the latest that
	 * failed, and the executed ones among the latest 50,000 runs of the ledger.
	 * @param template the template, in the place of a key
	 * @param limit how many runs at most
	 * @return the runs, latest first
	 */
	public List<LedgerRun> runsOfTemplate(JobName template, int limit) {
		return this.connections
			.readingBriefly((jdbc) -> this.tables.statement(jdbc, template, JobStatements.RUNS_OF_TEMPLATE)
				.param("recent", RECENT_RUNS)
				.param("limit", limit)
				.query(JobRepository::run)
				.list());
	}

	/**
	 * Return the last runs of a key.
	 * @param namespace the namespace of the key
	 * @param key its name
	 * @param limit how many runs at most
	 * @return the runs, latest first
	 */
	public List<LedgerRun> runs(String namespace, String key, int limit) {
		return this.connections
			.readingBriefly((jdbc) -> this.tables.statement(jdbc, new JobName(namespace, key), JobStatements.RUNS)
				.param("limit", limit)
				.query(JobRepository::run)
				.list());
	}

	/**
	 * Return the latest runs of all jobs of a namespace, the latest first.
	 * @param namespace the namespace
	 * @param outcome how they have ended, {@code null} for any way, and for runs under
	 * way
	 * @param instance the instance that they are of, {@code null} for any
	 * @param from the earliest begin, {@code null} for any
	 * @param to the first begin that is too late, {@code null} for none
	 * @param limit how many at most
	 * @return the runs, without stacks
	 */
	public List<LedgerRun> latest(String namespace, LedgerRun.@Nullable Outcome outcome, @Nullable String instance,
			@Nullable Instant from, @Nullable Instant to, int limit) {
		Stream<LedgerRun.Outcome> ends = (outcome != null) ? Stream.of(outcome) : Stream.of(LedgerRun.Outcome.values());
		String sql = (instance != null) ? JobStatements.LATEST_OF_INSTANCE : JobStatements.LATEST;
		return this.connections.readingBriefly((jdbc) -> this.tables.statement(jdbc, sql)
			.param("badEnds",
					new SqlArrayValue("text",
							ends.map((end) -> (end != LedgerRun.Outcome.EXECUTED) ? end.name() : "").toArray()))
			.param("ended", outcome != null)
			.param("namespace", namespace)
			.param("instance", this.connections.storable(instance), Types.VARCHAR)
			.param("from", (from != null) ? from.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.param("to", (to != null) ? to.atOffset(ZoneOffset.UTC) : null, Types.TIMESTAMP_WITH_TIMEZONE)
			.param("limit", limit)
			.query(JobRepository::run)
			.list());
	}

	private static JdbcClient.StatementSpec bind(JdbcClient.StatementSpec statement, Collection<JobName> names) {
		return statement.param("namespaces", RunQuestions.array(names, JobName::namespace))
			.param("keys", RunQuestions.array(names, JobName::key));
	}

	private static <T> SqlArrayValue micros(Collection<T> all, Function<T, @Nullable Duration> element) {
		return RunQuestions.numbers(all, (one) -> {
			Duration time = element.apply(one);
			return (time != null) ? LedgerSettings.micros(time) : null;
		});
	}

	private static LedgerJob job(ResultSet row, int number) throws SQLException {
		return new LedgerJob(row.getString("namespace"), row.getString("key"),
				LedgerTables.required(row, "first_seen_at"), LedgerTables.instant(row, "last_tick"),
				LedgerTables.instant(row, "last_started_at"), LedgerTables.instant(row, "last_finished_at"),
				outcome(row.getString("last_outcome")), row.getObject("fencing_token", Long.class),
				LedgerTables.instant(row, "paused_at"), row.getString("paused_by"), row.getString("paused_reason"),
				LedgerTables.instant(row, "resumed_at"), LedgerTables.instant(row, "open_tick"), row.getInt("attempts"),
				LedgerTables.instant(row, "retry_at"), row.getBoolean("paused_all"), row.getInt("failures"),
				LedgerTables.instant(row, "next_at"), row.getBoolean("given_up"));
	}

	private static ObservedJob observed(ResultSet row, int number) throws SQLException {
		LedgerJob job = (row.getString("key") != null) ? job(row, number) : null;
		return new ObservedJob(job, row.getBoolean("held"), LedgerTables.required(row, "clock"));
	}

	private static LedgerRun run(ResultSet row, int number) throws SQLException {
		return run(row, row.getString("key"));
	}

	private static LedgerRun run(ResultSet row, String key) throws SQLException {
		return new LedgerRun(row.getLong("id"), row.getString("namespace"), key, LedgerTables.instant(row, "tick"),
				row.getInt("attempt"), LockScope.valueOf(row.getString("scope")), row.getString("instance"),
				row.getLong("fencing_token"), LedgerTables.required(row, "started_at"),
				LedgerTables.instant(row, "finished_at"), outcome(row.getString("outcome")), row.getString("error"),
				row.getString("error_class"), row.getString("trace_id"), row.getString("stack_trace"),
				row.getString("hang_stack"));
	}

	private static JobState state(ResultSet row, int number) throws SQLException {
		String problems = row.getString("problem");
		String key = row.getString("run_key");
		String scope = row.getString("job_scope");
		Long catchUp = row.getObject("catch_up", Long.class);
		return new JobState(job(row, number), row.getBoolean("registered"), row.getBoolean("recorded"),
				row.getBoolean("of_keys"), row.getString("state"),
				(problems != null) ? List.of(problems.split(", ")) : List.of(), (key != null) ? run(row, key) : null,
				LedgerTables.instant(row, "completed_at"), row.getString("method"),
				(scope != null) ? LockScope.valueOf(scope) : null, row.getInt("permits"), row.getString("schedules"),
				(catchUp != null) ? Duration.of(catchUp, ChronoUnit.MICROS) : null, rescheduled(row));
	}

	private static @Nullable Rescheduled rescheduled(ResultSet row) throws SQLException {
		Instant from = LedgerTables.instant(row, "effective_at");
		return (from != null) ? new Rescheduled(row.getString("chosen"), row.getString("chosen_zone"), from,
				LedgerTables.required(row, "changed_at"), row.getString("changed_by"), row.getString("changed_reason"),
				row.getBoolean("differs")) : null;
	}

	private static LedgerRun.@Nullable Outcome outcome(@Nullable String name) {
		return (name != null) ? LedgerRun.Outcome.valueOf(name) : null;
	}

	/**
	 * A job of the ledger as it is now.
	 *
	 * @param job the job
	 * @param registered whether there is a row for it, and not for its runs only
	 * @param recorded whether its runs are recorded, so that it can be paused
	 * @param template whether it is what keys with arguments are made from
	 * @param state its state, {@code null} if there is no row for it
	 * @param problems what is wrong with it, what weighs most first
	 * @param lastRun its last run, {@code null} if there was none, or it is forgotten; of
	 * a template, the latest of a key that failed and has not run since
	 * @param completedAt since when its key is not run again, {@code null} if it is
	 * @param method its method, {@code null} if nobody has told
	 * @param scope how long its lock lives, {@code null} if nobody has told
	 * @param permits how many may hold its key at a time
	 * @param schedules when it is called, as JSON, {@code null} if nobody has told
	 * @param catchUp for how long any instance makes up for a tick, {@code null} if none
	 * does
	 * @param rescheduled the schedule that an operator has chosen, {@code null} if none
	 * has
	 */
	public record JobState(LedgerJob job, boolean registered, boolean recorded, boolean template,
			@Nullable String state, List<String> problems, @Nullable LedgerRun lastRun, @Nullable Instant completedAt,
			@Nullable String method, @Nullable LockScope scope, int permits, @Nullable String schedules,
			@Nullable Duration catchUp, @Nullable Rescheduled rescheduled) {

	}

	/**
	 * A schedule that an operator has chosen.
	 *
	 * @param schedule the cron expression, or the interval; {@code null} for the schedule
	 * of the annotation, which is to hold again
	 * @param zone the zone of the cron expression
	 * @param effectiveAt from when on it holds
	 * @param since when it was chosen
	 * @param by who has chosen it
	 * @param reason why, {@code null} if nobody said so
	 * @param annotationChanged whether the annotation says something else than it did
	 * then
	 */
	public record Rescheduled(@Nullable String schedule, @Nullable String zone, Instant effectiveAt, Instant since,
			@Nullable String by, @Nullable String reason, boolean annotationChanged) {

	}

	/**
	 * A job that is overdue, or whose last tick is yet to come.
	 *
	 * @param name its name
	 * @param overdueTick the tick that nobody has completed in time, {@code null} if
	 * there is none
	 * @param lastTick the latest tick that was completed
	 * @param clock the time of the database
	 * @param ahead whether its last tick is later than that
	 */
	record LateJob(JobName name, @Nullable Instant overdueTick, @Nullable Instant lastTick, Instant clock,
			boolean ahead) {

	}

	/**
	 * What a list of jobs shows.
	 *
	 * @param jobs the jobs, in the order of their names
	 * @param instances the instances of the namespace, those that live first, then those
	 * that ended last, a thousand at most
	 * @param pause the pause of all jobs, {@code null} if they are not paused
	 * @param differing the keys whose schedules differ between instances
	 */
	public record Overview(List<JobState> jobs, List<KnownInstance> instances, @Nullable PauseOfAll pause,
			List<Differing> differing) {

	}

	/**
	 * A key whose schedules differ between instances.
	 *
	 * @param key the key
	 * @param since since when there are both
	 * @param instance one of the instances
	 * @param detail its schedules, those of another instance, and which one that is
	 */
	public record Differing(String key, Instant since, String instance, String detail) {

	}

	/**
	 * A pause of all jobs of a namespace.
	 *
	 * @param since since when
	 * @param by who paused them
	 * @param reason why, {@code null} if nobody said so
	 */
	public record PauseOfAll(Instant since, String by, @Nullable String reason) {

	}

	/**
	 * The latest of many.
	 *
	 * @param count how many there are
	 * @param latest the latest few of them, newest first
	 * @param <T> the type of each
	 */
	public record Some<T>(int count, List<T> latest) {

	}

	/**
	 * What was seen of a job at one moment: its row, and whether somebody holds its lock.
	 * The lock may have been given back after the row was read: only a job that is seen
	 * twice without a holder was not completed by the one of the first time.
	 *
	 * @param job the row, {@code null} where the ledger has none
	 * @param isHeld whether somebody holds the lock
	 * @param clock the time of the database
	 */
	record ObservedJob(@Nullable LedgerJob job, boolean isHeld, Instant clock) {

	}

}
