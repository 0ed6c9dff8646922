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

import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * Makes what takes locks in a database besides the default one, as the application
 * configures it.
 *
 * @since 0.1.0
 */
public interface LockDatabaseParts {

	/**
	 * Return what carries session locks.
	 * @param name the name of the transaction manager
	 * @param dataSource the DataSource that has the locks
	 * @return {@code null} if a connection of its own can't be opened
	 */
	@Nullable LockSession session(String name, DataSource dataSource);

	/**
	 * Return what takes locks.
	 * @param dataSource the DataSource that has the locks
	 * @param manager begins transactions, {@code null} if nothing does
	 * @param session carries session locks, {@code null} if nothing does
	 * @param ledger records runs, unless that is switched off
	 * @return the template
	 */
	PostgresAdvisoryLockTemplate template(DataSource dataSource, @Nullable PlatformTransactionManager manager,
			@Nullable LockSession session, Supplier<? extends @Nullable RunLedger> ledger);

	/**
	 * Return the names of transaction managers that the configuration is about.
	 * @return the names, as they stand there
	 */
	Set<String> namedManagers();

	/**
	 * Make sure that the configuration by the name of a manager is not about the default
	 * database.
	 * @param name the name, as it stands there
	 * @param isDefault whether it is
	 */
	void check(String name, boolean isDefault);

}
