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

import java.util.regex.Pattern;

import io.github.advisorylock.actuate.AdvisoryLockEndpointAutoConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockEndpointAutoConfiguration}, on class paths with and
 * without the jars that it and the other optional parts need.
 */
@Tag("slow")
@ExtendWith(OutputCaptureExtension.class)
class AdvisoryLockEndpointAutoConfigurationTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks";

	private static final String ENDPOINT = "advisoryLocksEndpoint";

	private static final String HEALTH = "advisoryLockHealthIndicator";

	private static final String ACTUATOR_JARS = "spring-boot-actuator";

	private static final String MICROMETER_JARS = "micrometer|spring-boot-(starter-)?micrometer";

	@Test
	void endpointAndHealthAreThereOnceExposed() {
		assertThat(ReducedApplication.runWithAll(EXPOSED)).contains(ENDPOINT, HEALTH,
				"advisoryLocksEndpointWebExtension", "advisoryLocksSource");
	}

	@Test
	void nothingOfEndpointIsThereUnlessExposed() {
		assertThat(ReducedApplication.runWithAll()).doesNotContain(ENDPOINT, "advisoryLocksEndpointWebExtension",
				"advisoryLocksSource", "advisoryLockLedgerJobRegistry", "advisoryLockCallCounter");
	}

	@Test
	void applicationStartsWithoutActuator() throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile(ACTUATOR_JARS), EXPOSED)).contains(HEALTH)
			.doesNotContain(ENDPOINT, "advisoryLockLedgerJobRegistry");
	}

	@Test
	void applicationStartsWithoutMicrometer() throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile(MICROMETER_JARS), EXPOSED)).contains(ENDPOINT, HEALTH);
	}

	@Test
	void runsAreObservedWithoutTracing(CapturedOutput output) throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile("micrometer-tracing"), EXPOSED,
				"management.observations.key-values.region=here"))
			.contains("advisoryLockSingleRunnerObserver");
		assertThat(output).doesNotContain("An observer of runs failed");
	}

	@Test
	void applicationStartsWithoutHealth() throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile("spring-boot-health"), EXPOSED)).contains(ENDPOINT)
			.doesNotContain(HEALTH);
	}

	@Test
	void applicationStartsWithoutAllOfThem() throws Exception {
		assertThat(ReducedApplication
			.runWithout(Pattern.compile(ACTUATOR_JARS + "|" + MICROMETER_JARS + "|spring-boot-health"), EXPOSED))
			.contains("jobs")
			.doesNotContain(ENDPOINT, HEALTH);
	}

	@Test
	void nothingOfJobsIsThereWhenLocksAreSwitchedOff() {
		assertThat(ReducedApplication.runWithAll(EXPOSED, "advisory-lock.enabled=false")).contains(ENDPOINT, HEALTH)
			.doesNotContain("advisoryLocksEndpointWebExtension", "advisoryLocksSource",
					"advisoryLockLedgerJobRegistry");
		assertThat(ReducedApplication.runWithAll("advisory-lock.enabled=false")).doesNotContain(ENDPOINT);
	}

}
