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

package io.github.advisorylock.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.server.LockSocket;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;

/**
 * One physical connection of the {@link LockSession}, and the locks that it carries. Used
 * by one thread at a time.
 */
final class SessionConnection {

	private static final Log logger = LogFactory.getLog(SessionConnection.class);

	private static final long COSTLY_POLL = TimeUnit.MILLISECONDS.toNanos(500);

	/**
	 * Without a wait the driver polls once in a second only where it can't see whether
	 * something has arrived, as through TLS.
	 */
	private static final int WAIT_MILLIS = 1;

	private final Connection connection;

	private final Mark mark;

	private final Set<Hold> holds = new LinkedHashSet<>();

	private final Set<AdvisoryLockKey> memberships = new HashSet<>(2);

	private final @Nullable LockSocket socket;

	private volatile boolean empty = true;

	/**
	 * Whether the driver may have read more than it was asked for.
	 */
	private volatile boolean answered = true;

	private final LockScheduler.Ticker ticker;

	private volatile long polledNanos;

	private final Map<String, SessionListener> listeners = new HashMap<>();

	/**
	 * Whether the server may count a lock more often than it is carried, which it does
	 * not tell.
	 */
	private boolean uncounted;

	/**
	 * Create what carries no locks.
	 * @param connection the open connection
	 * @param mark what it was prepared with
	 * @param socket what lies beneath it, if that is known
	 * @param ticker tells when it was polled
	 */
	SessionConnection(Connection connection, Mark mark, @Nullable LockSocket socket, LockScheduler.Ticker ticker) {
		this.connection = connection;
		this.mark = mark;
		this.socket = socket;
		this.ticker = ticker;
		this.polledNanos = ticker.nanoTime();
	}

	/**
	 * Send commands together and hand out the answers. Their order means nothing, as no
	 * two are about one lock. They are sorted, so that driver and server see few
	 * different texts, which they have prepared already.
	 * @throws UnfitException if the connection can't be kept after the answer, or another
	 * process answers than has the locks
	 */
	void ask(List<? extends Query> queries) throws SQLException {
		if (PgDriver.needsOneByOne(this.connection)) {
			for (Query query : queries) {
				execute(List.of(query));
			}
		}
		else {
			execute(queries);
		}
		if (this.uncounted) {
			releaseAllBut(this.holds);
			this.uncounted = carriesLocks();
		}
	}

	private void execute(List<? extends Query> queries) throws SQLException {
		List<Query> ordered = new ArrayList<>(queries);
		ordered.sort(Comparator.comparing(Query::sql));
		StringJoiner sql = new StringJoiner(";");
		for (Query query : ordered) {
			sql.add(query.sql() + PostgresAdvisoryLockFunctions.HERE);
		}
		this.answered = true;
		try (PreparedStatement statement = this.connection.prepareStatement(sql.toString())) {
			int next = 1;
			for (Query query : ordered) {
				next = query.bind(statement, next);
				statement.setString(next++, this.mark.text());
			}
			statement.execute();
			for (Query query : ordered) {
				try (ResultSet answer = statement.getResultSet()) {
					first(answer);
					query.read(answer, this);
				}
				statement.getMoreResults();
			}
		}
	}

	/**
	 * Have the server pass on the notifications of a channel, unless it does.
	 */
	void listen(SessionListener listener) throws SQLException {
		if (this.listeners.put(listener.channel(), listener) == null) {
			listener.connect(this.connection);
		}
	}

	/**
	 * Pass on the notifications that have arrived. Costs next to nothing when none has.
	 */
	void pollNotifications() throws SQLException {
		if (!this.listeners.isEmpty() && mayHaveInput()) {
			this.answered = false;
			this.polledNanos = this.ticker.nanoTime();
			for (PGNotification notification : PgDriver.notifications(this.connection, WAIT_MILLIS)) {
				SessionListener listener = this.listeners.get(notification.getName());
				if (listener != null) {
					listener.receiver().accept(notification.getParameter(), notification.getPID());
				}
			}
		}
	}

	/**
	 * Return whether the server may have sent something that was not passed on, with the
	 * last answer or since. Where that can't be seen, a poll costs a read that times out,
	 * and is worth it only now and then. May be asked by any thread.
	 */
	boolean hasInput() {
		boolean seen = this.socket != null && this.socket.seesInput();
		return mayHaveInput() && (seen || this.ticker.nanoTime() - this.polledNanos >= COSTLY_POLL);
	}

	private boolean mayHaveInput() {
		return this.answered || this.socket == null || this.socket.hasInput();
	}

	boolean carriesLocks() {
		return !this.empty;
	}

	/**
	 * Return whether somebody runs under a lock of this connection.
	 */
	boolean carriesWork() {
		return this.holds.stream().anyMatch((hold) -> !(hold instanceof Hold.OfTick));
	}

