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

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;

/**
 * Takes locks on the connection of the current transaction. PostgreSQL releases them.
 */
final class TransactionLocks {

	private final TransactionCoverage coverage;

	private final JdbcOperations jdbc;

	TransactionLocks(DataSource dataSource, TransactionCoverage coverage) {
		this.coverage = coverage;
		this.jdbc = new JdbcTemplate(dataSource);
	}

	/**
	 * Take the lock of a hold, polling for it until the deadline. A wait in the server's
	 * queue would keep a snapshot open, answer no interrupt, and end with the connection
	 * where it is longer than the driver's patience.
	 * @return whether it was taken; after an interrupt, whose flag stays set, there is no
	 * other attempt
	 */
	boolean acquire(Hold hold, Deadline deadline) {
		this.coverage.check(hold.key());
		boolean mayWait = deadline.isAhead();
		return deadline.poll(() -> tryAcquire(hold, mayWait));
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
			throw new UnsupportedDatabaseException(
					"it is a standby, which grants the same locks as its primary; connect to the primary");
		}
	}

	private boolean tryAcquire(Hold hold, boolean mayWait) {
		AdvisoryLockKey key = hold.key();
		String sql = mayWait ? PostgresAdvisoryLockFunctions.tryTransactionLockBeforeWait(key, hold.mode())
				: PostgresAdvisoryLockFunctions.tryTransactionLock(key, hold.mode());
		LockTransaction taken = this.jdbc.execute(sql, (PreparedStatement statement) -> {
			int next = PostgresAdvisoryLockFunctions.bindKey(statement, 1, key);
			statement.setString(next, ApplicationName.ofHolder(key));
			statement.execute();
			ResultSet answer = statement.getResultSet();
			answer.next();
			int backend = answer.getInt(1);
			return new LockTransaction(PgDriver.unwrap(statement.getConnection()), answer.wasNull() ? -1 : backend);
		});
		if (taken.backend() < 0) {
			throw refusal(key);
		}
		if (taken.backend() > 0) {
			accept(hold, taken);
		}
		return taken.backend() > 0;
	}

	/**
	 * A lock that was taken outside a transaction is free again already, whatever the
	 * transaction manager believes to have begun.
	 */
	private void accept(Hold hold, LockTransaction taken) {
		if (!taken.isOpen()) {
			throw this.coverage.refusal(hold.key());
		}
		hold.setConfirmation(() -> taken.confirm(hold.key()));
		hold.acquired(taken);
	}

	private RuntimeException refusal(AdvisoryLockKey key) {
		refuseStandby();
		return new IllegalTransactionStateException("Failed to wait for advisory lock '" + key
				+ "': the snapshot of a REPEATABLE READ or SERIALIZABLE transaction would be older than the lock; "
				+ "do not set 'waitFor', or use scope SESSION");
	}

}
