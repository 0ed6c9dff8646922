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
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.LockDatabaseConfiguration.LockDatabase;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerLifecycle;
import io.github.advisorylock.ledger.LedgerSettings;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the ledger, the tables that
 * remember runs.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBooleanProperty(name = "advisory-lock.ledger.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
public final class AdvisoryLockLedgerAutoConfiguration {

	/**
	 * Made by whatever uses it first.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean(AdvisoryLockLedger.class)
	@DependsOnDatabaseInitialization
	PostgresAdvisoryLockLedger advisoryLockLedger(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			LockDatabase database, SingleRunnerAnnotationBeanPostProcessor methods, BeanFactory beanFactory,
			ObjectProvider<LedgerLifecycle> lifecycle, ApplicationEventPublisher eventPublisher) {
		PostgresAdvisoryLockLedger ledger = new PostgresAdvisoryLockLedger(database.dataSource(),
				settings(properties.ledger()), settings.namespace(), InstanceName.get(), methods, beanFactory,
				eventPublisher::publishEvent);
		ledger.whenOpen(() -> lifecycle.getObject().ledgerOpened());
		return ledger;
	}

	@Bean
	@ConditionalOnBean(PostgresAdvisoryLockLedger.class)
	LedgerLifecycle ledgerLifecycle(ObjectProvider<PostgresAdvisoryLockLedger> ledger,
			ObjectProvider<AdvisoryLockOperations> operations, SingleRunnerAnnotationBeanPostProcessor methods,
			ConfigurableApplicationContext context, AdvisoryLockProperties properties) {
		return new LedgerLifecycle(ledger::getObject, operations::getIfAvailable, methods, context,
				settings(properties.ledger()), Boolean.TRUE.equals(properties.ledger().enabled()));
	}

	@Bean
	@ConditionalOnBean(LedgerLifecycle.class)
	ApplicationListener<ApplicationReadyEvent> missedTickListener(LedgerLifecycle lifecycle) {
		return (event) -> lifecycle.catchUp();
	}

	private static LedgerSettings settings(AdvisoryLockProperties.Ledger properties) {
		return new LedgerSettings(properties.tablePrefix(),
				properties.initializeSchema() == DatabaseInitializationMode.ALWAYS, properties.keepRuns().age(),
				properties.keepRuns().count(), properties.rememberKeys());
	}

}
