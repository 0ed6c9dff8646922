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
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.ledger.jdbc.KnownInstance.Answer;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * What operators ask of runs that are under way on whatever instance, and what instances
 * answer, and owns the SQL of that. A question is a row, which only the role of the
 * application can write; each instance adds its answers to it.
 */
final class RunQuestions {

	/**
	 * What is older has lost whoever asked.
	 */
	private static final String ASK = """
			WITH old AS (
			  DELETE FROM {question} q USING (
			    SELECT o.id FROM {question} o WHERE o.asked_at NOT BETWEEN pg_catalog.clock_timestamp() - INTERVAL '1 minute'
			      AND pg_catalog.clock_timestamp() + INTERVAL '1 minute' FOR UPDATE SKIP LOCKED) d
			  WHERE q.id = d.id
			)
			INSERT INTO {question} (lock) VALUES (:lock) RETURNING id
			""";

	private static final String ANSWERS = """
			SELECT a.* FROM {question} q CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(q.instances),
			  pg_catalog.unnest(q.threads), pg_catalog.unnest(q.thread_states), pg_catalog.unnest(q.stacks),
			  pg_catalog.unnest(q.processes)) a (instance, thread, state, stack, process)
			WHERE q.id = :id
			""";

	private static final String END = "DELETE FROM {question} q WHERE q.id = :id";

	private static final String OPEN = """
			SELECT q.id, q.lock FROM {question} q WHERE q.asked_at BETWEEN pg_catalog.clock_timestamp() - INTERVAL '10 seconds'
			  AND pg_catalog.clock_timestamp() + INTERVAL '1 minute'
			ORDER BY q.id LIMIT 100
			""";

	private static final String ANSWER = """
			UPDATE {question} q SET instances = q.instances || CAST(:instances AS text[]),
			  threads = q.threads || pg_catalog.array_replace(CAST(:threads AS text[]), '', NULL),
			  thread_states = q.thread_states || pg_catalog.array_replace(CAST(:states AS text[]), '', NULL),
			  stacks = q.stacks || CAST(:stacks AS text[]), processes = q.processes || CAST(:processes AS integer[])
			WHERE q.id = :id
			""";

	private static final long PAUSE_MILLIS = 100;

	/**
	 * A word that came before an instance listened is lost.
	 */
	private static final int PAUSES_BETWEEN_WORDS = 5;

	private final LedgerConnections connections;

	private final LedgerTables tables;

	private final Supplier<String> instance;

	/**
	 * Those of the open questions that were answered. Not told by the name of the
	 * instance: one process may have several applications.
	 */
	private final Set<Long> answered = ConcurrentHashMap.newKeySet();

	RunQuestions(LedgerConnections connections, LedgerTables tables, Supplier<String> instance) {
		this.connections = connections;
		this.tables = tables;
		this.instance = instance;
	}

	/**
	 * Ask the instances that hold a lock what they do under it, and wait for the answers.
	 */
	List<Answer> ask(String lock, Runnable wake, Predicate<List<Answer>> enough, Duration patience) {
		long begin = System.nanoTime();
		long id = this.connections
			.apartBriefly((apart) -> this.tables.statement(apart, ASK).param("lock", lock).query(Long.class).single());
		try {
			List<Answer> answers = List.of();
			for (int pauses = 0; !enough.test(answers) && System.nanoTime() - begin < patience.toNanos()
					&& !Thread.currentThread().isInterrupted(); pauses++) {
				if (pauses % PAUSES_BETWEEN_WORDS == 0) {
					wake.run();
				}
				LockSupport.parkNanos(this, Duration.ofMillis(PAUSE_MILLIS).toNanos());
				answers = this.connections.apartBriefly((apart) -> this.tables.statement(apart, ANSWERS)
					.param("id", id)
					.query(RunQuestions::read)
					.list());
			}
			return answers;
		}
		finally {
			this.connections.apartBriefly((apart) -> this.tables.statement(apart, END).param("id", id).update());
		}
	}

	private static Answer read(ResultSet row, int number) throws SQLException {
		String thread = row.getString("thread");
		int process = row.getInt("process");
		Run.Stack stack = (thread != null) ? new Run.Stack(thread, Thread.State.valueOf(row.getString("state")),
				row.getString("stack").lines().toList(), process) : Run.Stack.none(process);
		return new Answer(row.getString("instance"), stack);
	}

	/**
	 * Answer the questions about locks that this instance holds, besides the pool.
	 */
	void answer(Function<String, List<Run.Stack>> stacks, Hold.SideConnection side) {
		this.connections.aside(side, (jdbc) -> {
			List<Question> open = this.tables.statement(jdbc, OPEN)
				.query((row, number) -> new Question(row.getLong("id"), row.getString("lock")))
				.list();
			this.answered.retainAll(open.stream().map(Question::id).toList());
			open.stream()
				.filter((question) -> !this.answered.contains(question.id()))
				.forEach((question) -> answer(jdbc, question.id(), stacks.apply(question.lock())));
			return open.size();
		});
	}

	private void answer(NamedParameterJdbcOperations jdbc, long id, List<Run.Stack> stacks) {
		if (!stacks.isEmpty()) {
			this.tables.statement(jdbc, ANSWER)
				.param("id", id)
				.param("instances", array(stacks, (stack) -> this.instance.get()))
				.param("threads", array(stacks, (stack) -> this.connections.storable(stack.thread())))
				.param("states", array(stacks, (stack) -> (stack.state() != null) ? stack.state().name() : null))
				.param("stacks", array(stacks, (stack) -> this.connections.storable(String.join("\n", stack.frames()))))
				.param("processes", new SqlArrayValue("integer", stacks.stream().map(Run.Stack::process).toArray()))
				.update();
			this.answered.add(id);
		}
	}

	/**
	 * Bind texts, the empty one in the place of none: in an array, that is a word for a
	 * role that has {@code array_nulls} off.
	 */
	static <T> SqlArrayValue array(Collection<T> all, Function<T, @Nullable String> element) {
		return new SqlArrayValue("text", all.stream().map(element).map((text) -> Objects.toString(text, "")).toArray());
	}

	static <T> SqlArrayValue numbers(Collection<T> all, Function<T, @Nullable Long> element) {
		return new SqlArrayValue("bigint",
				all.stream().map(element).map((number) -> Objects.requireNonNullElse(number, -1L)).toArray());
	}

	/**
	 * What somebody wants to know.
	 *
	 * @param id its number
	 * @param lock the lock that it is about
	 */
	private record Question(long id, String lock) {

	}

}
