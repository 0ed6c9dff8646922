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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Writes what this instance says of itself, and reads what is known of all.
 */
final class InstanceRepository {

	/**
	 * Tells this process from another one that had its name, as a container has that is
	 * started again: by the clock of this machine.
	 */
	static final OffsetDateTime BORN = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime())
		.atOffset(ZoneOffset.UTC);

	private final LedgerConnections connections;

	private final LedgerTables tables;

	private final Supplier<String> instance;

	/**
	 * How long the latest word of this instance took, in milliseconds.
	 */
	private volatile long took;

	/**
	 * What is registered, and was not told as this instance's own yet.
	 */
	private volatile Collection<JobFacts> untold = List.of();

	InstanceRepository(LedgerConnections connections, LedgerTables tables, Supplier<String> instance) {
		this.connections = connections;
		this.tables = tables;
		this.instance = instance;
	}

	/**
	 * Remember what is registered, to be told as this instance's own.
	 */
	void untold(Collection<JobFacts> jobs) {
		this.untold = jobs;
	}

	/**
	 * Return whether another instance that lives has the name of this one.
	 */
	boolean hasNamesake(String namespace) {
		return ask(JobStatements.NAMESAKE, namespace);
	}

	/**
	 * Return whether an operator has this instance begin no run.
	 */
	boolean isDrained(String namespace) {
		return ask(JobStatements.DRAINED, namespace);
	}

	private boolean ask(String instance, String namespace) {
		return this.connections
			.apart((apart) -> statement(apart, namespace, "SELECT EXISTS (" + instance + ")").param("home", namespace)
				.query(Boolean.class)
				.single());
	}

	/**
	 * Say that this instance has another name now.
	 */
	void rename(String namespace, String before) {
		this.connections.apartBriefly((apart) -> statement(apart, namespace, JobStatements.RENAME)
			.param("before", this.connections.storable(before))
			.update());
	}

	/**
	 * Say that this instance is there.
	 * @param first whether it says so for the first time
	 * @return what operators want, {@code null} if another one that lives has its name,
	 * and nothing was said
	 */
	@Nullable Told appear(String namespace, @Nullable String version, List<KnownInstance.Role> roles, boolean first) {
		Collection<JobFacts> jobs = this.untold;
		Map<String, Set<String>> schedules = schedules(jobs, namespace);
		Told told = this.connections.apartBriefly((apart) -> {
			long said = System.nanoTime();
			Optional<Told> answer = statement(apart, namespace, JobStatements.APPEAR)
				.param("version", this.connections.storable(version), Types.VARCHAR)
				.param("library", InstanceRepository.class.getPackage().getImplementationVersion(), Types.VARCHAR)
				.param("now", OffsetDateTime.now(ZoneOffset.UTC))
				.param("first", first)
				.param("roles", RunQuestions.array(roles, (role) -> this.connections.storable(role.name())))
				.param("terms", RunQuestions.numbers(roles, KnownInstance.Role::term))
				.param("since",
						RunQuestions.array(roles, (role) -> (role.since() != null) ? role.since().toString() : null))
				.param("keys", RunQuestions.array(schedules.keySet(), this.connections::storable))
				.param("schedules",
						RunQuestions.array(schedules.values(),
								(all) -> this.connections.storable(String.join(", ", all))))
				.param("took", this.took)
				.query((row, number) -> new Told(row.getString(1), row.getBoolean(2)))
				.optional();
			this.took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - said);
			return answer.orElse(null);
		});
		if (told != null && this.untold == jobs) {
			this.untold = List.of();
		}
		return told;
	}

	/**
	 * Several methods may have one key.
	 */
	private static Map<String, Set<String>> schedules(Collection<JobFacts> jobs, String namespace) {
		Map<String, Set<String>> schedules = new TreeMap<>();
		for (JobFacts job : jobs) {
			if (job.name().namespace().equals(namespace)) {
				job.inWords()
					.forEach((one) -> schedules.computeIfAbsent(job.name().key(), (key) -> new TreeSet<>()).add(one));
			}
		}
		return schedules;
	}

	/**
	 * Say that this instance ends.
	 */
	void leave(String namespace) {
		this.connections.apartBriefly((apart) -> statement(apart, namespace, JobStatements.LEAVE).update());
	}

	private JdbcClient.StatementSpec statement(NamedParameterJdbcOperations jdbc, String namespace, String sql) {
		return this.tables.statement(jdbc, sql)
			.param("namespace", namespace)
			.param("instance", this.instance.get())
			.param("born", BORN);
	}

	static KnownInstance instance(ResultSet row, int number) throws SQLException {
		Long skew = row.getObject("clock_skew_ms", Long.class);
		return new KnownInstance(row.getString("namespace"), row.getString("instance"),
				KnownInstance.State.valueOf(row.getString("state")), LedgerTables.required(row, "started_at"),
				LedgerTables.required(row, "seen_at"), LedgerTables.instant(row, "stopped_at"),
				row.getString("version"), row.getString("library"), (skew != null) ? Duration.ofMillis(skew) : null,
				row.getInt("locks"), roles(row), LedgerTables.instant(row, "drained_at"), row.getString("drained_by"));
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

	/**
	 * What an instance is told when it says that it is there.
	 *
	 * @param schedules what tells the schedules that operators have chosen from what they
	 * were
	 * @param drained whether an operator has it begin no run
	 */
	record Told(String schedules, boolean drained) {

	}

}
