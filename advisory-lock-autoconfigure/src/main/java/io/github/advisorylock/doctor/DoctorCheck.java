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
	NOT_POSTGRESQL,

	/**
	 * The database speaks like PostgreSQL and does not lock like it, or the pool leads to
	 * several servers at a time.
	 */
	LOOK_ALIKE,

	/**
	 * The database is a standby, which grants the locks that its primary grants too.
	 */
	STANDBY,

	/**
	 * The transaction of a method can't be begun, or does not cover the DataSource of the
	 * locks.
	 */
	TRANSACTION_MANAGER,

	/**
	 * A transaction pooler stands in front of the database while session locks are used.
	 */
	TRANSACTION_POOLER,

	/**
	 * There is no session that could remember for which ticks methods were run.
	 */
	TICK_MEMORY,

	/**
	 * The driver prepares statements that a pooler does not keep.
	 */
	PREPARED_STATEMENTS,

	/**
	 * The connection of the session locks is refused because of its configuration.
	 */
	SESSION_LOGIN,

	/**
	 * The session locks are in another database than the transactions.
	 */
	SESSION_DATABASE,

	/**
	 * The database can't be reached at start-up, whatever the DataSource throws.
	 */
	UNREACHABLE,

	/**
	 * The server ends transactions that hold a lock for long.
	 */
	HOLDER_TIMEOUT,

	/**
	 * The server takes hours to notice that a holder has vanished.
	 */
	DEAD_CLIENT,

	/**
	 * The connection pool is smaller than what the scheduler can use at a time, or larger
	 * than what the server allows.
	 */
	POOL_SIZE,

	/**
	 * The driver of the connections can't be asked: it is another copy, or hidden.
	 */
	FOREIGN_DRIVER,

	/**
	 * Connections of the pool do not commit by themselves.
	 */
	AUTO_COMMIT,

	/**
	 * Transactions have a snapshot that is older than a lock they wait for, or fail
	 * because of runs that are recorded for other keys.
	 */
	ISOLATION,

	/**
	 * One application can fill the lock table of the server.
	 */
	LOCK_TABLE,

	/**
	 * The key of a method has no text of its own: arguments decide all of it.
	 */
	BARE_KEY,

	/**
	 * Keys have no namespace.
	 */
	NAMESPACE,

	/**
	 * Each instance has other keys than the others.
	 */
	KEY_OF_INSTANCE,

	/**
	 * The cron expression of a method is another one on each instance.
	 */
	RANDOM_CRON,

	/**
	 * There are scheduled methods, and nothing that calls them.
	 */
	SCHEDULING,

	/**
	 * A bean calls its own annotated method past its proxy.
	 */
	SELF_INVOCATION,

	/**
	 * A method in a transaction starts jobs of Spring Batch, which refuses that.
	 */
	SPRING_BATCH,

	/**
	 * A method has another annotation that makes no sense beside its lock.
	 */
	OTHER_ADVICE,

	/**
	 * A method has the annotation of ShedLock, and nothing guards it.
	 */
	SCHEDULER_LOCK,

	/**
	 * A method of scope TRANSACTION is one transaction, which stays with one tenant.
	 */
	ONE_TENANT,

	/**
	 * A scheduled method does not say how it runs in a fleet.
	 */
	UNGUARDED_SCHEDULED;

	/**
	 * Return the name of the property that sets the severity.
	 * @return the name
	 */
	public String property() {
		return "advisory-lock.doctor." + name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Return what a developer may choose instead of what has to be done.
	 */
	String choice() {
		return (this == NOT_POSTGRESQL) ? "" : " ('" + property() + "' says how serious that is: fail, warn or off.)";
	}

	/**
	 * What a finding leads to.
	 */
	public enum Severity {

		/**
		 * The application does not start.
		 */
		FAIL,

		/**
		 * The application starts, and the log says what was found.
		 */
		WARN,

		/**
		 * Nothing.
		 */
		OFF

	}

}
