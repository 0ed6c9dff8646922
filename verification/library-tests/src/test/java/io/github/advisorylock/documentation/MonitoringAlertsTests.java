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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import io.github.advisorylock.testsupport.Tool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that alerts keep still in a week without a fault, and that each fires at its
 * fault.
 */
@Tag("gate")
class MonitoringAlertsTests {

	private static final Path RESOURCES = Path.of("src/test/resources");

	private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

	@ParameterizedTest
	@ValueSource(strings = { "prometheus-alerts-days-test.yaml", "prometheus-alerts-hours-test.yaml" })
	void alertsFireAtFaultsOnly(String rules) throws IOException, InterruptedException {
		Tool.assumeRuns("promtool", "--version");
		Process promtool = new ProcessBuilder("promtool", "test", "rules", rules).directory(RESOURCES.toFile())
			.redirectErrorStream(true)
			.start();
		String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(promtool.waitFor()).as(output).isZero();
	}

	@Test
	void eachAlertHasAFault() throws IOException {
		String faults = Files.readString(RESOURCES.resolve("prometheus-alerts-days-test.yaml"))
				+ Files.readString(RESOURCES.resolve("prometheus-alerts-hours-test.yaml"));
		List<String> alerts = ALERT.matcher(Files.readString(Documentation.ROOT.resolve("docs/prometheus-alerts.yaml")))
			.results()
			.map((alert) -> alert.group(1))
			.toList();
		assertThat(alerts).isNotEmpty()
			.allSatisfy((alert) -> assertThat(faults).contains("'{alertname=\"" + alert + "\"}'"));
	}

}
