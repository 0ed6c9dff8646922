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

import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.interceptor.PlannedTimeScheduler;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.SchedulingConfiguration;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.ContextLoadException;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.SmartContextLoader;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Gives the application context of a {@link FleetTest} its fleet, whose instances are
 * contexts of the same configuration: each has a scheduler and a clock in virtual time,
 * in the place of those of the application.
 */
final class FleetContextCustomizer implements ContextCustomizer {

	/**
	 * The instance whose context is being started.
	 */
	private static final ThreadLocal<@Nullable FleetInstance> STARTING = new ThreadLocal<>();

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
		FleetInstance starting = STARTING.get();
		Fleet fleet = (starting != null) ? starting.fleet()
				: new Fleet((instance) -> start(configuration, instance), context);
		FleetInstance instance = (starting != null) ? starting : fleet.test();
		DefaultListableBeanFactory beans = (DefaultListableBeanFactory) context.getBeanFactory();
		beans.registerSingleton("advisoryLockTestFleet", fleet);
		beans.registerSingleton("advisoryLockTestCallRecorder", fleet.calls());
		define(beans, "advisoryLockTestLocks", InMemoryLocks.class,
				() -> fleet.locks(beans.getBean(SingleRunnerSettings.class)));
		define(beans, "advisoryLockOperations", AdvisoryLockOperations.class,
				() -> beans.getBean(InMemoryLocks.class).createOperations(beans, instance));
		define(beans, "advisoryLockLeaderElection", LeaderElection.class, () -> fleet.elections().of(instance));
		define(beans, SchedulingConfiguration.class.getName(), SchedulingConfiguration.class, null);
		define(beans, "advisoryLockTestFleetBeans", InsteadOfBeans.class, () -> new InsteadOfBeans(fleet, instance));
		context.addApplicationListener((event) -> {
			if (event instanceof PayloadApplicationEvent<?> payload) {
				instance.told(payload.getPayload());
			}
		});
	}

	private static <T> void define(DefaultListableBeanFactory beans, String name, Class<T> type,
			@Nullable Supplier<T> supplier) {
		RootBeanDefinition definition = new RootBeanDefinition(type);
		definition.setInstanceSupplier(supplier);
		definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
		beans.registerBeanDefinition(name, definition);
	}

	private static ConfigurableApplicationContext start(MergedContextConfiguration configuration,
			FleetInstance instance) {
		STARTING.set(instance);
		try {
			return (ConfigurableApplicationContext) ((SmartContextLoader) configuration.getContextLoader())
				.loadContext(configuration);
		}
		catch (ContextLoadException ex) {
			throw new IllegalStateException("Failed to start " + instance, ex.getCause());
		}
		catch (Exception ex) {
			throw new IllegalStateException("Failed to start " + instance, ex);
		}
		finally {
			STARTING.remove();
		}
	}

	/**
	 * Return whether Mockito, where it is there, has made the bean. Spies are each
	 * instance's own, as what they are around.
	 */
	private static boolean isMock(Object bean) {
		String mockito = "org.mockito.Mockito";
		ClassLoader classLoader = FleetContextCustomizer.class.getClassLoader();
		if (!ClassUtils.isPresent(mockito, classLoader)) {
			return false;
		}
		Object details = ReflectionUtils.invokeMethod(
				ClassUtils.getMethod(ClassUtils.resolveClassName(mockito, classLoader), "mockingDetails", Object.class),
				null, bean);
		Class<?> told = ClassUtils.resolveClassName("org.mockito.MockingDetails", classLoader);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(told, "isMock"), details))
				&& Boolean.FALSE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(told, "isSpy"), details));
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof FleetContextCustomizer;
	}

	@Override
	public int hashCode() {
		return FleetContextCustomizer.class.hashCode();
	}

	/**
	 * Finds the tests.
	 */
	static final class Factory implements ContextCustomizerFactory {

		@Override
		public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
				List<ContextConfigurationAttributes> configAttributes) {
			return TestContextAnnotationUtils.hasAnnotation(testClass, FleetTest.class) ? new FleetContextCustomizer()
					: null;
		}

	}

	/**
	 * Puts clock, scheduler and what runs {@code @Async} methods in the place of the
	 * application's, and the mocks of the test in that of those made for the instance.
	 */
	private static final class InsteadOfBeans implements BeanFactoryPostProcessor {

		private final Fleet fleet;

		private final FleetInstance instance;

		private InsteadOfBeans(Fleet fleet, FleetInstance instance) {
			this.fleet = fleet;
			this.instance = instance;
		}

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
			DefaultListableBeanFactory beans = (DefaultListableBeanFactory) beanFactory;
			// the last of them, after those of the application
			define(beans, "advisoryLockTestScheduling", SchedulingConfigurer.class, () -> (registrar) -> {
				registrar.setTaskScheduler(this.instance.scheduler());
				PlannedTimeScheduler
					.configurer(beans.getBean(SingleRunnerAnnotationBeanPostProcessor.class)::planned,
							this.instance::spread)
					.configureTasks(registrar);
			});
			replace(beans, "taskScheduler", TaskScheduler.class, this.instance.scheduler());
			replace(beans, "taskExecutor", TaskExecutor.class, this.instance.scheduler()::execute);
			replace(beans, "clock", Clock.class, this.instance.clock());
			if (this.instance.number() != Fleet.TEST) {
				ConfigurableListableBeanFactory home = this.fleet.home().getBeanFactory();
				for (String name : home.getSingletonNames()) {
					Object bean = home.getSingleton(name);
					if (bean != null && isMock(bean)) {
						beans.destroySingleton(name);
						beans.registerSingleton(name, bean);
					}
				}
			}
		}

		private static <T> void replace(DefaultListableBeanFactory beans, String name, Class<T> type, T instead) {
			String[] known = beans.getBeanNamesForType(type, true, false);
			for (String bean : (known.length > 0) ? known : new String[] { name }) {
				RootBeanDefinition definition = new RootBeanDefinition(type);
				definition.setInstanceSupplier(() -> instead);
				if (beans.containsBeanDefinition(bean)) {
					BeanDefinition before = beans.getBeanDefinition(bean);
					definition.setPrimary(before.isPrimary());
					beans.removeBeanDefinition(bean);
				}
				if (!beans.containsSingleton(bean)) {
					beans.registerBeanDefinition(bean, definition);
				}
			}
		}

	}

}
