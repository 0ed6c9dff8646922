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

import java.util.List;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import net.javacrumbs.shedlock.core.LockProvider;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Has each {@link LockProvider} of an application take an advisory lock as well, for a
 * rolling deployment: instances that still use ShedLock's table, and those that use
 * advisory locks only, then both exclude this one.
 *
 * @since 0.1.0
 */
final class BothLocksPostProcessor implements BeanPostProcessor, SmartInitializingSingleton {

	private final Supplier<AdvisoryLockProvider> advisory;

	private final ListableBeanFactory beans;

	/**
	 * Create a post-processor.
	 * @param advisory takes advisory locks
	 * @param beans has the lock providers of the application
	 */
	BothLocksPostProcessor(Supplier<AdvisoryLockProvider> advisory, ListableBeanFactory beans) {
		this.advisory = advisory;
		this.beans = beans;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof LockProvider provider && isOfApplication(provider))
				? BothLocksProvider.of(this.advisory.get(), provider) : bean;
	}

	private static boolean isOfApplication(LockProvider provider) {
		return !(provider instanceof AdvisoryLockProvider) && !(provider instanceof BothLocksProvider);
	}

	/**
	 * Make sure that there is a provider, and that none was made before this had seen it.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		List<String> names = List.of(this.beans.getBeanNamesForType(LockProvider.class));
		List<String> single = names.stream()
			.filter((name) -> isOfApplication(this.beans.getBean(name, LockProvider.class)))
			.toList();
		if (!single.isEmpty()) {
			throw new AdvisoryLockConfigurationException(
					"'advisory-lock.shedlock.both-locks' has no effect on the LockProvider beans " + single
							+ ", which were created too early",
					"Declare them in static @Bean methods, or not as a dependency of a BeanPostProcessor.");
		}
		if (names.stream().noneMatch((name) -> this.beans.getBean(name) instanceof BothLocksProvider)) {
			throw new AdvisoryLockConfigurationException(
					"'advisory-lock.shedlock.both-locks' is set, and the application has no LockProvider of its own, so "
							+ "that instances which use its locks would not exclude this one",
					"Keep the LockProvider bean of the old instances until the last of them is gone, or remove "
							+ "'advisory-lock.shedlock.both-locks'.");
		}
	}

}
