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

package io.github.advisorylock.simulation;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.ledger.jdbc.SimulatedLedger;
import org.jspecify.annotations.Nullable;

/**
 * A model of what PostgreSQL does for the library: sessions with their transactions, the
 * table of advisory locks, notifications, a clock, and the time after which it finds that
 * a client is dead. It knows the statements of the library by what is in their text. That
 * the real server does the same is tested elsewhere, by all tests that use one.
 */
final class SimulatedServer {

	private final Simulation simulation;

	private final SimulatedLedger ledger;

	private final Map<Integer, Session> sessions = new LinkedHashMap<>();

	private final Map<String, List<Part>> parsed = new LinkedHashMap<>();

	private BiConsumer<String, String> effects = (key, tick) -> {
	};

	private int processes;

	private long transactions;

	SimulatedServer(Simulation simulation) {
		this.simulation = simulation;
		this.ledger = new SimulatedLedger(simulation::clock,
				(key) -> !holders(SimulatedInstance.number(key)).isEmpty());
	}

	/**
	 * Tell of effects that are committed, and of runs that are written down.
	 */
	void observe(BiConsumer<String, String> effects, Consumer<SimulatedLedger.Run> runs) {
		this.effects = effects;
		this.ledger.observe(runs);
	}

	SimulatedLedger ledger() {
		return this.ledger;
	}

	Instant clock() {
		return this.simulation.clock();
	}

	Session connect(String client) {
		Session session = new Session(++this.processes, client);
		this.sessions.put(session.process, session);
		return session;
	}

	/**
	 * End a session: its transaction is rolled back, and its locks are free.
	 */
	void end(Session session) {
		if (this.sessions.remove(session.process) != null && !session.locks.isEmpty()) {
			this.simulation.note("server: session " + session.process + " of " + session.client + " ends");
		}
		session.rollBack();
		session.locks.clear();
	}

	boolean isAlive(Session session) {
		return this.sessions.containsKey(session.process);
	}

	/**
	 * End the sessions of a client that is dead, as soon as that is found out.
	 */
	void endLater(Predicate<Session> which, Duration within) {
		long time = this.simulation.now() + this.simulation.random(0, within.toNanos() + 1);
		List<Session> dead = this.sessions.values().stream().filter(which).toList();
		this.simulation.at(time, () -> 0L, () -> dead.forEach(this::end));
	}

	Set<Long> lockedBy(String client) {
		return this.sessions.values()
			.stream()
			.filter((session) -> session.client.equals(client))
			.flatMap((session) -> session.locks.keySet().stream())
			.collect(Collectors.toSet());
	}

	/**
	 * Return the sessions that have a lock.
	 */
	List<Session> holders(long key) {
		return this.sessions.values().stream().filter((session) -> session.locks.containsKey(key)).toList();
	}

	/**
	 * Execute statements that were sent together.
	 */
	List<Object[]> execute(Session session, String sql, List<Object> parameters) throws SQLException {
		List<Object[]> results = new ArrayList<>();
		int next = 0;
		session.inTransaction = !session.autoCommit;
		for (Part part : this.parsed.computeIfAbsent(sql, SimulatedServer::parse)) {
			Object[] own = parameters.subList(next, next + part.parameters).toArray();
			next += part.parameters;
			if (session.aborted && !part.sql.startsWith("ROLLBACK")) {
				throw new SQLException("current transaction is aborted", "25P02");
			}
			Object[] result = execute(session, part.sql, own);
			if (result != null) {
				results.add(result);
			}
		}
		session.lastSaid = this.simulation.now();
		return results;
	}

	private static List<Part> parse(String sql) {
		return Arrays.stream(sql.split(";"))
			.map(String::strip)
			.map((text) -> new Part(text, (int) text.chars().filter((letter) -> letter == '?').count()))
			.toList();
	}

	/**
	 * A statement that ends with a condition has no row in another process.
	 */
	private Object @Nullable [] execute(Session session, String sql, Object[] own) {
		int condition = sql.indexOf(" WHERE pg_catalog.current_setting('advisory_lock.session'");
		if (condition < 0) {
			return executeAnywhere(session, sql, own);
		}
		int last = own.length - 1;
		return own[last].equals(session.mark)
				? executeAnywhere(session, sql.substring(0, condition).strip(), Arrays.copyOf(own, last))
				: new Object[0];
	}

