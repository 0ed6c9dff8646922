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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
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
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Once#AUTO}: instances whose clocks differ by more than an empty job
 * lasts run each tick once. Their schedulers call when a test says so.
 */
class OnceAutoTests {

	private static final String HOURLY = "0 0 * * * *";

	/**
	 * What is planned is yet to come, so that no call is late for it by the clock of the
	 * machine.
	 */
	private static final Instant START = Instant.now().truncatedTo(ChronoUnit.HOURS).plus(1, ChronoUnit.HOURS);

	private static final int TICKS = 4;

	private static final List<String> ONCE = List.of("transaction", "session", "transactional", "async",
			"two-schedules", "cron-task", "trigger-task", "unannotated", "refreshed");

	private static final Queue<Run> runs = new ConcurrentLinkedQueue<>();

	private static final Queue<LockOutcome> skips = new ConcurrentLinkedQueue<>();

	private static final AtomicInteger ended = new AtomicInteger();

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() {
		this.instances.forEach(ConfigurableApplicationContext::close);
		runs.clear();
		skips.clear();
		ended.set(0);
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	/**
	 * Each instance has called all jobs when the clock of the next one shows the tick.
	 */
	@Test
	void everyTickRunsOnceWhateverTheClocksSay() {
		for (int i = 0; i < 3; i++) {
			start();
		}
		List<Instant> ticks = new ArrayList<>();
		for (int i = 1; i <= TICKS; i++) {
			Instant tick = START.plus(i, ChronoUnit.HOURS);
			ticks.add(tick);
			this.instances.forEach((instance) -> instance.getBean(SteppedScheduler.class).step(tick));
			int calls = i * this.instances.size() * (ONCE.size() + 1);
			Awaitility.await().until(() -> ended.get() == calls);
			Collections.rotate(this.instances, 1);
		}
		for (String job : ONCE) {
			assertThat(ticksOf(job)).as(job).isEqualTo(ticks);
		}
		assertThat(runs).filteredOn((run) -> run.job().equals("none")).hasSize(TICKS * this.instances.size());
		assertThat(skips).contains(LockOutcome.ALREADY_RAN);
	}

	@Test
	void callsByHandRunWhenTheLockIsFree() {
		start();
		Jobs jobs = this.instances.get(0).getBean(Jobs.class);
		jobs.never();
		jobs.never();
		assertThat(runs).filteredOn((run) -> run.job().equals("never"))
			.extracting(Run::tick)
			.containsExactly(null, null);
	}

	private static List<Instant> ticksOf(String job) {
		return runs.stream().filter((run) -> run.job().equals(job)).map(Run::tick).sorted().toList();
	}

	private void start() {
		this.instances.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("spring.application.name=once-auto", "spring.datasource.url=" + TestPostgres.url(),
					"spring.datasource.hikari.maximum-pool-size=10", "refreshed-cron=0 0 0 29 2 *",
					// a step of this scheduler has no time in it
					"advisory-lock.spread=0")
			.run());
		ConfigurableApplicationContext instance = this.instances.get(this.instances.size() - 1);
		TestPropertyValues.of("refreshed-cron=" + HOURLY).applyTo(instance);
		// as a refresh of the configuration does; Spring leaves the tasks of a proxy
		// alone
		instance.getBean(ScheduledAnnotationBeanPostProcessor.class)
			.postProcessBeforeDestruction(instance.getBean("jobs"), "jobs");
		((DefaultListableBeanFactory) instance.getBeanFactory()).destroySingleton("jobs");
		instance.getBean("jobs");
	}

	/**
	 * Jobs that are empty.
	 */
	static class Jobs {

		@Scheduled(cron = HOURLY, zone = "UTC")
		@SingleRunner(key = "transaction")
		void transaction() {
			run("transaction");
		}

		@Scheduled(cron = HOURLY, zone = "UTC")
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			run("session");
		}

		@Transactional
		@Scheduled(cron = HOURLY, zone = "UTC")
		@SingleRunner(key = "transactional")
		void transactional() {
			run("transactional");
		}

		@Async
		@Scheduled(cron = HOURLY, zone = "UTC")
		@SingleRunner(key = "async")
		void async() {
			run("async");
		}

		@Scheduled(cron = HOURLY, zone = "UTC")
		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			run("none");
		}

		@Scheduled(cron = "0 0 0/2 * * *", zone = "UTC")
		@Scheduled(cron = "0 0 1/2 * * *", zone = "UTC")
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
			runs.add(new Run(job, LockContext.current().flatMap(LockContext::tick).orElse(null)));
		}

		@EventListener
		void note(SingleRunnerFinishedEvent event) {
			ended.incrementAndGet();
		}

		@EventListener
		void note(SingleRunnerSkippedEvent event) {
			skips.add(event.outcome());
			ended.incrementAndGet();
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
		SteppedScheduler scheduler() {
			return new SteppedScheduler();
		}

		@Bean
		SchedulingConfigurer tasks(ObjectProvider<Jobs> jobs) {
			return (registrar) -> {
				CronTrigger trigger = new CronTrigger(HOURLY, ZoneOffset.UTC);
				registrar.addCronTask(new CronTask(() -> jobs.getObject().cronTask(), trigger));
				registrar.addTriggerTask(() -> jobs.getObject().triggerTask(), trigger);
			};
		}

		@Bean
		Caller caller(ObjectProvider<Jobs> jobs) {
			return new Caller(jobs);
		}

		@Bean
		Jobs jobs() {
			return new Jobs();
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

		@Scheduled(cron = HOURLY, zone = "UTC")
		void call() {
			this.jobs.getObject().calledByOther();
		}

	}

	/**
	 * Plans by a clock that a test sets, and calls when that shows what it has planned.
	 */
	private static final class SteppedScheduler implements TaskScheduler {

		private final List<SteppedTask> tasks = new CopyOnWriteArrayList<>();

		private Instant time = START;

		/**
		 * Set the clock, and call what is due.
		 */
		void step(Instant time) {
			this.time = time;
			this.tasks.forEach((task) -> task.step(this));
		}

		@Override
		public Clock getClock() {
			return Clock.fixed(this.time, ZoneOffset.UTC);
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			SteppedTask stepped = new SteppedTask(task, trigger);
			stepped.plan(this);
			this.tasks.add(stepped);
			return stepped;
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
			throw new UnsupportedOperationException();
		}

	}

	private static final class SteppedTask extends CompletableFuture<Void> implements ScheduledFuture<Void> {

		private final Runnable task;

		private final Trigger trigger;

		private @Nullable Instant last;

		private @Nullable Instant next;

		private SteppedTask(Runnable task, Trigger trigger) {
			this.task = task;
			this.trigger = trigger;
		}

		private void plan(SteppedScheduler scheduler) {
			SimpleTriggerContext context = new SimpleTriggerContext(scheduler.getClock());
			context.update(this.last, this.last, this.last);
			this.next = this.trigger.nextExecution(context);
		}

		private void step(SteppedScheduler scheduler) {
			if (!isCancelled() && this.next != null && !this.next.isAfter(scheduler.getClock().instant())) {
				this.task.run();
				this.last = this.next;
				plan(scheduler);
			}
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return 0;
		}

		@Override
		public int compareTo(Delayed other) {
			return 0;
		}

	}

	private record Run(String job, @Nullable Instant tick) {

	}

}
