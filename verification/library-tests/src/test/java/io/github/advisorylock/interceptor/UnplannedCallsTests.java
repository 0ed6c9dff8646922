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

package io.github.advisorylock.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.PeriodicTrigger;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnplannedCalls}: calls of a scheduler that run on every instance are
 * told once, and calls by hand never.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnplannedCallsTests {

	private static final String TOLD = "A scheduler calls method 'Jobs.";

	private static final Duration OFTEN = Duration.ofMillis(20);

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(Scheduling.class)
		.withPropertyValues("spring.threads.virtual.enabled=false")
		.withBean(Jobs.class);

	@AfterEach
	void awaitEndOfLocks() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@Test
	void rateIsToldOnceWithWhatToChange(CapturedOutput output) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			repeat(context.getBean(ThreadPoolTaskScheduler.class).scheduleAtFixedRate(jobs::auto, OFTEN), jobs);
			assertThat(output).contains(TOLD + "auto' (key 'auto') for no planned time", "every instance",
					"minInterval", "'once' to NONE");
			assertThat(StringUtils.countOccurrencesOf(output.getOut(), TOLD)).isEqualTo(1);
		});
	}

	@Test
	void taskOfARegistrarIsNotTold(CapturedOutput output) {
		this.runner.withBean(Registrar.class).run((context) -> {
			Awaitility.await().until(() -> context.getBean(Jobs.class).calls() >= 1);
			assertThat(output).doesNotContain(TOLD);
		});
	}

	@Test
	void periodIsTold(CapturedOutput output) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			repeat(context.getBean(ThreadPoolTaskScheduler.class).schedule(jobs::auto, new PeriodicTrigger(OFTEN)),
					jobs);
			assertThat(output).contains(TOLD + "auto'");
		});
	}

	/**
	 * Nothing stands before a scheduler that the application gives its tasks itself.
	 */
	@ParameterizedTest
	@ValueSource(
			classes = { ThreadPoolTaskScheduler.class, SimpleAsyncTaskScheduler.class, ConcurrentTaskScheduler.class })
	void triggerOfASchedulerWithoutRegistrarIsTold(Class<? extends TaskScheduler> type, CapturedOutput output) {
		this.runner.withBean(type).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			context.getBean(type)
				.schedule(jobs::auto,
						(plans) -> (plans.lastScheduledExecution() == null) ? plans.getClock().instant() : null);
			Awaitility.await().until(() -> jobs.calls() >= 1);
			assertThat(output).contains(TOLD + "auto'", "SchedulingConfigurer");
		});
	}

	@Test
	void executorOfJavaIsToldForWhoReliesOnTicks(CapturedOutput output) {
		ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
		try {
			this.runner
				.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
						"advisory-lock.ledger.table-prefix=unplanned_")
				.withBean(TickJob.class)
				.run((context) -> {
					TickJob job = context.getBean(TickJob.class);
					ScheduledFuture<?> repeated = executor.scheduleAtFixedRate(job::run, 0, 20, TimeUnit.MILLISECONDS);
					Awaitility.await().until(() -> output.getOut().contains("A scheduler calls method 'TickJob.run'"));
					repeated.cancel(false);
				});
			assertThat(output).contains("its own clock");
		}
		finally {
			executor.shutdownNow();
			for (String table : new String[] { "job", "run", "completion", "instance", "pause", "question" }) {
				TestPostgres.execute("DROP TABLE IF EXISTS unplanned_" + table + " CASCADE");
			}
			TestPostgres.execute("DROP SEQUENCE IF EXISTS unplanned_fencing_token");
		}
	}

	@Test
	void callsByHandAreNotTold(CapturedOutput output) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			ThreadPoolTaskScheduler scheduler = context.getBean(ThreadPoolTaskScheduler.class);
			jobs.auto();
			scheduler.submit(jobs::auto).get();
			scheduler.schedule(jobs::auto, Instant.now()).get();
			assertThat(jobs.calls()).isEqualTo(3);
			assertThat(output).doesNotContain(TOLD);
		});
	}

	@Test
	void callsThatAreMeantToBeWithoutTickAreNotTold(CapturedOutput output) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			repeat(context.getBean(ThreadPoolTaskScheduler.class).scheduleAtFixedRate(jobs::none, OFTEN), jobs);
			assertThat(output).doesNotContain(TOLD);
		});
	}

	@Test
	void whatARunCallsIsNotTold(CapturedOutput output) {
		this.runner.withBean(Outer.class).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			Outer outer = context.getBean(Outer.class);
			context.getBean(ThreadPoolTaskScheduler.class).scheduleAtFixedRate(outer::run, Duration.ofDays(1));
			Awaitility.await().until(() -> jobs.calls() >= 1);
			assertThat(output).doesNotContain(TOLD);
		});
	}

	/**
	 * Await calls, of which one may have been under way, so that all are over but that.
	 */
	private static void repeat(ScheduledFuture<?> task, Jobs jobs) {
		Awaitility.await().until(() -> jobs.calls() >= 3);
		task.cancel(false);
	}

	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Scheduling {

	}

	static class Jobs {

		private final AtomicInteger calls = new AtomicInteger();

		int calls() {
			return this.calls.get();
		}

		@SingleRunner("auto")
		void auto() {
			this.calls.incrementAndGet();
		}

		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			this.calls.incrementAndGet();
		}

	}

	static class TickJob {

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner(key = "tick", once = Once.PER_TICK)
		void run() {
		}

	}

	static class Outer {

		private final Jobs jobs;

		Outer(Jobs jobs) {
			this.jobs = jobs;
		}

		@SingleRunner(key = "outer", once = Once.NONE)
		void run() {
			this.jobs.auto();
		}

	}

	static class Registrar implements SchedulingConfigurer {

		private final Jobs jobs;

		Registrar(Jobs jobs) {
			this.jobs = jobs;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.addFixedRateTask(this.jobs::auto, Duration.ofDays(1));
		}

	}

}
