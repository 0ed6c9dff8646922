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

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.jdbc.SessionCommand.Trait;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connection of a {@link LockSession} for the commands that need it, executes
 * them, and destroys it when its state is unknown, which frees its locks: a lock that the
 * session holds without knowing it would be held for ever. Used by the thread of the
 * session, but for what any thread may ask.
 */
final class ConnectionOwner {

	private static final Log logger = LogFactory.getLog(ConnectionOwner.class);

	private final SessionOpener opener;

	private final TrustWindow trust;

	private final LossNotifier losses;

	private final Members members;

	private final LockScheduler.Ticker ticker;

	private volatile @Nullable SessionConnection connection;

	private volatile @Nullable SessionListener listener;

	private volatile Use use = Use.LASTING;

	private volatile boolean lost;

	/**
	 * Create it without a connection.
	 * @param opener opens the connection
	 * @param trust is told when the server has answered
	 * @param losses is told which locks are lost
	 * @param members are asked about along with what is asked anyway
	 * @param ticker tells when that was
	 */
	ConnectionOwner(SessionOpener opener, TrustWindow trust, LossNotifier losses, Members members,
			LockScheduler.Ticker ticker) {
		this.opener = opener;
		this.trust = trust;
		this.losses = losses;
		this.members = members;
		this.ticker = ticker;
	}

	/**
	 * Return whether the connection is open, as far as is known. Any thread may ask.
	 */
	boolean isOpen() {
		return this.connection != null;
	}

	/**
	 * Return whether a connection was destroyed and not opened again. Any thread may ask.
	 */
	boolean isLost() {
		return this.lost;
	}

	boolean isClosed() {
		return this.use == Use.CLOSED;
	}

	boolean isSuspended() {
		return this.use == Use.SUSPENDED;
	}

	/**
	 * Note for how long the connection is wanted, for good if it is not any more.
	 */
	synchronized void use(Use use) {
		if (this.use != Use.CLOSED) {
			this.use = use;
		}
	}

	boolean carriesLocks() {
		SessionConnection current = this.connection;
		return current != null && current.carriesLocks();
	}

	/**
	 * Return whether the server may have sent something. Any thread may ask.
	 */
	boolean hasInput() {
		SessionConnection current = this.connection;
		return current != null && current.hasInput();
	}

	/**
	 * Execute commands. What the server says is noted in them.
	 */
	void execute(List<SessionCommand> commands) {
		try {
			ask(commands);
		}
		catch (RuntimeException | Error ex) {
			abandon(commands, ex);
			throw ex;
		}
	}

	private void ask(List<SessionCommand> commands) {
		if (isClosed()) {
			refuse(commands);
			return;
		}
		if (this.connection != null && commands.stream().anyMatch((command) -> command.is(Trait.TAKES_LOCKS))) {
			Object address = this.opener.newAddress();
			if (address != null) {
				destroy("the DataSource opens connections to '" + JdbcUrl.redact(address.toString()) + "' now");
			}
		}
		SessionConnection before = this.connection;
		List<SessionCommand> asking = new ArrayList<>(commands);
		asking.removeIf((command) -> !command.needsServer(before));
		if (asking.isEmpty()) {
			return;
		}
		try {
			SessionConnection current = (before != null) ? before
					: open(!asking.stream().allMatch((command) -> command.is(Trait.OPTIONAL)));
			SessionListener listener = this.listener;
			if (listener != null) {
				current.listen(listener);
			}
			asking.addAll(this.members.due(current));
			long sent = this.ticker.nanoTime();
			current.ask(asking);
			this.trust.confirm(sent, this.ticker.nanoTime());
		}
		catch (SQLException ex) {
			recover(asking, before != null, ex);
		}
	}

	private void refuse(List<SessionCommand> commands) {
		leave();
		SQLException failure = new SQLException("The application is shutting down", PgDriver.CONNECTION_DOES_NOT_EXIST);
		commands.forEach((command) -> command.fail(failure));
	}

	private SessionConnection open(boolean needed) throws SQLException {
		SessionConnection opened = this.opener.open(needed);
		this.connection = opened;
		this.lost = false;
		return opened;
	}

