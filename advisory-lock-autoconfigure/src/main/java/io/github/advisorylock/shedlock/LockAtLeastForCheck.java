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
import java.util.Set;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.jdbc.RunLedger;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.dao.DataAccessException;
import org.springframework.util.ClassUtils;

/**
 * Makes sure at start-up that {@code lockAtLeastFor} of annotated methods can be kept: a
 * lock does not outlive its holder, so the ledger has to.
 *
 * @since 0.1.0
 */
public final class LockAtLeastForCheck implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockAtLeastForCheck.class);

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<@Nullable RunLedger> ledger;

	private final ExtendedLockConfigurationExtractor times;

	/**
	 * Create a check.
	 * @param beans has the annotated methods
	 * @param ledger keeps locks, {@code null} where there is none
	 * @param times knows the times of annotated methods
	 */
	public LockAtLeastForCheck(ConfigurableListableBeanFactory beans, Supplier<@Nullable RunLedger> ledger,
			ExtendedLockConfigurationExtractor times) {
		this.beans = beans;
		this.ledger = ledger;
		this.times = times;
	}

	@Override
	public void afterSingletonsInstantiated() {
		boolean provided = this.beans.getBeanNamesForType(AdvisoryLockProvider.class).length > 0;
		List<String> methods = provided ? findMethods() : List.of();
		if (methods.isEmpty()) {
			return;
		}
		RunLedger ledger = this.ledger.get();
		if (ledger == null) {
			logger.warn(KeptKeys.notDurable(String.valueOf(methods)));
			return;
		}
		try {
			ledger.check();
		}
		catch (AdvisoryLockConfigurationException ex) {
			throw new AdvisoryLockConfigurationException(
					"'lockAtLeastFor' of " + methods
							+ " must outlive the instance that has the lock, and can't be kept. " + ex.getMessage(),
					ex.getAction() + " Or set 'advisory-lock.ledger.enabled' to 'false': then it holds only as long as "
							+ "that instance lives.",
					ex);
		}
		catch (DataAccessException ex) {
			logger.warn("Whether 'lockAtLeastFor' of " + methods + " can be kept is not known yet", ex);
		}
	}

	private List<String> findMethods() {
		List<String> methods = new ArrayList<>();
		for (String name : this.beans.getBeanDefinitionNames()) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, name);
			if (type != null && AnnotationUtils.isCandidateClass(type, SchedulerLock.class)) {
				annotated(ClassUtils.getUserClass(type)).stream()
					.filter(this::isKept)
					.forEach((method) -> methods.add(name + "." + method.getName()));
			}
		}
		return methods;
	}

	private static Set<Method> annotated(Class<?> type) {
		return MethodIntrospector.selectMethods(type,
				(Method method) -> AnnotatedElementUtils.hasAnnotation(method, SchedulerLock.class));
	}

	/**
	 * A name that depends on arguments may have no value without them.
	 */
	private boolean isKept(Method method) {
		try {
			return this.times.getLockConfiguration(null, method, new Object[0])
				.filter((configuration) -> !configuration.getLockAtLeastFor().isZero())
				.isPresent();
		}
		catch (RuntimeException ex) {
			logger.debug("The times of " + method + " can't be known before it is called", ex);
			return !MergedAnnotations.from(method, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
				.get(SchedulerLock.class)
				.getString("lockAtLeastFor")
				.isEmpty();
		}
	}

}
