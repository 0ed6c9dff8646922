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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * The one connection that carries all session locks of this application. It is the
 * library's own, never one of a pool: a pool would hand it, locks and all, to the next
 * borrower. It is opened when the first lock is asked for.
 * <p>
 * A session in an unknown state is destroyed, which frees its locks: holding a lock
 * without knowing it would keep it for ever.
 */
final class LockSession implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockSession.class);

	private final DataSource connectionSource;

	private final String applicationName;

	private final SQLExceptionTranslator exceptionTranslator = new SQLExceptionSubclassTranslator();

	private final ReentrantLock monitor = new ReentrantLock();

	private final Set<Hold> holds = new LinkedHashSet<>();

	private @Nullable Connection connection;

	private boolean closed;

	/**
	 * Create a session that is not open yet.
	 * @param connectionSource opens a new physical connection each time
	 * @param applicationName how {@code pg_stat_activity} shows it
	 */
	LockSession(DataSource connectionSource, String applicationName) {
		this.connectionSource = connectionSource;
		this.applicationName = applicationName;
	}

	/**
	 * Try to take the lock of a hold, without waiting.
	 * @return whether it was taken
	 */
	boolean tryLock(Hold hold) {
		this.monitor.lock();
		try {
			Connection current = open(hold.key());
			if (tryLock(current, hold)) {
				this.holds.add(hold);
				return true;
			}
			return false;
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Release the lock of a hold. Does nothing when it was lost before.
	 * @throws LockLostException if it turns out that the lock was not held any more
	 */
	void unlock(Hold hold) throws LockLostException {
		this.monitor.lock();
		try {
			if (this.connection == null || !this.holds.contains(hold)) {
				return;
			}
			if (!query(this.connection, PostgresAdvisoryLockFunctions.sessionUnlock(hold.key(), hold.mode()),
					hold.key())) {
				destroy("it did not hold advisory lock '" + hold.key() + "' that it was to release", null);
				throw new LockLostException(hold.key());
			}
			this.holds.remove(hold);
		}
		catch (SQLException ex) {
			destroy("releasing advisory lock '" + hold.key() + "' failed", ex);
			LockLostException lost = new LockLostException(hold.key());
			lost.initCause(ex);
			throw lost;
		}
		finally {
			this.monitor.unlock();
		}
	}

	/**
	 * Close the connection; locks that are still held on it are lost.
	 */
	@Override
	public void close() {
		this.monitor.lock();
		try {
			this.closed = true;
			if (this.connection != null) {
				endConnection(null);
			}
		}
		finally {
			this.monitor.unlock();
		}
	}

	private Connection open(AdvisoryLockKey key) {
		if (this.closed) {
			throw new DataAccessResourceFailureException(
					"Failed to acquire advisory lock '" + key + "': the application is shutting down");
		}
		if (this.connection == null) {
			try {
				this.connection = openConnection();
			}
			catch (SQLException ex) {
				throw translate("open the session for", key, ex);
			}
		}
		return this.connection;
	}

	private Connection openConnection() throws SQLException {
		Connection opened = this.connectionSource.getConnection();
		try {
			opened.setAutoCommit(true);
			PostgresServer.check(opened);
			try (PreparedStatement statement = opened.prepareStatement(PostgresAdvisoryLockFunctions.NAME_SESSION)) {
				statement.setString(1, this.applicationName);
				statement.execute();
			}
			return opened;
		}
		catch (Throwable ex) {
			closeQuietly(opened, ex);
			throw ex;
		}
	}

	private boolean tryLock(Connection current, Hold hold) {
		AdvisoryLockKey key = hold.key();
		try {
			return query(current, PostgresAdvisoryLockFunctions.trySessionLock(key, hold.mode()), key);
		}
		catch (SQLException ex) {
			DataAccessException failure = translate("acquire", key, ex);
			releaseAfterFailure(current, hold, failure);
			throw failure;
		}
	}

	/**
	 * The server may have granted the lock before the failure. Other locks of the session
	 * are kept if it can be told for sure that this one is not held.
	 */
	private void releaseAfterFailure(Connection current, Hold hold, DataAccessException failure) {
		try {
			long expected = this.holds.stream().filter((other) -> other.key().equals(hold.key())).count();
			if (expected == 0 && countHolds(current, hold.key()) == 0) {
				return;
			}
			destroy("acquiring advisory lock '" + hold.key() + "' failed half-way", failure);
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			destroy("acquiring advisory lock '" + hold.key() + "' failed", failure);
		}
	}

	private long countHolds(Connection current, AdvisoryLockKey key) throws SQLException {
		try (PreparedStatement statement = current
			.prepareStatement(PostgresAdvisoryLockFunctions.holdsOfThisSession(key))) {
			statement.setLong(1, Integer.toUnsignedLong(key.classId()));
			statement.setLong(2, Integer.toUnsignedLong(key.objectId()));
			try (ResultSet count = statement.executeQuery()) {
				count.next();
				return count.getLong(1);
			}
		}
	}

	private boolean query(Connection current, String sql, AdvisoryLockKey key) throws SQLException {
		try (PreparedStatement statement = current.prepareStatement(sql)) {
			PostgresAdvisoryLockFunctions.bindKey(statement, 1, key);
			try (ResultSet answer = statement.executeQuery()) {
				answer.next();
				return answer.getBoolean(1);
			}
		}
	}

	private void destroy(String reason, @Nullable Exception cause) {
		logger.warn("Destroying the lock session with " + this.holds.size() + " lock(s) because " + reason, cause);
		endConnection(cause);
	}

	private void endConnection(@Nullable Exception cause) {
		Connection ended = this.connection;
		this.connection = null;
		if (ended != null) {
			closeQuietly(ended, cause);
		}
		List<Hold> lost = List.copyOf(this.holds);
		this.holds.clear();
		lost.forEach(Hold::lose);
	}

	/**
	 * Abort first: it ends the connection without waiting for a server that may not
	 * answer.
	 */
	private static void closeQuietly(Connection connection, @Nullable Throwable failure) {
		try (connection) {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			if (failure != null) {
				failure.addSuppressed(ex);
			}
			else {
				logger.debug("Closing the lock session failed", ex);
			}
		}
	}

	private DataAccessException translate(String task, AdvisoryLockKey key, SQLException ex) {
		String message = "Failed to " + task + " advisory lock '" + key + "'";
		DataAccessException translated = this.exceptionTranslator.translate(message, null, ex);
		return (translated != null) ? translated : new DataAccessResourceFailureException(message, ex);
	}

}