	private Object @Nullable [] executeAnywhere(Session session, String sql, Object[] own) {
		Object[] ofLedger = this.ledger.execute(sql, own, session.autoCommit ? null : session.writes);
		if (ofLedger != null) {
			return ofLedger;
		}
		if (sql.startsWith("INSERT INTO effect")) {
			session.writes.add(() -> this.effects.accept((String) own[0], (String) own[1]));
			return null;
		}
		if (sql.startsWith("SET") || sql.startsWith("UPDATE run") || sql.startsWith("SAVEPOINT")
				|| sql.startsWith("LISTEN") || sql.startsWith("UNLISTEN") || sql.startsWith("RESET")
				|| sql.startsWith("DEALLOCATE")) {
			if (sql.startsWith("UNLISTEN")) {
				session.channels.clear();
			}
			if (sql.startsWith("LISTEN")) {
				session.channels.add(sql.substring("LISTEN ".length()));
			}
			return null;
		}
		if (sql.contains("pg_advisory_unlock_all()") && !sql.contains("set_config")) {
			session.locks.clear();
			return null;
		}
		if (sql.startsWith("ROLLBACK TO")) {
			session.writes.clear();
			session.aborted = false;
			return null;
		}
		if (sql.equals("COMMIT")) {
			session.commit();
			return null;
		}
		return select(session, sql, own);
	}

	private Object[] select(Session session, String sql, Object[] own) {
		if (sql.contains("set_config('advisory_lock.session'")) {
			session.mark = (String) own[0];
			return new Object[] { session.process };
		}
		if (sql.startsWith("SELECT CASE WHEN pg_catalog.current_setting('advisory_lock.session'")) {
			return new Object[] { 0 };
		}
		if (sql.contains("pg_stat_get_activity(l.pid)")) {
			String[] candidacies = sql.split("CASE WHEN");
			return IntStream.range(0, own.length / 3)
				.mapToObj((i) -> candidacy(session, (Long) own[3 * i], candidacies[i + 1].startsWith(" false")))
				.toArray();
		}
		if (sql.contains("pg_current_xact_id")) {
			notify(session, own);
			return new Object[] { ++this.transactions };
		}
		if (sql.contains("pg_try_advisory_xact_lock")) {
			return new Object[] { session.lock((Long) own[0], Mode.TRANSACTION) ? session.process : 0 };
		}
		if (sql.contains("THEN 1\nWHEN NOT")) {
			return new Object[] { tick(session, (Long) own[0]) };
		}
		if (sql.contains("shared(?)") && sql.contains("advisory_unlock(?)")) {
			return new Object[] {
					session.lock((Long) own[0], Mode.SHARED) && session.unlock((Long) own[0], Mode.SESSION) };
		}
		if (sql.startsWith("SELECT pg_catalog.pg_try_advisory_lock")) {
			return new Object[] { session.lock((Long) own[0], sql.contains("_shared") ? Mode.SHARED : Mode.SESSION) };
		}
		if (sql.startsWith("SELECT pg_catalog.pg_advisory_unlock")) {
			boolean released = session.unlock((Long) own[0], sql.contains("_shared") ? Mode.SHARED : Mode.SESSION);
			if (own.length > 1) {
				notify(session, Arrays.copyOfRange(own, 1, own.length));
			}
			return new Object[] { released };
		}
		if (sql.contains("bool_and")) {
			return new Object[] { Arrays.stream(((String) own[0]).split(","))
				.map((lock) -> session.unlock(Long.parseLong(lock.substring(1)),
						lock.startsWith("s") ? Mode.SHARED : Mode.SESSION))
				.reduce(true, Boolean::logicalAnd) };
		}
		if (sql.contains("ELSE pg_catalog.pg_advisory_unlock(l.")) {
			return new Object[] { unlockAllBut(session, Set.of(((String) own[0]).split(","))) };
		}
		if (sql.contains("= pg_catalog.pg_backend_pid()")) {
			return new Object[] { session.locks.containsKey(((Long) own[0] << 32) | (Long) own[1]) };
		}
		if (sql.contains("WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_locks")) {
			return new Object[] { missing((String) own[0]) };
		}
		if (sql.contains("AS counted")) {
			return new Object[] { others(session, (Long) own[0]) };
		}
		if (sql.contains("l.mode = 'ShareLock'")) {
			return new Object[] { holders(((Long) own[0] << 32) | (Long) own[1]).stream()
				.anyMatch((holder) -> holder.locks.get(((Long) own[0] << 32) | (Long) own[1]).contains(Mode.SHARED)) };
		}
		if (sql.contains("EXTRACT(EPOCH")) {
			return new Object[] { clock().toEpochMilli() };
		}
		if (sql.startsWith("SELECT 1") || sql.equals("SELECT true") || sql.contains("set_config(")) {
			return new Object[] { sql.startsWith("SELECT 1") ? 1L : (Object) true };
		}
		this.simulation.violate("the model of the server knows each statement: " + sql);
		throw new IllegalArgumentException("Not known to the model of the server: " + sql);
	}

