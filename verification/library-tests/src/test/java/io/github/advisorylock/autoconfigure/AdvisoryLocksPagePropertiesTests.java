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

import java.util.List;
import java.util.Map;

import io.github.advisorylock.actuate.AdvisoryLocksEndpointProperties;
import io.github.advisorylock.actuate.page.PageSettings;
import io.github.advisorylock.testsupport.HostileText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the properties of the page and {@link AdvisoryLocksEndpointProperties}.
 */
class AdvisoryLocksPagePropertiesTests {

	private static final long SEED = Long.getLong("fuzz.seed", 11);

	private static final int VALUES = 2_000;

	private static final List<String> PROPERTIES = List.of("advisory-lock.page.links.log",
			"management.endpoint.advisorylocks.show-values");

	@Test
	void defaultsOfMetadataAreThoseOfTheClass() {
		Binder binder = new Binder(new MapConfigurationPropertySource());
		assertThat(endpoint(binder).showValues().name()).isEqualToIgnoringCase(
				(String) AdvisoryLockPropertiesTests.defaultOf("management.endpoint.advisorylocks.show-values"));
		assertThat(endpoint(binder).roles()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "links.log=javascript:alert(1)", "links.trace=https://trace.example/{unknown}" })
	void wrongPropertyIsNamed(String property) {
		String name = "advisory-lock.page." + property.substring(0, property.indexOf('='));
		String value = property.substring(property.indexOf('=') + 1);
		Binder binder = new Binder(new MapConfigurationPropertySource(Map.of(name, value)));
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class)
			.isThrownBy(() -> PageSettings.of(binder))
			.satisfies((ex) -> assertThat(ex.getName()).isEqualTo(name));
	}

	@Test
	void valueIsTakenOrRefusedByNameOfProperty() {
		HostileText texts = new HostileText(SEED);
		int taken = 0;
		for (int i = 0; i < VALUES; i++) {
			String property = texts.pick(PROPERTIES);
			String value = texts.next();
			Binder binder = new Binder(new MapConfigurationPropertySource(Map.of(property, value)));
			try {
				PageSettings.of(binder);
				taken++;
			}
			catch (BindException | InvalidConfigurationPropertyValueException ex) {
				assertThat(ex.getMessage()).as("%s=%s, seed %s", property, value, SEED)
					.contains(property.substring(0, property.lastIndexOf('.')));
			}
		}
		assertThat(taken).isLessThan(VALUES);
	}

	private static AdvisoryLocksEndpointProperties endpoint(Binder binder) {
		return binder.bindOrCreate("management.endpoint.advisorylocks", AdvisoryLocksEndpointProperties.class);
	}

}
