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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

import javax.sql.DataSource;

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

	private volatile boolean empty = true;

	private final @Nullable LockSocket socket;

	/**
	 * Whether the driver may have read more than it was asked for.
	 */
	private boolean answered = true;

	private @Nullable ServerMessages messages;

	private SessionConnection(Connection connection, @Nullable LockSocket socket) {
		this.connection = connection;
		this.socket = socket;
	}

	static SessionConnection open(DataSource connectionSource, String applicationName, LockSessionSettings settings,
			ConnectionOpening opening) throws SQLException {
		Connection opened = opening.open(connectionSource);
		try {
			opened.setAutoCommit(true);
			PostgresServer.check(opened);
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
					answer.next();
					command.readAnswer(answer);
					settle(command);
				}
				statement.getMoreResults();
			}
		}
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
		if (this.messages != null && (this.answered || hasInput())) {
			this.answered = false;
			this.messages.receive().forEach(listener::heard);
		}
	}

	/**
	 * Return whether the server has sent something since the last answer, as far as is
	 * known. May be asked by any thread.
	 */
	boolean hasInput() {
		return this.socket == null || this.socket.hasInput();
	}

	/**
	 * Find out what became of a command whose flight failed although the connection did
	 * not: the server may have granted or released the lock before the failure.
	 * @throws SQLException if that can't be told
	 */
	void settleAfterFailure(SessionCommand command, SQLException failure) throws SQLException {
		if (command.kind() == SessionCommand.Kind.HEARTBEAT || command.kind() == SessionCommand.Kind.CONFIRM) {
			command.answer(true);
			return;
		}
		if (command.kind() == SessionCommand.Kind.ANNOUNCE) {
			command.fail(failure);
			return;
		}
		Hold hold = command.hold();
		boolean ambiguous = this.holds.stream()
			.anyMatch((other) -> !other.equals(hold) && other.key().equals(hold.key()));
		if (ambiguous) {
			throw new SQLException("Several holds share advisory lock '" + hold.key() + "'");
		}
		boolean held = countHolds(hold) > 0;
		boolean done = held == (command.kind() == SessionCommand.Kind.ACQUIRE);
		if (done) {
			command.answer(true);
			settle(command);
		}
		else {
			command.fail(failure);
		}
	}

	boolean carriesLocks() {
		return !this.empty;
	}

	boolean carries(Hold hold) {
		return this.holds.contains(hold);
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

	private void settle(SessionCommand command) {
		if (command.answer() && command.kind() == SessionCommand.Kind.ACQUIRE) {
			this.holds.add(command.hold());
		}
		else if (command.answer() && command.isRelease()) {
			this.holds.remove(command.hold());
		}
		this.empty = this.holds.isEmpty();
	}

	private long countHolds(Hold hold) throws SQLException {
		try (PreparedStatement statement = this.connection
			.prepareStatement(PostgresAdvisoryLockFunctions.holdsOfThisSession(hold.key()))) {
			statement.setLong(1, Integer.toUnsignedLong(hold.key().classId()));
			statement.setLong(2, Integer.toUnsignedLong(hold.key().objectId()));
			try (ResultSet count = statement.executeQuery()) {
				count.next();
				return count.getLong(1);
			}
		}
	}

	/**
	 * Abort first: it ends the connection without waiting for a server that may not
	 * answer.
	 */
	private static void end(Connection connection, @Nullable Throwable reason) {
		try (connection) {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			if (reason != null) {
				reason.addSuppressed(ex);
			}
			else {
				logger.debug("Closing the lock session failed", ex);
			}
		}
	}

}
