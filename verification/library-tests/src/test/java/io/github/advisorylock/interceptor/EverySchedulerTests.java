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

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.config.TriggerTask;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PlannedTimeScheduler} and x: two instances run a tick once, whichever
 * scheduler has planned it, and whoever has given it the task.
 */
@Tag("gate")
class EverySchedulerTests {

	/**
	 * Over already, so that nothing waits for it.
	 */
	private static final Instant TICK = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(1);

	private static final Trigger TRIGGER = (context) -> (context.lastScheduledExecution() == null) ? TICK : null;

	private static final BlockingQueue<LockOutcome> outcomes = new LinkedBlockingQueue<>();

	private static final BlockingQueue<Instant> ticks = new LinkedBlockingQueue<>();

	private final ApplicationContextRunner runner = LockContextRunner.create().withUserConfiguration(Application.class);

	@AfterEach
	void forget() {
		outcomes.clear();
		ticks.clear();
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@ParameterizedTest
	@ValueSource(classes = { Registrar.class, OwnScheduler.class, OwnExecutor.class, ExecutorBean.class,
			ThreadsBean.class, ConcurrentBean.class, DecoratedBean.class, AtOnce.class,
			ThroughTheRegistrarsScheduler.class, AfterTheStart.class })
	void tickRunsOnTheFirstOfTwoInstances(Class<?> configuration) {
		check(this.runner.withUserConfiguration(configuration));
	}

	@Test
	void configurerThatComesAfterAllOthersMayChooseTheScheduler() {
		check(this.runner.withConfiguration(AutoConfigurations.of(ZLateAutoConfiguration.class)));
	}

	@Test
	void schedulerThatTheAnnotationNames() {
		this.runner.withUserConfiguration(TwoSchedulers.class)
			.run(LockContextRunner.started(() -> assertThat(ticks.poll(10, TimeUnit.SECONDS)).isNotNull()));
	}

	private void check(ApplicationContextRunner instance) {
		instance.run(LockContextRunner.started(() -> {
			assertThat(outcomes.poll(10, TimeUnit.SECONDS)).isEqualTo(LockOutcome.EXECUTED);
			instance.run(LockContextRunner
				.started(() -> assertThat(outcomes.poll(10, TimeUnit.SECONDS)).isEqualTo(LockOutcome.ALREADY_RAN)));
		}));
	}

	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@EventListener
		void finished(SingleRunnerFinishedEvent event) {
			outcomes.add(LockOutcome.EXECUTED);
		}

		@EventListener
		void skipped(SingleRunnerSkippedEvent event) {
			outcomes.add(event.outcome());
		}

	}

	static class Jobs {

		@SingleRunner("every-scheduler")
		void run() {
		}

	}

	static class Registrar implements SchedulingConfigurer {

		private final Jobs jobs;

		Registrar(Jobs jobs) {
			this.jobs = jobs;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.addTriggerTask(this.jobs::run, TRIGGER);
		}

	}

	static class OwnScheduler implements SchedulingConfigurer, AutoCloseable {

		private final Jobs jobs;

		private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

		OwnScheduler(Jobs jobs) {
			this.jobs = jobs;
			this.scheduler.initialize();
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.setTaskScheduler(this.scheduler);
			registrar.addTriggerTask(this.jobs::run, TRIGGER);
		}

		@Override
		public void close() {
			this.scheduler.shutdown();
		}

	}

	static class OwnExecutor implements SchedulingConfigurer, AutoCloseable {

		private final Jobs jobs;

		private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

		OwnExecutor(Jobs jobs) {
			this.jobs = jobs;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.setScheduler(this.executor);
			registrar.addTriggerTask(this.jobs::run, TRIGGER);
		}

		@Override
		public void close() {
			this.executor.shutdownNow();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ExecutorBean extends Registrar {

		ExecutorBean(Jobs jobs) {
			super(jobs);
		}

		@Bean(destroyMethod = "shutdownNow")
		static ScheduledExecutorService executor() {
			return Executors.newSingleThreadScheduledExecutor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ThreadsBean extends Registrar {

		ThreadsBean(Jobs jobs) {
			super(jobs);
		}

		@Bean
		static SimpleAsyncTaskScheduler scheduler() {
			return new SimpleAsyncTaskScheduler();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ConcurrentBean extends ExecutorBean {

		ConcurrentBean(Jobs jobs) {
			super(jobs);
		}

		@Bean
		static ConcurrentTaskScheduler scheduler(ScheduledExecutorService executor) {
			return new ConcurrentTaskScheduler(executor);
		}

	}

	/**
	 * Does not leave it to the registrar to schedule its task.
	 */
	static class AtOnce extends Registrar {

		AtOnce(Jobs jobs) {
			super(jobs);
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.scheduleTriggerTask(new TriggerTask(super.jobs::run, TRIGGER));
		}

	}

	static class ThroughTheRegistrarsScheduler extends Registrar {

		ThroughTheRegistrarsScheduler(Jobs jobs) {
			super(jobs);
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.getScheduler().schedule(super.jobs::run, TRIGGER);
		}

	}

	static class AfterTheStart extends Registrar {

		AfterTheStart(Jobs jobs) {
			super(jobs);
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.addFixedDelayTask(() -> registrar.scheduleTriggerTask(new TriggerTask(super.jobs::run, TRIGGER)),
					Duration.ofDays(1));
		}

	}

	/**
	 * Is an auto-configuration that comes late, so that its configurer does, too.
	 */
	@AutoConfiguration
	static class ZLateAutoConfiguration {

		@Bean
		OwnScheduler lateScheduler(Jobs jobs) {
			return new OwnScheduler(jobs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoSchedulers {

		@Bean
		ThreadPoolTaskScheduler one() {
			return new ThreadPoolTaskScheduler();
		}

		@Bean
		@Qualifier("another")
		SimpleAsyncTaskScheduler other() {
			return new SimpleAsyncTaskScheduler();
		}

		@Bean
		QualifiedJob qualifiedJob() {
			return new QualifiedJob();
		}

	}

	static class QualifiedJob {

		@Scheduled(cron = "* * * * * *", scheduler = "another")
		@SingleRunner("qualified")
		void run() {
			LockContext.current().flatMap(LockContext::tick).ifPresent(ticks::add);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DecoratedBean extends Registrar {

		DecoratedBean(Jobs jobs) {
			super(jobs);
		}

		@Bean
		static Decorated scheduler() {
			return new Decorated();
		}

	}

	static class Decorated implements TaskScheduler, AutoCloseable {

		private final SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();

		@Override
		public Clock getClock() {
			return this.scheduler.getClock();
		}

		@Override
		public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			return this.scheduler.schedule(task, trigger);
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
			return this.scheduler.schedule(task, startTime);
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
			return this.scheduler.scheduleAtFixedRate(task, startTime, period);
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
			return this.scheduler.scheduleAtFixedRate(task, period);
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
			return this.scheduler.scheduleWithFixedDelay(task, startTime, delay);
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
			return this.scheduler.scheduleWithFixedDelay(task, delay);
		}

		@Override
		public void close() {
			this.scheduler.close();
		}

	}

}
