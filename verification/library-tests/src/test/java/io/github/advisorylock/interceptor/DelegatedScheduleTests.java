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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.task.SimpleAsyncTaskSchedulerCustomizer;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.PeriodicTrigger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PlannedTime} and schedules that call services: of two instances whose
 * clocks are 300 ms apart, one runs each of the guarded methods that a scheduled method
 * calls.
 */
@Tag("gate")
class DelegatedScheduleTests {

	private static final List<String> KEYS = List.of("direct", "first", "second", "loop:a", "loop:b", "loop:c", "deep",
			"async", "within-async", "outer", "inner");

	/**
	 * Noted here and in no table: what lasts longer than a second misses ticks.
	 */
	private static final Queue<Run> RUNS = new ConcurrentLinkedQueue<>();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
		.withUserConfiguration(Application.class);

	@BeforeEach
	void forgetRuns() {
		RUNS.clear();
	}

	@AfterEach
	void locksAreReleased() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@ParameterizedTest
	@CsvSource({ "cron, false", "cron, true", "registered-cron, false", "registered-cron, true", "trigger, false" })
	void eachKeyRunsOncePerTick(String schedule, boolean virtual) {
		run(schedule, virtual);
		assertThat(RUNS.stream().filter((run) -> run.tick() == null).map(Run::key).distinct()).containsExactly("inner");
		Map<String, List<Instant>> ticks = RUNS.stream()
			.filter((run) -> run.tick() != null)
			.collect(Collectors.groupingBy(Run::key, Collectors.mapping(Run::tick, Collectors.toList())));
		assertThat(ticks).as("ticks of keys, each run once, of " + RUNS)
			.hasSize(KEYS.size() - 1)
			.allSatisfy((key, all) -> {
				assertThat(all).doesNotHaveDuplicates();
				Instant last = Collections.max(all);
				assertThat(Stream
					.iterate(Collections.min(all), (tick) -> tick.isBefore(last), (tick) -> tick.plusSeconds(1))
					.filter((tick) -> !all.contains(tick) && !isCalledBefore(tick))).isEmpty();
			});
	}

	@ParameterizedTest
	@CsvSource({ "rate, false", "rate, true", "delay, false", "delay, true", "registered-rate, false",
			"registered-delay, true", "period, false" })
	void eachKeyRunsOncePerInterval(String schedule, boolean virtual) {
		run(schedule, virtual);
		assertThatIntervalsHaveOneRun();
	}

	@ParameterizedTest
	@ValueSource(strings = { "rate", "delay" })
	void lengthsThatDifferBetweenInstancesAreOfOneInterval(String schedule) {
		run(this.runner.withPropertyValues("schedule=" + schedule, schedule + "=PT0.5S"),
				this.runner.withPropertyValues("schedule=" + schedule, schedule + "=PT0.534S"));
		assertThatIntervalsHaveOneRun();
	}

	/**
	 * Locks of as many ticks would fill the lock table of the server.
	 */
	@Test
	void loopOverThousandsOfKeysRunsThemAllAndHoldsAHundredLocks() {
		this.runner.withPropertyValues("advisory-lock.max-held-locks=50").run((context) -> {
			Tenants tenants = context.getBean(Tenants.class);
			PlannedTime.run(Instant.now().truncatedTo(ChronoUnit.DAYS),
					() -> IntStream.range(0, 5000).forEach((i) -> tenants.bill("tenant-" + i)));
			assertThat(tenants.bills()).hasValue(5000);
			assertThat(TestPostgres.locks()).hasSize(100);
		});
	}

	/**
	 * Where two instances run each interval, every second gap is no longer than half of
	 * it. A busy machine may make a few others look shorter than they are.
	 */
	private static void assertThatIntervalsHaveOneRun() {
		Map<String, List<Instant>> begun = RUNS.stream()
			.collect(Collectors.groupingBy(Run::key, Collectors.mapping(Run::begun, Collectors.toList())));
		assertThat(begun).as("keys of which one instance runs an interval, of " + RUNS)
			.hasSize(KEYS.size())
			.allSatisfy((key, all) -> {
				List<Instant> sorted = all.stream().sorted().toList();
				long soon = IntStream.range(1, sorted.size())
					.filter((i) -> sorted.get(i - 1).until(sorted.get(i), ChronoUnit.MILLIS) < 300)
					.count();
				assertThat(4 * soon).isLessThanOrEqualTo(sorted.size() - 1);
			});
	}

	/**
	 * As cron does it, a tick that comes while the calls for one before are made is left
	 * out.
	 */
	private static boolean isCalledBefore(Instant tick) {
		return RUNS.stream()
			.anyMatch((run) -> run.tick() != null && run.tick().isBefore(tick) && !run.begun().isBefore(tick));
	}

	private void run(String schedule, boolean virtual) {
		ApplicationContextRunner instance = this.runner.withPropertyValues("schedule=" + schedule,
				"spring.threads.virtual.enabled=" + virtual,
				schedule + "=" + (List.of("cron", "registered-cron").contains(schedule) ? "* * * * * *" : "PT0.5S"));
		run(instance, instance.withPropertyValues("ahead=300"));
	}

