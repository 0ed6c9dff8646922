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

import java.util.stream.Stream;

import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigureBefore;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.TransactionManager;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the transactions of an
 * {@link AdvisoryLockTest}.
 *
 * @since 0.1.0
 */
@Configuration(proxyBeanMethods = false)
@AutoConfigureBefore({ AdvisoryLockAutoConfiguration.class, TransactionAutoConfiguration.class })
final class SliceTransactionAutoConfiguration {

	/**
	 * Stands in for the transaction manager that Spring Boot makes where there is no
	 * database, also where the application names that one.
	 */
	@Bean({ "advisoryLockTransactionManager", "transactionManager" })
	@Primary
	@ConditionalOnMissingBean(TransactionManager.class)
	UnboundTransactionManager advisoryLockTransactionManager(ObjectProvider<Fleet> fleet) {
		return new UnboundTransactionManager(fleet.getIfAvailable());
	}

	/**
	 * Stands in for that of the property, too, and others for those that methods name,
	 * each of a database of its own.
	 */
	@Bean
	@ConditionalOnBean(UnboundTransactionManager.class)
	static SmartInitializingSingleton advisoryLockNamedTransactionManagers(ConfigurableListableBeanFactory beans,
			SingleRunnerAnnotationBeanPostProcessor processor, AdvisoryLockProperties properties,
			ObjectProvider<Fleet> fleet) {
		return () -> {
			String main = properties.transactionManager();
			if (main != null && !beans.containsBean(main)) {
				beans.registerAlias("transactionManager", main);
			}
			processor.getMethods()
				.stream()
				.flatMap((method) -> Stream.ofNullable(method.operation().transactionManager()))
				.filter((name) -> !beans.containsBean(name))
				.forEach(
						(name) -> beans.registerSingleton(name, new UnboundTransactionManager(fleet.getIfAvailable())));
		};
	}

	/**
	 * The database that {@link AdvisoryLockTest#postgres()} asks for.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty("advisory-lock.enabled")
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			DataSourceInitializationAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
			JdbcClientAutoConfiguration.class })
	static class DatabaseConfiguration {

	}

}
