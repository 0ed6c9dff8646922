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

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the ledger, the tables that
 * remember runs.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnClass(PostgresAdvisoryLockLedger.class)
@ConditionalOnBooleanProperty(name = { "advisory-lock.enabled", "advisory-lock.ledger.enabled" }, matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
public final class AdvisoryLockLedgerAutoConfiguration {

	/**
	 * Made by whatever uses it first.
	 */
	@Bean
	@ConditionalOnMissingBean(AdvisoryLockLedger.class)
	@DependsOnDatabaseInitialization
	PostgresAdvisoryLockLedger advisoryLockLedger(LedgerParts ledgers, LockDatabase database) {
		return ledgers.create(database);
	}

	@Bean
	LedgerParts advisoryLockLedgers(AdvisoryLockProperties lockProperties, SingleRunnerSettings settings,
			SingleRunnerAnnotationBeanPostProcessor methods, ObjectProvider<LockDatabases> databases,
			LeaderOnlyMethods roles, ObjectProvider<BuildProperties> build, ConfigurableApplicationContext context,
			LockScheduler.Threads threads) {
		BuildProperties properties = build.getIfUnique();
		String version = (properties != null) ? properties.getVersion()
				: context.getEnvironment().getProperty("spring.application.version");
		return new LedgerParts(lockProperties.ledger(), settings, methods, databases, roles, version, context, threads,
				new AtomicReference<>(), new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
	}

}
