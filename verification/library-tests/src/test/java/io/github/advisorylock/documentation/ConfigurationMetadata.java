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

package io.github.advisorylock.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

/**
 * What the library tells editors about its properties.
 */
final class ConfigurationMetadata {

	private static final String MAP = "java.util.Map<";

	private ConfigurationMetadata() {
	}

	/**
	 * Return the default value of each property, empty where it has none.
	 */
	static Map<String, String> defaults() {
		Map<String, String> defaults = new TreeMap<>();
		properties().forEach((property) -> defaults.put((String) property.get("name"),
				Objects.toString(property.get("defaultValue"), "")));
		return defaults;
	}

	/**
	 * Return whether there is a property of that name, or a map that may hold it.
	 */
	static boolean knows(String name) {
		return properties().stream()
			.anyMatch((property) -> name.equals(property.get("name")) || (isMap(property)
					&& (name.startsWith(property.get("name") + ".") || name.startsWith(property.get("name") + "["))));
	}

	/**
	 * Return the class of the library's properties, or one inside it.
	 * @param nested what follows its name
	 */
	static Class<?> type(String nested) {
		return ClassUtils.resolveClassName(
				AdvisoryLockAutoConfiguration.class.getPackageName() + ".AdvisoryLockProperties" + nested, null);
	}

	private static boolean isMap(Map<String, Object> property) {
		return ((String) property.get("type")).startsWith(MAP);
	}

	/**
	 * Return the properties that the jars of the library tell of, which are several.
	 */
	private static List<Map<String, Object>> properties() {
		List<Map<String, Object>> properties = new ArrayList<>();
		try {
			for (Resource metadata : new PathMatchingResourcePatternResolver()
				.getResources("classpath*:META-INF/spring-configuration-metadata.json")) {
				List<Map<String, Object>> all = JsonPath.read(metadata.getContentAsString(StandardCharsets.UTF_8),
						"$.properties");
				all.stream()
					.filter((property) -> ((String) property.get("name")).contains("advisory"))
					.forEach(properties::add);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return properties;
	}

}
