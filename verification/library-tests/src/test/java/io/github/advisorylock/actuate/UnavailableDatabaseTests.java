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

package io.github.advisorylock.actuate;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.FreePort;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for endpoint and page of an application whose database is no PostgreSQL, or is
 * not there.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class UnavailableDatabaseTests {

	private static final String[] PATHS = { "actuator/advisorylocks", "actuator/advisorylocks/report" };

	@Test
	void endpointSaysThatTheDatabaseIsNoPostgres(CapturedOutput output) {
		try (OperatedApplication application = startOnH2()) {
			for (String path : PATHS) {
				HttpResponse<String> answer = application.get(path);
				assertThat(answer.statusCode()).as(path).isEqualTo(503);
				assertThat(EndpointAnswer.of(answer).<String>read("$.error")).as(path)
					.contains("it is 'H2' and not PostgreSQL", "advisory-lock.enabled");
			}
			assertThat(application.setState("report", "running").statusCode()).isEqualTo(503);
			assertThat(output).doesNotContain("\tat io.github.advisorylock.actuate.AdvisoryLocks");
		}
	}

	@Test
	void healthAndClockDoNotFailWhereTheDatabaseIsNoPostgres() {
		try (OperatedApplication application = startOnH2()) {
			assertThat(application.context()
				.getBean("advisoryLockHealthIndicator", HealthIndicator.class)
				.health()
				.getStatus()).isEqualTo(Status.UP);
			assertThat(application.bean(MeterRegistry.class).get("advisory.lock.clock.skew").gauge().value()).isNaN();
		}
	}

	@Test
	void endpointSaysThatTheDatabaseIsNotThereAndThePageIsThereToShowIt(CapturedOutput output) {
		String url = "jdbc:postgresql://127.0.0.1:" + FreePort.find() + "/nobody?password=hidden";
		try (OperatedApplication application = start(url, "spring.datasource.hikari.connection-timeout=500",
				"advisory-lock.doctor.unreachable=off")) {
			for (String path : PATHS) {
				HttpResponse<String> answer = application.get(path);
				assertThat(answer.statusCode()).as(path).isEqualTo(503);
				assertThat(EndpointAnswer.of(answer).<String>read("$.error")).as(path)
					.contains("can't be asked", "refused");
			}
			assertThat(application.get("actuator/advisorylockspage").statusCode()).as("a page to say so")
				.isEqualTo(200);
			assertThat(output.getAll().lines().filter((line) -> line.contains("Servlet.service"))).isEmpty();
		}
	}

	private static OperatedApplication startOnH2() {
		return start("jdbc:h2:mem:operated", "advisory-lock.doctor.not-postgresql=off");
	}

	private static OperatedApplication start(String url, String... properties) {
		String[] all = { "spring.datasource.url=" + url, "advisory-lock.ledger.enabled=false",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted" };
		String[] joined = Stream.of(all, properties).flatMap(Arrays::stream).toArray(String[]::new);
		return OperatedApplication.start(Jobs.class, joined);
	}

	/**
	 * A job.
	 */
	static class Jobs {

		@SingleRunner(key = "report")
		void report() {
		}

	}

}
