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

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for schedules that are not the same on all instances. Both instances are this
 * process, the first one under another name.
 */
@Tag("gate")
class DifferingSchedulesTests {

	private static final String OWN = "instance <> 'other:1'";

	@BeforeEach
	@AfterEach
	void dropTables() {
		OperatedApplication.dropTables();
	}

	@Test
	void schedulesThatDifferForLongerThanARollOutNameBothInstances() {
		try (OperatedApplication first = start("2000")) {
			awaitSchedules("PT2S");
			assertThat(differing(first)).isEmpty();
		}
		TestPostgres.execute("UPDATE operated_instance SET instance = 'other:1', stopped_at = NULL, seen_at = now() + "
				+ "interval '50 seconds', started_at = now() - interval '1 hour'");
		try (OperatedApplication second = start("2137")) {
			awaitSchedules("PT2.137S");
			assertThat(differing(second)).isEmpty();
			TestPostgres
				.execute("UPDATE operated_instance SET started_at = now() - interval '11 minutes' WHERE " + OWN);
			Map<String, Object> problem = differing(second).get(0);
			assertThat(problem).containsEntry("key", "poll")
				.containsEntry("instance", new LockInstance(null).name())
				.containsEntry("detail", "fixedDelay PT2.137S, but fixedDelay PT2S on other:1");
			assertThat(differing(second)).hasSize(1);
			TestPostgres.execute("UPDATE operated_instance SET seen_at = now() - interval '1 minute' WHERE instance = "
					+ "'other:1'");
			assertThat(differing(second)).isEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "nightly, max-retries=3, cron 0 0 3 * * * UTC with maxRetries %s, 1, 3",
					"same, permits=2, cron 0 0 * * * * UTC not PER_TICK%s, '', ' with 2 permits'",
					"same, scope=session, cron 0 0 * * * * UTC not PER_TICK%s, '', ' in scope SESSION'",
					"same, paused=true, none, '', ''" })
	void whatAPropertyOfOneInstanceSetsIsTold(String key, String property, String detail, String one, String other) {
		try (OperatedApplication first = start("2000", "zone=Etc/UTC")) {
			awaitSchedules("PT2S");
			assertThat(differing(first)).isEmpty();
		}
		TestPostgres.execute("UPDATE operated_instance SET instance = 'other:1', stopped_at = NULL, seen_at = now() + "
				+ "interval '50 seconds', started_at = now() - interval '1 hour'");
		try (OperatedApplication second = start("2000", "advisory-lock.jobs." + key + "." + property)) {
			awaitSchedules("PT2S");
			TestPostgres
				.execute("UPDATE operated_instance SET started_at = now() - interval '11 minutes' WHERE " + OWN);
			assertThat(differing(second)).extracting((problem) -> problem.get("key") + ": " + problem.get("detail"))
				.isEqualTo((detail != null) ? List.of(key + ": " + detail.formatted(one) + ", but "
						+ detail.formatted(other) + " on " + new LockInstance(null).name()) : List.of());
		}
	}

	private static OperatedApplication start(String poll, String... properties) {
		return OperatedApplication.start(Jobs.class,
				Stream
					.concat(Stream.of("management.endpoints.web.exposure.include=advisorylocks", "poll=" + poll),
							Stream.of(properties))
					.toArray(String[]::new));
	}

	private static void awaitSchedules(String interval) {
		await().untilAsserted(
				() -> assertThat(TestPostgres.query("SELECT schedules ->> 'poll' FROM operated_instance WHERE " + OWN))
					.containsExactly("fixedDelay " + interval));
	}

	private static List<Map<String, Object>> differing(OperatedApplication application) {
		return EndpointAnswer.all(application).read("$.problems[?(@.problem == 'SCHEDULES_DIFFER')].latest[*]");
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(fixedDelayString = "${poll}")
		@SingleRunner("poll")
		void poll() {
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "1h", maxRetries = 1)
		void nightly() {
		}

		@Scheduled(cron = "0 0 * * * *", zone = "${zone:UTC}")
		@SingleRunner("same")
		void same() {
		}

	}

}
