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

import io.github.advisorylock.annotation.SingleRunner;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLocksEndpoint} and its
 * {@link AdvisoryLocksEndpointWebExtension}.
 */
class AdvisoryLocksEndpointTests {

	@Test
	void jobIsRunPausedAndResumed() {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.access=unrestricted")) {
			assertThat(application.setState("nightly-report", "running").body()).contains("\"outcome\":\"EXECUTED\"");
			assertThat(application.setState("nightly-report", "paused").statusCode()).isEqualTo(200);
			assertThat(application.setState("nightly-report", "running").body()).contains("\"outcome\":\"PAUSED\"");
			assertThat(application.get("actuator/advisorylocks").body()).contains("\"problems\":[\"PAUSED\"]");
			assertThat(application.setState("nightly-report", "resumed").statusCode()).isEqualTo(200);
			assertThat(application.get("actuator/advisorylocks").body()).contains("\"problems\":[]");
		}
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
		@SingleRunner("nightly-report")
		void report() {
		}

		@SingleRunner("payment-#{#id}")
		void pay(String id) {
		}

	}

}
