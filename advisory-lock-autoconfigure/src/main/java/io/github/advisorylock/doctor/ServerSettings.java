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

package io.github.advisorylock.doctor;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What a server is set to, as one connection sees it; times in milliseconds unless said
 * otherwise, and zero where a limit is off.
 *
 * @param version the version of PostgreSQL
 * @param tcp whether the connection goes over the network
 * @param isolation the isolation level of transactions that do not choose one
 * @param idleInTransactionTimeout how long a transaction may do nothing
 * @param transactionTimeout how long a transaction may last
 * @param userTimeout how long sent data may stay unacknowledged
 * @param keepalivesIdle seconds of silence before the client is probed
 * @param locksPerTransaction the lock table's entries for each connection
 * @param connections how many connections and prepared transactions there may be
 */
record ServerSettings(String version, boolean tcp, String isolation, long idleInTransactionTimeout,
		long transactionTimeout, long userTimeout, long keepalivesIdle, long locksPerTransaction, long connections) {

	static ServerSettings of(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(DoctorQueries.SETTINGS)) {
			row.next();
			return new ServerSettings(row.getString(1), row.getBoolean(2), row.getString(3), row.getLong(4),
					row.getLong(5), row.getLong(6), row.getLong(7), row.getLong(8), row.getLong(9));
		}
	}

	long lockTableSize() {
		return this.locksPerTransaction * this.connections;
	}

}
