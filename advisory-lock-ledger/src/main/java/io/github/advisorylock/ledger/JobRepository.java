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

import java.lang.management.ManagementFactory;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;
import org.springframework.util.Assert;

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
	 * How long to wait for the server when jobs are observed: who observes them takes
	 * over for others, and must not fall silent with a server that does.
	 */
	private static final int LONGEST_OBSERVATION_MILLIS = 10_000;

	/**
	 * Tells this process from another one that had its name, as a container has that is
	 * started again: by the clock of this machine.
	 */
	private static final OffsetDateTime BORN = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime())
		.atOffset(ZoneOffset.UTC);

	private final LedgerConnections connections;

	private final LedgerTables tables;

	private final String instance;

	JobRepository(LedgerConnections connections, LedgerTables tables, String instance) {
		this.connections = connections;
		this.tables = tables;
		this.instance = instance;
	}

	/**
	 * Add those of some jobs that are not there yet.
	 */
	void register(Collection<JobFacts> jobs) {
		List<JobName> names = jobs.stream().map(JobFacts::name).toList();
		this.connections
			.apart((apart) -> bind(JdbcClient.create(apart).sql(this.tables.in(JobStatements.REGISTER)), names)
				.param("methods", array(jobs, (job) -> text(job.method())))
				.param("scopes", array(jobs, JobFacts::scope))
				.param("schedules", array(jobs, (job) -> text(job.schedules())))
				.param("onces", array(jobs, JobFacts::once))
				.param("intervals", new SqlArrayValue("bigint", jobs.stream().map(JobFacts::minInterval).toArray()))
				.param("windows", new SqlArrayValue("bigint", jobs.stream().map(JobFacts::catchUp).toArray()))
				.param("locks", array(jobs, JobFacts::lock))
				.update());
	}

	/**
	 * Say that this instance is there.
	 * @param first whether it says so for the first time
	 */
	void appear(String namespace, @Nullable String version, List<KnownInstance.Role> roles, boolean first) {
		this.connections.apartWithin(LONGEST_OBSERVATION_MILLIS,
				(apart) -> JdbcClient.create(apart)
					.sql(this.tables.in(JobStatements.APPEAR))
					.param("namespace", namespace)
					.param("instance", this.instance)
					.param("version", text(version), Types.VARCHAR)
					.param("born", BORN)
					.param("library", JobRepository.class.getPackage().getImplementationVersion(), Types.VARCHAR)
					.param("now", OffsetDateTime.now(ZoneOffset.UTC))
					.param("first", first)
					.param("roles", array(roles, (role) -> text(role.name())))
					.param("terms", new SqlArrayValue("bigint", roles.stream().map(KnownInstance.Role::term).toArray()))
					.param("since", array(roles, (role) -> (role.since() != null) ? role.since().toString() : null))
					.update());
	}

	/**
	 * Say that this instance ends.
	 */
	void leave(String namespace) {
		this.connections.apartWithin(LONGEST_OBSERVATION_MILLIS,
				(apart) -> JdbcClient.create(apart)
					.sql(this.tables.in(JobStatements.LEAVE))
					.param("namespace", namespace)
					.param("instance", this.instance)
					.param("born", BORN)
					.update());
	}

	/**
	 * Return the instances of a namespace, those that live first, then those that ended
	 * last.
	 * @param namespace the namespace
	 * @return the instances, a thousand at most
	 */
	public List<KnownInstance> instances(String namespace) {
		return read((client) -> client.sql(this.tables.in(JobStatements.INSTANCES))
			.param("namespace", namespace)
			.param("most", MOST_INSTANCES)
			.query(JobRepository::instance)
			.list());
	}

	/**
	 * Return the pause of all jobs of a namespace.
	 * @param namespace the namespace
	 * @return the pause, or empty if they are not paused
	 */
	public Optional<PauseOfAll> pauseOfAll(String namespace) {
		return read((client) -> client.sql(this.tables.in(JobStatements.PAUSE_OF_ALL))
			.param("namespace", namespace)
			.query((row, number) -> pauseOfAll(row))
			.optional());
	}

	static PauseOfAll pauseOfAll(ResultSet row) throws SQLException {
		return new PauseOfAll(required(row, "at"), row.getString("who"), row.getString("why"));
	}

	private @Nullable String text(@Nullable String text) {
		return this.connections.text().ofNullable(text);
	}

	/**
	 * Return the jobs of a namespace that come after one, in the order of their keys.
	 */
	List<LedgerJob> jobs(String namespace, String after, int limit) {
		return read((client) -> bind(client.sql(this.tables.in(JobStatements.PAGE_OF_NAMESPACE)),
				new JobName(namespace, after))
			.param("limit", limit)
			.query(JobRepository::job)
			.list());
	}

	/**
	 * Return some jobs, without their runs.
	 * @param names the names of the jobs
	 * @return those that there are
	 */
	public List<LedgerJob> jobs(Collection<JobName> names) {
		return query(this.tables.in(JobStatements.NAMED), names, Map.of(), JobRepository::job);
	}

	/**
	 * Return one job.
	 */
	Optional<LedgerJob> job(JobName name) {
		return read((client) -> bind(client.sql(this.tables.in(JobStatements.ONE)), name).query(JobRepository::job)
			.optional());
	}

	/**
	 * Look at some jobs and the holders of their locks, with one statement.
	 * @param keys the keys of the jobs
	 * @return what is seen of each, in the order of the keys
	 */
	List<ObservedJob> observe(List<AdvisoryLockKey> keys) {
		List<JobName> names = keys.stream().map(JobName::of).toList();
		Object[] locks = keys.stream().map(PostgresAdvisoryLockTemplate::lockEntry).toArray();
		return this.connections.apartWithin(LONGEST_OBSERVATION_MILLIS,
				(apart) -> bind(JdbcClient.create(apart).sql(this.tables.in(JobStatements.OBSERVE)), names)
					.param("locks", new SqlArrayValue("text", locks))
					.query(JobRepository::observed)
					.list());
	}

	/**
	 * Return whether there is a job or a run.
	 */
	boolean knows(JobName name) {
		return read(
				(client) -> bind(client.sql(this.tables.in(JobStatements.KNOWS)), name).query(Boolean.class).single());
	}

	/**
	 * Return those of some names that mean something: the jobs among them, else keys that
	 * have run or are completed, else what keys were made from.
	 * @param names the names
	 * @return the names that are known
	 */
	public List<JobName> known(Collection<JobName> names) {
		return query(this.tables.in(JobStatements.KNOWN), names, Map.of(), JobRepository::name);
	}

	/**
	 * Return some jobs with their last runs. A key that only its runs or its completion
	 * tell of is a job, too.
	 * @param names the names of the jobs
	 * @param outcomes of how many runs the outcomes are wanted
	 * @return those that there are
	 */
	public List<JobHistory> histories(Collection<JobName> names, int outcomes) {
		return query(this.tables.in(JobStatements.HISTORIES), names, Map.of("outcomes", outcomes), (row, number) -> {
			LedgerRun lastRun = (row.getString("instance") != null) ? run(row, number) : null;
			String letters = row.getString("outcomes");
			return new JobHistory(job(row, number), row.getBoolean("registered"), lastRun,
					(letters != null) ? letters : "", durations(row), facts(row), instant(row, "completed_at"));
		});
	}

	/**
	 * Return the keys made from templates whose last run has failed within a day.
	 * @param templates the templates, each in the place of a key
	 * @param latest how many keys of each
	 * @return the failures of those that have any
	 */
	public List<FailuresOfTemplate> failures(List<JobName> templates, int latest) {
		Map<JobName, FailuresOfTemplate> failures = new LinkedHashMap<>();
		query(this.tables.in(JobStatements.FAILURES), templates,
				Map.of("mostFailures", MOST_FAILURES, "latest", latest), (row, number) -> {
					JobName template = templates.get(row.getInt("position") - 1);
					int count = row.getInt("count");
					return failures
						.computeIfAbsent(template, (name) -> new FailuresOfTemplate(name, count, new ArrayList<>()))
						.latest()
						.add(run(row, number));
				});
		return List.copyOf(failures.values());
	}

	/**
	 * Return how many keys were made from templates, and the latest few of them.
	 * @param templates the templates, each in the place of a key
	 * @param latest how many keys of each
	 * @return the keys of those that have any
	 */
	public List<KeysOfTemplate> keys(List<JobName> templates, int latest) {
		Map<JobName, KeysOfTemplate> keys = new LinkedHashMap<>();
		query(this.tables.in(JobStatements.KEYS), templates, Map.of("most", MOST_KEYS_OF_TEMPLATE, "latest", latest),
				(row, number) -> {
					JobName template = templates.get(row.getInt("position") - 1);
					int count = row.getInt("count");
					return keys.computeIfAbsent(template, (name) -> new KeysOfTemplate(name, count, new ArrayList<>()))
						.latest()
						.add(job(row, number));
				});
		return List.copyOf(keys.values());
	}

	/**
	 * Return the last runs of a key.
	 * @param namespace the namespace of the key
	 * @param key its name
	 * @param limit how many runs at most
	 * @return the runs, latest first
	 */
	public List<LedgerRun> runs(String namespace, String key, int limit) {
		return read((client) -> bind(client.sql(this.tables.in(JobStatements.RUNS)), new JobName(namespace, key))
			.param("limit", limit)
			.query(JobRepository::run)
			.list());
	}

	private <T> List<T> query(String sql, Collection<JobName> names, Map<String, ?> parameters, RowMapper<T> mapper) {
		return names.isEmpty() ? List.of()
				: read((client) -> bind(client.sql(sql), names).params(parameters).query(mapper).list());
	}

	/**
	 * Ask on the connection of the current transaction, or on one that is in nobody's
	 * way.
	 */
	private <T> T read(Function<JdbcClient, T> question) {
		return this.connections.reading((jdbc) -> question.apply(JdbcClient.create(jdbc)));
	}

	private static JdbcClient.StatementSpec bind(JdbcClient.StatementSpec statement, JobName name) {
		return statement.param("namespace", name.namespace()).param("key", name.key());
	}

	private static JdbcClient.StatementSpec bind(JdbcClient.StatementSpec statement, Collection<JobName> names) {
		return statement.param("namespaces", array(names, JobName::namespace))
			.param("keys", array(names, JobName::key));
	}

	private static <T> SqlArrayValue array(Collection<T> all, Function<T, @Nullable String> element) {
		return new SqlArrayValue("text", all.stream().map(element).toArray());
	}

	private static JobName name(ResultSet row, int number) throws SQLException {
		return new JobName(row.getString("namespace"), row.getString("key"));
	}

	private static LedgerJob job(ResultSet row, int number) throws SQLException {
		return new LedgerJob(row.getString("namespace"), row.getString("key"), required(row, "first_seen_at"),
				instant(row, "last_tick"), instant(row, "last_started_at"), instant(row, "last_finished_at"),
				outcome(row.getString("last_outcome")), row.getObject("fencing_token", Long.class),
				instant(row, "paused_at"), row.getString("paused_by"), row.getString("paused_reason"),
				instant(row, "resumed_at"), instant(row, "open_tick"), row.getInt("attempts"), instant(row, "retry_at"),
				row.getBoolean("paused_all"));
	}

	private static ObservedJob observed(ResultSet row, int number) throws SQLException {
		LedgerJob job = (row.getString("key") != null) ? job(row, number) : null;
		return new ObservedJob(job, row.getBoolean("held"), required(row, "clock"));
	}

	static LedgerRun run(ResultSet row, int number) throws SQLException {
		return new LedgerRun(row.getLong("id"), row.getString("namespace"), row.getString("key"), instant(row, "tick"),
				row.getInt("attempt"), LockScope.valueOf(row.getString("scope")), row.getString("instance"),
				row.getLong("fencing_token"), required(row, "started_at"), instant(row, "finished_at"),
				outcome(row.getString("outcome")), row.getString("error"), row.getString("error_class"),
				row.getString("trace_id"), row.getString("stack_trace"));
	}

	private static JobFacts facts(ResultSet row) throws SQLException {
		return new JobFacts(name(row, 0), row.getString("method"), row.getString("job_scope"),
				row.getString("schedules"), row.getString("once"), row.getObject("min_interval", Long.class),
				row.getObject("catch_up", Long.class), row.getString("lock"));
	}

	private static KnownInstance instance(ResultSet row, int number) throws SQLException {
		Long skew = row.getObject("clock_skew_ms", Long.class);
		return new KnownInstance(row.getString("namespace"), row.getString("instance"),
				KnownInstance.State.valueOf(row.getString("state")), required(row, "started_at"),
				required(row, "seen_at"), instant(row, "stopped_at"), row.getString("version"),
				row.getString("library"), (skew != null) ? Duration.ofMillis(skew) : null, row.getInt("locks"),
				roles(row));
	}

	private static List<KnownInstance.Role> roles(ResultSet row) throws SQLException {
		Array names = row.getArray("roles");
		Array terms = row.getArray("terms");
		Array since = row.getArray("led_since");
		if (names == null || terms == null || since == null) {
			return List.of();
		}
		String[] roles = (String[]) names.getArray();
		Long[] numbers = (Long[]) terms.getArray();
		Timestamp[] times = (Timestamp[]) since.getArray();
		return IntStream.range(0, roles.length)
			.mapToObj((i) -> new KnownInstance.Role(roles[i], numbers[i],
					(times[i] != null) ? times[i].toInstant() : null))
			.toList();
	}

	private static List<Long> durations(ResultSet row) throws SQLException {
		Array durations = row.getArray("durations");
		return (durations != null) ? List.of((Long[]) durations.getArray()) : List.of();
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

	private static LedgerRun.@Nullable Outcome outcome(@Nullable String name) {
		return (name != null) ? LedgerRun.Outcome.valueOf(name) : null;
	}

	/**
	 * A job of the ledger with what became of its last runs.
	 *
	 * @param job the job
	 * @param registered whether there is a row for it, and not for its runs only
	 * @param lastRun its last run, {@code null} if there was none, or it is forgotten
	 * @param outcomes the first letters of the outcomes of its last runs, latest last,
	 * {@code R} for one that is not over
	 * @param durations what each of these took, in milliseconds, -1 for one that is not
	 * over
	 * @param facts what it is, {@code null} if that is not asked for
	 * @param completedAt since when its key is not run again, {@code null} if it is
	 */
	public record JobHistory(LedgerJob job, boolean registered, @Nullable LedgerRun lastRun, String outcomes,
			List<Long> durations, @Nullable JobFacts facts, @Nullable Instant completedAt) {

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
	 * Keys of the ledger that were made from the same template.
	 *
	 * @param name what they were made from, in the place of a key
	 * @param count how many there are, 1,000 for as many or more
	 * @param latest the latest few of them, newest first
	 */
	public record KeysOfTemplate(JobName name, int count, List<LedgerJob> latest) {

	}

	/**
	 * Keys that were made from the same template, and whose last run has failed.
	 *
	 * @param name what they were made from, in the place of a key
	 * @param count how many there are among the last 50 failures
	 * @param latest the last runs of the latest few of them, newest first
	 */
	public record FailuresOfTemplate(JobName name, int count, List<LedgerRun> latest) {

	}

}
