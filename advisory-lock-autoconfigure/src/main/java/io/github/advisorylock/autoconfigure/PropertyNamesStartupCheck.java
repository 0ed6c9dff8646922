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

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

/**
 * Warns of properties under {@code advisory-lock} that do not exist: Spring Boot takes no
 * notice of them, and who has misspelt one believes that it holds. Those of jobs are
 * looked at with the jobs, and those of a feature that is not there are left alone.
 * Warns, too, of properties that a refresh of the configuration changes: they are read
 * once.
 */
final class PropertyNamesStartupCheck implements SmartInitializingSingleton, SmartApplicationListener {

	private static final Log logger = LogFactory.getLog(PropertyNamesStartupCheck.class);

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("advisory-lock");

	/**
	 * Spring Cloud publishes it with the names of the properties that have changed.
	 */
	private static final String REFRESH = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

	/**
	 * Groups of properties that have a class of their own, with their features.
	 */
	private static final Set<String> FEATURES = Set.of("doctor", "page", "shedlock", "test");

	private final ListableBeanFactory beans;

	private final Environment environment;

	PropertyNamesStartupCheck(ListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<ConfigurationProperty> set = new LinkedHashSet<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream()
					.filter(ROOT::isAncestorOf)
					.map(iterable::getConfigurationProperty)
					.filter((property) -> property != null)
					.forEach(set::add);
			}
		}
		if (!set.isEmpty()) {
			check(set);
		}
	}

	@Override
	public boolean supportsEventType(Class<? extends ApplicationEvent> eventType) {
		return eventType.getName().equals(REFRESH);
	}

	@Override
	public void onApplicationEvent(ApplicationEvent event) {
		if (PropertyAccessorFactory.forBeanPropertyAccess(event)
			.getPropertyValue("keys") instanceof Collection<?> keys) {
			List<String> changed = keys.stream()
				.map(String::valueOf)
				.filter(PropertyNamesStartupCheck::isOurs)
				.sorted()
				.toList();
			if (!changed.isEmpty()) {
				logger.warn("The change of '" + String.join("', '", changed)
						+ "' by a refresh has no effect until the application is restarted; to pause a job at once, use "
						+ "the endpoint 'advisorylocks' or AdvisoryLockLedger");
			}
		}
	}

	private static boolean isOurs(String key) {
		return ROOT.isAncestorOf(ConfigurationPropertyName.adapt(key, '.'));
	}

	private void check(Collection<ConfigurationProperty> properties) {
		Map<ConfigurationPropertyName, Class<?>> types = findTypes();
		for (ConfigurationProperty property : properties) {
			ConfigurationPropertyName name = property.getName();
			int depth = FEATURES.contains(name.getElement(1, Form.UNIFORM)) ? 2 : 1;
			Class<?> type = types.get(name.chop(depth));
			ResolvableType unknownIn = (type != null) ? findUnknown(name, depth, ResolvableType.forClass(type)) : null;
			if (unknownIn != null) {
				logger.warn("'" + name + "'" + ((property.getOrigin() != null) ? " (" + property.getOrigin() + ")" : "")
						+ " has no effect: there is no such property, those there are "
						+ Arrays.stream(unknownIn.toClass().getRecordComponents())
							.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
							.toList());
			}
		}
	}

	/**
	 * Find the classes that our properties are bound to, by what their names start with.
	 */
	private Map<ConfigurationPropertyName, Class<?>> findTypes() {
		Map<ConfigurationPropertyName, Class<?>> types = new LinkedHashMap<>();
		for (String beanName : this.beans.getBeanNamesForAnnotation(ConfigurationProperties.class)) {
			Class<?> type = this.beans.getType(beanName, false);
			ConfigurationProperties annotation = this.beans.findAnnotationOnBean(beanName,
					ConfigurationProperties.class, false);
			if (type != null && type.isRecord() && annotation != null
					&& ConfigurationPropertyName.isValid(annotation.value())) {
				types.put(ConfigurationPropertyName.of(annotation.value()), type);
			}
		}
		return types;
	}

	/**
	 * Follow a name through the properties of a record.
	 * @return the record that does not know the next part of the name, {@code null} if
	 * there is none
	 */
	private static @Nullable ResolvableType findUnknown(ConfigurationPropertyName name, int depth,
			ResolvableType type) {
		if (depth >= name.getNumberOfElements() || !type.toClass().isRecord()) {
			return null;
		}
		String element = name.getElement(depth, Form.UNIFORM);
		RecordComponent component = Arrays.stream(type.toClass().getRecordComponents())
			.filter((each) -> each.getName().equalsIgnoreCase(element))
			.findFirst()
			.orElse(null);
		if (component == null) {
			return type;
		}
		ResolvableType next = ResolvableType.forMethodReturnType(component.getAccessor());
		if (next.toClass() == Map.class) {
			return element.equals("jobs") ? null : findUnknown(name, depth + 2, next.getGeneric(1));
		}
		return findUnknown(name, depth + 1, next);
	}

}