	/**
	 * Nobody knows what the server was asked and has answered. Locks that it granted must
	 * not stay.
	 */
	private void abandon(List<SessionCommand> commands, Throwable failure) {
		SessionConnection current = this.connection;
		try {
			if (current != null) {
				commands.forEach((command) -> command.abandon(current, failure));
				destroy(current, "what it was asked failed", failure);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
		finally {
			commands.forEach((command) -> command.failUnanswered(failure));
		}
	}

	private void recover(List<SessionCommand> commands, boolean reused, SQLException failure) {
		SessionConnection current = this.connection;
		if (current == null) {
			commands.forEach((command) -> command.fail(failure));
			return;
		}
		String reason = PgDriver.endsConnection(failure) ? reason(failure) : undo(current, commands, failure);
		if (reason != null) {
			commands.forEach((command) -> command.abandon(current, failure));
			destroy(current, reason, failure);
			if (reused) {
				// nothing can be held on the old connection any more, so asking again is
				// safe
				retry(commands.stream().filter((command) -> !command.is(Trait.ONCE)).toList());
			}
		}
		else if (commands.size() > 1) {
			commands.stream()
				.filter((command) -> command.failure() != null)
				.forEach((command) -> retry(List.of(command)));
		}
	}

	/**
	 * The connection is fine, and one of the commands is not: undo what each of them has
	 * done.
	 * @return why the connection can't be kept, {@code null} if it can
	 */
	private static @Nullable String undo(SessionConnection current, List<SessionCommand> commands,
			SQLException failure) {
		try {
			current.undo(commands.stream().flatMap((command) -> command.holds().stream()).toList());
			commands.forEach((command) -> command.undone(failure));
			return null;
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			return (ex instanceof SessionConnection.UnfitException) ? reason(ex)
					: "it is not known which locks it holds";
		}
	}

	private static String reason(SQLException failure) {
		return (failure instanceof SessionConnection.UnfitException) ? String.valueOf(failure.getMessage())
				: "the connection was lost";
	}

	private void retry(List<SessionCommand> commands) {
		if (!commands.isEmpty()) {
			execute(commands);
		}
	}

	/**
	 * Listen from the next statement on, whatever the connection carries.
	 */
	void listen(SessionListener listener) {
		this.listener = listener;
	}

	boolean isListening() {
		return this.listener != null;
	}

	/**
	 * Pass on the notifications that have arrived.
	 */
	void pollNotifications() {
		SessionListener listener = this.listener;
		if (listener != null) {
			pollNotifications(listener);
		}
	}

	/**
	 * Pass on the notifications that have arrived.
	 * @param listener listens from now on, as long as the connection is open
	 */
	void pollNotifications(SessionListener listener) {
		SessionConnection current = this.connection;
		if (current != null) {
			try {
				current.listen(listener);
				current.pollNotifications();
			}
			catch (SQLException ex) {
				destroy(current, "the connection was lost", ex);
			}
		}
	}

	/**
	 * Close the connection, with whatever it carries.
	 */
	void leave() {
		SessionConnection current = this.connection;
		if (current != null) {
			current.clear();
			end(current, null);
		}
	}

	/**
	 * Close the connection unless somebody works under a lock of it.
	 */
	void leaveUnlessAtWork() {
		SessionConnection current = this.connection;
		if (current != null && !current.carriesWork()) {
			leave();
		}
	}

	/**
	 * Destroy the connection, if there is one.
	 * @param reason why it can't be kept
	 */
	void destroy(String reason) {
		SessionConnection current = this.connection;
		if (current != null) {
			destroy(current, reason, null);
		}
	}

	private void destroy(SessionConnection current, String reason, @Nullable Throwable cause) {
		boolean matters = current.carriesWork()
				|| (cause instanceof SessionConnection.OtherProcessException && current.carriesLocks());
		end(current, cause);
		this.lost = true;
		if (matters) {
			logger.warn("Destroyed the connection of the session locks because " + reason, cause);
		}
	}

	private void end(SessionConnection current, @Nullable Throwable cause) {
		this.connection = null;
		this.losses.lost(current.end(cause));
	}

	/**
	 * For how long the connection is wanted.
	 */
	enum Use {

		/**
		 * Also between locks.
		 */
		LASTING,

		/**
		 * While somebody works under a lock of it; remembered ticks don't keep it open.
		 */
		SUSPENDED,

		/**
		 * Not any more.
		 */
		CLOSED

	}

}