	private @Nullable Object candidacy(Session session, long key, boolean seenOnly) {
		if (seenOnly && holders(key).isEmpty()) {
			return "";
		}
		if (!seenOnly && session.lock(key, Mode.SESSION)) {
			return null;
		}
		Session holder = holders(key).get(0);
		return holder.process + " true " + holder.lastSaid;
	}

	private int tick(Session session, long key) {
		if (session.lock(key, Mode.SESSION)) {
			return 1;
		}
		boolean shared = session.lock(key, Mode.SHARED);
		if (shared) {
			session.unlock(key, Mode.SHARED);
		}
		return shared ? 2 : 0;
	}

	private String others(Session session, long first) {
		return this.sessions.values()
			.stream()
			.flatMap((other) -> other.locks.keySet().stream())
			.filter((key) -> key >>> 32 == first)
			.distinct()
			.map((key) -> {
				List<Session> others = holders(key).stream().filter((holder) -> holder != session).toList();
				return Integer.toUnsignedString(key.intValue()) + ":" + others.size() + ":"
						+ others.stream().filter((holder) -> holder.process < session.process).count();
			})
			.collect(Collectors.joining(","));
	}

	private int unlockAllBut(Session session, Set<String> entries) {
		int released = 0;
		for (long key : List.copyOf(session.locks.keySet())) {
			for (Mode mode : Set.copyOf(session.locks.get(key))) {
				String entry = Integer.toUnsignedString((int) (key >> 32)) + ":" + Integer.toUnsignedString((int) key)
						+ ":1:" + ((mode == Mode.SHARED) ? "ShareLock" : "ExclusiveLock");
				released += (!entries.contains(entry) && session.unlock(key, mode)) ? 1 : 0;
			}
		}
		return released;
	}

	private @Nullable String missing(String entries) {
		String missing = Arrays.stream(entries.split(",")).filter((entry) -> {
			String[] words = entry.split(":");
			Session session = this.sessions.get(Integer.valueOf(words[0]));
			return session == null
					|| !session.locks.containsKey((Long.parseLong(words[1]) << 32) | Long.parseLong(words[2]));
		}).collect(Collectors.joining(","));
		return missing.isEmpty() ? null : missing;
	}

	/**
	 * Tell something by a session that is there for a moment.
	 */
	void tell(String channel, String text) {
		Session operator = connect("operator");
		notify(operator, new Object[] { channel, text });
		end(operator);
	}

	/**
	 * Tell all who listen, of which one may be the sender.
	 * @param message the channel and the text
	 */
	private void notify(Session sender, Object[] message) {
		this.sessions.values()
			.stream()
			.filter((session) -> session.channels.contains((String) message[0]))
			.forEach((session) -> session.notifications
				.add(new SimulatedConnection.Notification(sender.process, (String) message[0], (String) message[1])));
	}

	private enum Mode {

		SESSION, TRANSACTION, SHARED

	}

	private record Part(String sql, int parameters) {

	}

	/**
	 * What the server has for one connection.
	 */
	final class Session {

		final int process;

		final String client;

		private final Map<Long, List<Mode>> locks = new LinkedHashMap<>();

		private final Set<String> channels = new HashSet<>();

		final List<SimulatedConnection.Notification> notifications = new ArrayList<>();

		private final List<Runnable> writes = new ArrayList<>();

		@Nullable String mark;

		boolean autoCommit = true;

		boolean inTransaction;

		boolean aborted;

		private long lastSaid;

		private Session(int process, String client) {
			this.process = process;
			this.client = client;
		}

		boolean holds(long key) {
			return this.locks.containsKey(key);
		}

		private boolean lock(long key, Mode mode) {
			boolean free = holders(key).stream()
				.allMatch((other) -> other == this
						|| (mode == Mode.SHARED && Set.of(Mode.SHARED).containsAll(other.locks.get(key))));
			if (free) {
				this.locks.computeIfAbsent(key, (first) -> new ArrayList<>()).add(mode);
			}
			return free;
		}

		private boolean unlock(long key, Mode mode) {
			List<Mode> modes = this.locks.getOrDefault(key, List.of());
			boolean held = modes.contains(mode) && modes.remove(mode);
			if (modes.isEmpty()) {
				this.locks.remove(key);
			}
			return held;
		}

		void commit() {
			if (!this.aborted) {
				this.writes.forEach(Runnable::run);
			}
			rollBack();
		}

		void rollBack() {
			this.writes.clear();
			this.inTransaction = false;
			this.aborted = false;
			this.locks.values().forEach((modes) -> modes.removeIf((mode) -> mode == Mode.TRANSACTION));
			this.locks.values().removeIf(List::isEmpty);
		}

	}

}
