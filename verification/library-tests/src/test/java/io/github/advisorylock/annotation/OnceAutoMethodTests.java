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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link Once#AUTO}: which calls of which methods are for a tick.
 */
class OnceAutoMethodTests {

	/**
	 * Midnight is a tick of all schedules here.
	 */
	private static final Instant TICK = Instant.now().truncatedTo(ChronoUnit.DAYS);

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Jobs.class);

	@AfterEach
	void dropLedger() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
		for (String table : List.of("job", "run", "completion", "instance", "pause", "question")) {
			TestPostgres.execute("DROP TABLE IF EXISTS once_auto_" + table + " CASCADE");
		}
		TestPostgres.execute("DROP SEQUENCE IF EXISTS once_auto_fencing_token");
	}

	@Test
	void callOfTheSchedulerIsForItsTickAndRunsOnce() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(TICK, jobs::daily);
			PlannedTime.run(TICK, jobs::daily);
			PlannedTime.run(TICK.minus(1, ChronoUnit.DAYS), jobs::daily);
			assertThat(jobs.ticks()).as("a call that is a day late is for the latest tick")
				.containsExactly(Optional.of(TICK));
		});
	}

	@Test
	void callByHandIsForNoTick() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.daily();
			PlannedTime.run(TICK, () -> {
				jobs.daily();
				jobs.daily();
			});
			assertThat(jobs.ticks()).containsExactly(Optional.empty(), Optional.of(TICK), Optional.empty());
		});
	}

	static Stream<Consumer<Jobs>> methodsWithoutTick() {
		return Stream.of(Jobs::none, Jobs::shared, Jobs::number);
	}

	static Stream<Consumer<Jobs>> methodsWithUnknownTicks() {
		return Stream.of(Jobs::daily, Jobs::fixedRate, Jobs::twoSchedules, Jobs::switchedOff, Jobs::unscheduled,
				Jobs::expression);
	}

	@ParameterizedTest
	@MethodSource("methodsWithUnknownTicks")
	void whatASchedulerHasPlannedIsATickWhateverTheAnnotationSays(Consumer<Jobs> method) {
		Instant planned = TICK.plusSeconds(1);
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(planned, () -> method.accept(jobs));
			PlannedTime.run(planned, () -> method.accept(jobs));
			method.accept(jobs);
			assertThat(jobs.ticks()).containsExactly(Optional.of(planned), Optional.empty());
		});
	}

	/**
	 * By what was known at the start, each call was for the last 29 February.
	 */
	@Test
	void methodThatRunsPerTickGoesOnWhenItsScheduleIsChangedAtRunTime() {
		withChangingJob("0 0 0 29 2 *").run((context) -> {
			TestPropertyValues.of("changing-cron=* * * * * *").applyTo(context);
			// as a refresh of the configuration does
			((DefaultListableBeanFactory) context.getBeanFactory()).destroySingleton("changing");
			ChangingJob job = context.getBean(ChangingJob.class);
			Awaitility.await().until(() -> job.ticks().size() >= 3);
			assertThat(job.ticks()).isNotEmpty().doesNotHaveDuplicates().allMatch((tick) -> tick.isAfter(TICK));
		});
	}

	static Stream<Consumer<ConfigurableApplicationContext>> refreshes() {
		return Stream.of((context) -> {
			((DefaultListableBeanFactory) context.getBeanFactory()).destroySingleton("changing");
			context.getBean("changing");
		}, (context) -> {
			ScheduledAnnotationBeanPostProcessor scheduling = context
				.getBean(ScheduledAnnotationBeanPostProcessor.class);
			Object bean = context.getBean("changing");
			scheduling.postProcessBeforeDestruction(bean, "changing");
			scheduling.postProcessAfterInitialization(bean, "changing");
		});
	}

	@ParameterizedTest
	@MethodSource("refreshes")
	void callByHandIsForTheLatestTickOfTheScheduleThatWasRefreshed(Consumer<ConfigurableApplicationContext> refresh) {
		withChangingJob("0 0 0 29 2 *").run((context) -> {
			TestPropertyValues.of("changing-cron=0 0 0 * * *").applyTo(context);
			refresh.accept(context.getSourceApplicationContext(ConfigurableApplicationContext.class));
			ChangingJob job = context.getBean(ChangingJob.class);
			job.run();
			assertThat(job.ticks()).containsExactly(TICK);
			assertThat(TestPostgres.query("SELECT schedules FROM once_auto_job WHERE key = 'changing'"))
				.containsExactly("[{\"type\":\"cron\",\"expression\":\"0 0 0 * * *\",\"zone\":\"UTC\"}]");
		});
	}

	@Test
	void callByHandOfAScheduleThatWasSwitchedOffIsForNoTick() {
		withChangingJob("0 0 0 29 2 *").run((context) -> {
			TestPropertyValues.of("changing-cron=-").applyTo(context);
			((DefaultListableBeanFactory) context.getBeanFactory()).destroySingleton("changing");
			assertThatIllegalStateException().isThrownBy(context.getBean(ChangingJob.class)::run)
				.withMessageContaining("schedule of the method is switched off");
		});
	}

	private ApplicationContextRunner withChangingJob(String cron) {
		return this.runner.withUserConfiguration(Scheduling.class)
			.withBean("changing", ChangingJob.class)
			.withPropertyValues("changing-cron=" + cron, "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=once_auto_");
	}

	@ParameterizedTest
	@MethodSource("methodsWithoutTick")
	void everyCallRuns(Consumer<Jobs> method) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(TICK, () -> method.accept(jobs));
			PlannedTime.run(TICK, () -> method.accept(jobs));
			assertThat(jobs.ticks()).containsExactly(Optional.empty(), Optional.empty());
			assertThat(TestPostgres.locks()).isEmpty();
		});
	}

	@Test
	void ticksAreNotRememberedWhereThatIsSwitchedOff() {
		this.runner.withPropertyValues("advisory-lock.remember-ticks=0").run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(TICK, jobs::daily);
			PlannedTime.run(TICK, jobs::daily);
			assertThat(jobs.ticks()).containsExactly(Optional.empty(), Optional.empty());
		});
	}

	@Test
	void memoryLastsForHalfTheTimeToTheNextTick() {
		SettableTicker ticker = new SettableTicker();
		ticker.in(this.runner).withPropertyValues("advisory-lock.session.heartbeat=100ms").run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			PlannedTime.run(TICK, jobs::daily);
			PlannedTime.run(Instant.now().truncatedTo(ChronoUnit.SECONDS), jobs::everySecond);
			ticker.advance(Duration.ofMillis(499));
			assertThat(TestPostgres.locks()).hasSize(2);
			ticker.advance(Duration.ofMillis(1));
			assertThat(TestPostgres.locks()).hasSize(1);
		});
	}

	@Test
	void ledgerRemembersWhatItRecordsAnyway() {
		this.runner
			.withPropertyValues("advisory-lock.ledger.enabled=true", "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=once_auto_")
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				PlannedTime.run(TICK, jobs::daily);
				assertThat(TestPostgres.locks()).isEmpty();
				PlannedTime.run(TICK, jobs::daily);
				jobs.daily();
				assertThat(jobs.ticks()).containsExactly(Optional.of(TICK), Optional.empty());
			});
	}

	@EnableScheduling
	@Configuration(proxyBeanMethods = false)
	static class Scheduling {

	}

	/**
	 * A job whose schedule is a property.
	 */
	static class ChangingJob {

		private final Queue<Instant> ticks = new ConcurrentLinkedQueue<>();

		Queue<Instant> ticks() {
			return this.ticks;
		}

		@Scheduled(cron = "${changing-cron}", zone = "UTC")
		@SingleRunner(key = "changing", once = Once.PER_TICK)
		void run() {
			this.ticks.add(LockContext.currentTick());
		}

	}

	/**
	 * Methods that say what their calls are for.
	 */
	static class Jobs {

		private final List<Optional<Instant>> ticks = new ArrayList<>();

		List<Optional<Instant>> ticks() {
			return this.ticks;
		}

		private void run() {
			this.ticks.add(LockContext.current().orElseThrow().tick());
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner("daily")
		void daily() {
			run();
		}

		@Scheduled(cron = "* * * * * *", zone = "UTC")
		@SingleRunner(key = "every-second", scope = LockScope.SESSION)
		void everySecond() {
			run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "none", once = Once.NONE)
		void none() {
			run();
		}

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
		@SingleRunner("fixed-rate")
		void fixedRate() {
			run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@Scheduled(cron = "0 0 0 1 * *", zone = "UTC")
		@SingleRunner("two-schedules")
		void twoSchedules() {
			run();
		}

		@Scheduled(cron = "-")
		@SingleRunner("switched-off")
		void switchedOff() {
			run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "shared", allowSharedKey = true)
		void shared() {
			run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner(key = "number", whenBusy = WhenBusy.FAIL)
		int number() {
			run();
			return 1;
		}

		@SingleRunner("unscheduled")
		void unscheduled() {
			run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRunner("expression:#{'a'.length()}")
		void expression() {
			run();
		}

	}

}
