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
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Refuses times without a unit in our properties: Spring Boot takes {@code 10} for ten
 * milliseconds, and hardly anybody who writes that for a time to wait means it.
 */
final class TimesNeedUnits extends AbstractBindHandler {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("advisory-lock");

	private static final Pattern NUMBER = Pattern.compile("\\s*[+-]?\\d+\\s*");

	TimesNeedUnits(BindHandler parent) {
		super(parent);
	}

	@Override
	public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			Object result) {
		if (result instanceof Duration time && !time.isZero() && PREFIX.isAncestorOf(name)) {
			String text = context.getBinder().bind(name, Bindable.of(String.class)).orElse("");
			if (NUMBER.matcher(text).matches()) {
				throw new InvalidConfigurationPropertyValueException(name.toString(), text,
						"A time needs a unit, as in '10s' or 'PT10S'; a number alone would be milliseconds.");
			}
		}
		return super.onSuccess(name, target, context, result);
	}

}
