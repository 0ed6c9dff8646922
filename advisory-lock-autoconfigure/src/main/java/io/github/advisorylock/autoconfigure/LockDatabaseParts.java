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

package io.github.advisorylock.autoconfigure;

import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.connection.SessionDataSource;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.ServerJudge;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes what takes locks in a database, the default one or another, as the properties
 * say.
 *
 * @param properties the properties
 * @param settings what holds for all locks
 * @param connectionDetails how the application connects, for the database it is about
 * @param judge refuses servers on which session locks guard nothing
 * @param eventPublisher is told of lost locks
 */
record LockDatabaseParts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
		ObjectProvider<JdbcConnectionDetails> connectionDetails, ObjectProvider<ServerJudge> judge,
		ApplicationEventPublisher eventPublisher) {

	/**
	 * Return what carries session locks in the default database.
	 * @return {@code null} if a connection of its own can't be opened
	 */
	@Nullable LockSession session(DataSource dataSource) {
		return session(dataSource, this.properties.session().overrides());
	}

	/**
	 * Return what carries session locks in another one.
	 * @param name the name of its transaction manager
	 * @return {@code null} if a connection of its own can't be opened
	 */
	@Nullable LockSession session(String name, DataSource dataSource) {
		return session(dataSource, this.properties.database(name).overrides(name));
	}

	private @Nullable LockSession session(DataSource dataSource, SessionDataSource.Overrides overrides) {
		SessionDataSource connectionSource = SessionDataSource.create(overrides, dataSource,
				this.connectionDetails.getIfUnique());
		if (connectionSource == null) {
			return null;
		}
		LockSession session = new LockSession(connectionSource, this.settings.namespace(),
				this.properties.session().toSettings(), this.eventPublisher::publishEvent);
		session.setJudge(this.judge.getIfAvailable(() -> ServerJudge.NONE));
		return session;
	}

	/**
	 * Return what takes locks.
	 * @param ledger records runs, unless that is switched off
	 */
	PostgresAdvisoryLockTemplate template(DataSource dataSource, @Nullable PlatformTransactionManager manager,
			@Nullable LockSession session, Supplier<? extends @Nullable RunLedger> ledger) {
		boolean recording = !Boolean.FALSE.equals(this.properties.ledger().enabled());
		return new PostgresAdvisoryLockTemplate(dataSource, manager, session, this.settings.namespace(),
				this.settings.keyFactory(), this.settings.waitFor(), this.properties.maxHeldLocks(),
				recording ? SingletonSupplier.of(() -> required(ledger.get())) : null);
	}

	private static RunLedger required(@Nullable RunLedger ledger) {
		if (ledger == null) {
			throw new IllegalStateException("There is no ledger");
		}
		return ledger;
	}

	/**
	 * Return the names of transaction managers that properties are about.
	 */
	Set<String> namedManagers() {
		return this.properties.databases().keySet();
	}

	/**
	 * Make sure that properties are not about the default database.
	 */
	void check(String name, boolean isDefault) {
		if (isDefault) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.databases." + name, name,
					"That is the database of the locks of all others; use 'advisory-lock.session' for it.");
		}
	}

}
