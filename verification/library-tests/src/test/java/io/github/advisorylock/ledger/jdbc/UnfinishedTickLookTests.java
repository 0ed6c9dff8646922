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
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link UnfinishedTickWatcher} takes for open, and what it does when it
 * looks, where the test itself says how calls have ended and when to look.
 */
@Tag("gate")
class UnfinishedTickLookTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("test", "nightly");

	private static final Instant TICK = Instant.now().minus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);

	private static final Instant EARLIER = TICK.minus(Duration.ofDays(1));

	private static final String METHOD = "Jobs.nightly";

	private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(3);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(4);

	private final SettableTicker ticker = new SettableTicker();

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS open_tick_look_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA open_tick_look_tests");
	}

	@ParameterizedTest
	@EnumSource(value = LockOutcome.class, names = { "BUSY", "TOO_SOON", "PAUSED" })
	void tickThatWasSkippedIsOpenUntilItIsCompleted(LockOutcome outcome) {
		watch((watcher, ledger, jobs) -> {
			skipped(watcher, METHOD, TICK, outcome);
			assertThat(watcher.isWatching()).isTrue();
			finished(watcher, TICK, new IllegalStateException("expected"));
			assertThat(watcher.isWatching()).isTrue();
			finished(watcher, TICK, null);
			assertThat(watcher.isWatching()).isFalse();
			watcher.look();
			skipped(watcher, METHOD, TICK, outcome);
			skipped(watcher, METHOD, TICK, LockOutcome.ALREADY_RAN);
			assertThat(watcher.isWatching()).isFalse();
			watcher.look();
			assertThat(ledger.askedHere).hasValue(0);
		});
	}

	@Test
	void tickThatFailedIsOpen() {
		watch((watcher, ledger, jobs) -> {
			finished(watcher, TICK, new IllegalStateException("expected"));
			assertThat(watcher.isWatching()).isTrue();
		});
	}

	@Test
	void callForNoTickOrOfAnotherMethodOpensNothing() {
		watch((watcher, ledger, jobs) -> {
			skipped(watcher, METHOD, null, LockOutcome.BUSY);
			watcher.onApplicationEvent(new PayloadApplicationEvent<>(this, new SingleRunnerFinishedEvent(KEY,
					LockScope.TRANSACTION, METHOD, Duration.ZERO, new IllegalStateException("expected"), null, 1)));
			skipped(watcher, "Jobs.other", TICK, LockOutcome.BUSY);
			assertThat(watcher.isWatching()).isFalse();
		});
	}

	@Test
	void latestTickIsTheOneThatIsOpen() {
		watch((watcher, ledger, jobs) -> {
			try (ForeignSession holder = ForeignSession.holding(KEY)) {
				skipped(watcher, METHOD, EARLIER, LockOutcome.BUSY);
				skipped(watcher, METHOD, TICK, LockOutcome.BUSY);
				watcher.look();
				assertThat(ledger.askedHere).as("what is not the latest is not asked for").hasValue(1);
				skipped(watcher, METHOD, EARLIER, LockOutcome.BUSY);
				watcher.look();
				assertThat(ledger.askedHere).hasValue(2);
				finished(watcher, EARLIER, null);
				assertThat(watcher.isWatching()).isTrue();
				finished(watcher, TICK, null);
				assertThat(watcher.isWatching()).isFalse();
			}
		});
	}

	@Test
	void tickThatCameMeanwhileIsOpenInsteadOfTheOneBefore() {
		watch((watcher, ledger, jobs) -> {
			finished(watcher, TICK, null);
			skipped(watcher, METHOD, EARLIER, LockOutcome.BUSY);
			watcher.look();
			assertThat(ledger.asked).as("its scheduler comes first").hasValue(0);
			assertThat(watcher.isWatching()).isTrue();
			assertAskedAgainAfter(ledger, SHORTEST_PAUSE, LONGEST_PAUSE);
			finished(watcher, TICK, null);
			assertThat(watcher.isWatching()).isFalse();
		});
	}

	/**
	 * Its scheduler passes over it. Here there is none.
	 */
	@Test
	void tickThatCameDuringTheRunOfTheOneBeforeRunsAfterIt() {
		watch((watcher, ledger, jobs) -> {
			skipped(watcher, METHOD, EARLIER, LockOutcome.TOO_SOON);
			finished(watcher, EARLIER, null);
			assertAskedAgainAfter(ledger, SHORTEST_PAUSE, LONGEST_PAUSE);
			Awaitility.await().until(() -> jobs.calls() == 1);
			Awaitility.await().until(() -> !watcher.isWatching());
			assertThat(TestPostgres.query("SELECT extract(epoch FROM last_tick)::bigint "
					+ "FROM open_tick_look_tests.ledger_job WHERE key = 'nightly'"))
				.containsExactly(Long.toString(TICK.getEpochSecond()));
		});
	}

	@Test
	void instanceWhoseTicksAreCompletedAsksNothing() {
		watch((watcher, ledger, jobs) -> {
			complete();
			watcher.openLatest();
			Awaitility.await().until(() -> !watcher.isWatching());
			int asked = ledger.asked.get();
			watcher.look();
			this.ticker.advance(Duration.ofHours(1));
			assertThat(ledger.asked).hasValue(asked);
		});
	}

	@Test
	void watcherThatIsStoppedLooksNoMore() {
		watch((watcher, ledger, jobs) -> {
			skipped(watcher, METHOD, TICK, LockOutcome.BUSY);
			watcher.stop();
			assertThat(watcher.isWatching()).isFalse();
			skipped(watcher, METHOD, TICK, LockOutcome.BUSY);
			assertThat(watcher.isWatching()).isFalse();
			watcher.look();
			assertThat(ledger.askedHere).hasValue(0);
		});
	}

	@Test
	void tickIsNotCalledWhenItsHolderHasCompletedItSinceTheFirstLook() {
		watch((watcher, ledger, jobs) -> {
			ledger.afterwards = UnfinishedTickLookTests::complete;
			assertThat(calls(watcher)).isEmpty();
			assertThat(watcher.isWatching()).isFalse();
		});
	}

	@Test
	void tickIsNotCalledWhenItIsCompletedHereDuringTheLook() {
		watch((watcher, ledger, jobs) -> {
			ledger.afterwards = () -> finished(watcher, TICK, null);
			assertThat(calls(watcher)).isEmpty();
			assertThat(watcher.isWatching()).isFalse();
		});
	}

	@Test
	void tickThatIsCalledIsLeftAloneUntilTheCallHasEnded() {
		watch((watcher, ledger, jobs) -> {
			CountDownLatch end = jobs.waitForEnd();
			assertThat(calls(watcher)).hasSize(1);
			int asked = ledger.askedHere.get();
			watcher.look();
			assertThat(ledger.askedHere).hasValue(asked);
			watcher.stop();
			end.countDown();
			Awaitility.await().until(() -> jobs.calls() == 1);
		});
	}

	@Test
	void tickOfAJobThatNobodyKnewBeforeIsRunWhenItWasTried() {
		watch((watcher, ledger, jobs) -> {
			TestPostgres.execute("UPDATE open_tick_look_tests.ledger_job SET first_seen_at = now()");
			skipped(watcher, METHOD, TICK, LockOutcome.TOO_SOON);
			watcher.look();
			Awaitility.await().until(() -> jobs.calls() == 1);
		});
	}

	@Test
	void tickThatSomebodyIsAtIsLookedAtOnceAndThenNotForAWhile() {
		watch((watcher, ledger, jobs) -> {
			try (ForeignSession holder = ForeignSession.holding(KEY)) {
				skipped(watcher, METHOD, TICK, LockOutcome.BUSY);
				watcher.look();
				assertThat(ledger.asked).hasValue(1);
				assertAskedAgainAfter(ledger, SHORTEST_PAUSE, LONGEST_PAUSE);
			}
		});
	}

	@Test
	void lookThatFailsIsNotRepeatedAtOnce() {
		watch((watcher, ledger, jobs) -> {
			ledger.afterwards = () -> {
				throw new IllegalStateException("expected");
			};
			openLatest(watcher);
			assertThat(ledger.asked).hasValue(1);
			assertAskedAgainAfter(ledger, SHORTEST_PAUSE, LONGEST_PAUSE);
			assertThat(watcher.isWatching()).isTrue();
		});
	}

	@Test
	void tickThatSomebodyIsAtIsLookedAtAgainUntilThatHasVanished() {
		watch((watcher, ledger, jobs) -> {
			try (ForeignSession holder = ForeignSession.holding(KEY)) {
				openLatest(watcher);
				this.ticker.advance(LONGEST_PAUSE);
				assertThat(jobs.calls()).isZero();
			}
			this.ticker.advance(LONGEST_PAUSE);
			Awaitility.await().until(() -> jobs.calls() == 1);
		});
	}

	@Test
	void tickWhoseCallFailsIsLookedAtAgain() {
		watch((watcher, ledger, jobs) -> {
			jobs.fail();
			assertThat(calls(watcher)).hasSize(1);
			Awaitility.await().until(() -> this.ticker.isIdleFor(LONGEST_PAUSE));
			assertAskedAgainAfter(ledger, SHORTEST_PAUSE.multipliedBy(2), LONGEST_PAUSE.multipliedBy(2));
			assertThat(watcher.isWatching()).isTrue();
		});
	}

	/**
	 * Take the latest ticks for open, and wait for the look at them.
	 */
	private void openLatest(UnfinishedTickWatcher watcher) {
		watcher.openLatest();
		Awaitility.await().until(() -> this.ticker.isIdleFor(Duration.ofMillis(1)));
	}

	/**
	 * Assert that the next question comes by itself, and when.
	 */
	private void assertAskedAgainAfter(LookedAtLedger ledger, Duration shortest, Duration longest) {
		int asked = ledger.asked.get();
		this.ticker.advance(shortest.minusNanos(1));
		assertThat(ledger.asked).as("before a pause of " + shortest).hasValue(asked);
		this.ticker.advance(longest.minus(shortest));
		assertThat(ledger.asked).as("after a pause of " + longest).hasValueGreaterThan(asked);
	}

	private static void complete() {
		TestPostgres
			.execute("UPDATE open_tick_look_tests.ledger_job SET last_tick = '" + TICK + "' WHERE key = 'nightly'");
	}

	/**
	 * Have a watcher look at a tick that was found busy once.
	 * @return what it says to run it
	 */
	private static List<String> calls(UnfinishedTickWatcher watcher) {
		try (LogRecorder log = LogRecorder.of(UnfinishedTickWatcher.class.getName(), "info")) {
			skipped(watcher, METHOD, TICK, LockOutcome.BUSY);
			watcher.look();
			return log.messages().stream().filter((message) -> message.endsWith("it is run now")).toList();
		}
	}

	private static void skipped(UnfinishedTickWatcher watcher, String method, @Nullable Instant tick,
			LockOutcome outcome) {
		watcher.onApplicationEvent(new PayloadApplicationEvent<>(watcher,
				new SingleRunnerSkippedEvent(KEY, LockScope.TRANSACTION, method, outcome, tick)));
	}

	private static void finished(UnfinishedTickWatcher watcher, Instant tick, @Nullable Throwable failure) {
		watcher.onApplicationEvent(new PayloadApplicationEvent<>(watcher,
				new SingleRunnerFinishedEvent(KEY, LockScope.TRANSACTION, METHOD, Duration.ZERO, failure, tick, 1)));
	}

	private void watch(Look test) {
		ZonedDateTime time = TICK.atZone(ZoneOffset.UTC);
		LockContextRunner.create()
			.withBean("jobs", Jobs.class)
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=open_tick_look_tests.ledger_",
					"cron=" + time.getSecond() + " " + time.getMinute() + " " + time.getHour() + " * * *")
			.run((context) -> {
				// the application's own one would do the same
				context.getBean(LedgerLifecycle.class).openTicks().stop();
				TestPostgres.execute("UPDATE open_tick_look_tests.ledger_job SET first_seen_at = first_seen_at "
						+ "- interval '5 days'");
				LookedAtLedger ledger = new LookedAtLedger(context.getBean(DataSource.class));
				UnfinishedTickWatcher watcher = new UnfinishedTickWatcher(ledger,
						new RecordedMethodRegistry(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class),
								context, (method) -> true),
						this.ticker.threads());
				context.getSourceApplicationContext(ConfigurableApplicationContext.class)
					.addApplicationListener(watcher);
				try {
					test.at(watcher, ledger, context.getBean(Jobs.class));
				}
				finally {
					watcher.stop();
				}
			});
	}

	/**
	 * What a test does.
	 */
	private interface Look {

		/**
		 * Do it.
		 */
		void at(UnfinishedTickWatcher watcher, LookedAtLedger ledger, Jobs jobs);

	}

	/**
	 * Counts how often jobs are looked at, by the test itself and in all, and does
	 * something after each time.
	 */
	private static final class LookedAtLedger extends PostgresAdvisoryLockLedger {

		private final AtomicInteger asked = new AtomicInteger();

		private final AtomicInteger askedHere = new AtomicInteger();

		private final Thread test = Thread.currentThread();

		private volatile Runnable afterwards = () -> {
		};

		private LookedAtLedger(DataSource dataSource) {
			super(dataSource,
					new LedgerSettings("open_tick_look_tests.ledger_", true, Duration.ofDays(30), 1000,
							Duration.ofDays(7)),
					"test", new LockInstance("host:1"), new NamedJobs(List::of), (event) -> {
					});
		}

		@Override
		List<JobRepository.ObservedJob> observe(List<AdvisoryLockKey> keys) {
			List<JobRepository.ObservedJob> jobs = super.observe(keys);
			this.asked.incrementAndGet();
			if (Thread.currentThread() == this.test) {
				this.askedHere.incrementAndGet();
			}
			this.afterwards.run();
			return jobs;
		}

	}

	static class Jobs {

		private final AtomicInteger calls = new AtomicInteger();

		private volatile CountDownLatch end = new CountDownLatch(0);

		private volatile boolean fail;

		@Scheduled(cron = "${cron}", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h")
		void nightly() throws InterruptedException {
			this.calls.incrementAndGet();
			this.end.await(20, TimeUnit.SECONDS);
			if (this.fail) {
				throw new IllegalStateException("expected");
			}
		}

		CountDownLatch waitForEnd() {
			this.end = new CountDownLatch(1);
			return this.end;
		}

		void fail() {
			this.fail = true;
		}

		int calls() {
			return this.calls.get();
		}

	}

}
