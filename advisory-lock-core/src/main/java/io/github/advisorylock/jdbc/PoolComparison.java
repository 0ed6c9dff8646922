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
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Compares the database of a session with that of a pool: the locks of two databases
 * guard nothing against each other. A random key that the session has locked is free
 * elsewhere, whatever names, addresses and poolers lead there.
 */
final class PoolComparison implements ServerJudge.Comparison {

	private static final Log logger = LogFactory.getLog(PoolComparison.class);

	private static final long PATIENCE_MILLIS = 1000;

	private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final DataSource pool;

	private final Executor workers;

	private final LockScheduler.Ticker ticker;

	private final AtomicBoolean told = new AtomicBoolean();

	private final AtomicBoolean underWay = new AtomicBoolean();

	private volatile long comparedNanos;

	/**
	 * Whether a connection of the pool was seen to lead to where the session does.
	 */
	private volatile boolean same;

	/**
	 * Whether the pool is behind a pooler.
	 */
	private volatile boolean pooled;

	private volatile boolean lookDue;

	private volatile @Nullable String place;

	/**
	 * Create a comparison.
	 * @param pool opens the connections of transactions
	 * @param threads has the workers that wait for one
	 */
	PoolComparison(DataSource pool, LockScheduler.Threads threads) {
		this.pool = pool;
		this.workers = threads.workers();
		this.ticker = threads.ticker();
	}

	/**
	 * As anybody who has a connection of the pool may wait for this session, one is
	 * waited for only shortly, by a worker.
	 */
	@Override
	public @Nullable String difference(Connection session) throws SQLException {
		long key = ThreadLocalRandom.current().nextLong();
		this.place = lock(session, key);
		this.same = false;
		this.lookDue = true;
		try {
			return answerInTime(key);
		}
		finally {
			unlock(session, key);
			this.comparedNanos = this.ticker.nanoTime();
		}
	}

	/**
	 * Return whether a session that was opened a while ago is to look for locks that a
	 * pooler in front of the pool has kept: once.
	 * @param open how long that is
	 */
	boolean isLookDue(Duration open) {
		boolean due = this.lookDue && this.pooled && this.ticker.nanoTime() - this.comparedNanos > open.toNanos();
		this.lookDue &= !due;
		return due;
	}

	/**
	 * Return whether a connection of the pool was seen to lead to where the session does.
	 */
	boolean isSame() {
		return this.same;
	}

	/**
	 * Compare once more if that was last done a minute ago: what names stand for may
	 * change, and each connection of the pool is as old as it is. Does not wait.
	 * @param lock locks a key on the session, which is not compared if it was not when it
	 * was opened
	 * @param unlock unlocks it
	 * @param differs is told that the two databases are not the same
	 */
	void again(Predicate<Hold> lock, Consumer<Hold> unlock, Consumer<String> differs) {
		boolean due = this.place != null && this.ticker.nanoTime() - this.comparedNanos > PERIOD_NANOS;
		if (due && this.underWay.compareAndSet(false, true)) {
			try {
				this.workers.execute(new SafeTask("Failed to compare the database of the session locks",
						() -> compare(lock, unlock, differs)));
			}
			catch (Throwable ex) {
				this.underWay.set(false);
				throw ex;
			}
		}
	}

	/**
	 * A session that has not got what it is to release is not kept.
	 */
	private void compare(Predicate<Hold> lock, Consumer<Hold> unlock, Consumer<String> differs) {
		long key = ThreadLocalRandom.current().nextLong();
		Hold mark = new Hold.OfTick(AdvisoryLockKey.ofValue(key), LockMode.EXCLUSIVE, () -> {
		});
		try {
			if (lock.test(mark)) {
				String difference = null;
				try {
					difference = differenceOf(key);
				}
				finally {
					unlock.accept(mark);
				}
				if (difference != null) {
					differs.accept(difference);
				}
			}
		}
		catch (SQLException | RuntimeException ex) {
			unknown(String.valueOf(ex.getMessage()), ex);
		}
		finally {
			this.comparedNanos = this.ticker.nanoTime();
			this.underWay.set(false);
		}
	}

	private @Nullable String answerInTime(long key) {
		FutureTask<@Nullable String> question = new FutureTask<>(() -> differenceOf(key));
		this.workers.execute(question);
		try {
			return question.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (TimeoutException ex) {
			question.cancel(true);
			unknown("the DataSource gave no connection within " + PATIENCE_MILLIS + " ms", ex);
		}
		catch (ExecutionException ex) {
			unknown(String.valueOf(ex.getCause()), ex);
		}
		catch (InterruptedException ex) {
			question.cancel(true);
			Thread.currentThread().interrupt();
		}
		return null;
	}

	/**
	 * One after the other, as the pool may have no two: a proxy to several servers sends
	 * the second one elsewhere.
	 */
	private @Nullable String differenceOf(long key) throws SQLException {
		String difference = differenceOfOne(key);
		return (difference != null) ? difference : differenceOfOne(key);
	}

	private @Nullable String differenceOfOne(long key) throws SQLException {
		try (Connection connection = this.pool.getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			try (PreparedStatement statement = connection.prepareStatement(PostgresAdvisoryLockFunctions.IS_FREE)) {
				statement.setLong(1, key);
				try (ResultSet row = statement.executeQuery()) {
					row.next();
					this.pooled = PgDriver.isPooled(connection, row.getInt(3));
					this.same = !row.getBoolean(1);
					return !this.same
							? "The session locks are in " + this.place + ", and the transactions of the DataSource in "
									+ row.getString(2) + ", where these locks guard nothing"
							: null;
				}
			}
			finally {
				if (!autoCommit) {
					connection.rollback();
				}
			}
		}
	}

	private void unknown(String reason, Exception cause) {
		if (this.told.compareAndSet(false, true)) {
			logger.info("Could not find out whether the session locks are in the database of the DataSource: "
					+ JdbcUrl.redact(reason));
		}
		logger.debug("Failed to compare the database of the session locks with that of the DataSource", cause);
	}

	private static String lock(Connection session, long key) throws SQLException {
		try (PreparedStatement statement = session.prepareStatement(PostgresAdvisoryLockFunctions.MARK)) {
			statement.setLong(1, key);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return row.getString(2);
			}
		}
	}

	private static void unlock(Connection session, long key) throws SQLException {
		try (PreparedStatement statement = session.prepareStatement(PostgresAdvisoryLockFunctions.UNMARK)) {
			statement.setLong(1, key);
			statement.execute();
		}
	}

}
