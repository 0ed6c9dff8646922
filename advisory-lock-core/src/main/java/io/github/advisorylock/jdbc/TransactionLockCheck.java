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
 * Asks a connection whether its transaction has the lock of a hold.
 */
final class TransactionLockCheck {

	/**
	 * Fetches all rows of an answer at once, whatever {@code defaultRowFetchSize} says.
	 * Otherwise the driver names the portal of a query, and the server keeps its snapshot
	 * until the transaction ends.
	 */
	static final int ALL_ROWS = 0;

	private TransactionLockCheck() {
	}

	/**
	 * Make sure, by an answer of the server on this connection, that it has the lock of a
	 * hold. Any failure means that it does not, as an error in a transaction ends its
	 * locks.
	 * @throws LockLostException if it does not
	 */
	static void confirm(Hold hold, Connection connection) throws LockLostException {
		AdvisoryLockKey lock = hold.lock();
		boolean held;
		try (PreparedStatement statement = connection
			.prepareStatement(PostgresAdvisoryLockFunctions.confirmHold(lock))) {
			statement.setFetchSize(ALL_ROWS);
			statement.setLong(1, Integer.toUnsignedLong(lock.classId()));
			statement.setLong(2, Integer.toUnsignedLong(lock.objectId()));
			statement.execute();
			try (ResultSet answer = statement.getResultSet()) {
				held = answer.next() && answer.getBoolean(1);
			}
		}
		catch (SQLException ex) {
			LockLostException lost = new LockLostException(hold.key());
			lost.initCause(ex);
			throw lost;
		}
		if (!held) {
			throw new LockLostException(hold.key());
		}
	}

}
