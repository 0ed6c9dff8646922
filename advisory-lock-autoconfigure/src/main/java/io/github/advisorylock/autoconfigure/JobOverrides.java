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
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;

/**
 * Finds the overrides of a job in the environment, whichever way its key has to be
 * written there. A key may have dots, which separate the names of properties, and dashes
 * and capitals, which environment variables have not got. So a key that is written
 * without brackets is compared by its letters and digits alone, in lower case:
 * {@code ADVISORYLOCK_JOBS_NIGHTLY_REPORT_PAUSED} is meant for {@code nightly-report}.
 * One that is written in brackets is meant letter by letter.
 * <p>
 * What has precedence in the environment has it here, for each setting of a job.
 *
 * @param <T> the settings of a job
 */
final class JobOverrides<T extends Record> {

	private static final Log logger = LogFactory.getLog(JobOverrides.class);

	private final Environment environment;

	private final Bindable<T> type;

	/**
	 * The names of settings by their letters.
	 */
	private final Map<String, String> settings = new TreeMap<>();

	/**
	 * By the letters of their keys: there may be thousands of jobs to look up.
	 */
	private final Map<String, List<Entry>> entries = new LinkedHashMap<>();

	/**
	 * Create overrides.
	 * @param environment has the properties
	 * @param type the settings of a job
	 */
	JobOverrides(Environment environment, Class<T> type) {
		this.environment = environment;
		this.type = Bindable.of(type);
		for (RecordComponent setting : type.getRecordComponents()) {
			this.settings.put(letters(setting.getName()), DataObjectPropertyName.toDashedForm(setting.getName()));
		}
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.forEach((name) -> add(name, iterable));
			}
		}
	}

	/**
	 * Return what overrides the annotation of a job.
	 * @param key the text of its key
	 * @return the overrides, {@code null} if there are none
	 */
	@Nullable T of(String key) {
		String prefix = "advisory-lock.jobs[" + key + "]";
		Map<String, Object> found = new TreeMap<>();
		this.entries.getOrDefault(letters(key), List.of())
			.stream()
			.filter((entry) -> entry.isFor(key))
			.forEach((entry) -> entry.put(prefix, found));
		if (found.isEmpty()) {
			return null;
		}
		Binder binder = new Binder(List.of(new MapConfigurationPropertySource(found)),
				new PropertySourcesPlaceholdersResolver(this.environment));
		return binder.bind(prefix, this.type, new TimesNeedUnits(BindHandler.DEFAULT)).orElse(null);
	}

	/**
	 * Warn of properties that no job has, and refuse what is meant for one of two.
	 * @param keys the keys of all jobs
	 * @throws AdvisoryLockConfigurationException if it can't be told which of them a
	 * property is meant for
	 */
	void check(Collection<String> keys) {
		Set<String> known = new TreeSet<>(keys);
		Map<String, List<String>> knownByLetters = this.entries.isEmpty() ? Map.of()
				: known.stream().collect(Collectors.groupingBy(JobOverrides::letters));
		this.entries.forEach((letters, sameLetters) -> {
			List<String> candidates = knownByLetters.getOrDefault(letters, List.of());
			sameLetters.forEach((entry) -> check(entry, candidates.stream().filter(entry::isFor).toList(), known));
		});
	}

	private void check(Entry entry, List<String> meant, Set<String> known) {
		if (entry.setting == null) {
			logger.warn(entry + " has no effect: '" + entry.name.getLastElement(Form.ORIGINAL)
					+ "' is no setting of a job, those are " + this.settings.values());
		}
		else if (meant.isEmpty()) {
			logger.warn(entry + " has no effect: no method has that key, the keys are " + known);
		}
		else if (meant.size() > 1) {
			throw new AdvisoryLockConfigurationException(
					entry + " is meant for one of the jobs " + meant + ", and it can't be told for which",
					"Write the key in brackets, as in 'advisory-lock.jobs[" + meant.get(0) + "]." + entry.setting
							+ "'.");
		}
	}

	/**
	 * Note a property, if it is one of a job. Environment variables may have an
	 * underscore for a dash, too.
	 */
	private void add(ConfigurationPropertyName name, ConfigurationPropertySource source) {
		int first = isAt(name, 0, "advisorylock") ? 1
				: (isAt(name, 0, "advisory") && isAt(name, 1, "lock")) ? 2 : name.getNumberOfElements();
		int length = name.getNumberOfElements();
		ConfigurationProperty property = isAt(name, first, "jobs") ? source.getConfigurationProperty(name) : null;
		if (property == null || length < first + 2) {
			return;
		}
		int words = 1;
		String setting = letters(name.getLastElement(Form.ORIGINAL));
		if (!this.settings.containsKey(setting) && length > first + 3) {
			setting = letters(name.getElement(length - 2, Form.ORIGINAL)) + setting;
			words = 2;
		}
		boolean known = this.settings.containsKey(setting) && length > first + 1 + words;
		int end = known ? length - words : length - 1;
		Entry entry = new Entry(name, text(name, first + 1, end), isInBrackets(name, first + 1, end),
				known ? this.settings.get(setting) : null, property);
		this.entries.computeIfAbsent(letters(entry.key), (none) -> new ArrayList<>()).add(entry);
	}

	private static boolean isAt(ConfigurationPropertyName name, int index, String element) {
		return index < name.getNumberOfElements() && name.getElement(index, Form.UNIFORM).equals(element);
	}

	private static String text(ConfigurationPropertyName name, int from, int to) {
		return IntStream.range(from, to)
			.mapToObj((index) -> name.getElement(index, Form.ORIGINAL))
			.collect(Collectors.joining("."));
	}

	private static boolean isInBrackets(ConfigurationPropertyName name, int from, int to) {
		return to == from + 1 && name.chop(to).isLastElementIndexed();
	}

	private static String letters(String text) {
		return text.codePoints()
			.filter(Character::isLetterOrDigit)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString()
			.toLowerCase(Locale.ROOT);
	}

	/**
	 * A property of a job.
	 *
	 * @param name its name
	 * @param key the key, as it is written there
	 * @param exact whether the key is meant letter by letter
	 * @param setting the name of the setting, {@code null} if there is none of that name
	 * @param property its value, and where that is from
	 */
	private record Entry(ConfigurationPropertyName name, String key, boolean exact, @Nullable String setting,
			ConfigurationProperty property) {

		/**
		 * Return whether it is meant for a job whose key has the same letters.
		 */
		private boolean isFor(String other) {
			return this.setting != null && (!this.exact || this.key.equals(other));
		}

		private void put(String prefix, Map<String, Object> settings) {
			settings.putIfAbsent(prefix + "." + this.setting, this.property.getValue());
		}

		@Override
		public String toString() {
			Origin origin = this.property.getOrigin();
			return "'" + this.name + "'" + ((origin != null) ? " (" + origin + ")" : "");
		}

	}

}
