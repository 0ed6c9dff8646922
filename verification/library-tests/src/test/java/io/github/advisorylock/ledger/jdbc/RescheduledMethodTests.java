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

import java.util.List;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JobSchedules}: of methods whose names are much alike, the one that an
 * operator means gets another schedule, wherever it is declared.
 */
@Tag("gate")
class RescheduledMethodTests {

	private static final String NEVER = "0 0 4 29 2 *";

	private static final List<String> KEYS = List.of("report", "daily", "outer", "inherited", "of-interface");

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.table-prefix=alike_")
		.withUserConfiguration(Jobs.class);

	@BeforeEach
	@AfterEach
	void forget() {
		TestPostgres.execute("DO $$ BEGIN IF to_regclass('alike_job') IS NOT NULL THEN "
				+ "DELETE FROM alike_job; DELETE FROM alike_run; DELETE FROM alike_schedule; END IF; END $$");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void methodThatIsMeantGetsAnotherSchedule(boolean classes) {
		this.runner.withPropertyValues("spring.aop.proxy-target-class=" + classes).run((context) -> {
			PostgresAdvisoryLockLedger ledger = context.getBean(PostgresAdvisoryLockLedger.class);
			ledger.check();
			for (String key : KEYS) {
				TestPostgres.execute("INSERT INTO alike_schedule (namespace, key, expression, zone, effective_at) "
						+ "VALUES ('test', '" + key + "', '* * * * * *', 'UTC', clock_timestamp())");
				ledger.rescheduled();
				Awaitility.await(key).until(() -> ran().contains(key));
				assertThat(ran()).containsExactlyInAnyOrderElementsOf(KEYS.subList(0, KEYS.indexOf(key) + 1));
			}
		});
	}

	private static List<String> ran() {
		return TestPostgres.query("SELECT DISTINCT key FROM alike_run");
	}

	@Configuration
	@EnableScheduling
	@Import({ Report.class, DailyReport.class, Outer.Report.class, Inheriting.class, Implementing.class,
			ImplementingToo.class })
	static class Jobs {

	}

	static class Report {

		@SingleRunner(key = "report", once = Once.PER_TICK)
		@Scheduled(cron = NEVER, zone = "UTC")
		void run() {
		}

	}

	static class DailyReport {

		@SingleRunner(key = "daily", once = Once.PER_TICK)
		@Scheduled(cron = NEVER, zone = "UTC")
		void run() {
		}

	}

	static class Outer {

		static class Report {

			@SingleRunner(key = "outer", once = Once.PER_TICK)
			@Scheduled(cron = NEVER, zone = "UTC")
			void run() {
			}

		}

	}

	abstract static class Inherited {

		@SingleRunner(key = "inherited", once = Once.PER_TICK)
		@Scheduled(cron = NEVER, zone = "UTC")
		void run() {
		}

	}

	static class Inheriting extends Inherited {

	}

	interface Job {

		void work();

	}

	static class Implementing implements Job {

		@Override
		@SingleRunner(key = "of-interface", once = Once.PER_TICK)
		@Scheduled(cron = NEVER, zone = "UTC")
		public void work() {
		}

	}

	static class ImplementingToo implements Job {

		@Override
		@SingleRunner(key = "of-interface-too", once = Once.PER_TICK)
		@Scheduled(cron = NEVER, zone = "UTC")
		public void work() {
		}

	}

}
