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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.util.Assert;

/**
 * The one session that carries all session locks of this application. Its connection is
 * the library's own, never one of a pool: a pool would hand it, locks and all, to the
 * next borrower. It is opened when the first lock is asked for, watched while it carries
 * locks, opened again after a loss, and closed when it has carried nothing for five
 * minutes and nobody listens on it.
 * <p>
 * A connection in an unknown state is destroyed, which frees its locks: holding a lock
 * without knowing it would keep it for ever.
 *
 * @since 0.1.0
 */
public final class LockSession implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockSession.class);

	private final Supplier<? extends DataSource> connectionSource;

	private final String applicationName;

	private final LockSessionSettings settings;

	private final SQLExceptionTranslator exceptionTranslator = new SQLExceptionSubclassTranslator();

	private final SessionFlights flights = new SessionFlights(this::fly);

	private final BackOff backOff = new BackOff();

	private final LockLosses losses;

	private final LockScheduler heartbeat = new LockScheduler("advisory-lock-heartbeat");

	private final GuardedTask beat = new GuardedTask("A heartbeat of the session locks failed", this::beat);

	private final AtomicBoolean reopening = new AtomicBoolean();

	private volatile @Nullable ConnectionOpening opening;

	private volatile @Nullable SessionConnection connection;

	private volatile @Nullable SessionListener listener;

	private volatile long confirmedNanos;

	private volatile long lastLockNanos = System.nanoTime();

	private volatile long idleNanos = TimeUnit.MINUTES.toNanos(5);

	private volatile boolean closed;

	private volatile ServerJudge judge = ServerJudge.NONE;

	private volatile boolean lost;

	private volatile @Nullable String problem;

	/**
	 * Create a session that is not open yet.
	 * @param connectionSource opens a new physical connection each time
	 * @param application the name of the application, for {@code pg_stat_activity}
	 * @param settings how it is watched
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 */
	public LockSession(DataSource connectionSource, String application, LockSessionSettings settings,
			Consumer<Object> eventPublisher) {
		this(() -> connectionSource, application, settings, eventPublisher);
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
	}

	/**
	 * Create a session that is not open yet.
	 * @param connectionSource is asked each time when a physical connection is to be
	 * opened, as credentials may have changed
	 * @param application the name of the application, for {@code pg_stat_activity}
	 * @param settings how it is watched
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 */
	public LockSession(Supplier<? extends DataSource> connectionSource, String application,
			LockSessionSettings settings, Consumer<Object> eventPublisher) {
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
		this.connectionSource = connectionSource;
		this.applicationName = ApplicationName.of(application);
		this.settings = settings;
		this.losses = new LockLosses(settings.whenLost(),
				(hold) -> eventPublisher.accept(new LockLostEvent(hold.key())));
	}

	/**
	 * Try to take the lock of a hold, without waiting for it.
	 * @return whether it was taken
	 */
	boolean tryLock(Hold hold) {
		SessionCommand.Acquire command = new SessionCommand.Acquire(hold);
		this.flights.submit(command);
		Throwable failure = command.failure();
		if (failure instanceof RuntimeException ex) {
			throw ex;
		}
		if (failure != null) {
			throw translate(hold.key(), failure);
		}
		return command.isGranted();
	}

	/**
	 * Release the lock of a hold that nobody else releases.
	 * @throws LockLostException if the lock was lost before, or it turns out that it was
	 * not held any more
	 */
	void unlock(Hold hold) throws LockLostException {
		submitHeld(new SessionCommand.Release(hold));
	}

	/**
	 * Make sure that the lock of a hold is held, by an answer of the server on the
	 * connection that carries it: nobody else could release it there.
	 * @throws LockLostException if it is not held any more
	 */
	void confirm(Hold hold) throws LockLostException {
		submitHeld(new SessionCommand.Confirm(hold));
	}

	/**
	 * Find out which locks of transactions are held no more by the processes that took
	 * them. Opens the connection if need be.
	 * @return the holds that are gone
	 * @throws SQLException if that could not be found out
	 */
	List<Hold> findMissing(List<Hold> holds) throws SQLException {
		SessionCommand.FindMissing command = new SessionCommand.FindMissing(holds);
		this.flights.submit(command);
		Throwable failure = command.failure();
		if (failure != null) {
			throw (failure instanceof SQLException ex) ? ex : new SQLException("Failed to ask the server", failure);
		}
		return command.missing();
	}

	private void submitHeld(SessionCommand.OfHold command) throws LockLostException {
		this.flights.submit(command);
		if (command.hold().isLost() || command.failure() != null) {
			LockLostException lost = new LockLostException(command.hold().key());
			lost.initCause(command.failure());
			throw lost;
		}
	}

	/**
	 * Release the lock of a hold and tell other applications.
	 * @param hold the hold
	 * @param message what to tell
	 */
	public void resign(Hold hold, String message) {
		this.flights.submit(new SessionCommand.Release(hold, message));
	}

	/**
	 * Tell other applications something while a lock is held.
	 * @param hold the hold
	 * @param message what to tell
	 * @return a number that is higher each time, whichever application asks
	 */
	public long announce(Hold hold, String message) {
		SessionCommand.Announce command = new SessionCommand.Announce(hold, message);
		this.flights.submit(command);
		if (command.failure() != null) {
			throw new DataAccessResourceFailureException("Failed to announce '" + message + "'", command.failure());
		}
		return command.number();
	}

	/**
	 * Try to take the locks of several roles, in one statement.
	 * @param campaign the candidates
	 */
	public void campaign(SessionCommand.Campaign campaign) {
		this.flights.submit(campaign);
		Throwable failure = campaign.failure();
		if (failure != null) {
			throw new DataAccessResourceFailureException("Failed to ask for the locks of leaders", failure);
		}
	}

	/**
	 * Set who is told what other applications announce.
	 * @param listener is told
	 */
	public void setListener(SessionListener listener) {
		this.listener = listener;
	}

	/**
	 * Tell the listener what has arrived, without asking the server. Takes up to a
	 * millisecond, in which the driver looks.
	 */
	public void hearNow() {
		this.flights.submit(new SessionCommand.Hear());
	}

	/**
	 * As {@link #hearNow()}, but does nothing while somebody else uses the connection.
	 */
	public void hearIfIdle() {
		this.flights.submitIfIdle(new SessionCommand.Hear());
	}

	/**
	 * Return a time, as of {@link System#nanoTime()}, after which the server has answered
	 * on the current connection: what was held then, and was not lost since, was held.
	 * @return the time in nanoseconds
	 */
	public long confirmedNanos() {
		return this.confirmedNanos;
	}

	/**
	 * Return for how long a leader trusts {@link #confirmedNanos()}.
	 * @return the trust window
	 */
	public Duration trust() {
		return this.settings.trust();
	}

	/**
	 * Set who judges what a connection leads to, each time one is opened. By default
	 * every server is trusted.
	 * @param judge the judge
	 */
	public void setJudge(ServerJudge judge) {
		this.judge = judge;
	}

	/**
	 * Return why no lock can be taken: the reason for which the last attempt to open the
	 * connection has failed. After that, and after a loss, each call has it tried again
	 * in the background. Never waits.
	 * @return {@code null} if the last attempt has succeeded, or none was made
	 */
	public @Nullable String problem() {
		String current = this.problem;
		if ((current != null || this.lost) && !this.closed) {
			reopen();
		}
		return current;
	}

	private void reopen() {
		if (this.reopening.compareAndSet(false, true)) {
			this.heartbeat.execute(new GuardedTask("Failed to open the connection of the session locks", () -> {
				this.reopening.set(false);
				this.flights.submit(new SessionCommand.Open());
			}));
		}
	}

	/**
	 * Note that a connection like that of this session could not be opened, or does not
	 * lead to where locks are.
	 * @param failure why not
	 */
	public void failed(Exception failure) {
		this.problem = JdbcUrl.redact(String.valueOf(failure.getMessage()));
	}

	/**
	 * Return whether the connection is open, as far as is known.
	 * @return {@code false} before the first lock, from a loss to the next lock, and when
	 * it has carried nothing for five minutes
	 */
	public boolean isConnected() {
		return this.connection != null;
	}

	/**
	 * Return whether there may be something to {@linkplain #hearIfIdle() hear}. Costs
	 * next to nothing and never waits; {@code true} also where that is not known.
	 * @return whether to look
	 */
	public boolean hasInput() {
		SessionConnection current = this.connection;
		return current != null && current.hasInput();
	}

	/**
	 * Return whether {@link #hasInput()} knows, and need not guess.
	 * @return whether a look costs nothing
	 */
	public boolean seesInput() {
		SessionConnection current = this.connection;
		return current == null || current.seesInput();
	}

	/**
	 * End an attempt to open the connection, if one is under way; whoever waits for it
	 * fails. Never waits.
	 */
	public void giveUpOpening() {
		ConnectionOpening attempt = this.opening;
		if (attempt != null) {
			attempt.abort("The application is shutting down");
		}
	}

	/**
	 * Close the connection; locks that are still held on it are lost.
	 */
	@Override
	public void close() {
		this.closed = true;
		giveUpOpening();
		this.flights.submit(new SessionCommand.Close());
		this.heartbeat.close();
		this.losses.close();
	}

	/**
	 * Return what is to be told of locks that are lost, in either scope.
	 */
	LockLosses losses() {
		return this.losses;
	}

	/**
	 * Open another connection, as the one of this session is opened, which is neither
	 * judged nor watched.
	 * @return the connection, to be closed by the caller
	 * @throws SQLException if it can't be opened
	 */
	public Connection openAnother() throws SQLException {
		return new ConnectionOpening(this.settings).open(this.connectionSource.get());
	}

	LockSessionSettings settings() {
		return this.settings;
	}

	private void beat() {
		SessionConnection current = this.connection;
		if (current == null) {
			return;
		}
		if (current.carriesLocks()) {
			this.lastLockNanos = System.nanoTime();
			this.flights.submit(new SessionCommand.Heartbeat());
		}
		else if (isIdle()) {
			this.flights.submit(new SessionCommand.Retire());
		}
	}

	/**
	 * Return whether nobody has used the connection for long, nor listens on it.
	 */
	private boolean isIdle() {
		long now = System.nanoTime();
		return this.listener == null && now - this.confirmedNanos > this.idleNanos
				&& now - this.lastLockNanos > this.idleNanos;
	}

	/**
	 * Set for how long a connection that carries nothing is kept. The default is five
	 * minutes.
	 */
	void setIdleTimeout(Duration timeout) {
		this.idleNanos = timeout.toNanos();
	}

	private void fly(List<SessionCommand> commands) {
		try {
			List<SessionCommand> forServer = new ArrayList<>(commands.size());
			for (SessionCommand command : commands) {
				if (needsServer(command)) {
					forServer.add(command);
				}
			}
			ask(forServer);
			if (commands.stream().anyMatch(SessionCommand::hears)) {
				hear();
			}
			if (commands.stream().anyMatch(SessionCommand::retires)) {
				retire();
			}
		}
		catch (RuntimeException | Error ex) {
			abandon(commands, ex);
			throw ex;
		}
	}

	private boolean needsServer(SessionCommand command) {
		SessionConnection current = this.connection;
		if (this.closed) {
			if (current != null) {
				end(current, null);
			}
			command.fail(new SQLException("The application is shutting down", SqlState.CONNECTION_DOES_NOT_EXIST));
			return false;
		}
		return command.needsServer(current);
	}

	private void ask(List<SessionCommand> commands) {
		boolean reused = this.connection != null;
		try {
			if (!commands.isEmpty()) {
				run(commands);
			}
		}
		catch (SQLException ex) {
			recover(commands, reused, ex);
		}
	}

	private void run(List<SessionCommand> commands) throws SQLException {
		SessionConnection current = this.connection;
		if (current == null) {
			current = open(!commands.stream().allMatch(SessionCommand::isOptional));
		}
		SessionListener listener = this.listener;
		if (listener != null) {
			current.listen(listener);
		}
		long sent = System.nanoTime();
		current.run(commands);
		this.confirmedNanos = sent;
		if (listener != null) {
			listener.confirmed(sent);
		}
		destroyIfDoubtful(current, commands);
	}

	private void destroyIfDoubtful(SessionConnection current, List<SessionCommand> commands) {
		for (SessionCommand command : commands) {
			String complaint = command.complaint();
			if (complaint != null) {
				destroy(current, complaint, null);
				return;
			}
		}
	}

	/**
	 * Nobody knows what the server has been asked and has answered. Whatever it granted
	 * must not stay.
	 */
	private void abandon(List<SessionCommand> commands, Throwable failure) {
		SessionConnection current = this.connection;
		try {
			if (current != null) {
				commands.forEach((command) -> command.abandon(current, failure));
				destroy(current, "a flight failed", failure);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
		finally {
			commands.forEach((command) -> command.failUnanswered(failure));
		}
	}

	private void retire() {
		SessionConnection current = this.connection;
		if (current != null && !current.carriesLocks()) {
			end(current, null);
		}
	}

	private void hear() {
		SessionConnection current = this.connection;
		SessionListener listener = this.listener;
		if (current != null && listener != null) {
			try {
				current.hear(listener);
			}
			catch (SQLException ex) {
				destroy(current, "the connection was lost", ex);
			}
		}
	}

	/**
	 * Open the connection.
	 * @param needed whether it is a problem if that fails
	 */
	private SessionConnection open(boolean needed) throws SQLException {
		try {
			this.backOff.check();
			return open();
		}
		catch (SQLException | RuntimeException ex) {
			if (needed) {
				failed(ex);
			}
			throw ex;
		}
	}

	private SessionConnection open() throws SQLException {
		ConnectionOpening attempt = new ConnectionOpening(this.settings);
		this.opening = attempt;
		if (this.closed) {
			giveUpOpening();
		}
		long start = System.nanoTime();
		try {
			SessionConnection opened = SessionConnection.open(this.connectionSource.get(), this.applicationName,
					this.settings, this.judge, attempt);
			this.backOff.reset();
			this.connection = opened;
			this.problem = null;
			this.lost = false;
			this.heartbeat.every(this.settings.heartbeat(), this.settings.heartbeat(), this.beat);
			return opened;
		}
		catch (SQLException | RuntimeException ex) {
			this.backOff.lengthen(ex, System.nanoTime() - start);
			throw ex;
		}
		finally {
			this.opening = null;
		}
	}

	private void recover(List<SessionCommand> commands, boolean reused, SQLException failure) {
		SessionConnection current = this.connection;
		if (current == null) {
			commands.forEach((command) -> command.fail(failure));
		}
		else if (SqlState.endsConnection(failure)) {
			commands.forEach((command) -> command.abandon(current, failure));
			destroy(current, "the connection was lost", failure);
			if (reused) {
				// nothing can be held on the old connection any more, so asking again is
				// safe
				retry(commands.stream().filter(SessionCommand::outlivesConnection).toList());
			}
		}
		else {
			settle(current, commands, failure);
		}
	}

	/**
	 * The connection is fine, and one of the commands is not: find out what each of them
	 * has done, and send those that did nothing one by one.
	 */
	private void settle(SessionConnection current, List<SessionCommand> commands, SQLException failure) {
		try {
			for (SessionCommand command : commands) {
				command.settle(current, failure);
			}
			current.releaseSurplus();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			commands.forEach((command) -> command.abandon(current, failure));
			destroy(current, "it is not known which locks it holds", failure);
			return;
		}
		if (commands.size() > 1) {
			commands.stream()
				.filter((command) -> command.failure() != null)
				.forEach((command) -> retry(List.of(command)));
		}
		else {
			destroyIfDoubtful(current, commands);
		}
	}

	private void retry(List<SessionCommand> commands) {
		if (!commands.isEmpty()) {
			fly(commands);
		}
	}

	private void destroy(SessionConnection current, String reason, @Nullable Throwable cause) {
		boolean matters = current.carriesLocks();
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

	private DataAccessException translate(AdvisoryLockKey key, Throwable ex) {
		String task = "Failed to acquire advisory lock '" + key + "'";
		DataAccessException translated = (ex instanceof SQLException failure)
				? this.exceptionTranslator.translate(task, null, failure) : null;
		return (translated != null) ? translated : new DataAccessResourceFailureException(task, ex);
	}

}
