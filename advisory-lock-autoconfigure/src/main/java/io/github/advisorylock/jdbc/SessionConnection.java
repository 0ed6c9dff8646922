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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One physical connection of the {@link LockSession}, and the locks that it carries. Used
 * by one thread at a time.
 */
final class SessionConnection {

	private static final Log logger = LogFactory.getLog(SessionConnection.class);

	private final Connection connection;

	private final Set<Hold> holds = new LinkedHashSet<>();

	private final Map<AdvisoryLockKey, Hold> surplus = new HashMap<>();

	private volatile boolean empty = true;

	private final @Nullable LockSocket socket;

	/**
	 * Whether the driver may have read more than it was asked for.
	 */
	private volatile boolean answered = true;

	private @Nullable ServerMessages messages;

	private SessionConnection(Connection connection, @Nullable LockSocket socket) {
		this.connection = connection;
		this.socket = socket;
	}

	/**
	 * Open a connection, and judge what it leads to before anything is set there.
	 * @throws UnsupportedDatabaseException if session locks guard nothing there
	 */
	static SessionConnection open(DataSource connectionSource, String applicationName, LockSessionSettings settings,
			ServerJudge judge, ConnectionOpening opening) throws SQLException {
		Connection opened = opening.open(connectionSource);
		try {
			opened.setAutoCommit(true);
			judge.judge(opened, () -> new ConnectionOpening(settings).open(connectionSource));
			DeadClientDetection.enable(opened, applicationName, settings);
			return new SessionConnection(opened, opening.finish());
		}
		catch (Throwable ex) {
			end(opened, ex);
			throw ex;
		}
	}

	/**
	 * Send commands in one flight and hand out the answers. Their order means nothing, as
	 * no two are about one lock; in the same order they give few texts, which the driver
	 * and the server then know already.
	 */
	void run(List<SessionCommand> commands) throws SQLException {
		List<SessionCommand> ordered = new ArrayList<>(commands);
		ordered.sort(Comparator.comparing(SessionCommand::sql));
		StringJoiner sql = new StringJoiner(";");
		ordered.forEach((command) -> sql.add(command.sql()));
		this.answered = true;
		try (PreparedStatement statement = this.connection.prepareStatement(sql.toString())) {
			int next = 1;
			for (SessionCommand command : ordered) {
				next = command.bind(statement, next);
			}
			statement.execute();
			for (SessionCommand command : ordered) {
				try (ResultSet answer = statement.getResultSet()) {
					command.read(answer, this);
				}
				statement.getMoreResults();
			}
		}
		releaseSurplus();
	}

	/**
	 * Have the server pass on what other applications say.
	 */
	void listen(SessionListener listener) throws SQLException {
		if (this.messages == null) {
			listener.connected();
			this.messages = ServerMessages.listen(this.connection);
		}
	}

	/**
	 * Pass on what other applications have said. Costs next to nothing when nothing has
	 * arrived.
	 */
	void hear(SessionListener listener) throws SQLException {
		if (this.messages != null && hasInput()) {
			this.answered = false;
			this.messages.receive().forEach(listener::heard);
		}
	}

	/**
	 * Return whether the server may have sent something that was not passed on, with the
	 * last answer or since. May be asked by any thread.
	 */
	boolean hasInput() {
		return this.answered || this.socket == null || this.socket.hasInput();
	}

	/**
	 * Return whether {@link #hasInput()} knows, and need not guess.
	 */
	boolean seesInput() {
		return this.socket != null && this.socket.seesInput();
	}

	boolean carriesLocks() {
		return !this.empty;
	}

	boolean carries(Hold hold) {
		return this.holds.contains(hold);
	}

	void add(Hold hold) {
		this.holds.add(hold);
		this.empty = false;
	}

	void remove(Hold hold) {
		this.holds.remove(hold);
		this.empty = this.holds.isEmpty();
	}

	/**
	 * Return whether there is another hold of the same key. The server counts how often a
	 * session holds a lock, and does not tell.
	 */
	boolean sharesKey(Hold hold) {
		return this.holds.stream().anyMatch((other) -> !other.equals(hold) && other.key().equals(hold.key()));
	}

	/**
	 * Note that the server may count more holds of a key than there are. While there is
	 * one, the lock is to be held anyway.
	 */
	void mayHoldTooOften(Hold hold) {
		this.surplus.put(hold.key(), hold);
	}

	/**
	 * Release what the server still counts of keys that nobody holds any more.
	 */
	void releaseSurplus() throws SQLException {
		if (this.surplus.isEmpty()) {
			return;
		}
		for (Hold last : List.copyOf(this.surplus.values())) {
			if (!carries(last) && !sharesKey(last)) {
				while (isHeld(last)) {
					ask(PostgresAdvisoryLockFunctions.sessionUnlock(last.key(), last.mode()),
							(statement) -> PostgresAdvisoryLockFunctions.bindKey(statement, 1, last.key()));
				}
				this.surplus.remove(last.key());
			}
		}
	}

	/**
	 * Return whether the server says that this connection holds a key.
	 */
	boolean isHeld(Hold hold) throws SQLException {
		return ask(PostgresAdvisoryLockFunctions.isHeldByThisSession(hold.key()), (statement) -> {
			statement.setLong(1, Integer.toUnsignedLong(hold.key().classId()));
			statement.setLong(2, Integer.toUnsignedLong(hold.key().objectId()));
		});
	}

	private boolean ask(String sql, Binding binding) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
			binding.bind(statement);
			try (ResultSet answer = statement.executeQuery()) {
				answer.next();
				return answer.getBoolean(1);
			}
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
	private static void end(Connection connection, @Nullable Throwable reason) {
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
	 * Binds the parameters of a statement.
	 */
	private interface Binding {

		void bind(PreparedStatement statement) throws SQLException;

	}

}
