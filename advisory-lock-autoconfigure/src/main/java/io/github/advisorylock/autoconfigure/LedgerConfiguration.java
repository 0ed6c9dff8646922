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

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The tables that remember runs.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBooleanProperty(name = "advisory-lock.ledger.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LedgerConfiguration {

	@Bean
	LedgerMethods ledgerMethods(SingleRunnerAnnotationBeanPostProcessor postProcessor, BeanFactory beanFactory) {
		return new LedgerMethods(postProcessor, beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean(AdvisoryLockLedger.class)
	@DependsOnDatabaseInitialization
	PostgresAdvisoryLockLedger advisoryLockLedger(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			LockTransactionManager transactionManager, LedgerMethods methods,
			ApplicationEventPublisher eventPublisher) {
		return new PostgresAdvisoryLockLedger(transactionManager.getDataSource(), properties.getLedger().toSettings(),
				settings.namespace(), InstanceName.get(), methods::withFixedKey, eventPublisher::publishEvent);
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	LedgerStarter ledgerStarter(PostgresAdvisoryLockLedger ledger, LedgerMethods methods,
			AdvisoryLockProperties properties) {
		return new LedgerStarter(ledger, methods, properties.getLedger());
	}

	@Bean
	@ConditionalOnBean(value = PostgresAdvisoryLockLedger.class, search = SearchStrategy.CURRENT)
	LedgerHousekeeping ledgerHousekeeping(PostgresAdvisoryLockLedger ledger, AdvisoryLockOperations operations,
			LockTransactionManager transactionManager) {
		LockScope scope = (transactionManager.get() != null) ? LockScope.TRANSACTION : LockScope.SESSION;
		return new LedgerHousekeeping(ledger, operations, scope);
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	MissedTicks missedTicks(PostgresAdvisoryLockLedger ledger, LedgerMethods methods) {
		return new MissedTicks(ledger, methods);
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	@Nullable OverdueJobs overdueJobs(PostgresAdvisoryLockLedger ledger, LedgerMethods methods,
			ObjectProvider<PostgresAdvisoryLockTemplate> templates) {
		PostgresAdvisoryLockTemplate template = templates.getIfAvailable();
		return (template != null) ? new OverdueJobs(ledger, methods, template) : null;
	}

}
