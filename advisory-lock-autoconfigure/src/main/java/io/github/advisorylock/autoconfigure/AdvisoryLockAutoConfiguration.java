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

import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.AnnotatedMethods;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.connection.PooledConnectionPreparation;
import io.github.advisorylock.interceptor.PlannedTimeScheduler;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.interceptor.UnguardedLockOperations;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.leader.UnguardedLeaderElection;
import io.github.advisorylock.result.JacksonResultFormat;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.InstanceSupplier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
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
@Import({ LockDatabaseConfiguration.class, DoctorConfiguration.class, SwitchedOffConfiguration.class })
public final class AdvisoryLockAutoConfiguration {

	private static final String OWN = ClassUtils.getPackageName(AdvisoryLockAutoConfiguration.class) + ".";

	private static final boolean JACKSON_PRESENT = ClassUtils.isPresent("tools.jackson.databind.json.JsonMapper",
			AdvisoryLockAutoConfiguration.class.getClassLoader());

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
				(type) -> JACKSON_PRESENT ? JacksonResultFormat.of(beanFactory, type) : null);
	}

	/**
	 * Post-processors are not inherited: a context has its own even if its parent has
	 * one.
	 */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SingleRunnerAnnotationBeanPostProcessor advisoryLockSingleRunnerPostProcessor(
			ObjectProvider<SingleRunnerSettings> settings, ObjectProvider<AdvisoryLockOperations> operations,
			ObjectProvider<SingleRunnerObserver> observers, ApplicationContext applicationContext,
			ObjectProvider<AnnotatedMethods> others, ConfigurableListableBeanFactory beanFactory) {
		return new SingleRunnerAnnotationBeanPostProcessor(settings::getObject, beanFactory::resolveEmbeddedValue,
				operations::getObject, observers::getIfAvailable, applicationContext, others.stream().toList());
	}

	/**
	 * Has no order, so that it comes after all post-processors that have one.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanPostProcessor advisoryLockSingleRunnerAdviceArrangement(
			SingleRunnerAnnotationBeanPostProcessor postProcessor) {
		return postProcessor.arrangement();
	}

	/**
	 * Spring asks the configurers of each context for its own scheduled methods: this one
	 * first, and last of all, as it is among those that are no definitions.
	 */
	@Bean
	static BeanFactoryPostProcessor advisoryLockPlannedTimes(Environment environment) {
		return (beanFactory) -> {
			leaveUnread(beanFactory, environment);
			ConfigurationPropertiesBindHandlerAdvisor timeUnits = (handler) -> new TimeUnitStartupCheck(handler,
					environment);
			beanFactory.registerSingleton("advisoryLockTimeUnitStartupCheck", timeUnits);
			SchedulingConfigurer configurer = PlannedTimeScheduler.configurer((method, targetClass) -> {
				SingleRunnerOperation operation = beanFactory.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
					.planned(method, targetClass);
				if (operation != null) {
					LockDatabaseConfiguration.openAhead(beanFactory, operation);
				}
				return operation;
			}, () -> LockDatabaseConfiguration.spread(beanFactory));
			beanFactory.registerSingleton("advisoryLockPlannedTimesFirst", new FirstSchedulingConfigurer(configurer));
			beanFactory.registerSingleton("advisoryLockPlannedTimesLast", configurer);
		};
	}

	/**
	 * Has nothing read at the start that says nothing: properties where none is set, and
	 * the methods of our beans, among which Spring looks for listeners and would load
	 * what they take and return.
	 */
	private static void leaveUnread(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		for (String name : beanFactory.getBeanDefinitionNames()) {
			BeanDefinition definition = beanFactory.getBeanDefinition(name);
			String type = definition.getBeanClassName();
			if (definition instanceof AbstractBeanDefinition properties
					&& AdvisoryLockProperties.class.getName().equals(type)) {
				Supplier<?> bound = properties.getInstanceSupplier();
				// what its build has made of the application needs the bean that it makes
				if (bound != null && !(bound instanceof InstanceSupplier<?>)) {
					properties.setInstanceSupplier(() -> AdvisoryLockProperties.isAnySet(environment) ? bound.get()
							: AdvisoryLockProperties.NONE_SET);
				}
			}
			String maker = (definition.getFactoryBeanName() != null) ? definition.getFactoryBeanName() : type;
			if (maker != null && maker.startsWith(OWN) && (name.startsWith("advisoryLock") || name.startsWith(OWN))) {
				definition.setAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE, Object.class);
			}
		}
	}

	/**
	 * Has connections of a pool prepared when they are opened.
	 */
	@Bean
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
	@ConditionalOnClass(name = "com.zaxxer.hikari.HikariDataSource")
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static PooledConnectionPreparation advisoryLockPooledConnectionPreparation(Environment environment) {
		return new PooledConnectionPreparation(() -> AdvisoryLockProperties.Session.of(environment).toSettings());
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
	 * Takes no locks, because the application said so.
	 */
	@Bean
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", havingValue = false)
	@ConditionalOnMissingBean(AdvisoryLockOperations.class)
	UnguardedLockOperations advisoryLockOperations(SingleRunnerSettings settings) {
		return new UnguardedLockOperations(settings.namespace(), settings.keyFactory());
	}

	/**
	 * Holds no elections, because the application said so.
	 */
	@Bean
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", havingValue = false)
	@ConditionalOnMissingBean(LeaderElection.class)
	LeaderElection advisoryLockLeaderElection() {
		return new UnguardedLeaderElection();
	}

	/**
	 * As what finds methods, a context has its own even if its parent has one.
	 */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LeaderOnlyMethods advisoryLockLeaderOnlyMethods(ObjectProvider<LeaderElection> election,
			ObjectProvider<TaskScheduler> schedulers, ConfigurableListableBeanFactory beanFactory) {
		return new LeaderOnlyMethods(election, schedulers, beanFactory);
	}

	/**
	 * Is asked before those that have a lower precedence, or none.
	 */
	private record FirstSchedulingConfigurer(
			SchedulingConfigurer configurer) implements SchedulingConfigurer, PriorityOrdered {

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			this.configurer.configureTasks(registrar);
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

}
