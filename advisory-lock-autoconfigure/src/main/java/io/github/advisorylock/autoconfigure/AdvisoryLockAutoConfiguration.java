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

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.AnnotatedMethods;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.result.JacksonResultFormat;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for advisory locks. Each bean of the
 * library has a name that starts with {@code advisoryLock}, so that it can't be the name
 * of a bean of the application. What a post-processor needs is infrastructure, so that no
 * application is warned of a bean of the library that one of its own post-processors has
 * made Spring create early.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = { DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class },
		afterName = "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration")
@EnableConfigurationProperties(AdvisoryLockProperties.class)
@Import({ LockDatabaseConfiguration.class, SwitchedOffConfiguration.class })
public final class AdvisoryLockAutoConfiguration {

	private static final String JACKSON = "tools.jackson.databind.json.JsonMapper";

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisoryLockKeyFactory advisoryLockKeyFactory(AdvisoryLockProperties properties) {
		return properties.keyFormat().factory();
	}

	@Bean
	LockInstance advisoryLockInstance(AdvisoryLockProperties properties) {
		return LockInstance.claim(properties.instance(), LogFactory.getLog(LockInstance.class)::info);
	}

	@Bean
	LockScheduler.Threads advisoryLockThreads(ConfigurableListableBeanFactory beanFactory, LockInstance instance) {
		return new LockScheduler.Threads(beanFactory.getBeanClassLoader(), LockScheduler.Ticker.SYSTEM, instance);
	}

	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SingleRunnerSettings advisoryLockSettings(AdvisoryLockProperties properties,
			AdvisoryLockKeyFactory keyFactory, Environment environment, BeanFactory beanFactory) {
		return properties.toSettings(keyFactory, environment, new JobOverrides(environment)::of,
				(type) -> ClassUtils.isPresent(JACKSON, AdvisoryLockAutoConfiguration.class.getClassLoader())
						? JacksonResultFormat.of(beanFactory, type) : null);
	}

	/**
	 * Post-processors are not inherited: a context has its own even if its parent has
	 * one.
	 */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SingleRunnerAnnotationBeanPostProcessor advisoryLockSingleRunnerPostProcessor(
			ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory beans = context.getBeanFactory();
		return new SingleRunnerAnnotationBeanPostProcessor(() -> beans.getBean(SingleRunnerSettings.class),
				beans::resolveEmbeddedValue, () -> beans.getBean(AdvisoryLockOperations.class),
				beans.getBeanProvider(SingleRunnerObserver.class)::getIfAvailable, context,
				beans.getBeanProvider(AnnotatedMethods.class).stream().toList());
	}

	@Bean
	static BeanFactoryPostProcessor advisoryLockContainerPreparation() {
		return new ContainerPreparation();
	}

	/**
	 * The gate: has everything made that locks need if this application uses any.
	 */
	@Bean
	@Lazy(false)
	static SingleRunnerStartupCheck advisoryLockSingleRunnerStartupCheck(
			SingleRunnerAnnotationBeanPostProcessor postProcessor, ConfigurableListableBeanFactory beanFactory,
			Environment environment) {
		return new SingleRunnerStartupCheck(postProcessor, beanFactory, environment);
	}

	/**
	 * As what finds methods, a context has its own even if its parent has one.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LeaderOnlyMethods advisoryLockLeaderOnlyMethods(ConfigurableListableBeanFactory beanFactory) {
		return new LeaderOnlyMethods(beanFactory.getBeanProvider(LeaderElection.class),
				beanFactory.getBeanProvider(TaskScheduler.class), beanFactory);
	}

}
