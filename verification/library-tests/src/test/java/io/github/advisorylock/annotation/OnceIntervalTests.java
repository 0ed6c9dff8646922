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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.PeriodicTrigger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Once#AUTO} and methods that are called again and again: instances
 * whose timers have phases of their own run each interval once.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class OnceIntervalTests {

	private static final String CONFIGURER = "io.github.advisorylock.annotation.OnceIntervalTests$Scheduling";

	private static final Interval DAY = new Interval(Duration.ofDays(1), Counted.FROM_BEGIN);

	private static final Queue<Long> begins = new ConcurrentLinkedQueue<>();

	private static final Queue<LockOutcome> skips = new ConcurrentLinkedQueue<>();

	/**
	 * With one thread for all schedules: on one thread for each run, two of one method
	 * can be due at one instant, and one of them is busy.
	 */
	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withPropertyValues("spring.threads.virtual.enabled=false")
		.withBean(Jobs.class);

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	@AfterEach
	void stopInstances() {
		this.instances.forEach(ConfigurableApplicationContext::close);
		begins.clear();
		skips.clear();
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	/**
	 * What is called at the start is remembered for nearly a day.
	 */
	@ParameterizedTest
	@CsvSource({ "rate, 0", "delay, 0", "text, 0", "iso, 0", "session, 0", "registered-rate, " + CONFIGURER + "#2",
			"registered-delay, " + CONFIGURER + "#3", "period, " + CONFIGURER + "#0",
			"period-of-rate, " + CONFIGURER + "#1", "async, 0", "several, 0", "several, 1" })
	void callsOfATimerAreForTheIntervalOfItsSchedule(String key, String schedule) {
		this.runner.withUserConfiguration(Scheduling.class)
			.withPropertyValues("days=1560", "iso=P1DT12H")
			.run(LockContextRunner
				.started(() -> Awaitility.await().until(() -> ForeignSession.isHeld(lockOf(key, schedule)))));
	}

	@Test
	void callsForNoIntervalAreNotRemembered() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.rate();
			jobs.rate();
			PlannedTime.run(DAY, jobs::none);
			PlannedTime.run(DAY, jobs::none);
			jobs.expression("a");
			assertThat(jobs.runs()).hasValue(5);
			assertThat(TestPostgres.locks()).isEmpty();
			PlannedTime.run(DAY, jobs::rate);
			jobs.rate();
			PlannedTime.run(DAY, jobs::rate);
			assertThat(jobs.runs()).hasValue(7);
			assertThat(skips).containsExactly(LockOutcome.TOO_SOON);
		});
	}

	@Test
	void intervalsAreNotRememberedWhereThatIsSwitchedOff() {
		this.runner.withPropertyValues("advisory-lock.remember-ticks=0").run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(DAY, jobs::rate);
			PlannedTime.run(DAY, jobs::rate);
			assertThat(jobs.runs()).hasValue(2);
		});
	}

	@Test
	void recordedRunsAreRememberedByTheSameLock() {
		this.runner
			.withPropertyValues("advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=once_interval_")
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				PlannedTime.run(DAY, jobs::rate);
				PlannedTime.run(DAY, jobs::rate);
				assertThat(jobs.runs()).hasValue(1);
				assertThat(TestPostgres.query("SELECT outcome FROM once_interval_run")).containsExactly("EXECUTED");
			});
		for (String table : List.of("job", "run", "completion", "instance", "pause", "question")) {
			TestPostgres.execute("DROP TABLE IF EXISTS once_interval_" + table + " CASCADE");
		}
		TestPostgres.execute("DROP SEQUENCE IF EXISTS once_interval_fencing_token");
	}

	@Test
	void instanceThatEndsIsFollowedAtOnce() {
		this.runner.run((other) -> {
			Jobs jobs = other.getBean(Jobs.class);
			this.runner.run((first) -> {
				PlannedTime.run(DAY, first.getBean(Jobs.class)::rate);
				PlannedTime.run(DAY, jobs::rate);
				assertThat(jobs.runs()).hasValue(0);
			});
			PlannedTime.run(DAY, jobs::rate);
			assertThat(jobs.runs()).hasValue(1);
		});
	}

	@Test
	void lineOfTheStartSaysWhatEachMethodIs(CapturedOutput output) {
		this.runner.withUserConfiguration(Scheduling.class)
			.withPropertyValues("days=1560", "iso=P1DT12H")
			.run(LockContextRunner.started(() -> assertThat(output).contains("; rate: once per 86400 s",
					"; iso: once per 129600 s", "; session: once per 86400 s in scope SESSION",
					"; registered-rate: one at a time, once per tick or interval of a scheduled method that calls it;",
					"; several: once per 86400 s and 90000 s", "; none: one at a time",
					"; often: once per 250 ms, waits for up to PT1S", "; cron: once per tick")));
	}

	/**
	 * How late a busy machine is does not matter: no two begins are too near each other,
	 * and there is no interval without a run.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "rate", "delay" })
	void beginsOfThreeInstancesAreAnIntervalApart(String schedule) {
		for (int i = 0; i < 3; i++) {
			start("polling." + schedule + "=PT0.2S");
			Pause.of(Duration.ofMillis(70));
		}
		Awaitility.await().until(() -> begins.size() > 20);
		List<Long> times = List.copyOf(begins);
		this.instances.get(0).close();
		int before = begins.size();
		Awaitility.await().until(() -> begins.size() > before + 5);
		assertThat(IntStream.range(1, times.size()).mapToObj((i) -> Duration.ofNanos(times.get(i) - times.get(i - 1))))
			.isNotEmpty()
			.allSatisfy((gap) -> assertThat(gap).isGreaterThanOrEqualTo(Duration.ofMillis(180)));
		assertThat(skips).contains(LockOutcome.TOO_SOON);
	}

	private void start(String property) {
		this.instances.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("spring.application.name=once-interval", "spring.datasource.url=" + TestPostgres.url(),
					"spring.datasource.hikari.maximum-pool-size=4", "polling.rate=P1D", "polling.delay=P1D")
			.run("--" + property));
	}

	private static AdvisoryLockKey lockOf(String key, String schedule) {
		return AdvisoryLockKey.of("test", "advisory-lock:interval:" + key + "@" + schedule);
	}

	/**
	 * An instance with a job that is called often.
	 */
	@EnableScheduling
	@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AopAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@SpringBootConfiguration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Poll poll() {
			return new Poll();
		}

	}

	/**
	 * Polls.
	 */
	static class Poll {

		@Scheduled(fixedRateString = "${polling.rate}", initialDelayString = "${polling.rate}")
		@SingleRunner(key = "rate")
		void rate() {
			begins.add(System.nanoTime());
		}

		@Scheduled(fixedDelayString = "${polling.delay}", initialDelayString = "${polling.delay}")
		@SingleRunner(key = "delay", scope = LockScope.SESSION)
		void delay() {
			begins.add(System.nanoTime());
		}

		@EventListener
		void note(SingleRunnerSkippedEvent event) {
			skips.add(event.outcome());
		}

	}

	@EnableAsync
	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Scheduling implements SchedulingConfigurer {

		private final Jobs jobs;

		Scheduling(Jobs jobs) {
			this.jobs = jobs;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.addFixedRateTask(this.jobs::registeredRate, Duration.ofHours(25));
			registrar.addFixedDelayTask(this.jobs::registeredDelay, Duration.ofHours(25));
			registrar.addTriggerTask(this.jobs::period, new PeriodicTrigger(Duration.ofHours(27)));
			PeriodicTrigger rate = new PeriodicTrigger(Duration.ofHours(28));
			rate.setFixedRate(true);
			registrar.addTriggerTask(this.jobs::periodOfRate, rate);
		}

	}

	/**
	 * Methods of all kinds of schedules.
	 */
	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		AtomicInteger runs() {
			return this.runs;
		}

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
		@SingleRunner("rate")
		void rate() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedDelay = 86_400_000)
		@SingleRunner("delay")
		void delay() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRateString = "${days:1}", timeUnit = TimeUnit.MINUTES)
		@SingleRunner("text")
		void text() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedDelayString = "${iso:P1D}")
		@SingleRunner("iso")
		void iso() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRate = 24, timeUnit = TimeUnit.HOURS)
		@Scheduled(fixedDelay = 25, timeUnit = TimeUnit.HOURS)
		@SingleRunner("several")
		void several() {
			this.runs.incrementAndGet();
		}

		@Async
		@Scheduled(fixedDelay = 29, timeUnit = TimeUnit.HOURS)
		@SingleRunner("async")
		void async() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRate = 250, initialDelay = 86_400_000)
		@SingleRunner(key = "often", waitFor = "1s")
		void often() {
			this.runs.incrementAndGet();
		}

		@Scheduled(cron = "0 0 0 29 2 *")
		@SingleRunner("cron")
		void cron() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("registered-rate")
		void registeredRate() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("registered-delay")
		void registeredDelay() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("period")
		void period() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("period-of-rate")
		void periodOfRate() {
			this.runs.incrementAndGet();
		}

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS, initialDelay = 1)
		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			this.runs.incrementAndGet();
		}

		@SingleRunner("expression:#{#name}")
		void expression(String name) {
			this.runs.incrementAndGet();
		}

		@EventListener
		void note(SingleRunnerSkippedEvent event) {
			skips.add(event.outcome());
		}

	}

}
