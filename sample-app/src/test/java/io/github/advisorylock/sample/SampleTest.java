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

package io.github.advisorylock.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Map;

import io.github.advisorylock.testsupport.TestPostgres;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfiguration;

/**
 * Starts the sample application once for all classes that have this annotation: with a
 * web server, on the PostgreSQL that tests run on, and without scheduled runs.
 */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ContextConfiguration(initializers = SampleTest.Properties.class)
public @interface SampleTest {

	/**
	 * The properties of the application under test.
	 */
	class Properties implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		/**
		 * What each instance under test needs, in tests that start several.
		 */
		public static final Map<String, Object> ALL = Map.ofEntries(
				Map.entry("spring.datasource.url", TestPostgres.url()), Map.entry("sample.report.cron", "-"),
				Map.entry("sample.report.orders", "3000"), Map.entry("sample.report.pause-per-day", "0ms"),
				Map.entry("sample.sync.cron", "-"), Map.entry("sample.leader.measure-every", "1h"),
				Map.entry("sample.leader.roll-up-every", "1h"), Map.entry("sample.outbox.drain-every", "1h"),
				Map.entry("sample.outbox.check-every", "1h"), Map.entry("sample.outbox.pause-per-message", "0ms"),
				Map.entry("sample.relay.every", "1h"), Map.entry("sample.relay.pause-per-message", "0ms"),
				Map.entry("advisory-lock.jobs.[payment:#{#event.id}].wait-for", "2s"));

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("sample", ALL));
		}

	}

}
