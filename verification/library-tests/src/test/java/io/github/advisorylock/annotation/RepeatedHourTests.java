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
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the night in which an hour comes twice: what Spring calls again at a fixed
 * hour is not run again, however it is guarded.
 */
class RepeatedHourTests {

	/**
	 * The last such night: no tick may be later than the clock of the database.
	 */
	private static final LocalDate DAY = lastNight(LocalDate.now(ZoneOffset.UTC));

	private static final Instant CHANGE = DAY.atTime(1, 0).toInstant(ZoneOffset.UTC);

	private static final Queue<String> runs = new ConcurrentLinkedQueue<>();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withUserConfiguration(Schedules.class)
		.withBean("taskScheduler", NightScheduler.class)
		.withPropertyValues("day=" + DAY.getDayOfMonth(), "advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=repeated_hour_");

	private static LocalDate lastNight(LocalDate today) {
		LocalDate night = today.withMonth(10)
			.withDayOfMonth(31)
			.with(TemporalAdjusters.previousOrSame(DayOfWeek.SUNDAY));
		return night.isBefore(today) ? night : lastNight(today.minusYears(1));
	}

	@BeforeEach
	void forget() {
		runs.clear();
		for (String table : List.of("job", "run", "completion", "instance", "pause", "question")) {
			TestPostgres.execute("DROP TABLE IF EXISTS repeated_hour_" + table + " CASCADE");
		}
	}

	@Test
	void fixedHourIsRunOnceInTheNightInWhichItComesTwice() {
		this.runner.withBean(Jobs.class).withBean(Service.class).run((context) -> {
			context.getBean(NightScheduler.class).passTheNight();
			assertThat(runs).containsExactlyInAnyOrder("auto", "session", "per-tick", "none", "delegated",
					"delegated:a", "two-schedules", "two-schedules", "hourly", "hourly", "hourly", "unguarded",
					"unguarded");
			assertThat(context.getBean(Service.class).skips())
				.contains("auto ALREADY_RAN " + CHANGE.minusSeconds(1800));
		});
	}

	/**
	 * What the ledger remembers may be run late, but not twice.
	 */
	@Test
	void tickThatWasMissedIsRunWhenItsHourComesAgain() {
		this.runner.withBean(Jobs.class).withBean(Service.class).run((context) -> {
			NightScheduler scheduler = context.getBean(NightScheduler.class);
			scheduler.passTheNight(CHANGE.minusSeconds(60));
			assertThat(runs).contains("per-tick").doesNotContain("auto", "none");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Schedules {

	}

	static class Jobs {

		private static final String CRON = "0 30 2 ${day} 10 *";

		private final Service service;

		Jobs(Service service) {
			this.service = service;
		}

		@SingleRunner("auto")
		@Scheduled(cron = CRON, zone = "Europe/Berlin")
		void auto() {
			runs.add("auto");
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		@Scheduled(cron = CRON, zone = "Europe/Berlin")
		void session() {
			runs.add("session");
		}

		@SingleRunner(key = "per-tick", once = Once.PER_TICK)
		@Scheduled(cron = CRON, zone = "Europe/Berlin")
		void perTick() {
			runs.add("per-tick");
		}

		@SingleRunner(key = "none", once = Once.NONE)
		@Scheduled(cron = CRON, zone = "Europe/Berlin")
		void none() {
			runs.add("none");
		}

		/**
		 * By the one it has two ticks in that night, by the other one.
		 */
		@SingleRunner("two-schedules")
		@Scheduled(cron = "0 15 2 ${day} 10 *", zone = "Europe/Berlin")
		@Scheduled(cron = "0 45 2 ${day} 10 *", zone = "Europe/Berlin")
		void twoSchedules() {
			runs.add("two-schedules");
		}

		@EveryInstance
		@Scheduled(cron = "0 30 * ${day} 10 *", zone = "Europe/Berlin")
		void eachHour() {
			this.service.hourly();
		}

		@EveryInstance
		@Scheduled(cron = CRON, zone = "Europe/Berlin")
		void unguarded() {
			runs.add("unguarded");
			this.service.delegated();
			this.service.delegated("a");
		}

	}

	static class Service {

		private final Queue<String> skips = new ConcurrentLinkedQueue<>();

		@SingleRunner("hourly")
		void hourly() {
			runs.add("hourly");
		}

		@SingleRunner("delegated")
		void delegated() {
			runs.add("delegated");
		}

		@SingleRunner("delegated:#{#name}")
		void delegated(String name) {
			runs.add("delegated:" + name);
		}

		Queue<String> skips() {
			return this.skips;
		}

		@EventListener
		void skipped(SingleRunnerSkippedEvent event) {
			this.skips.add(event.key().name() + " " + event.outcome() + " " + event.tick());
		}

	}

	/**
	 * Calls what is planned in a night, when it is told to.
	 */
	static class NightScheduler extends ThreadPoolTaskScheduler {

		private static final long serialVersionUID = 1;

		private final transient List<Task> tasks = new ArrayList<>();

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			this.tasks.add(new Task(task, trigger));
			return new Never();
		}

		void passTheNight() {
			passTheNight(CHANGE.minusSeconds(3600));
		}

		void passTheNight(Instant from) {
			this.tasks.forEach((task) -> task.passTheNight(from));
		}

	}

	private record Task(Runnable task, Trigger trigger) {

		private void passTheNight(Instant from) {
			Instant time = next(from, null);
			while (time != null && time.isBefore(CHANGE.plusSeconds(7200))) {
				this.task.run();
				time = next(time, time);
			}
		}

		private @Nullable Instant next(Instant now, @Nullable Instant last) {
			SimpleTriggerContext context = new SimpleTriggerContext(Clock.fixed(now, ZoneOffset.UTC));
			context.update(last, last, last);
			return this.trigger.nextExecution(context);
		}

	}

	private static final class Never extends CompletableFuture<Void> implements ScheduledFuture<Void> {

		@Override
		public long getDelay(TimeUnit unit) {
			return Long.MAX_VALUE;
		}

		@Override
		public int compareTo(Delayed other) {
			return 0;
		}

	}

}
