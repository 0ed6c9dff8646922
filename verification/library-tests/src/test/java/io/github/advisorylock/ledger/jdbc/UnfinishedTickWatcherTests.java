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
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnfinishedTickWatcher}.
 */
@Tag("gate")
class UnfinishedTickWatcherTests {

	private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");

	private static final Instant STARTED = Instant.now();

	private final SettableTicker ticker = new SettableTicker();

	private final ApplicationContextRunner runner = this.ticker.in(LockContextRunner.create())
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

	/**
	 * At the first look, and the other one at the next.
	 */
	@Test
	void tickIsRunThoughNoThreadCouldBeHadForAnother() {
		comeUp(this.runner);
		seenBefore("5 days");
		AtomicInteger asked = new AtomicInteger();
		this.runner.withInitializer((context) -> context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String name) {
				return (bean instanceof LockScheduler.Threads)
						? new OneThreadShort(UnfinishedTickWatcherTests.this.ticker, asked) : bean;
			}

		})).run((context) -> {
			try (LogRecorder log = LogRecorder.of(UnfinishedTickWatcher.class.getName(), "WARN")) {
				comeUp(context);
				assertThat(log.messages()).singleElement().asString().contains("No thread could be had", "Jobs");
			}
		});
		assertThat(asked).hasValue(3);
		assertThat(outcomes("nightly")).containsExactly("EXECUTED");
		assertThat(outcomes("other")).containsExactly("EXECUTED");
	}

	@Test
	void tickThatWasLostIsWarnedOfOnce() {
		ApplicationContextRunner later = this.runner.withPropertyValues("cron=" + dailyAt(Duration.ofHours(3)));
		comeUp(later);
		seenBefore("5 days");
		try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
			later.run((context) -> {
				publishReady(context);
				awaitNothingOpen(context);
				publishReady(context);
				awaitNothingOpen(context);
			});
			assertThat(log.messages()).hasSize(2)
				.contains("Job 'test/nightly' has lost its tick of " + tick(Duration.ofHours(3))
						+ ": no instance has completed it within PT2H, see 'catchUp'");
		}
	}

	@Test
	void failedTickRunsAgainWithoutRestartAndStopsNoOtherJob() {
		comeUp(this.runner);
		seenBefore("5 days");
		this.runner.withPropertyValues("fail=true").run((context) -> {
			publishReady(context);
			Awaitility.await().until(() -> outcomes("nightly").equals(List.of("FAILED")));
			Awaitility.await().until(() -> outcomes("other").equals(List.of("EXECUTED")));
			context.getBean(Jobs.class).fail(false);
			TestPostgres.execute("UPDATE open_tick_tests.ledger_job SET retry_at = NULL");
			awaitNothingOpen(context);
			assertThat(outcomes("nightly")).containsExactly("FAILED", "EXECUTED");
			assertThat(outcomes("other")).containsExactly("EXECUTED");
			assertThat(context.getBean(AdvisoryLockLedger.class).runs("nightly", 9)).extracting(LedgerRun::attempt)
				.containsExactly(2, 1);
		});
	}

	@Test
	void failedTickWaitsUntilTheLedgerSaysSo() {
		comeUp(this.runner);
		seenBefore("5 days");
		this.runner.withPropertyValues("fail=true").run((context) -> {
			publishReady(context);
			Awaitility.await().until(() -> outcomes("nightly").equals(List.of("FAILED")));
			assertThat(TestPostgres.query("SELECT retry_at - last_finished_at BETWEEN interval '29 s' AND interval "
					+ "'37 s' FROM open_tick_tests.ledger_job WHERE key = 'nightly'"))
				.containsExactly("t");
			watcher(context).look();
			watcher(context).look();
			assertThat(outcomes("nightly")).containsExactly("FAILED");
		});
	}

	@Test
	void waitThatAnOperatorEndsIsNoticedBeforeItWouldBeOver() {
		comeUp(this.runner);
		seenBefore("5 days");
		this.runner.withPropertyValues("fail=true").run((context) -> {
			publishReady(context);
			Awaitility.await().until(() -> outcomes("nightly").equals(List.of("FAILED")));
			awaitCallsEnded();
			TestPostgres.execute("UPDATE open_tick_tests.ledger_job SET retry_at = retry_at + interval '11 minutes'");
			watcher(context).look();
			TestPostgres.execute("UPDATE open_tick_tests.ledger_job SET retry_at = NULL");
			this.ticker.advance(Duration.ofMillis(29_999));
			awaitCallsEnded();
			assertThat(outcomes("nightly")).containsExactly("FAILED");
			this.ticker.advance(Duration.ofSeconds(2));
			Awaitility.await().until(() -> outcomes("nightly").equals(List.of("FAILED", "FAILED")));
		});
	}

	@Test
	void tickIsTakenOverWhenItsHolderVanishesAndIsNotCalledMissedBefore() {
		this.runner.run((context) -> {
			seenBefore("5 days");
			try (LogRecorder log = LogRecorder.of(UnfinishedTickWatcher.class.getName(), "info")) {
				try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of("test", "nightly"))) {
					callByScheduler(context);
					assertThat(watcher(context).isWatching()).isTrue();
					watcher(context).look();
					watcher(context).look();
					assertThat(log.messages()).isEmpty();
				}
				awaitNothingOpen(context);
				assertThat(log.messages()).containsExactly("No instance has completed the tick of "
						+ tick(Duration.ofHours(1)) + " of 'test/nightly', and none is running it: it is run now");
			}
			assertThat(outcomes("nightly").get(outcomes("nightly").size() - 1)).isEqualTo("EXECUTED");
		});
	}

	@Test
	void listenerThatFailsDoesNotHideHowCallsEnd() {
		this.runner.withBean("failing", FailingListener.class, FailingListener::new).run((context) -> {
			seenBefore("5 days");
			try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of("test", "nightly"))) {
				callByScheduler(context);
				assertThat(watcher(context).isWatching()).isTrue();
			}
		});
	}

	@Test
	void pausedJobWaitsForItsOperator() {
		comeUp(this.runner);
		seenBefore("5 days");
		this.runner.run((context) -> {
			context.getBean(AdvisoryLockLedger.class).pause("nightly", "alice");
			publishReady(context);
			Awaitility.await().until(() -> outcomes("other").equals(List.of("EXECUTED")));
			watcher(context).look();
			assertThat(outcomes("nightly")).isEmpty();
			assertThat(watcher(context).isWatching()).isTrue();
			context.getBean(AdvisoryLockLedger.class).resume("nightly", "alice");
			watcher(context).look();
			awaitNothingOpen(context);
			assertThat(outcomes("nightly")).containsExactly("EXECUTED");
		});
	}

	@Test
	void eachTickRunsOnItsOwnThread() {
		comeUp(this.runner);
		seenBefore("5 days");
		this.runner.run((context) -> {
			context.getBean(Jobs.class).meet();
			comeUp(context);
			assertThat(outcomes("nightly")).containsExactly("EXECUTED");
			assertThat(outcomes("other")).containsExactly("EXECUTED");
		});
	}

	/**
	 * Thirty instances in one, which makes as few statements for each as three hundred
	 * do.
	 */
	@Test
	void threeHundredInstancesAskFewerThanHundredTimesInSecond() throws Exception {
		this.runner.run((context) -> {
			seenBefore("5 days");
			CountingLedger ledger = new CountingLedger(context.getBean(DataSource.class));
			RecordedMethodRegistry methods = new RecordedMethodRegistry(
					context.getBean(SingleRunnerAnnotationBeanPostProcessor.class), context, (method) -> true);
			AdvisoryLockKey key = AdvisoryLockKey.of("test", "nightly");
			String method = methods.catchingUp()
				.stream()
				.filter((candidate) -> key.equals(candidate.fixedKey()))
				.findFirst()
				.orElseThrow()
				.operation()
				.method();
			List<UnfinishedTickWatcher> instances = IntStream.range(0, 30)
				.mapToObj((i) -> new UnfinishedTickWatcher(ledger, methods, this.ticker.threads()))
				.toList();
			try (ForeignSession holder = ForeignSession.holding(key)) {
				instances.forEach((instance) -> instance
					.onApplicationEvent(new PayloadApplicationEvent<>(this, new SingleRunnerSkippedEvent(key,
							LockScope.TRANSACTION, method, LockOutcome.BUSY, tick(Duration.ofHours(1))))));
				this.ticker.advance(Duration.ofSeconds(20));
				instances.forEach(UnfinishedTickWatcher::stop);
				assertThat(ledger.statements.get()).isBetween(100, 200);
			}
		});
	}

	private void comeUp(ApplicationContextRunner runner) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			comeUp(context);
		});
	}

	private void comeUp(AssertableApplicationContext context) {
		publishReady(context);
		awaitNothingOpen(context);
	}

	/**
	 * Call the job as its scheduler does, for its latest tick.
	 */
	private static void callByScheduler(ApplicationContext context) {
		PlannedTime.run(tick(Duration.ofHours(1)), context.getBean(Jobs.class)::nightly);
	}

	private static Instant tick(Duration ago) {
		return hoursAgo(ago).toInstant();
	}

	private static void publishReady(AssertableApplicationContext assertable) {
		ConfigurableApplicationContext context = assertable
			.getSourceApplicationContext(ConfigurableApplicationContext.class);
		context.publishEvent(new ApplicationReadyEvent(new SpringApplication(), new String[0], context, Duration.ZERO));
	}

	/**
	 * Let time pass until there is nothing to look at any more.
	 */
	private void awaitNothingOpen(ApplicationContext context) {
		Awaitility.await().pollInSameThread().until(() -> {
			this.ticker.advance(Duration.ofSeconds(1));
			return !watcher(context).isWatching();
		});
	}

	private static void awaitCallsEnded() {
		Awaitility.await()
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("advisory-lock-catch-up")));
	}

	private static UnfinishedTickWatcher watcher(ApplicationContext context) {
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

	/**
	 * Counts how often jobs are looked at, with a statement each time.
	 */
	private static final class CountingLedger extends PostgresAdvisoryLockLedger {

		private final AtomicInteger statements = new AtomicInteger();

		private CountingLedger(DataSource dataSource) {
			super(dataSource,
					new LedgerSettings("open_tick_tests.ledger_", true, Duration.ofDays(30), 1000, Duration.ofDays(7)),
					"test", new LockInstance("host:1"), new NamedJobs(List::of), (event) -> {
					});
		}

		@Override
		List<JobRepository.ObservedJob> observe(List<AdvisoryLockKey> keys) {
			this.statements.incrementAndGet();
			return super.observe(keys);
		}

	}

	/**
	 * Has no thread for the first one to be called.
	 */
	private static final class OneThreadShort extends LockScheduler.Threads {

		private final AtomicInteger asked;

		private OneThreadShort(SettableTicker ticker, AtomicInteger asked) {
			super(null, ticker);
			this.asked = asked;
		}

		@Override
		public ThreadFactory named(String name) {
			ThreadFactory made = super.named(name);
			return (task) -> {
				if (name.equals("advisory-lock-catch-up") && this.asked.incrementAndGet() == 1) {
					throw new OutOfMemoryError("expected");
				}
				return made.newThread(task);
			};
		}

	}

	static class FailingListener {

		@Order(Ordered.HIGHEST_PRECEDENCE + 1)
		@EventListener
		void on(SingleRunnerSkippedEvent event) {
			throw new IllegalStateException("expected");
		}

	}

	static class Jobs {

		private volatile boolean fail;

		private volatile CyclicBarrier meeting = new CyclicBarrier(1);

		Jobs(Environment environment) {
			this.fail = environment.getRequiredProperty("fail", Boolean.class);
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Tokyo")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h", maxRetries = 3)
		void nightly() {
			await();
			if (this.fail) {
				throw new IllegalStateException("failed");
			}
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Tokyo")
		@SingleRunner(key = "other", once = Once.PER_TICK, catchUp = "2h")
		void other() {
			await();
		}

		/**
		 * Have both jobs wait for each other.
		 */
		void meet() {
			this.meeting = new CyclicBarrier(2);
		}

		void fail(boolean fail) {
			this.fail = fail;
		}

		private void await() {
			try {
				this.meeting.await(Patience.SECONDS, TimeUnit.SECONDS);
			}
			catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
