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
import io.github.advisorylock.annotation.WhenBusy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an instance says it guards: nothing where locks are switched off, and
 * once for what in fact.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class WhatIsGuardedTests {

	private static final String[] EXPOSED = { "management.endpoints.web.exposure.include=advisorylocks,health",
			"management.endpoint.health.show-details=always", "advisory-lock.ledger.enabled=false" };

	private static final String NOT_ONCE = "one at a time, not once per tick or interval: ";

	@Test
	void locksThatAreSwitchedOffAreToldWhereOperatorsLook(CapturedOutput output) {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class, EXPOSED[0], EXPOSED[1],
				"advisory-lock.enabled=false")) {
			String why = "switched off by 'advisory-lock.enabled': every instance runs every method";
			assertThat(application.get("actuator/advisorylocks").body()).contains("\"enabled\":false", why,
					"\"namespace\":\"shop\"");
			assertThat(application.get("actuator/advisorylocks/cron").statusCode()).isEqualTo(404);
			assertThat(application.get("actuator/health").body()).contains("\"advisoryLock\"", "\"locks\":\"" + why);
			assertThat(output.toString().split(why, -1)).as("said once").hasSize(2);
		}
	}

	@Test
	void lineOfTheStartAndEndpointSayWhyAMethodIsNotOncePerTick(CapturedOutput output) {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class, EXPOSED)) {
			assertOnce(application, output, "cron", "once per tick");
			assertOnce(application, output, "primitive", NOT_ONCE + "a skipped call would have nothing to return");
			assertOnce(application, output, "shared", NOT_ONCE + "'allowSharedKey' is set");
			assertOnce(application, output, "two", "2 at a time, not once per tick or interval: 'permits' is set");
			assertThat(output).contains("; by-hand: one at a time, once per tick or interval of a scheduled method");
		}
	}

	@Test
	void ticksThatNothingRemembersAreNotToldAsOnce(CapturedOutput output) {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class, EXPOSED[0], EXPOSED[2],
				"advisory-lock.remember-ticks=0")) {
			assertOnce(application, output, "cron", NOT_ONCE + "'advisory-lock.remember-ticks' is 0");
			assertThat(output).contains("; by-hand: one at a time");
		}
	}

	private static void assertOnce(OperatedApplication application, CapturedOutput output, String key, String once) {
		assertThat(output).contains("; " + key + ": " + once);
		assertThat(application.get("actuator/advisorylocks/" + key).body()).contains("\"once\":\"" + once + "\"");
		assertThat(application.get("actuator/advisorylocks?q=" + key).body()).contains("\"once\":\"" + once + "\"");
	}

	/**
	 * Methods that are never called here.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner("cron")
		void cron() {
		}

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner(key = "primitive", whenBusy = WhenBusy.FAIL)
		int primitive() {
			return 1;
		}

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner(key = "shared", allowSharedKey = true)
		void shared() {
		}

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner(key = "two", permits = 2)
		void two() {
		}

		@SingleRunner("by-hand")
		void byHand() {
		}

	}

}