	private static void run(ApplicationContextRunner one, ApplicationContextRunner other) {
		one.run(LockContextRunner.started(() -> other.run(LockContextRunner.started(() -> {
			Awaitility.await()
				.until(() -> KEYS.stream()
					.allMatch((key) -> RUNS.stream().filter((run) -> run.key().equals(key)).count() > 5));
			assertThat(RUNS.stream().map(Run::key).distinct()).containsExactlyInAnyOrderElementsOf(KEYS);
		}))));
	}

	@EnableAsync
	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Schedules schedules(Services services, Layer layer, Work work) {
			return new Schedules(services, layer, work);
		}

		@Bean
		Registrar registrar(Schedules schedules, Services services, Environment environment) {
			return new Registrar(schedules, services, environment);
		}

		@Bean
		Tenants tenants() {
			return new Tenants();
		}

		@Bean
		Layer layer(Services services) {
			return new Layer(services);
		}

		@Bean
		Work work(Services services) {
			return new Work(services);
		}

		@Bean
		Services services(@Lazy Services self) {
			return new Services(self);
		}

		@Bean
		ThreadPoolTaskSchedulerCustomizer clock(Environment environment) {
			return (scheduler) -> scheduler.setClock(clockOf(environment));
		}

		@Bean
		SimpleAsyncTaskSchedulerCustomizer clockOfVirtualThreads(Environment environment) {
			return (scheduler) -> scheduler.setClock(clockOf(environment));
		}

		private static Clock clockOf(Environment environment) {
			return Clock.offset(Clock.systemDefaultZone(),
					Duration.ofMillis(environment.getProperty("ahead", Long.class, 0L)));
		}

	}

	/**
	 * Is not guarded itself.
	 */
	static class Schedules {

		private final Services services;

		private final Layer layer;

		private final Work work;

		Schedules(Services services, Layer layer, Work work) {
			this.services = services;
			this.layer = layer;
			this.work = work;
		}

		@Scheduled(cron = "${cron:-}")
		void cron() {
			call();
		}

		@Scheduled(fixedRateString = "${rate:P1D}", initialDelayString = "${rate:P1D}")
		void rate() {
			call();
		}

		@Scheduled(fixedDelayString = "${delay:P1D}", initialDelayString = "${delay:P1D}")
		void delay() {
			call();
		}

		void call() {
			this.services.first();
			this.services.second();
			List.of("a", "b", "c").forEach(this.services::loop);
			this.layer.call();
			this.services.async();
			this.work.call();
			this.services.outer();
		}

	}

	static class Registrar implements SchedulingConfigurer {

		private final Schedules schedules;

		private final Services services;

		private final Environment environment;

		Registrar(Schedules schedules, Services services, Environment environment) {
			this.schedules = schedules;
			this.services = services;
			this.environment = environment;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			Duration often = Duration.ofMillis(500);
			for (Runnable task : List.<Runnable>of(this.schedules::call, this.services::direct)) {
				switch (this.environment.getProperty("schedule", "none")) {
					case "registered-cron" -> registrar.addTriggerTask(task, new CronTrigger("* * * * * *"));
					case "trigger" -> registrar.addTriggerTask(task,
							(context) -> context.getClock().instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1));
					case "registered-rate" -> registrar.addFixedRateTask(task, often);
					case "registered-delay" -> registrar.addFixedDelayTask(task, often);
					case "period" -> registrar.addTriggerTask(task, new PeriodicTrigger(often));
					default -> {
					}
				}
			}
		}

	}

	static class Tenants {

		private final AtomicInteger bills = new AtomicInteger();

		AtomicInteger bills() {
			return this.bills;
		}

		@SingleRunner("bill:#{#tenant}")
		void bill(String tenant) {
			this.bills.incrementAndGet();
		}

	}

	static class Layer {

		private final Services services;

		Layer(Services services) {
			this.services = services;
		}

		void call() {
			this.services.deep();
		}

	}

	/**
	 * Is not guarded, and calls what is.
	 */
	static class Work {

		private final Services services;

		Work(Services services) {
			this.services = services;
		}

		@Async
		void call() {
			this.services.withinAsync();
		}

	}

	static class Services {

		private final Services self;

		Services(Services self) {
			this.self = self;
		}

		@Scheduled(cron = "${cron:-}")
		@Scheduled(fixedRateString = "${rate:P1D}", initialDelayString = "${rate:P1D}")
		@Scheduled(fixedDelayString = "${delay:P1D}", initialDelayString = "${delay:P1D}")
		@SingleRunner("direct")
		void direct() {
			run("direct");
		}

		@SingleRunner("first")
		void first() {
			run("first");
		}

		@SingleRunner(key = "second", scope = LockScope.SESSION)
		void second() {
			run("second");
		}

		@SingleRunner("loop:#{#name}")
		void loop(String name) {
			run("loop:" + name);
		}

		@SingleRunner("deep")
		void deep() {
			run("deep");
		}

		@Async
		@SingleRunner("async")
		void async() {
			run("async");
		}

		@SingleRunner("within-async")
		void withinAsync() {
			run("within-async");
		}

		@SingleRunner("outer")
		void outer() {
			run("outer");
			this.self.inner();
		}

		@SingleRunner("inner")
		void inner() {
			run("inner");
		}

		private static void run(String key) {
			RUNS.add(new Run(key, LockContext.current().flatMap(LockContext::tick).orElse(null), Instant.now()));
		}

	}

	private record Run(String key, @Nullable Instant tick, Instant begun) {
	}

}
