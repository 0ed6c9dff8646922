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

package io.github.advisorylock.test;

import java.util.Map;

import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;
import io.github.advisorylock.connection.SessionDataSource;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for what tests can do with locks on
 * PostgreSQL.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { AdvisoryLockAutoConfiguration.class, AdvisoryLockLedgerAutoConfiguration.class })
@ConditionalOnBean({ LockDatabase.class, PostgresAdvisoryLockTemplate.class })
@ConditionalOnMissingBean(TestLocks.class)
public final class TestLocksAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	CallRecorder advisoryLockTestCallRecorder() {
		return new CallRecorder();
	}

	@Bean
	@Lazy
	@Nullable PostgresTestLocks advisoryLockTestLocks(SingleRunnerSettings settings, LockDatabase database,
			ObjectProvider<JdbcConnectionDetails> connectionDetails, CallRecorder calls,
			ObjectProvider<LockDatabases> databases, ObjectProvider<AdvisoryLockLedger> ledger) {
		SessionDataSource connectionSource = SessionDataSource.create(
				new SessionDataSource.Overrides("advisory-lock.session", null, null, null, Map.of()),
				database.dataSource(), connectionDetails.getIfUnique());
		return (connectionSource != null) ? new PostgresTestLocks(settings, connectionSource, calls,
				() -> heldLocks(databases.getObject()), ledger::getIfAvailable) : null;
	}

	private static int heldLocks(LockDatabases databases) {
		return databases.templates().stream().mapToInt(PostgresAdvisoryLockTemplate::getHeldLocks).sum();
	}

}
