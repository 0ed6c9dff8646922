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

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.jdbc.RunLedger;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.dao.DataAccessException;
import org.springframework.util.ClassUtils;

/**
 * Makes sure at start-up that {@code lockAtLeastFor} of annotated methods can be kept: a
 * lock does not outlive its holder, so the ledger has to.
 *
 * @param beans the beans of the application
 * @param methods its annotated methods
 * @param ledger keeps locks, {@code null} where there is none
 * @param times knows the times of annotated methods
 */
record LockAtLeastForCheck(ConfigurableListableBeanFactory beans, Supplier<List<SchedulerLockMethod>> methods,
		Supplier<@Nullable RunLedger> ledger,
		ExtendedLockConfigurationExtractor times) implements SmartInitializingSingleton {

	private static final String ENABLE = "net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock";

	private static final Log logger = LogFactory.getLog(LockAtLeastForCheck.class);

	@Override
	public void afterSingletonsInstantiated() {
		List<String> methods = findMethods();
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
			logger.warn(KeptKeys.notKnown(String.valueOf(methods), ex));
			logger.debug("The ledger could not be checked", ex);
		}
	}

	private List<String> findMethods() {
		boolean provided = this.beans.getBeanNamesForType(AdvisoryLockProvider.class).length > 0;
		return provided ? this.methods.get().stream().filter(this::isKept).map(SchedulerLockMethod::toString).toList()
				: List.of();
	}

	/**
	 * A name that depends on arguments may have no value without them, and then its
	 * method is not asked for its times.
	 */
	private boolean isKept(SchedulerLockMethod annotated) {
		Method method = annotated.method();
		try {
			return this.times.getLockConfiguration(null, method, new Object[0])
				.filter((configuration) -> !configuration.getLockAtLeastFor().isZero())
				.isPresent();
		}
		catch (RuntimeException ex) {
			logger.debug("The times of " + method + " can't be known before it is called: " + ex);
			String own = MergedAnnotations.from(method, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
				.get(SchedulerLock.class)
				.getString("lockAtLeastFor");
			return isTime(own.isEmpty() ? defaultTime() : own);
		}
	}

	/**
	 * Javadoc can't read the annotation, so that it is looked up by its name.
	 */
	private String defaultTime() {
		Class<? extends Annotation> type = ClassUtils.resolveClassName(ENABLE, SchedulerLock.class.getClassLoader())
			.asSubclass(Annotation.class);
		for (String name : this.beans.getBeanNamesForAnnotation(type)) {
			Annotation enable = this.beans.findAnnotationOnBean(name, type, false);
			if (enable != null) {
				return MergedAnnotation.from(enable).getString("defaultLockAtLeastFor");
			}
		}
		return "";
	}

	/**
	 * Return whether a time is more than nothing: {@code 0s} and {@code PT0S} are not.
	 */
	private boolean isTime(String time) {
		String resolved = this.beans.resolveEmbeddedValue(time);
		return resolved != null && resolved.chars().anyMatch((letter) -> letter >= '1' && letter <= '9');
	}

}
