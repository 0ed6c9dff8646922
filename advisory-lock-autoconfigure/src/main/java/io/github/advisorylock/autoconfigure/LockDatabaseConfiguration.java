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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Chooses the transaction manager and the DataSource whose transactions hold locks.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LockDatabaseConfiguration {

	private static final boolean JPA_PRESENT = ClassUtils.isPresent("org.springframework.orm.jpa.JpaTransactionManager",
			LockDatabaseConfiguration.class.getClassLoader());

	private static final String CHOICE = "Set 'advisory-lock.transaction-manager' to the name of the transaction "
			+ "manager of the DataSource that holds the locks";

	@Bean
	LockDatabase lockDatabase(AdvisoryLockProperties properties, ListableBeanFactory beanFactory) {
		PlatformTransactionManager manager = transactionManager(properties.transactionManager(), beanFactory);
		return new LockDatabase(dataSource(manager, beanFactory), manager);
	}

	private static @Nullable PlatformTransactionManager transactionManager(@Nullable String configuredName,
			ListableBeanFactory beanFactory) {
		if (configuredName == null) {
			return beanFactory.getBeanProvider(PlatformTransactionManager.class).getIfUnique();
		}
		if (!beanFactory.containsBean(configuredName)
				|| !beanFactory.isTypeMatch(configuredName, PlatformTransactionManager.class)) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.transaction-manager", configuredName,
					"There is no transaction manager with that name, there is "
							+ names(beanFactory, PlatformTransactionManager.class) + ".");
		}
		return beanFactory.getBean(configuredName, PlatformTransactionManager.class);
	}

	private static DataSource dataSource(@Nullable PlatformTransactionManager manager,
			ListableBeanFactory beanFactory) {
		DataSource dataSource = (manager != null) ? dataSourceOf(manager) : null;
		if (dataSource != null) {
			return dataSource;
		}
		String[] names = beanFactory.getBeanNamesForType(DataSource.class);
		if (manager != null && names.length > 1) {
			throw new AdvisoryLockConfigurationException(
					"Advisory locks can't tell which of the DataSources " + names(beanFactory, DataSource.class)
							+ " the transactions of " + manager.getClass().getName() + " are on",
					CHOICE + ".");
		}
		dataSource = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new AdvisoryLockConfigurationException(
					"Advisory locks can't choose between the DataSources " + names(beanFactory, DataSource.class),
					CHOICE + ", or mark one DataSource as @Primary.");
		}
		return dataSource;
	}

	private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resourceManager
				&& resourceManager.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		return JPA_PRESENT ? Jpa.dataSourceOf(manager) : null;
	}

	private static String names(ListableBeanFactory beanFactory, Class<?> type) {
		return "[" + String.join(", ", beanFactory.getBeanNamesForType(type)) + "]";
	}

	/**
	 * Where locks are.
	 *
	 * @param dataSource the DataSource that locks are taken on: the one of the
	 * transaction manager, or the only one where the manager does not tell, or the only
	 * or primary one where there is no manager
	 * @param transactionManager the configured one, or the only or primary one, or
	 * {@code null}
	 */
	record LockDatabase(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager) {

	}

	/**
	 * Whose transactions are on a DataSource of the entity manager factory.
	 */
	private static final class Jpa {

		private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
			return (manager instanceof JpaTransactionManager jpa) ? jpa.getDataSource() : null;
		}

	}

}
