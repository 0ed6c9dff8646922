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

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.health.AdvisoryLockHealthAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for members as an operator sees them: two applications on one database.
 */
@ExtendWith(OutputCaptureExtension.class)
class EndpointMembersTests {

	private final SettableTicker ticker = new SettableTicker();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockHealthAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shown-members");

	private final ApplicationContextRunner shown = this.ticker.in(this.runner)
		.withConfiguration(AutoConfigurations.of(AdvisoryLockEndpointAutoConfiguration.class))
		.withPropertyValues("management.endpoints.web.exposure.include=*",
				"management.endpoints.jmx.exposure.include=*", "spring.jmx.enabled=true");

	@Test
	void endpointHealthAndDoctorTellHowManyThereAre(CapturedOutput output) {
		this.shown.withUserConfiguration(Jobs.class).run((first) -> {
			assertThat(locks(first).members()).isNull();
			try (HeldLock held = hold(first)) {
				assertThat(held.isHeld()).isTrue();
				assertThat(locks(first).members()).isEqualTo(1);
				this.shown.withUserConfiguration(Jobs.class).run((second) -> {
					second.getBean(Jobs.class).nightly();
					assertThat(output).contains("session locks straight to the server, 1 other member;");
					assertThat(List.of(locks(first).members(), locks(second).members())).containsOnly(2);
					assertThat(health(second).getDetails()).containsEntry("members", 2);
					assertThat(locks(first).problems()).isEmpty();
				});
				await().untilAsserted(() -> assertThat(locks(first).members()).isEqualTo(1));
			}
		});
	}

	@Test
	void memberThatGuardsSomethingElseIsAProblemAfterTenMinutes(CapturedOutput output) {
		this.shown.withUserConfiguration(Jobs.class).run((first) -> {
			try (HeldLock held = hold(first)) {
				this.shown.withUserConfiguration(Jobs.class, OtherJobs.class).run((second) -> {
					try (HeldLock kept = hold(second, "second")) {
						assertThat(kept.isHeld()).isTrue();
						beat(Duration.ofMinutes(9));
						assertThat(locks(first).problems()).isEmpty();
						await().untilAsserted(() -> {
							beat(Duration.ofMinutes(2));
							assertThat(locks(first).problems()).isNotEmpty();
						});
						assertThat(locks(first).problems()).singleElement().satisfies((problem) -> {
							assertThat(problem.problem()).isEqualTo(AdvisoryLocksDescriptor.Problem.MEMBERS_DIFFER);
							assertThat(problem.latest().get(0).detail()).contains("schedules, scopes, permits");
						});
						assertThat(output)
							.contains("1 of the 2 instances of 'shown-members' have guarded something else");
					}
				});
				await().untilAsserted(() -> {
					beat(Duration.ofSeconds(5));
					assertThat(locks(first).problems()).isEmpty();
				});
			}
		});
	}

	@Test
	void membersAreAlikeInWhatIsGuardedAndHow() {
		Class<?>[] beans = { Placed.class, OtherJobs.class };
		this.shown.withUserConfiguration(beans).run((first) -> {
			try (HeldLock held = hold(first)) {
				assertThat(held.isHeld()).isTrue();
				assertThat(hashesBeside("key=placed", "cron=0 0 4 * * *", "advisory-lock.jobs.placed.max-run=1h",
						"first=PT3S"))
					.as("alike")
					.isEqualTo(1);
				assertThat(hashesBeside(this.shown.withUserConfiguration(OtherJobs.class, Placed.class)))
					.as("beans in another order")
					.isEqualTo(1);
				assertThat(List.of("key=elsewhere", "cron=0 0 5 * * *", "zone=Pacific/Auckland", "rate=PT2H",
						"advisory-lock.scope=session", "advisory-lock.jobs.placed.scope=session",
						"advisory-lock.jobs.placed.permits=2", "advisory-lock.remember-ticks=0"))
					.allSatisfy((property) -> assertThat(hashesBeside(property)).isEqualTo(2));
				assertThat(hashesBeside(this.shown.withUserConfiguration(Placed.class))).as("fewer beans").isEqualTo(2);
			}
		});
	}

