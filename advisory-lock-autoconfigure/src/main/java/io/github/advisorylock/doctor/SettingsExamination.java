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

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

import org.springframework.transaction.TransactionDefinition;

/**
 * Looks at the settings of a server, as a connection of the pool has them.
 */
final class SettingsExamination {

	/**
	 * Limits that are longer do not meet what belongs into a transaction.
	 */
	private static final long HARMLESS_MILLIS = TimeUnit.HOURS.toMillis(1);

	/**
	 * What counts as not set: the two hours that TCP has by default, or more.
	 */
	private static final long DEFAULT_KEEPALIVE_SECONDS = TimeUnit.HOURS.toSeconds(2);

	private SettingsExamination() {
	}

	/**
	 * Look at the settings, and at how large the lock table is.
	 * @param direct whether there is no pooler in between
	 */
	static void examine(ServerSettings server, boolean direct, CheckContext context, Findings findings) {
		if (context.usesTransactions()) {
			checkTimeout("idle_in_transaction_session_timeout", server.idleInTransactionTimeout(), findings);
			checkTimeout("transaction_timeout", server.transactionTimeout(), findings);
			checkIsolation(server, context, findings);
			if (direct) {
				checkDeadClients(server, context, findings);
			}
		}
		if (direct) {
			server.limits().examine(context, findings);
		}
		checkLockTable(server, context.maxHeldLocks(), findings);
	}

	private static void checkTimeout(String name, long millis, Findings findings) {
		if (millis > 0 && millis < HARMLESS_MILLIS) {
			findings.found(DoctorCheck.HOLDER_TIMEOUT,
					"The server ends transactions by '" + name + "' after " + millis
							+ " ms, and with them the locks of methods that still run in scope TRANSACTION",
					"raise it for this application's role in the database, or set 'scope' to SESSION for methods that "
							+ "take that long");
		}
	}

	private static void checkIsolation(ServerSettings settings, CheckContext context, Findings findings) {
		if (context.waitsInTransactions() && !"read committed".equals(settings.isolation())) {
			findings.found(DoctorCheck.ISOLATION, "Transactions are '" + settings.isolation()
					+ "' by 'default_transaction_isolation', and methods of "
					+ "scope TRANSACTION with 'waitFor' fail there, because their snapshot would be older than the lock",
					"set 'isolation' of their @Transactional to READ_COMMITTED, or their 'scope' to SESSION");
		}
		String serializable = context.recordedIn(TransactionDefinition.ISOLATION_SERIALIZABLE,
				"serializable".equals(settings.isolation()));
		if (!serializable.isEmpty()) {
			findings.found(DoctorCheck.ISOLATION, "Transactions of recorded methods are 'serializable', "
					+ "by 'default_transaction_isolation' or their @Transactional, and runs of different keys make "
					+ "each other fail with 'could not serialize access': " + serializable,
					"set '@Transactional(isolation = Isolation.READ_COMMITTED)' on them, or their 'scope' to SESSION, "
							+ "or 'default_transaction_isolation' of the role or the pool to 'read committed'");
		}
	}

	private static void checkDeadClients(ServerSettings settings, CheckContext context, Findings findings) {
		boolean unacknowledged = settings.userTimeout() == 0;
		boolean silent = settings.keepalivesIdle() == 0 || settings.keepalivesIdle() >= DEFAULT_KEEPALIVE_SECONDS;
		if (settings.tcp() && (unacknowledged || silent)) {
			findings.found(DoctorCheck.DEAD_CLIENT,
					"The server takes hours to notice that a host has vanished, and keeps the locks of its scope "
							+ "TRANSACTION as long, because connections of this pool could not be prepared",
					"add '" + context.settings().deadClientUrlParameter() + "' to the JDBC URL of the DataSource");
		}
	}

	private static void checkLockTable(ServerSettings settings, int maxHeldLocks, Findings findings) {
		long size = settings.lockTableSize();
		if (maxHeldLocks > size / 2) {
			findings.found(DoctorCheck.LOCK_TABLE,
					"One application may hold " + maxHeldLocks + " locks, more than half of the about " + size
							+ " that the server has room for, and all queries fail when that table is full",
					"lower 'advisory-lock.max-held-locks', or raise 'max_locks_per_transaction' of the server");
		}
	}

	/**
	 * What a server is set to, as one connection sees it; times in milliseconds unless
	 * said otherwise, and zero where a limit is off.
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
	 * @param limits how many connections there may be
	 */
	record ServerSettings(String version, boolean tcp, String isolation, long idleInTransactionTimeout,
			long transactionTimeout, long userTimeout, long keepalivesIdle, long locksPerTransaction, long connections,
			ConnectionLimits limits) {

		static ServerSettings read(ResultSet row) throws SQLException {
			return new ServerSettings(row.getString(4), row.getBoolean(5), row.getString(6), row.getLong(7),
					row.getLong(8), row.getLong(9), row.getLong(10), row.getLong(11), row.getLong(12),
					ConnectionLimits.read(row, 13));
		}

		long lockTableSize() {
			return this.locksPerTransaction * this.connections;
		}

	}

}
