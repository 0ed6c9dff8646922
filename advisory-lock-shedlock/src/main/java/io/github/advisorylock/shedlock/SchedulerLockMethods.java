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

package io.github.advisorylock.shedlock;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.RunLedger;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the methods with {@code @SchedulerLock} of all beans, also of those that are not
 * created yet. Looks once.
 *
 * @since 0.1.0
 */
final class SchedulerLockMethods {

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<List<SchedulerLockMethod>> methods;

	/**
	 * Create it.
	 * @param beans the beans of the application
	 */
	SchedulerLockMethods(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
		this.methods = SingletonSupplier.of(this::find);
	}

	/**
	 * Return whether ShedLock guards any method.
	 * @return {@code true} if there is a method, and {@code @EnableSchedulerLock}
	 */
	boolean areGuarded() {
		return isEnabled() && !this.methods.get().isEmpty();
	}

	/**
	 * Return the methods that nothing guards, because {@code @EnableSchedulerLock} is
	 * missing.
	 * @return the methods, with bean and class
	 */
	List<String> unguarded() {
		return isEnabled() ? List.of()
				: this.methods.get()
					.stream()
					.filter((method) -> !AnnotatedElementUtils.hasAnnotation(method.method(), SingleRunner.class))
					.map(SchedulerLockMethod::description)
					.toList();
	}

	/**
	 * Return what makes sure at start-up that {@code lockAtLeastFor} of the methods can
	 * be kept.
	 * @param ledger keeps locks, {@code null} where there is none
	 * @param times knows the times of the methods
	 * @return the check
	 */
	SmartInitializingSingleton lockAtLeastForCheck(Supplier<@Nullable RunLedger> ledger,
			ExtendedLockConfigurationExtractor times) {
		return new LockAtLeastForCheck(this.beans, this.methods, ledger, times);
	}

	private boolean isEnabled() {
		return this.beans.getBeanNamesForType(ExtendedLockConfigurationExtractor.class, true, false).length > 0;
	}

	private List<SchedulerLockMethod> find() {
		List<SchedulerLockMethod> found = new ArrayList<>();
		for (String name : this.beans.getBeanDefinitionNames()) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, name);
			if (type != null && AnnotationUtils.isCandidateClass(type, SchedulerLock.class)) {
				MethodIntrospector
					.selectMethods(ClassUtils.getUserClass(type),
							(Method method) -> AnnotatedElementUtils.hasAnnotation(method, SchedulerLock.class))
					.forEach((method) -> found.add(new SchedulerLockMethod(name, method)));
			}
		}
		return List.copyOf(found);
	}

}
