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

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.jdbc.DeadClientSettings;

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

	private final DeadClientSettings deadClients;

	private final int maxHeldLocks;

	SettingsExamination(DeadClientSettings deadClients, int maxHeldLocks) {
		this.deadClients = deadClients;
		this.maxHeldLocks = maxHeldLocks;
	}

	void examine(ServerSettings settings, LockDemand demand, boolean direct, List<Finding> findings) {
		if (demand.transactionScope()) {
			checkTimeout("idle_in_transaction_session_timeout", settings.idleInTransactionTimeout(), findings);
			checkTimeout("transaction_timeout", settings.transactionTimeout(), findings);
			checkIsolation(settings, demand, findings);
			if (direct) {
				checkDeadClients(settings, findings);
			}
		}
		checkLockTable(settings, findings);
	}

	private static void checkTimeout(String name, long millis, List<Finding> findings) {
		if (millis > 0 && millis < HARMLESS_MILLIS) {
			findings.add(new Finding(DoctorCheck.HOLDER_TIMEOUT,
					"The server ends transactions by '" + name + "' after " + millis
							+ " ms, and with them the locks of methods that still run in scope TRANSACTION",
					"raise it for this application's role in the database, or set 'scope' to SESSION for methods that "
							+ "take that long"));
		}
	}

	private static void checkIsolation(ServerSettings settings, LockDemand demand, List<Finding> findings) {
		if (demand.transactionWait() && !"read committed".equals(settings.isolation())) {
			findings.add(new Finding(DoctorCheck.ISOLATION, "Transactions are '" + settings.isolation()
					+ "' by 'default_transaction_isolation', and methods of "
					+ "scope TRANSACTION with 'waitFor' fail there, because their snapshot would be older than the lock",
					"set 'isolation' of their @Transactional to READ_COMMITTED, or their 'scope' to SESSION"));
		}
	}

	private void checkDeadClients(ServerSettings settings, List<Finding> findings) {
		boolean unacknowledged = settings.userTimeout() == 0;
		boolean silent = settings.keepalivesIdle() == 0 || settings.keepalivesIdle() >= DEFAULT_KEEPALIVE_SECONDS;
		if (settings.tcp() && (unacknowledged || silent)) {
			findings.add(new Finding(DoctorCheck.DEAD_CLIENT,
					"The server takes hours to notice that a host has vanished, and keeps the locks of its scope "
							+ "TRANSACTION as long, because connections of this pool could not be prepared",
					"add '" + this.deadClients.urlParameter() + "' to the JDBC URL of the DataSource"));
		}
	}

	private void checkLockTable(ServerSettings settings, List<Finding> findings) {
		long size = settings.lockTableSize();
		if (this.maxHeldLocks > size / 2) {
			findings.add(new Finding(DoctorCheck.LOCK_TABLE,
					"One application may hold " + this.maxHeldLocks + " locks, more than half of the about " + size
							+ " that the server has room for, and all queries fail when that table is full",
					"lower 'advisory-lock.max-held-locks', or raise 'max_locks_per_transaction' of the server"));
		}
	}

}
