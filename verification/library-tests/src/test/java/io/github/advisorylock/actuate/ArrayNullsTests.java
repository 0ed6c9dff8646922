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

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a role for which NULL in the text of an array is a word.
 */
@Tag("gate")
class ArrayNullsTests {

	private static final String ROLE = "array_nulls_off";

	@BeforeEach
	void createRole() {
		OperatedApplication.dropTables();
		TestPostgres.execute("CREATE ROLE " + ROLE + " LOGIN SUPERUSER PASSWORD 'low'; ALTER ROLE " + ROLE
				+ " SET array_nulls = off");
	}

	@AfterEach
	void dropRole() {
		OperatedApplication.dropTables();
		TestPostgres.execute("DROP OWNED BY " + ROLE + " CASCADE; DROP ROLE " + ROLE);
	}

	@Test
	void jobsAndAnswersAreTold() {
		try (OperatedApplication holder = start(); OperatedApplication asked = start()) {
			assertThat(TestPostgres.query("SELECT concat_ws(' ', key, once, scope, period, catch_up, template) FROM "
					+ OperatedApplication.PREFIX + "job ORDER BY key"))
				.containsExactly("daily PER_TICK TRANSACTION 86400000000 3600000000",
						"event:#{#id} PER_KEY TRANSACTION event:#{#id}", "poll NONE TRANSACTION 3600000000");
			assertHandedOverLockIsTold(holder, asked);
		}
	}

	private static void assertHandedOverLockIsTold(OperatedApplication holder, OperatedApplication asked) {
		try (HeldLock lock = holder.bean(AdvisoryLockOperations.class)
			.tryAcquire(LockRequest.of("handed-over"))
			.orElseThrow()) {
			assertThat(lock.isHeld()).isTrue();
			List<String> errors = EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/handed-over/stack"))
				.read("$.runs[*].error");
			assertThat(errors).singleElement().asString().contains("'tryAcquire'");
		}
	}

	private static OperatedApplication start() {
		return OperatedApplication.start(Jobs.class,
				"spring.datasource.url=" + TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", ""),
				"spring.datasource.username=" + ROLE, "spring.datasource.password=low",
				"management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.show-values=always", "advisory-lock.session.heartbeat=200ms");
	}

	static class Jobs {

		@SingleRunner(key = "daily", once = Once.PER_TICK, catchUp = "1h")
		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		void daily() {
		}

		@SingleRunner(key = "poll", minInterval = "30m")
		@Scheduled(fixedRate = 3_600_000, initialDelay = 3_600_000)
		void poll() {
		}

		@SingleRunner(key = "event:#{#id}", once = Once.PER_KEY)
		void event(String id) {
		}

	}

}
