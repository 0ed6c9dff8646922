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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.github.advisorylock.annotation.SingleRunner;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the page for operators, as far as they need no browser.
 */
class OperatorPageTests {

	@Test
	void pageShowsJobs() throws IOException {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted")) {
			application.setState("nightly-report", "running");
			application.setState("sales-report", "running");
			application.setState("sales-report", "paused");
			String page = application.get("actuator/advisorylockspage").body();
			Files.writeString(Path.of("target/page.html"), page);
			Files.writeString(Path.of("target/page-job.html"),
					application.get("actuator/advisorylockspage?key=shop/nightly-report").body());
			assertThat(page).contains("nightly-report");
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

		@Scheduled(fixedDelay = 3600_000, initialDelay = 3600_000)
		@SingleRunner("sales-report")
		void sales() {
			throw new IllegalStateException("no <b>sales</b>");
		}

		@SingleRunner("payment-#{#id}")
		void pay(String id) {
		}

	}

}
