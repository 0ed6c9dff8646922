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

import java.util.Arrays;
import java.util.List;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/**
 * Knows whether observations are for meters only, and are as Spring Boot sets them up. If
 * so, a run can be timed without being observed, which costs a fraction.
 */
final class ObservationListeners {

	private static final String BOOT = "org.springframework.boot.";

	private static final String CUSTOMIZER = BOOT
			+ "micrometer.observation.autoconfigure.ObservationRegistryCustomizer";

	private static final List<String> PROPERTIES = List.of("management.observations.enable",
			"management.observations.key-values", "management.metrics.observations");

	private static final String SKIPS = "management.observations.enable.advisory.lock.skip";

	private final ConfigurableListableBeanFactory beans;

	private final Environment environment;

	ObservationListeners(ConfigurableListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		this.environment = environment;
	}

	boolean areMetersOnly() {
		return isOwnRegistryOfBoot() && PROPERTIES.stream().noneMatch(this::isSet) && !hasCustomizer()
				&& isOfBoot(ObservationFilter.class) && isOfBoot(ObservationPredicate.class)
				&& this.beans.getBeanProvider(ObservationHandler.class)
					.stream()
					.allMatch(MeterObservationHandler.class::isInstance);
	}

	/**
	 * Unlike other observations, those of skips are made only if they are switched on.
	 */
	boolean areForSkips() {
		return Binder.get(this.environment).bind(SKIPS, Boolean.class).orElse(false);
	}

	/**
	 * A registry of the application may have handlers that are no beans.
	 */
	private boolean isOwnRegistryOfBoot() {
		return Arrays.stream(this.beans.getBeanNamesForType(ObservationRegistry.class)).allMatch((name) -> {
			BeanDefinition definition = this.beans.getMergedBeanDefinition(name);
			MethodMetadata method = (definition instanceof AnnotatedBeanDefinition annotated)
					? annotated.getFactoryMethodMetadata() : null;
			return method != null && method.getDeclaringClassName().startsWith(BOOT);
		});
	}

	private boolean isOfBoot(Class<?> type) {
		return this.beans.getBeanProvider(type).stream().allMatch((bean) -> bean.getClass().getName().startsWith(BOOT));
	}

	private boolean hasCustomizer() {
		ClassLoader classLoader = this.beans.getBeanClassLoader();
		return ClassUtils.isPresent(CUSTOMIZER, classLoader)
				&& this.beans.getBeanNamesForType(ClassUtils.resolveClassName(CUSTOMIZER, classLoader)).length > 0;
	}

	private boolean isSet(String prefix) {
		return Binder.get(this.environment).bind(prefix, Bindable.mapOf(String.class, Object.class)).isBound();
	}

}
