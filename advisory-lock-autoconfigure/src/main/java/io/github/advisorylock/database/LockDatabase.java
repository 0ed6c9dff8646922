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

package io.github.advisorylock.database;

import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * A database that has locks, and what takes and records them there. Of the default one
 * these are beans, which are asked for when they are needed.
 *
 * @param name the name of the transaction manager, where operators are to tell the
 * database from others
 * @param dataSource the DataSource that locks are taken on: the one of the transaction
 * manager, or the only one where the manager does not tell, or the only or primary one
 * where there is no manager
 * @param transactionManager begins the transactions of runs, {@code null} if nothing does
 * @param session carries session locks, {@code null} if nothing does
 * @param template takes the locks, {@code null} if something else does
 * @param ledger records runs, {@code null} if nothing does
 * @since 0.1.0
 */
public record LockDatabase(String name, DataSource dataSource, @Nullable PlatformTransactionManager transactionManager,
		Supplier<@Nullable LockSession> session, Supplier<@Nullable PostgresAdvisoryLockTemplate> template,
		Supplier<@Nullable RunLedger> ledger) {

	/**
	 * Return this database with what takes its locks.
	 * @param template takes the locks, {@code null} if something else does
	 * @return the same database
	 */
	public LockDatabase with(@Nullable PostgresAdvisoryLockTemplate template) {
		return new LockDatabase(this.name, this.dataSource, this.transactionManager, this.session, () -> template,
				this.ledger);
	}

	/**
	 * Return whether transactions of a DataSource are in this database.
	 * @param other the DataSource
	 * @return {@code true} if it is the one that locks are taken on
	 */
	public boolean isOn(DataSource other) {
		return PostgresAdvisoryLockTemplate.unwrap(this.dataSource) == PostgresAdvisoryLockTemplate.unwrap(other);
	}

}
