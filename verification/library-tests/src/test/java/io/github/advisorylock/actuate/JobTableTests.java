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

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link JobTable}, {@link MethodSchedules} and {@link CallCounter}.
 */
@Tag("gate")
class JobTableTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted", "shop.key=from-placeholder",
			"spring.aop.proxy-target-class=false", "advisory-lock.jobs.switched-off.paused=true" };

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, PROPERTIES);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void cronJobIsListedWithMethodZoneAndNextTick() {
		Map<String, Object> job = EndpointAnswer.job(application, "nightly");
		assertThat(job).containsEntry("namespace", "shop")
			.containsEntry("method", Jobs.class.getName() + ".report")
			.containsEntry("scope", "TRANSACTION")
			.containsEntry("schedules",
					List.of(Map.of("type", "cron", "expression", "0 0 3 * * *", "zone", "Asia/Tokyo")))
			.containsEntry("state", "idle")
			.containsEntry("actions", List.of("running", "backfilled", "paused", "resumed", "rescheduled"))
			.doesNotContainKeys("paused", "lastRun", "lastTick");
		assertThat(Instant.parse((String) job.get("next")).atOffset(ZoneOffset.UTC))
			.satisfies((next) -> assertThat(next.toLocalTime()).hasToString("18:00"))
			.satisfies((next) -> assertThat(next.toInstant()).isAfter(Instant.now()));
	}

	@Test
	void fixedDelayAndFixedRateAreListedWithTheirInterval() {
		assertThat(EndpointAnswer.job(application, "from-placeholder")).containsEntry("schedules",
				List.of(Map.of("type", "fixedDelay", "interval", "PT2H")));
		assertThat(EndpointAnswer.job(application, "rate"))
			.containsEntry("schedules", List.of(Map.of("type", "fixedRate", "interval", "PT1H")))
			.containsKey("next");
	}

	@Test
	void keyThatDependsOnArgumentsIsListedWithoutScheduleAndActions() {
		assertThat(EndpointAnswer.job(application, "payment:#{#id}")).containsEntry("schedules", List.of())
			.containsEntry("actions", List.of())
			.doesNotContainKey("next");
	}

	@Test
	void overloadOfScheduledMethodIsListedWithoutSchedule() {
		assertThat(EndpointAnswer.job(application, "rate-by-hand")).containsEntry("schedules", List.of());
	}

	@Test
	void scheduleOfMethodIsFoundBehindProxyOfItsInterface() {
		assertThat(application.bean(Reports.class)).isInstanceOf(java.lang.reflect.Proxy.class);
		assertThat(EndpointAnswer.job(application, "proxied")).containsEntry("schedules",
				List.of(Map.of("type", "cron", "expression", "0 30 4 * * *", "zone", "UTC")));
	}

	@Test
	void jobOfAnotherApplicationIsPausedInItsOwnNamespace() {
		TestPostgres.execute(
				"INSERT INTO operated_job (namespace, key) VALUES ('billing', 'nightly') " + "ON CONFLICT DO NOTHING");
		assertThat(application.setState("nightly?namespace=billing", "paused").body())
			.contains("\"namespace\":\"billing\"");
		assertThat(TestPostgres.query("SELECT namespace FROM operated_pause")).containsExactly("billing");
		assertThat(EndpointAnswer.all(application).jobs("nightly")).hasSize(2)
			.first()
			.satisfies((job) -> assertThat(job).containsEntry("state", "paused").doesNotContainKeys("method", "scope"));
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/nightly?namespace=billing"))
			.<List<String>>read("$.job.actions")).containsExactly("paused", "resumed", "forgotten");
		application.setState("nightly?namespace=billing", "resumed");
		assertThat(TestPostgres.query("SELECT namespace FROM operated_pause")).isEmpty();
		TestPostgres.execute("DELETE FROM operated_job WHERE namespace = 'billing'");
	}

	@Test
	void methodsThatShareKeyAreListedEachAndReported() {
		assertThat(EndpointAnswer.all(application).jobs("shared")).extracting((job) -> job.get("method"))
			.containsExactlyInAnyOrder(Jobs.class.getName() + ".one", Jobs.class.getName() + ".two");
		assertThat(EndpointAnswer.job(application, "shared")).containsEntry("problems", List.of("SHARED_KEY"));
	}

	@Test
	void jobThatPropertySwitchesOffIsPausedByThatProperty() {
		assertThat(EndpointAnswer.job(application, "switched-off")).containsEntry("state", "paused")
			.containsEntry("paused", Map.of("by", "advisory-lock.jobs.switched-off.paused"))
			.containsEntry("problems", List.of("PAUSED"));
	}

	@Test
	void runsSkipsAndFailuresAreCountedAndRemembered() {
		Jobs jobs = application.bean(Jobs.class);
		jobs.work(() -> {
		});
		try (ForeignSession session = ForeignSession.holding(AdvisoryLockKey.of("shop", "work"))) {
			jobs.work(() -> {
			});
		}
		assertThatIllegalStateException().isThrownBy(() -> jobs.work(() -> {
			throw new IllegalStateException("password is 1234");
		})).withMessage("password is 1234");
		EndpointAnswer job = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/work"));
		assertThat(job.<Map<String, Object>>read("$.job"))
			.containsEntry("outcomes", Map.of("EXECUTED", 1, "BUSY", 1, "FAILED", 1))
			.containsEntry("problems", List.of("FAILED"));
		assertThat(job.<Map<String, Object>>read("$.job.lastRun")).containsEntry("outcome", "FAILED")
			.containsEntry("error", "java.lang.IllegalStateException")
			.containsKeys("instance", "fencingToken", "startedAt", "finishedAt", "duration");
		assertThat(job.<List<String>>read("$.runs[*].outcome")).containsExactly("FAILED", "EXECUTED");
	}

	@Test
	void schedulesAreFoundWithSchedulerOfThreadsWithoutPool() {
		try (OperatedApplication other = OperatedApplication.start(UnpooledJobs.class, PROPERTIES)) {
			assertThat(EndpointAnswer.job(other, "nightly"))
				.containsEntry("schedules",
						List.of(Map.of("type", "cron", "expression", "0 0 3 * * *", "zone", "Asia/Tokyo")))
				.containsKey("next");
			assertThat(EndpointAnswer.job(other, "rate")).containsEntry("schedules",
					List.of(Map.of("type", "fixedRate", "interval", "PT1H")));
		}
	}

	@Test
	void zoneIsReadAsSpringReadsIt() {
		try (OperatedApplication other = OperatedApplication.start(PacificJobs.class, PROPERTIES)) {
			for (String key : List.of("pacific", "pacific-tick")) {
				Map<String, Object> job = EndpointAnswer.job(other, key);
				assertThat(job).containsEntry("schedules",
						List.of(Map.of("type", "cron", "expression", "0 0 3 * * *", "zone", "PST")));
				assertThat(Instant.parse((String) job.get("next")).atZone(ZoneId.of("America/Los_Angeles")))
					.satisfies((next) -> assertThat(next.toLocalTime()).hasToString("03:00"));
			}
		}
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "Asia/Tokyo")
		@SingleRunner("nightly")
		void report() {
		}

		@Scheduled(fixedDelayString = "PT2H", initialDelay = 3_600_000)
		@SingleRunner("${shop.key}")
		void placeholder() {
		}

		@Scheduled(fixedRate = 3_600_000, initialDelay = 3_600_000)
		@SingleRunner("rate")
		void rate() {
		}

		@SingleRunner("rate-by-hand")
		void rate(String reason) {
		}

		@SingleRunner("payment:#{#id}")
		void pay(String id) {
		}

		@SingleRunner(key = "shared", allowSharedKey = true)
		void one() {
		}

		@SingleRunner(key = "shared", allowSharedKey = true)
		void two() {
		}

		@SingleRunner("switched-off")
		void switchedOff() {
		}

		@SingleRunner("work")
		void work(Runnable work) {
			work.run();
		}

		@Bean
		Reports reports() {
			return new ProxiedReports();
		}

	}

	/**
	 * The same, with a scheduler that starts a thread for each run, and wraps what it
	 * runs.
	 */
	static class UnpooledJobs extends Jobs {

		@Bean
		TaskScheduler taskScheduler() {
			SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
			scheduler.setTaskDecorator((task) -> () -> task.run());
			return scheduler;
		}

	}

	/**
	 * An interface of a job.
	 */
	interface Reports {

		void run();

	}

	/**
	 * A job that is called through its interface.
	 */
	static class ProxiedReports implements Reports {

		@Override
		@Scheduled(cron = "0 30 4 * * *", zone = "UTC")
		@SingleRunner("proxied")
		public void run() {
		}

	}

	/**
	 * Guarded methods in a zone that has an old short name.
	 */
	static class PacificJobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "PST")
		@SingleRunner("pacific")
		void plain() {
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "PST")
		@SingleRunner(key = "pacific-tick", once = Once.PER_TICK)
		void perTick() {
		}

	}

}
