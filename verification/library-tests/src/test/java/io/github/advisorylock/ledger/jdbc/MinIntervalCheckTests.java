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

package io.github.advisorylock.ledger.jdbc;

import java.util.concurrent.TimeUnit;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MinIntervalCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class MinIntervalCheckTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=interval_tests_", "rate=10m");

	@Test
	void intervalAsLongAsPeriodIsToldWithBeanAndMethod(CapturedOutput output) {
		this.runner.withBean("jobs", EqualJobs.class).run((context) -> assertThat(context).hasNotFailed());
		for (String method : new String[] { "rate", "rateText", "delay", "cron", "summer" }) {
			assertThat(output).containsOnlyOnce("@SingleRunner method '" + method + "' of class '"
					+ EqualJobs.class.getName() + "' on bean 'jobs': attribute 'minInterval'");
		}
		assertThat(output).contains("attribute 'minInterval' is PT10M and its schedule has a call each PT10M");
	}

	@Test
	void shorterIntervalIsFine(CapturedOutput output) {
		this.runner.withBean("jobs", ShorterJobs.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("its schedule has a call each");
	}

	static class EqualJobs {

		@Scheduled(fixedRate = 10, timeUnit = TimeUnit.MINUTES)
		@SingleRunner(key = "rate", minInterval = "10m")
		void rate() {
		}

		@Scheduled(fixedRateString = "${rate}")
		@SingleRunner(key = "rate-text", minInterval = "1h")
		void rateText() {
		}

		@Scheduled(fixedDelay = 600_000)
		@SingleRunner(key = "delay", minInterval = "10m")
		void delay() {
		}

		@Scheduled(cron = "0 */10 * * * *")
		@SingleRunner(key = "cron", once = Once.PER_TICK, minInterval = "10m")
		void cron() {
		}

		@Scheduled(cron = "0 0 0,12 * * *", zone = "PST")
		@SingleRunner(key = "summer", minInterval = "12h")
		void summer() {
		}

	}

	static class ShorterJobs {

		@Scheduled(fixedRate = 10, timeUnit = TimeUnit.MINUTES)
		@SingleRunner(key = "rate", minInterval = "9m")
		void rate() {
		}

		@Scheduled(cron = "0 */10 * * * *")
		@SingleRunner(key = "cron", minInterval = "9m")
		void cron() {
		}

		@Scheduled(cron = "-")
		@SingleRunner(key = "never", minInterval = "9m")
		void never() {
		}

		@SingleRunner(key = "by-hand", minInterval = "9m")
		void byHand() {
		}

	}

}
