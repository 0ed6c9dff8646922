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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.testsupport.HostileText;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every value of a property is taken or refused by the name of the property:
 * 1,000 of 10,000 values, and in the profile all of them, made from a seed.
 */
@Tag("slow")
class PropertyFuzzTests {

	private static final long SEED = Long.getLong("fuzz.seed", 11);

	private static final int VALUES = 10_000;

	private static final List<String> PROPERTIES = List.of("advisory-lock.enabled", "advisory-lock.namespace",
			"advisory-lock.key-format", "advisory-lock.wait-for", "advisory-lock.jobs.a.paused",
			"advisory-lock.jobs.a.scope", "advisory-lock.jobs.a.wait-for", "advisory-lock.session.url",
			"advisory-lock.session.heartbeat", "advisory-lock.session.dead-client-timeout",
			"advisory-lock.session.when-lost", "advisory-lock.ledger.enabled", "advisory-lock.ledger.initialize-schema",
			"advisory-lock.ledger.table-prefix", "advisory-lock.ledger.remember-keys", "advisory-lock.ledger.keep-runs",
			"advisory-lock.jobs.a.min-interval", "advisory-lock.jobs.a.max-run", "advisory-lock.max-held-locks",
			"advisory-lock.leader.terms-above");

	@Test
	void valueIsTakenOrRefusedByNameOfProperty() {
		bind(VALUES / 10);
	}

	@Test
	@Tag("chaos")
	void eachOfManyValuesIsTakenOrRefusedByNameOfProperty() {
		bind(VALUES);
	}

	private static void bind(int values) {
		HostileText texts = new HostileText(SEED);
		int taken = 0;
		for (int i = 0; i < values; i++) {
			String property = texts.pick(PROPERTIES);
			String value = texts.next();
			try {
				bind(new Binder(new MapConfigurationPropertySource(Map.of(property, value))));
				taken++;
			}
			catch (BindException | InvalidConfigurationPropertyValueException ex) {
				assertThat(ex.getMessage()).as("%s=%s, seed %s", property, value, SEED)
					.contains(property.substring(0, property.lastIndexOf('.')));
			}
		}
		assertThat(taken).isBetween(values / 10, values);
	}

	private static void bind(Binder binder) {
		AdvisoryLockProperties properties = binder.bindOrCreate("advisory-lock", AdvisoryLockProperties.class);
		properties.toSettings(AdvisoryLockKey::of, new StandardEnvironment(), properties.jobs()::get, (type) -> null);
		assertThat(properties.ledger().tablePrefix()).matches("([a-zA-Z_]\\w*\\.)?[a-zA-Z_]\\w*");
	}

}
