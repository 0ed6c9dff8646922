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

import java.util.Locale;

/**
 * What the doctor looks at.
 *
 * @since 0.1.0
 */
public enum DoctorCheck {

	/**
	 * The database is no PostgreSQL.
	 */
	NOT_POSTGRESQL(Severity.FAIL),

	/**
	 * The database speaks like PostgreSQL and does not lock like it.
	 */
	LOOK_ALIKE(Severity.FAIL),

	/**
	 * The database is a standby, which grants the locks that its primary grants too.
	 */
	STANDBY(Severity.FAIL),

	/**
	 * The transactions of the manager do not cover the DataSource of the locks.
	 */
	TRANSACTION_MANAGER(Severity.FAIL),

	/**
	 * A transaction pooler stands in front of the database while session locks are used.
	 */
	TRANSACTION_POOLER(Severity.FAIL),

	/**
	 * The driver prepares statements that a pooler does not keep.
	 */
	PREPARED_STATEMENTS(Severity.WARN),

	/**
	 * The connection of the session locks is refused because of its configuration.
	 */
	SESSION_LOGIN(Severity.FAIL),

	/**
	 * The database can't be reached at start-up.
	 */
	UNREACHABLE(Severity.WARN),

	/**
	 * The server ends transactions that hold a lock for long.
	 */
	HOLDER_TIMEOUT(Severity.WARN),

	/**
	 * The server takes hours to notice that a holder has vanished.
	 */
	DEAD_CLIENT(Severity.WARN),

	/**
	 * The connection pool is smaller than what the scheduler can use at a time.
	 */
	POOL_SIZE(Severity.WARN),

	/**
	 * Connections of the pool do not commit by themselves.
	 */
	AUTO_COMMIT(Severity.WARN),

	/**
	 * Transactions by default have a snapshot that is older than a lock they wait for.
	 */
	ISOLATION(Severity.WARN),

	/**
	 * One application can fill the lock table of the server.
	 */
	LOCK_TABLE(Severity.WARN),

	/**
	 * The key of a method has no text of its own: arguments decide all of it.
	 */
	BARE_KEY(Severity.WARN);

	private final Severity defaultSeverity;

	DoctorCheck(Severity defaultSeverity) {
		this.defaultSeverity = defaultSeverity;
	}

	/**
	 * Return the severity of findings where nothing is configured.
	 * @return the default severity
	 */
	public Severity defaultSeverity() {
		return this.defaultSeverity;
	}

	/**
	 * Return the name of the property that sets the severity.
	 * @return the name
	 */
	public String property() {
		return "advisory-lock.doctor." + name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
