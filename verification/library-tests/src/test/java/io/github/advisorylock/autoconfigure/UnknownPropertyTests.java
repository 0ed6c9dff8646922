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

import java.util.Map;
import java.util.stream.Collectors;

import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for properties of {@link AdvisoryLockProperties} that do not exist.
 */
@Tag("gate")
class UnknownPropertyTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockShedLockAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.namespce", "advisory-lock.sesion.heartbeat",
			"advisory-lock.session.heart-beats", "advisory-lock.doctor.stanby", "advisory-lock.leader.enabled",
			"advisory-lock.ledger.keep-runs.days", "advisory-lock.shedlock.both-lock", "advisory-lock.shedlock.scope",
			"advisory-lock.databases.tx.session.uri", "advisory-lock.jobs.report.pause",
			"advisory-lock.jobs.orders.export.paused" })
	void propertyThatDoesNotExistStopsTheStartAndIsTold(String property) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(withFile(Map.of(property, "value")));
		assertThat(analysis.getDescription()).contains("Property: " + property, "Origin: ", "application.yml",
				"left unbound");
		assertThat(analysis.getAction()).contains("Update your application's configuration");
	}

	/**
	 * Variables and system properties are shared by all programs of a machine.
	 */
	@Test
	void variableAndSystemPropertyOfAnotherProgramDoNotStopTheStart() {
		withEnvironment(Map.of("ADVISORYLOCK_HOME", "/opt", "ADVISORY_LOCK_VERSION", "7"))
			.withSystemProperties("advisory-lock.agent=on")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void variablesOfTheEnvironmentAreRead() {
		withEnvironment(Map.of("ADVISORYLOCK_SESSION_WHENLOST", "report", "ADVISORY_LOCK_WAIT_FOR", "1s",
				"ADVISORYLOCK_DOCTOR_EVERYINSTANCE_0", "org.acme"))
			.run((context) -> {
				AdvisoryLockProperties properties = context.getBean(AdvisoryLockProperties.class);
				assertThat(properties.session().whenLost()).isEqualTo(WhenLost.REPORT);
				assertThat(properties.waitFor()).hasSeconds(1);
				assertThat(properties.doctor().everyInstance()).containsExactly("org.acme");
			});
	}

	@ParameterizedTest
	@CsvSource({ "advisory-lock.session.properties.sslmode, prefer", "advisory-lock.waitFor, 1s",
			"advisory-lock.doctor.every-instance, org.acme", "'advisory-lock.doctor.every-instance[0]', org.acme",
			"advisory-lock.ledger.keep-runs.count, 7", "'advisory-lock.jobs[no.such.key].paused', true",
			"advisory-lock.page.links.log, https://log.example", "advisory-lock.test.postgres-image, postgres:17",
			"advisory-locks.enabled, true" })
	void propertyThatExistsOrIsOfOthersIsTaken(String property, String value) {
		withFile(Map.of(property, value)).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void everyPropertyOfTheMetadataThatHasADefaultIsKnown() {
		Map<String, Object> defaults = AdvisoryLockPropertiesTests.metadata()
			.filter((property) -> String.valueOf(property.get("name")).startsWith("advisory-lock."))
			.filter((property) -> property.get("defaultValue") instanceof String)
			.collect(Collectors.toMap((property) -> (String) property.get("name"),
					(property) -> property.get("defaultValue")));
		assertThat(defaults).containsKeys("advisory-lock.doctor.standby", "advisory-lock.doctor.long-hold");
		withFile(defaults).run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner withFile(Map<String, Object> properties) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addLast(new OriginTrackedMapPropertySource("file",
					properties.entrySet()
						.stream()
						.collect(Collectors.toMap(Map.Entry::getKey,
								(property) -> OriginTrackedValue.of(property.getValue(),
										new TextResourceOrigin(new ClassPathResource("application.yml"),
												new TextResourceOrigin.Location(3, 7))))))));
	}

	private ApplicationContextRunner withEnvironment(Map<String, Object> variables) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					variables)));
	}

}