	boolean carries(Hold hold) {
		return this.holds.contains(hold);
	}

	void add(Hold hold) {
		this.holds.add(hold);
		this.empty = false;
	}

	/**
	 * Note whether a shared lock of members is held.
	 */
	void member(AdvisoryLockKey members, boolean held) {
		if (held) {
			this.memberships.add(members);
		}
		else {
			this.memberships.remove(members);
		}
	}

	boolean isMember(AdvisoryLockKey members) {
		return this.memberships.contains(members);
	}

	void remove(Hold hold) {
		this.holds.remove(hold);
		this.empty = this.holds.isEmpty();
	}

	/**
	 * Have the server hold what is carried, and no more: nobody knows what it has done of
	 * what failed.
	 * @param asked the locks that were to be taken or released, of which none is carried
	 * any more
	 */
	void undo(List<Hold> asked) throws SQLException {
		Set<Hold> carried = new LinkedHashSet<>(this.holds);
		asked.forEach(carried::remove);
		Set<AdvisoryLockKey> locks = carried.stream().map(Hold::lock).collect(Collectors.toSet());
		this.uncounted |= asked.stream().map(Hold::lock).anyMatch(locks::contains);
		releaseAllBut(carried);
		asked.forEach(this::remove);
	}

	private void releaseAllBut(Set<Hold> carried) throws SQLException {
		String entries = Stream
			.concat(carried.stream().map((hold) -> PostgresAdvisoryLockFunctions.entry(hold.lock(), hold.mode)),
					this.memberships.stream().map((key) -> PostgresAdvisoryLockFunctions.entry(key, LockMode.SHARED)))
			.collect(Collectors.joining(","));
		int released = 1;
		while (released > 0) {
			try (PreparedStatement statement = this.connection
				.prepareStatement(PostgresAdvisoryLockFunctions.UNLOCK_ALL_BUT + PostgresAdvisoryLockFunctions.HERE)) {
				statement.setString(1, entries);
				statement.setString(2, this.mark.text());
				try (ResultSet answer = statement.executeQuery()) {
					first(answer);
					released = answer.getInt(1);
				}
			}
		}
	}

	private void first(ResultSet answer) throws SQLException {
		if (!answer.next()) {
			throw new OtherProcessException(this.mark.process());
		}
	}

	/**
	 * Take back what was locked and set in the server process, before the connection is
	 * ended.
	 */
	void clear() {
		try (PreparedStatement statement = this.connection
			.prepareStatement(PostgresAdvisoryLockFunctions.LEAVE_NOTHING)) {
			statement.setString(1, this.mark.text());
			statement.execute();
		}
		catch (SQLException ex) {
			logger.debug("Locks and settings of the lock session end with its connection only", ex);
		}
	}

	/**
	 * End the connection; what it carried is lost.
	 */
	List<Hold> end(@Nullable Throwable reason) {
		end(this.connection, reason);
		List<Hold> lost = List.copyOf(this.holds);
		this.holds.clear();
		this.empty = true;
		return lost;
	}

	/**
	 * Abort first: it ends the connection without waiting for a server that may not
	 * answer.
	 */
	static void end(Connection connection, @Nullable Throwable reason) {
		try (connection) {
			connection.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException | Error ex) {
			if (reason != null) {
				reason.addSuppressed(ex);
			}
			else {
				logger.debug("Closing the lock session failed", ex);
			}
		}
	}

	/**
	 * What the server may be asked together with others.
	 */
	interface Query {

		/**
		 * Return the text.
		 */
		String sql();

		/**
		 * Bind what the text binds.
		 * @param next the index of the first parameter
		 * @return the index of the next one
		 */
		int bind(PreparedStatement statement, int next) throws SQLException;

		/**
		 * Read the answer, and note on the connection what it means for what that
		 * carries.
		 */
		void read(ResultSet answer, SessionConnection connection) throws SQLException;

	}

	/**
	 * What tells the server process of a session from all others.
	 *
	 * @param process its number
	 * @param text what was set there
	 */
	record Mark(int process, String text) {

	}

	/**
	 * Thrown when an answer says that the connection can't be kept.
	 */
	static class UnfitException extends SQLException {

		UnfitException(String reason) {
			super(reason, PgDriver.CONNECTION_DOES_NOT_EXIST);
		}

	}

	/**
	 * Thrown when a pooler, or a proxy, has handed the connection to another process than
	 * the one that has its locks.
	 */
	static final class OtherProcessException extends UnfitException {

		OtherProcessException(int process) {
			super("another process of the server answers than " + process + ", which has its locks: a pooler in "
					+ "transaction mode, or a proxy, is in between. They stay locked until process " + process
					+ " ends: have the pooler do that (PgBouncer: RECONNECT), or "
					+ PostgresAdvisoryLockFunctions.END_PROCESS.formatted(process));
		}

	}

}
