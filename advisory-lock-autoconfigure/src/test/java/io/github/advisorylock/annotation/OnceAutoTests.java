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

package io.github.advisorylock.annotation;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.task.SimpleAsyncTaskSchedulerCustomizer;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Once#AUTO}: instances whose clocks differ by more than an empty job
 * lasts run each tick once.
 */
@Tag("slow")
class OnceAutoTests {

	private static final Duration SKEW = Duration.ofMillis(300);

	private static final Queue<Run> runs = new ConcurrentLinkedQueue<>();

	private static final Queue<LockOutcome> skips = new ConcurrentLinkedQueue<>();

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() {
		this.instances.forEach(ConfigurableApplicationContext::close);
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@Test
	void everyTickRunsOnceWhateverTheClocksSay() {
		runs.clear();
		skips.clear();
		Stream.of(Duration.ZERO, SKEW, SKEW.negated()).forEach(this::start);
		Instant from = Instant.now().plusSeconds(2);
		Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.untilAsserted(() -> assertThat(ticksThatAllInstancesMet(from)).hasSizeGreaterThanOrEqualTo(5));
		// the latest one may not have been met by all other jobs yet
		List<Instant> ticks = ticksThatAllInstancesMet(from).subList(0, 4);
		for (String job : List.of("transaction", "session", "transactional", "async", "two-schedules", "cron-task",
				"trigger-task", "unannotated", "refreshed")) {
			Awaitility.await().untilAsserted(() -> assertThat(ticksOf(job)).as(job).containsAll(ticks));
			assertThat(ticksOf(job)).as(job).doesNotHaveDuplicates();
		}
		assertThat(runs).filteredOn((run) -> !run.job().equals("none"))
			.isNotEmpty()
			.allSatisfy((run) -> assertThat(run.tick()).isBeforeOrEqualTo(run.time().plusMillis(100)));
		assertThat(skips).contains(LockOutcome.ALREADY_RAN);
	}

	@Test
	void callsByHandRunWhenTheLockIsFree() {
		runs.clear();
		start(Duration.ZERO);
		Jobs jobs = this.instances.get(0).getBean(Jobs.class);
		runs.clear();
		jobs.never();
		jobs.never();
		assertThat(runs).filteredOn((run) -> run.job().equals("never"))
			.extracting(Run::tick)
			.containsExactly(null, null);
	}

	private static List<Instant> ticksOf(String job) {
		return runs.stream().filter((run) -> run.job().equals(job)).map(Run::tick).sorted().toList();
	}

	/**
	 * Return the ticks at which each instance was there in time: on a machine that is
	 * busy, a scheduler may miss one, and that says nothing of locks. Told by the clocks
	 * of the instances, and the job that runs on all of them.
	 */
	private List<Instant> ticksThatAllInstancesMet(Instant from) {
		return runs.stream()
			.filter((run) -> run.job().equals("none"))
			.map((run) -> Instant.ofEpochSecond(run.time().plusMillis(100).getEpochSecond() / 2 * 2))
			.filter((tick) -> tick.isAfter(from))
			.collect(Collectors.groupingBy((tick) -> tick, TreeMap::new, Collectors.counting()))
			.entrySet()
			.stream()
			.filter((tick) -> tick.getValue() == this.instances.size())
			.map(Map.Entry::getKey)
			.toList();
	}

	private void start(Duration skew) {
		this.instances.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("spring.application.name=once-auto", "spring.datasource.url=" + TestPostgres.url(),
					"spring.task.scheduling.pool.size=8", "spring.datasource.hikari.maximum-pool-size=10",
					"skew=" + skew, "refreshed-cron=0 0 0 29 2 *")
			.run());
		ConfigurableApplicationContext instance = this.instances.get(this.instances.size() - 1);
		TestPropertyValues.of("refreshed-cron=*/2 * * * * *").applyTo(instance);
		// as a refresh of the configuration does
		((DefaultListableBeanFactory) instance.getBeanFactory()).destroySingleton("jobs");
		instance.getBean("jobs");
	}

	/**
	 * Jobs that are empty.
	 */
	static class Jobs {

		private final Clock clock;

		Jobs(Clock clock) {
			this.clock = clock;
		}

		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		@SingleRunner(key = "transaction")
		void transaction() {
			run("transaction");
		}

		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			run("session");
		}

		@Transactional
		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		@SingleRunner(key = "transactional")
		void transactional() {
			run("transactional");
		}

		@Async
		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		@SingleRunner(key = "async")
		void async() {
			run("async");
		}

		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			run("none");
		}

		@Scheduled(cron = "*/4 * * * * *", zone = "UTC")
		@Scheduled(cron = "2/4 * * * * *", zone = "UTC")
		@SingleRunner(key = "two-schedules")
		void twoSchedules() {
			run("two-schedules");
		}

		@SingleRunner(key = "cron-task")
		void cronTask() {
			run("cron-task");
		}

		@SingleRunner(key = "trigger-task", scope = LockScope.SESSION)
		void triggerTask() {
			run("trigger-task");
		}

		@SingleRunner(key = "unannotated")
		void calledByOther() {
			run("unannotated");
		}

		@Scheduled(cron = "${refreshed-cron}", zone = "UTC")
		@SingleRunner(key = "refreshed")
		void refreshed() {
			run("refreshed");
		}

		@Scheduled(cron = "0 0 0 29 2 *", zone = "UTC")
		@SingleRunner(key = "never")
		void never() {
			run("never");
		}

		private void run(String job) {
			runs.add(new Run(job, this.clock.instant(), LockContext.current().flatMap(LockContext::tick).orElse(null)));
		}

		@EventListener
		void note(SingleRunnerSkippedEvent event) {
			skips.add(event.outcome());
		}

	}

	/**
	 * An instance.
	 */
	@EnableAsync
	@EnableScheduling
	@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AopAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@SpringBootConfiguration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Clock clock(@Value("${skew}") Duration skew) {
			return Clock.offset(Clock.systemUTC(), skew);
		}

		@Bean
		ThreadPoolTaskSchedulerCustomizer clockOfScheduler(Clock clock) {
			return (scheduler) -> scheduler.setClock(clock);
		}

		@Bean
		SimpleAsyncTaskSchedulerCustomizer clockOfSchedulerWithVirtualThreads(Clock clock) {
			return (scheduler) -> scheduler.setClock(clock);
		}

		@Bean
		SchedulingConfigurer tasks(ObjectProvider<Jobs> jobs) {
			return (registrar) -> {
				CronTrigger trigger = new CronTrigger("*/2 * * * * *", ZoneOffset.UTC);
				registrar.addCronTask(() -> jobs.getObject().cronTask(), "*/2 * * * * *");
				registrar.addTriggerTask(() -> jobs.getObject().triggerTask(), trigger);
			};
		}

		@Bean
		Caller caller(ObjectProvider<Jobs> jobs) {
			return new Caller(jobs);
		}

		@Bean
		Jobs jobs(Clock clock) {
			return new Jobs(clock);
		}

	}

	/**
	 * Is scheduled, and calls a method that is guarded.
	 */
	static class Caller {

		private final ObjectProvider<Jobs> jobs;

		Caller(ObjectProvider<Jobs> jobs) {
			this.jobs = jobs;
		}

		@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
		void call() {
			this.jobs.getObject().calledByOther();
		}

	}

	private record Run(String job, Instant time, @Nullable Instant tick) {

	}

}
