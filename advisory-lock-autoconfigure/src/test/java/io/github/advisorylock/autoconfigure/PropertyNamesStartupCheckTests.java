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

import java.lang.reflect.Constructor;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.test.tools.SourceFile;
import org.springframework.core.test.tools.TestCompiler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PropertyNamesStartupCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertyNamesStartupCheckTests {

	private static final String NO_EFFECT = "has no effect: there is no such property";

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockShedLockAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "advisory-lock.namespce, x, 'namespace,'", "advisory-lock.sesion.heartbeat, 3s, 'session,'",
			"advisory-lock.session.heart-beats, 3s, 'heartbeat,'", "advisory-lock.doctor.stanby, off, 'standby,'",
			"advisory-lock.leader.enabled, true, 'ledger,'", "advisory-lock.ledger.keep-runs.days, 3, 'age,'",
			"advisory-lock.shedlock.both-lock, true, both-locks", "advisory-lock.databases.tx.session.uri, x, 'url,'" })
	void propertyThatDoesNotExistIsWarnedOf(String property, String value, String known, CapturedOutput output) {
		this.runner.withPropertyValues(property + "=" + value).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(NO_EFFECT).contains("'" + property + "'", known);
		});
	}

	@Test
	void variableOfTheEnvironmentThatSpringBootDoesNotReadIsWarnedOf(CapturedOutput output) {
		withEnvironment(Map.of("ADVISORYLOCK_SESSION_WHEN_LOST", "report")).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(NO_EFFECT).contains("advisorylock.session.when.lost");
		});
	}

	@Test
	void variablesOfTheEnvironmentThatSpringBootReadsAreNotWarnedOf(CapturedOutput output) {
		withEnvironment(Map.of("ADVISORYLOCK_SESSION_WHENLOST", "report", "ADVISORY_LOCK_WAIT_FOR", "1s",
				"ADVISORYLOCK_DOCTOR_EVERYINSTANCE_0", "org.acme"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain(NO_EFFECT);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.session.properties.sslmode=prefer", "advisory-lock.waitFor=1s",
			"advisory-lock.doctor.every-instance=org.acme", "advisory-lock.doctor.every-instance[0]=org.acme",
			"advisory-lock.ledger.keep-runs.count=7", "advisory-lock.jobs.no.such.key.paused=true",
			"advisory-lock.page.anything=1", "advisory-locks.enabled=true" })
	void propertyThatExistsOrIsOfOthersIsNotWarnedOf(String property, CapturedOutput output) {
		this.runner.withPropertyValues(property).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain(NO_EFFECT);
		});
	}

	@Test
	void everyPropertyOfTheMetadataThatHasADefaultIsKnown(CapturedOutput output) {
		Map<String, Object> defaults = AdvisoryLockPropertiesTests.metadata()
			.filter((property) -> String.valueOf(property.get("name")).startsWith("advisory-lock."))
			.filter((property) -> property.get("defaultValue") instanceof String)
			.collect(Collectors.toMap((property) -> (String) property.get("name"),
					(property) -> property.get("defaultValue")));
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addLast(new MapPropertySource("metadata", defaults)))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain(NO_EFFECT);
			});
	}

	/**
	 * As Spring Cloud publishes it, which is not on the class path.
	 */
	@Test
	void propertyThatARefreshHasChangedIsWarnedOf(CapturedOutput output) {
		TestCompiler.forSystem().withSources(SourceFile.of("""
				package org.springframework.cloud.context.environment;
				public class EnvironmentChangeEvent extends org.springframework.context.ApplicationEvent {
					private final java.util.Set<String> keys;
					public EnvironmentChangeEvent(java.util.Set<String> keys) {
						super(keys);
						this.keys = keys;
					}
					public java.util.Set<String> getKeys() {
						return this.keys;
					}
				}
				""")).compile((compiled) -> this.runner.run((context) -> {
			Constructor<?> event = compiled.getClassLoader()
				.loadClass("org.springframework.cloud.context.environment.EnvironmentChangeEvent")
				.getConstructor(Set.class);
			context.publishEvent(event.newInstance(Set.of("server.port", "advisory-locks.x")));
			assertThat(output).doesNotContain("has no effect");
			context.publishEvent(
					event.newInstance(Set.of("advisory-lock.jobs.nightly-report.paused", "server.port", "no name")));
			assertThat(output).containsOnlyOnce("has no effect")
				.contains("WARN", "'advisory-lock.jobs.nightly-report.paused'", "until the application is restarted",
						"endpoint 'advisorylocks'");
		}));
	}

	private ApplicationContextRunner withEnvironment(Map<String, Object> variables) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					variables)));
	}

}
