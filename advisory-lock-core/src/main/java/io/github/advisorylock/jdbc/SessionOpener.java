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
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connections of a {@link LockSession}, has them judged, and knows why the last
 * one could not be had. Keeps the application from hammering a server that refuses
 * connections, and from waiting again and again for one that does not answer: attempts
 * that come too early fail like the last one did.
 * <p>
 * Spring's {@code ExponentialBackOff} does not know that those who wait behind a long
 * attempt have waited for it already: a pause here is at least as long as the attempt
 * took, and the next one twice as long.
 */
final class SessionOpener {

	private static final Log logger = LogFactory.getLog(SessionOpener.class);

	private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST = TimeUnit.SECONDS.toNanos(5);

	private final ConnectionSource connectionSource;

	private final ServerJudge.Comparison comparison;

	private final Supplier<String> applicationName;

	private final LockSessionSettings settings;

	private final LockScheduler.Threads threads;

	private final ServerJudge judge;

	private volatile @Nullable ConnectionOpening attempt;

	private volatile @Nullable String problem;

	private volatile boolean closed;

	private volatile boolean retryNow;

	private @Nullable Exception failure;

	private boolean refusedQuickly;

	private long pause;

	private long end;

	private @Nullable Object address;

	/**
	 * Create it.
	 * @param connectionSource is asked each time
	 * @param judge judges where they lead to
	 * @param comparison compares where they lead to with where transactions are
	 * @param applicationName names the connections in {@code pg_stat_activity}
	 * @param settings how long the server may take
	 * @param threads has the clock, and the class loader by which drivers are found
	 */
	SessionOpener(ConnectionSource connectionSource, ServerJudge judge, ServerJudge.Comparison comparison,
			Supplier<String> applicationName, LockSessionSettings settings, LockScheduler.Threads threads) {
		this.connectionSource = connectionSource;
		this.judge = judge;
		this.comparison = comparison;
		this.applicationName = applicationName;
		this.settings = settings;
		this.threads = threads;
	}

	/**
	 * Open a connection and judge what it leads to before anything is set there. Called
	 * by one thread at a time.
	 * @param needed whether it is a problem if that fails
	 * @throws UnsupportedDatabaseException if session locks guard nothing there
	 */
	SessionConnection open(boolean needed) throws SQLException {
		try {
			checkPause();
			return open();
		}
		catch (SQLException | RuntimeException ex) {
			if (needed) {
				failed(ex);
			}
			throw ex;
		}
	}

	/**
	 * Let the next attempt not be too early if the last one was refused at once: whoever
	 * asks knows that the server does its work again.
	 */
	void retryNow() {
		this.retryNow = true;
	}

	private void checkPause() throws SQLException {
		boolean retry = this.retryNow && this.refusedQuickly;
		this.retryNow = false;
		if (!retry && this.failure != null && this.threads.ticker().nanoTime() - this.end < 0) {
			if (this.failure instanceof UnsupportedDatabaseException refusal) {
				UnsupportedDatabaseException again = new UnsupportedDatabaseException(refusal.getReason());
				again.initCause(refusal);
				throw again;
			}
			String state = (this.failure instanceof SQLException ex) ? ex.getSQLState() : null;
			throw new SQLException(this.failure.getMessage(), state, this.failure);
		}
	}

	private SessionConnection open() throws SQLException {
		ConnectionOpening opening = new ConnectionOpening(this.settings);
		this.attempt = opening;
		if (this.closed) {
			giveUp();
		}
		long start = this.threads.ticker().nanoTime();
		try {
			SessionConnection opened = this.threads.call(() -> open(opening));
			this.failure = null;
			this.pause = 0;
			this.problem = null;
			return opened;
		}
		catch (SQLException | RuntimeException ex) {
			this.failure = ex;
			long took = this.threads.ticker().nanoTime() - start;
			this.refusedQuickly = took < SHORTEST && !(ex instanceof UnsupportedDatabaseException);
			long longer = Math.max(this.pause * 2, took);
			this.pause = Math.min(Math.max(longer, SHORTEST), LONGEST);
			this.end = this.threads.ticker().nanoTime() + this.pause;
			throw ex;
		}
		finally {
			this.attempt = null;
		}
	}

	private SessionConnection open(ConnectionOpening opening) throws SQLException {
		this.address = address();
		Connection opened = connect(opening);
		try {
			opened.setAutoCommit(true);
			this.judge.judge(opened, this::openAnother, this.comparison);
			SessionConnection.Mark mark = LockSessionSettings.DeadClientDetection
				.within(this.settings.deadClientTimeout())
				.enable(opened, this.applicationName.get(), this.settings.statementTimeoutMillis());
			return new SessionConnection(opened, mark, opening.finish(), this.threads.ticker());
		}
		catch (Throwable ex) {
			SessionConnection.end(opened, ex);
			throw ex;
		}
	}

	/**
	 * Return where a connection would be opened now if that is not where the last one
	 * was.
	 * @return {@code null} if it is, or nobody knows
	 */
	@Nullable Object newAddress() {
		Object now = address();
		return Objects.equals(now, this.address) ? null : now;
	}

	/**
	 * A DataSource that can't be asked now has told enough when it was.
	 */
	private @Nullable Object address() {
		try {
			return this.connectionSource.address();
		}
		catch (RuntimeException ex) {
			logger.debug("The DataSource does not tell where it leads to", ex);
			return this.address;
		}
	}

	/**
	 * Open another connection of the same kind, which is neither judged nor watched.
	 */
	Connection openAnother() throws SQLException {
		return this.threads.call(() -> connect(new ConnectionOpening(this.settings)));
	}

	private Connection connect(ConnectionOpening opening) throws SQLException {
		return ServerJudge.Opening.checked(() -> opening.open(this.connectionSource.get())).open();
	}

	/**
	 * End an attempt that is under way, from any thread.
	 */
	void giveUp() {
		ConnectionOpening current = this.attempt;
		if (current != null) {
			current.abort("The application is shutting down");
		}
	}

	/**
	 * End an attempt that is under way, and all to come.
	 */
	void close() {
		this.closed = true;
		giveUp();
	}

	/**
	 * Note why a connection can't be had.
	 */
	void failed(Exception failure) {
		this.problem = JdbcUrl.redact(String.valueOf(failure.getMessage()));
	}

	/**
	 * Return why the last attempt failed, {@code null} if it did not.
	 */
	@Nullable String problem() {
		return this.problem;
	}

}
