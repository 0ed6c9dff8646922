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

package io.github.advisorylock;

/**
 * How long an advisory lock lives.
 *
 * @since 0.1.0
 * @see <a href=
 * "https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS">PostgreSQL
 * manual, section "Advisory Locks"</a>
 */
public enum LockScope {

	/**
	 * The lock is taken on the connection of the transaction that the work runs in, and
	 * PostgreSQL releases it at the commit or rollback of exactly that transaction. The
	 * effects of the work and the lock end together.
	 * <p>
	 * Limits: the connection is held for as long as the work runs; a rollback to a
	 * savepoint that is older than the lock frees it early, an SQL error that is not
	 * rolled back to a savepoint at once; under REPEATABLE READ and SERIALIZABLE it can't
	 * be waited for, because the snapshot would be older than the lock.
	 */
	TRANSACTION,

	/**
	 * The lock is taken on a connection of its own, outside any transaction of the
	 * application, and released when the work, and the transaction it runs in, has
	 * completed. For work that is long, does its own transactions or calls other systems.
	 * <p>
	 * Limits: it ends with that connection, and it does not work through a pooler in
	 * transaction mode.
	 */
	SESSION

}
