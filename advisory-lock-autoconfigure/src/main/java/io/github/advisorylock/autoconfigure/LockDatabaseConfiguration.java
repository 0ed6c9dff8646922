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

import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.ServerJudge;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Chooses the transaction manager and the DataSource whose transactions hold locks where
 * nothing else is said, and knows those of what says so.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LockDatabaseConfiguration {

	static final String CHOICE = "Set 'advisory-lock.transaction-manager' to the name of the transaction "
			+ "manager of the DataSource that holds the locks";

	@Bean
	TransactionManagers lockTransactionManagers(ListableBeanFactory beanFactory) {
		return new TransactionManagers(beanFactory);
	}

	@Bean
	LockDatabase lockDatabase(AdvisoryLockProperties properties, TransactionManagers managers,
			ListableBeanFactory beanFactory, ObjectProvider<LockSession> session,
			ObjectProvider<PostgresAdvisoryLockTemplate> template, ObjectProvider<RunLedger> ledger) {
		PlatformTransactionManager manager = transactionManager(properties.transactionManager(), managers, beanFactory);
		return new LockDatabase(managers.nameOf(manager), dataSource(manager, managers, beanFactory), manager,
				session::getIfAvailable, template::getIfAvailable, ledger::getIfAvailable);
	}

	@Bean
	LockDatabaseParts lockDatabaseParts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			ObjectProvider<JdbcConnectionDetails> connectionDetails, ObjectProvider<ServerJudge> judge,
			ApplicationEventPublisher eventPublisher) {
		return new LockDatabaseParts(properties, settings, connectionDetails, judge, eventPublisher);
	}

	@Bean
	LockDatabases lockDatabases(LockDatabase lockDatabase, TransactionManagers managers, LockDatabaseParts parts,
			ObjectProvider<LockDatabaseFeature> features) {
		return new LockDatabases(lockDatabase, managers, parts, () -> features.orderedStream().toList());
	}

	private static @Nullable PlatformTransactionManager transactionManager(@Nullable String configuredName,
			TransactionManagers managers, ListableBeanFactory beanFactory) {
		if (configuredName == null) {
			return managers.unique();
		}
		if (!beanFactory.containsBean(configuredName)
				|| !beanFactory.isTypeMatch(configuredName, PlatformTransactionManager.class)) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.transaction-manager", configuredName,
					"There is no transaction manager with that name, there is " + managers.names() + ".");
		}
		return beanFactory.getBean(configuredName, PlatformTransactionManager.class);
	}

	private static DataSource dataSource(@Nullable PlatformTransactionManager manager, TransactionManagers managers,
			ListableBeanFactory beanFactory) {
		DataSource dataSource = (manager != null) ? managers.dataSourceOf(manager) : null;
		if (dataSource != null) {
			return dataSource;
		}
		List<String> names = managers.dataSourceNames();
		if (manager != null && names.size() > 1) {
			throw managers.unknownDataSource(manager);
		}
		dataSource = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new AdvisoryLockConfigurationException("Advisory locks can't choose between the DataSources " + names,
					CHOICE + ", or mark one DataSource as @Primary.");
		}
		return dataSource;
	}

}
