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

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;

/**
 * Takes locks on the connection of the current transaction. PostgreSQL releases them.
 */
final class TransactionLocks {

	private final JdbcOperations jdbc;

	TransactionLocks(DataSource dataSource) {
		this.jdbc = new JdbcTemplate(dataSource);
	}

	/**
	 * Take the lock of a hold, waiting for it in the server's queue until the deadline.
	 * @return whether it was taken
	 */
	boolean acquire(Hold hold, Deadline deadline) {
		AdvisoryLockKey key = hold.key();
		Answer answer = tryAcquire(key, hold.mode(), deadline.remainingMillis() > 0);
		if (answer == Answer.REFUSED) {
			refuseStandby();
			throw new IllegalTransactionStateException("Failed to wait for advisory lock '" + key
					+ "': the snapshot of a REPEATABLE READ or SERIALIZABLE transaction would be older than the lock; "
					+ "do not set 'waitFor', or use scope SESSION");
		}
		boolean acquired = answer == Answer.ACQUIRED
				|| (deadline.remainingMillis() > 0 && await(key, hold.mode(), deadline));
		if (acquired) {
			hold.acquired();
		}
		return acquired;
	}

	/**
	 * Return whether anybody holds a key, on whatever instance.
	 */
	boolean isHeld(AdvisoryLockKey key) {
		Boolean held = this.jdbc.queryForObject(PostgresAdvisoryLockFunctions.isHeld(key), Boolean.class,
				Integer.toUnsignedLong(key.classId()), Integer.toUnsignedLong(key.objectId()));
		return Boolean.TRUE.equals(held);
	}

	/**
	 * Asked on each run rather than once for a connection: a DataSource may route
	 * read-only transactions to a standby.
	 */
	private void refuseStandby() {
		Boolean standby = this.jdbc.queryForObject(PostgresAdvisoryLockFunctions.IS_THIS_STANDBY, Boolean.class);
		if (Boolean.TRUE.equals(standby)) {
			throw PostgresServer.standby();
		}
	}

	private Answer tryAcquire(AdvisoryLockKey key, LockMode mode, boolean mayWait) {
		String sql = mayWait ? PostgresAdvisoryLockFunctions.tryTransactionLockBeforeWait(key, mode)
				: PostgresAdvisoryLockFunctions.tryTransactionLock(key, mode);
		return this.jdbc.execute(sql, (PreparedStatement statement) -> {
			int next = PostgresAdvisoryLockFunctions.bindKey(statement, 1, key);
			statement.setString(next, ApplicationName.ofHolder(key));
			statement.execute();
			ResultSet answer = statement.getResultSet();
			answer.next();
			boolean acquired = answer.getBoolean(1);
			return answer.wasNull() ? Answer.REFUSED : acquired ? Answer.ACQUIRED : Answer.BUSY;
		});
	}

	private boolean await(AdvisoryLockKey key, LockMode mode, Deadline deadline) {
		Timeouts timeouts = beginWait(deadline.remainingMillis());
		try {
			this.jdbc.execute(PostgresAdvisoryLockFunctions.transactionLock(key, mode),
					(PreparedStatement statement) -> {
						PostgresAdvisoryLockFunctions.bindKey(statement, 1, key);
						return statement.execute();
					});
		}
		catch (DataAccessException ex) {
			cancelWait(ex);
			if (SqlState.endsWait(ex.getMostSpecificCause())) {
				return false;
			}
			throw ex;
		}
		endWait(timeouts, key);
		return true;
	}

	private Timeouts beginWait(long millis) {
		return this.jdbc.execute(PostgresAdvisoryLockFunctions.BEGIN_WAIT, (PreparedStatement statement) -> {
			statement.setString(1, Long.toString(Math.max(1, Math.min(millis, Integer.MAX_VALUE))));
			statement.execute();
			ResultSet settings = statement.getResultSet();
			settings.next();
			return new Timeouts(settings.getString(1), settings.getString(2));
		});
	}

	private void endWait(Timeouts timeouts, AdvisoryLockKey key) {
		this.jdbc.execute(PostgresAdvisoryLockFunctions.END_WAIT, (PreparedStatement statement) -> {
			statement.setString(1, timeouts.lock());
			statement.setString(2, timeouts.statement());
			statement.setString(3, ApplicationName.ofHolder(key));
			return statement.execute();
		});
	}

	/**
	 * Rolling back to the savepoint makes a caller's transaction usable again, restores
	 * its timeouts, and frees a lock that was granted in the moment of the timeout.
	 */
	private void cancelWait(DataAccessException failure) {
		try {
			this.jdbc.execute((Statement statement) -> statement.execute(PostgresAdvisoryLockFunctions.CANCEL_WAIT));
		}
		catch (DataAccessException ex) {
			failure.addSuppressed(ex);
			throw failure;
		}
	}

	private enum Answer {

		ACQUIRED, BUSY, REFUSED

	}

	/**
	 * The settings of the transaction that a wait has to give back, as text: PostgreSQL
	 * prints them with units.
	 */
	private record Timeouts(String lock, String statement) {

	}

}
