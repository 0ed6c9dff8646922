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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;

/**
 * The transaction that has taken a lock, and so has it as long as it lasts: on which
 * connection, and in which process of the server.
 *
 * @param connection the connection, past what a pool has put around it
 * @param backend the process of the server
 */
record LockTransaction(Connection connection, int backend) {

	/**
	 * Return whether the transaction goes on, as far as the driver knows. Does not ask
	 * the server: it says so with each answer.
	 */
	boolean isOpen() {
		try {
			return PgDriver.transactionState(this.connection) == PgDriver.TransactionState.OPEN;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Make sure, by an answer of the server on this connection, that it holds a key. Any
	 * failure means that it does not, as an error in a transaction ends its locks.
	 * @throws LockLostException if it does not
	 */
	void confirm(AdvisoryLockKey key) throws LockLostException {
		boolean held;
		try (PreparedStatement statement = this.connection
			.prepareStatement(PostgresAdvisoryLockFunctions.confirmHold(key))) {
			statement.setLong(1, Integer.toUnsignedLong(key.classId()));
			statement.setLong(2, Integer.toUnsignedLong(key.objectId()));
			statement.execute();
			try (ResultSet answer = statement.getResultSet()) {
				held = answer.next() && answer.getBoolean(1);
			}
		}
		catch (SQLException ex) {
			LockLostException lost = new LockLostException(key);
			lost.initCause(ex);
			throw lost;
		}
		if (!held) {
			throw new LockLostException(key);
		}
	}

}
