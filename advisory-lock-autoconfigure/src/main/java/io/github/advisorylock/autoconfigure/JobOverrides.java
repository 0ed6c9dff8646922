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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties.Job;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;

/**
 * Finds the overrides of a job. An environment variable can't spell a key with dashes,
 * dots or capitals: Spring Boot reads {@code ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSED} as
 * {@code advisorylock.jobs.nightly.report.paused}. So each property source is asked for
 * all names that a setting of the key can have, and the first source that knows one of
 * them wins, as with any property.
 */
final class JobOverrides {

	private static final Log logger = LogFactory.getLog(JobOverrides.class);

	private static final ConfigurationPropertyName JOBS = ConfigurationPropertyName.of("advisory-lock.jobs");

	private final List<ConfigurationPropertySource> sources;

	private final PropertySourcesPlaceholdersResolver placeholders;

	JobOverrides(Environment environment) {
		this.sources = new ArrayList<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source.containsDescendantOf(JOBS) != ConfigurationPropertyState.ABSENT) {
				this.sources.add(source);
			}
		}
		this.placeholders = new PropertySourcesPlaceholdersResolver(environment);
	}

	/**
	 * Return what overrides the annotation of a job.
	 * @param key the text of its key
	 * @return the overrides, {@code null} if there are none
	 */
	@Nullable Job of(String key) {
		if (this.sources.isEmpty()) {
			return null;
		}
		return new Binder(this.sources.stream().map((source) -> settings(source, key)).toList(), this.placeholders)
			.bind("job", Job.class)
			.orElse(null);
	}

	private static ConfigurationPropertySource settings(ConfigurationPropertySource source, String key) {
		return (name) -> names(key, name.getLastElement(Form.DASHED)).map(source::getConfigurationProperty)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private static Stream<ConfigurationPropertyName> names(String key, String setting) {
		String words = key.replaceAll("[^A-Za-z0-9]+", ".");
		return Stream
			.of("[" + key + "]." + setting, "." + key + "." + setting, "." + words + "." + setting,
					"." + words + "." + setting.replace('-', '.'))
			.map((name) -> ConfigurationPropertyName.adapt(JOBS + name, '.'));
	}

	/**
	 * Warn of properties that are for no job.
	 * @param keys the keys of all jobs
	 */
	void warnOfUnknown(Collection<String> keys) {
		if (this.sources.isEmpty()) {
			return;
		}
		List<String> settings = Arrays.stream(Job.class.getRecordComponents())
			.map(RecordComponent::getName)
			.map(DataObjectPropertyName::toDashedForm)
			.toList();
		Set<ConfigurationPropertyName> known = keys.stream()
			.flatMap((key) -> settings.stream().flatMap((setting) -> names(key, setting)))
			.collect(Collectors.toSet());
		for (ConfigurationPropertySource source : this.sources) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream()
					.filter((name) -> JOBS.isAncestorOf(name) && !known.contains(name))
					.forEach((name) -> logger.warn(AdvisoryLockKey
						.printable("'" + name + "' (" + Origin.from(source.getConfigurationProperty(name))
								+ ") has no effect: no method has that key, or a key no such setting; the keys are "
								+ new TreeSet<>(keys) + ", the settings " + settings)));
			}
		}
	}

}