	@ParameterizedTest
	@CsvSource({ "UTC, Etc/UTC, 1", "Europe/Berlin, Etc/UTC, 2", "GMT, Z, 1" })
	void zoneOfTheJvmMattersWhereItPlansOtherTimes(String one, String other, int hashes) {
		TimeZone before = TimeZone.getDefault();
		try {
			TimeZone.setDefault(TimeZone.getTimeZone(ZoneId.of(one)));
			this.shown.withUserConfiguration(Placed.class).run((first) -> {
				try (HeldLock held = hold(first)) {
					assertThat(held.isHeld()).isTrue();
					TimeZone.setDefault(TimeZone.getTimeZone(ZoneId.of(other)));
					assertThat(hashesBeside(this.shown.withUserConfiguration(Placed.class))).isEqualTo(hashes);
				}
			});
			this.shown.withUserConfiguration(Timers.class).run((first) -> {
				try (HeldLock held = hold(first)) {
					assertThat(held.isHeld()).isTrue();
					TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
					assertThat(hashesBeside(this.shown.withUserConfiguration(Timers.class))).isEqualTo(1);
				}
			});
		}
		finally {
			TimeZone.setDefault(before);
		}
	}

	@Test
	void nobodyIsCountedWhereNoOneWantsToKnow() {
		this.runner.withUserConfiguration(Jobs.class).run((context) -> {
			context.getBean(Jobs.class).nightly();
			assertThat(TestPostgres.members("shown-members")).isEmpty();
		});
	}

	private int hashesBeside(String... properties) {
		return hashesBeside(
				this.shown.withUserConfiguration(Placed.class, OtherJobs.class).withPropertyValues(properties));
	}

	/**
	 * Return how many hashes the members of a namespace have with another application, as
	 * the lock table tells.
	 */
	private static int hashesBeside(ApplicationContextRunner runner) {
		AtomicInteger hashes = new AtomicInteger();
		runner.run((context) -> {
			try (HeldLock held = hold(context, "beside")) {
				assertThat(held.isHeld()).isTrue();
				assertThat(TestPostgres.members("shown-members")).hasSize(2);
				hashes.set(TestPostgres.memberLocks("shown-members").size() - 1);
			}
		});
		await().until(() -> TestPostgres.members("shown-members").size() == 1);
		return hashes.get();
	}

	/**
	 * Let time pass by heartbeats, each of which asks the server.
	 */
	private void beat(Duration time) {
		this.ticker.pass(time);
		this.ticker.pass(Duration.ofSeconds(3));
	}

	private static HeldLock hold(ApplicationContext context) {
		return hold(context, "held");
	}

	private static HeldLock hold(ApplicationContext context, String key) {
		return context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of(key)).orElseThrow();
	}

	private static AdvisoryLocksDescriptor locks(ApplicationContext context) {
		return context.getBean(AdvisoryLocksSource.class).getLocks(null, null, null, null, null, null, true);
	}

	private static Health health(ApplicationContext context) {
		return context.getBean(HealthIndicator.class).health();
	}

	static class Jobs {

		@SingleRunner(key = "nightly", scope = LockScope.SESSION)
		void nightly() {
		}

	}

	static class Placed {

		@Scheduled(cron = "${cron:0 0 4 * * *}", zone = "${zone:}")
		@SingleRunner("${key:placed}")
		void placed() {
		}

		@Scheduled(fixedRateString = "${rate:PT1H}", initialDelayString = "${first:PT1H}")
		@SingleRunner(key = "timer", permits = 3)
		void timer() {
		}

	}

	static class Timers {

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.HOURS)
		@SingleRunner("timers")
		void timers() {
		}

	}

	static class OtherJobs {

		@SingleRunner(key = "hourly", scope = LockScope.SESSION)
		void hourly() {
		}

	}

}
