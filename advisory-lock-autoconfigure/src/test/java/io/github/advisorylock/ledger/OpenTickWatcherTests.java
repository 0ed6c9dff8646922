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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OpenTickWatcher}.
 */
class OpenTickWatcherTests {

	private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");

	private static final Instant STARTED = Instant.now();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean("jobs", Jobs.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always", "fail=false",
				"advisory-lock.ledger.table-prefix=open_tick_tests.ledger_", "cron=" + dailyAt(Duration.ofHours(1)));

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS open_tick_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA open_tick_tests");
	}

	@Test
	void firstStartRecordsJobAndRunsNothing() {
		comeUp(this.runner);
		assertThat(outcomes("nightly")).isEmpty();
		assertThat(TestPostgres.query("SELECT key FROM open_tick_tests.ledger_job ORDER BY key"))
			.containsExactly("nightly", "other");
	}

	@Test
	void latestMissedTickOfSeveralRunsOnceInItsZone() {
		comeUp(this.runner);
		seenBefore("5 days");
		comeUp(this.runner);
		comeUp(this.runner);
		assertThat(outcomes("nightly")).containsExactly("EXECUTED");
		assertThat(TestPostgres.query(
				"SELECT extract(epoch FROM tick)::bigint FROM open_tick_tests.ledger_run " + "WHERE key = 'nightly'"))
			.containsExactly(Long.toString(hoursAgo(Duration.ofHours(1)).toEpochSecond()));
	}

	@Test
	void tickOlderThanTheWindowIsNotRun() {
		ApplicationContextRunner later = this.runner.withPropertyValues("cron=" + dailyAt(Duration.ofHours(3)));
		comeUp(later);
		seenBefore("5 days");
		comeUp(later);
		assertThat(outcomes("nightly")).isEmpty();
	}

	@Test
	void missedTickRunsOnceWhenFiveInstancesComeUpTogether() throws InterruptedException {
		comeUp(this.runner);
		seenBefore("5 days");
		CountDownLatch up = new CountDownLatch(5);
		List<Thread> instances = IntStream.range(0, 5).mapToObj((i) -> new Thread(() -> this.runner.run((context) -> {
			up.countDown();
			up.await();
			publishReady(context);
			awaitNothingOpen(context);
		}))).toList();
		instances.forEach(Thread::start);
		for (Thread instance : instances) {
			instance.join();
		}
		assertThat(outcomes("nightly")).containsExactly("EXECUTED");
	}

	@Test
	void failedTickRunsAgainAtNextStartAndStopsNoOtherJob() {
		comeUp(this.runner);
		seenBefore("5 days");
		comeUp(this.runner.withPropertyValues("fail=true"));
		assertThat(outcomes("nightly")).containsExactly("FAILED");
		assertThat(outcomes("other")).containsExactly("EXECUTED");
		comeUp(this.runner);
		assertThat(outcomes("nightly")).containsExactly("FAILED", "EXECUTED");
		assertThat(outcomes("other")).containsExactly("EXECUTED");
	}

	private static void comeUp(ApplicationContextRunner runner) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			publishReady(context);
			awaitNothingOpen(context);
		});
	}

	private static void publishReady(AssertableApplicationContext assertable) {
		ConfigurableApplicationContext context = assertable
			.getSourceApplicationContext(ConfigurableApplicationContext.class);
		context.publishEvent(new ApplicationReadyEvent(new SpringApplication(), new String[0], context, Duration.ZERO));
	}

	private static void awaitNothingOpen(ApplicationContext context) {
		Awaitility.await().until(() -> !watcher(context).isWatching());
	}

	private static OpenTickWatcher watcher(ApplicationContext context) {
		return context.getBean(LedgerLifecycle.class).openTicks();
	}

	private static void seenBefore(String age) {
		TestPostgres
			.execute("UPDATE open_tick_tests.ledger_job SET first_seen_at = first_seen_at - interval '" + age + "'");
	}

	private static List<String> outcomes(String key) {
		return TestPostgres
			.query("SELECT outcome FROM open_tick_tests.ledger_run WHERE key = '" + key + "' ORDER BY fencing_token");
	}

	private static String dailyAt(Duration ago) {
		ZonedDateTime time = hoursAgo(ago);
		return time.getSecond() + " " + time.getMinute() + " " + time.getHour() + " * * *";
	}

	private static ZonedDateTime hoursAgo(Duration ago) {
		return STARTED.minus(ago).atZone(ZONE).withNano(0);
	}

	static class Jobs {

		private final boolean fail;

		Jobs(Environment environment) {
			this.fail = environment.getRequiredProperty("fail", Boolean.class);
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Tokyo")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h")
		void nightly() {
			if (this.fail) {
				throw new IllegalStateException("failed");
			}
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Tokyo")
		@SingleRunner(key = "other", once = Once.PER_TICK, catchUp = "2h")
		void other() {
		}

	}

}
