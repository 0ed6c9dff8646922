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

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Refuses a number alone where one of our properties is a time. Spring Boot would take it
 * for milliseconds, and those who write it mean seconds, or days.
 */
final class TimeUnitStartupCheck extends AbstractBindHandler {

	private static final Pattern NUMBER = Pattern.compile("[+-]?\\d+");

	private static final Pattern ZERO = Pattern.compile("[+-]?0+");

	private final Environment environment;

	TimeUnitStartupCheck(BindHandler parent, Environment environment) {
		super(parent);
		this.environment = environment;
	}

	@Override
	public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			Object result) {
		ConfigurationProperty property = context.getConfigurationProperty();
		if (result instanceof Duration && property != null && AdvisoryLockProperties.PREFIX.isAncestorOf(name)) {
			String value = this.environment.resolvePlaceholders(String.valueOf(property.getValue()));
			if (NUMBER.matcher(value).matches() && !ZERO.matcher(value).matches()) {
				throw new InvalidConfigurationPropertyValueException(property.getName().toString(), value,
						"The time has no unit. Write one behind the number, as in '" + value + "s'.");
			}
		}
		return super.onSuccess(name, target, context, result);
	}

}
