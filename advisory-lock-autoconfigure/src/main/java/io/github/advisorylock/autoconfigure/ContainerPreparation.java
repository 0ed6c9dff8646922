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

import java.lang.reflect.Method;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.connection.PooledConnectionPreparation;
import io.github.advisorylock.interceptor.PlannedTimeScheduler;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.InstanceSupplier;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.util.ClassUtils;

/**
 * Gives the container, once all its definitions are there, what it asks each of its beans
 * about: these are no definitions, which would cost each application more.
 */
final class ContainerPreparation implements BeanFactoryPostProcessor {

	private static final String OWN = ClassUtils.getPackageName(ContainerPreparation.class) + ".";

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		Environment environment = beanFactory.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME,
				Environment.class);
		leaveUnread(beanFactory, environment);
		ConfigurationPropertiesBindHandlerAdvisor timeUnits = (handler) -> new TimeUnitStartupCheck(handler,
				environment);
		beanFactory.registerSingleton("advisoryLockTimeUnitStartupCheck", timeUnits);
		PlannedTimes plannedTimes = new PlannedTimes(beanFactory);
		beanFactory.registerSingleton("advisoryLockPlannedTimesFirst", plannedTimes);
		beanFactory.registerSingleton("advisoryLockPlannedTimesLast", plannedTimes.configurer);
		beanFactory.registerSingleton("advisoryLockSingleRunnerAdviceArrangement", new AdviceArrangement(beanFactory));
		if (ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", beanFactory.getBeanClassLoader())
				&& environment.getProperty("advisory-lock.enabled", Boolean.class, true)) {
			beanFactory.registerSingleton("advisoryLockPooledConnectionPreparation",
					new PooledConnectionPreparation(() -> AdvisoryLockProperties.Session.of(environment).toSettings()));
		}
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
	 * Has no order, so that it comes after all post-processors that have one.
	 */
	private record AdviceArrangement(ConfigurableListableBeanFactory beans) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof Advised advised) {
				this.beans.getBean(SingleRunnerAnnotationBeanPostProcessor.class).arrange(advised);
			}
			return bean;
		}

	}

	/**
	 * Spring asks the configurers of each context for its own scheduled methods: this one
	 * is asked before those that have a lower precedence, or none, and what it gives last
	 * of all, as it is among those that are no definitions.
	 */
	private static final class PlannedTimes implements SchedulingConfigurer, PriorityOrdered,
			BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation>,
			Supplier<PlannedTimeScheduler.@Nullable Spread> {

		private final ConfigurableListableBeanFactory beans;

		private final SchedulingConfigurer configurer = PlannedTimeScheduler.configurer(this, this);

		private PlannedTimes(ConfigurableListableBeanFactory beans) {
			this.beans = beans;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			this.configurer.configureTasks(registrar);
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public @Nullable SingleRunnerOperation apply(Method method, Class<?> targetClass) {
			SingleRunnerOperation operation = this.beans.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
				.planned(method, targetClass);
			if (operation != null) {
				LockDatabaseParts.openAhead(this.beans, operation);
			}
			return operation;
		}

		@Override
		public PlannedTimeScheduler.@Nullable Spread get() {
			return LockDatabaseParts.spread(this.beans);
		}

	}

}
