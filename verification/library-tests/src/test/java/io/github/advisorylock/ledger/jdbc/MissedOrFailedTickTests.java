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

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link UnfinishedTickWatcher} with two instances: which ticks that did not
 * come to a good end on one of them the other one runs.
 */
@Tag("gate")
class MissedOrFailedTickTests {

	private static final Instant TICK = Instant.now().minus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);

	private final SettableTicker ticker = new SettableTicker();

	private final ApplicationContextRunner runner = this.ticker.in(LockContextRunner.create())
		.withBean("jobs", Jobs.class)
		.withUserConfiguration(Scheduling.class)
		.withBean("lifecycleProcessor", DefaultLifecycleProcessor.class, MissedOrFailedTickTests::impatient)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always", "act=end",
				"advisory-lock.ledger.table-prefix=missed_or_failed_tests.ledger_", "cron=" + dailyAt(TICK));

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS missed_or_failed_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA missed_or_failed_tests");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runThatAShutdownEndsIsMadeUpForByAnotherInstanceAndHasNotFailed(LockScope scope) {
		ApplicationContextRunner instances = inScope(scope);
		instances.run((other) -> {
			seenBefore();
			instances.withPropertyValues("act=hang").run((victim) -> {
				Jobs jobs = victim.getBean(Jobs.class);
				victim.getBean(TaskScheduler.class).schedule(() -> callByScheduler(victim), Instant.now());
				jobs.awaitRunning();
				callByScheduler(other);
				assertThat(other.getBean(Jobs.class).calls()).isEqualTo(0);
			});
			awaitCalls(other, 1);
			Awaitility.await().until(() -> outcomes().endsWith("EXECUTED"));
			assertThat(outcomes()).doesNotContain("FAILED");
		});
	}

	@Test
	void runThatFailsIsRunByNobodyWithoutRetries() {
		this.runner.run((other) -> {
			seenBefore();
			this.runner.withPropertyValues("act=fail").run((failing) -> {
				assertThatIllegalStateException().isThrownBy(() -> callByScheduler(failing)).withMessage("attempt 1");
				callByScheduler(other);
				endWait();
				letTimePass(Duration.ofMinutes(5));
				assertThat(failing.getBean(Jobs.class).calls()).isEqualTo(1);
				assertThat(other.getBean(Jobs.class).calls()).isEqualTo(0);
				assertThat(outcomes()).isEqualTo("FAILED");
				other.getBean(AdvisoryLockLedger.class).retry("nightly", "alice");
				awaitCalls(other, 1);
			});
			assertThat(outcomes()).isEqualTo("FAILED, EXECUTED");
		});
	}

	@Test
	void runThatFailsIsRunAgainByAnyInstanceAsOftenAsItMay() {
		this.runner.withPropertyValues("act=fail").run((failing) -> {
			seenBefore();
			assertThatIllegalStateException()
				.isThrownBy(() -> PlannedTime.run(TICK, failing.getBean(Jobs.class)::retried))
				.withMessage("attempt 1");
			for (int attempt = 2; attempt <= 3; attempt++) {
				endWait();
				awaitCalls(failing, attempt);
				String failed = "FAILED" + ", FAILED".repeat(attempt - 1);
				Awaitility.await().until(() -> outcomes().equals(failed));
			}
			endWait();
			letTimePass(Duration.ofMinutes(5));
			assertThat(outcomes()).isEqualTo("FAILED, FAILED, FAILED");
			assertThat(TestPostgres.query("SELECT attempt FROM missed_or_failed_tests.ledger_run ORDER BY id"))
				.containsExactly("1", "2", "3");
		});
	}

	private ApplicationContextRunner inScope(LockScope scope) {
		return this.runner.withPropertyValues("advisory-lock.jobs.nightly.scope=" + scope);
	}

	/**
	 * Let time pass until an instance has been at the tick so often.
	 */
	private void awaitCalls(ApplicationContext context, int calls) {
		Awaitility.await().pollInSameThread().until(() -> {
			this.ticker.advance(Duration.ofSeconds(1));
			return context.getBean(Jobs.class).calls() >= calls;
		});
	}

	private void letTimePass(Duration time) {
		for (long seconds = 0; seconds < time.toSeconds(); seconds += 10) {
			this.ticker.advance(Duration.ofSeconds(10));
		}
	}

	private static void endWait() {
		TestPostgres
			.execute("UPDATE missed_or_failed_tests.ledger_job SET retry_at = now() WHERE retry_at IS NOT NULL");
	}

	private static void callByScheduler(ApplicationContext context) {
		PlannedTime.run(TICK, context.getBean(Jobs.class)::nightly);
	}

	private static void seenBefore() {
		TestPostgres
			.execute("UPDATE missed_or_failed_tests.ledger_job SET first_seen_at = first_seen_at - interval '5 days'");
	}

	private static String outcomes() {
		return String.join(", ", TestPostgres.query(
				"SELECT coalesce(outcome, 'OPEN') " + "FROM missed_or_failed_tests.ledger_run ORDER BY fencing_token"));
	}

	private static String dailyAt(Instant instant) {
		ZonedDateTime time = instant.atZone(ZoneOffset.UTC);
		return time.getSecond() + " " + time.getMinute() + " " + time.getHour() + " * * *";
	}

	/**
	 * A shutdown that does not wait for runs, which then are interrupted.
	 */
	private static DefaultLifecycleProcessor impatient() {
		DefaultLifecycleProcessor lifecycle = new DefaultLifecycleProcessor();
		lifecycle.setTimeoutPerShutdownPhase(100);
		return lifecycle;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Jobs {

		private final String act;

		private final AtomicInteger calls = new AtomicInteger();

		private final CountDownLatch running = new CountDownLatch(1);

		Jobs(Environment environment) {
			this.act = environment.getRequiredProperty("act");
		}

		@Scheduled(cron = "${cron}", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h")
		void nightly() {
			run();
		}

		@Scheduled(cron = "${cron}", zone = "UTC")
		@SingleRunner(key = "retried", once = Once.PER_TICK, catchUp = "2h", maxRetries = 2)
		void retried() {
			run();
		}

		int calls() {
			return this.calls.get();
		}

		void awaitRunning() {
			try {
				assertThat(this.running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void run() {
			int call = this.calls.incrementAndGet();
			this.running.countDown();
			if (this.act.equals("hang")) {
				hang();
			}
			if (this.act.equals("fail")) {
				throw new IllegalStateException("attempt " + call);
			}
		}

		private static void hang() {
			try {
				new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
