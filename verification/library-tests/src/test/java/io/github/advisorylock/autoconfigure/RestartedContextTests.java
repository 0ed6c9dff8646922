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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.thread.LockThread;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for an application that is stopped and started again, or paused as Spring pauses
 * the contexts of tests: everything works as before, with as many threads.
 */
@Tag("slow")
class RestartedContextTests {

	private static final AdvisoryLockKey NIGHTLY = AdvisoryLockKey.of("test", "nightly");

	private static final Instant HOUR_AGO = Instant.now()
		.minus(Duration.ofHours(1))
		.with(ChronoField.NANO_OF_SECOND, 0);

	private final long begun = System.nanoTime();

	private final Seen seen = new Seen();

	private final ExecutorService executor = Executors.newCachedThreadPool();

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withBean("jobs", Jobs.class, () -> new Jobs(this.seen))
		.withUserConfiguration(Scheduling.class)
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=2s",
				"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.instances=true",
				"advisory-lock.ledger.table-prefix=restart_tests.ledger_", "daily=" + dailyAt(HOUR_AGO));

	private int uses;

	@AfterEach
	void stopThreads() {
		this.executor.shutdownNow();
	}

	@Test
	void everythingWorksAgainWithAsManyThreadsAndNoneStays() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS restart_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA restart_tests");
		this.application.run((assertable) -> {
			ConfigurableApplicationContext context = assertable
				.getSourceApplicationContext(ConfigurableApplicationContext.class);
			context.publishEvent(
					new ApplicationReadyEvent(new SpringApplication(), new String[0], context, Duration.ZERO));
			TestPostgres
				.execute("UPDATE restart_tests.ledger_job SET first_seen_at = first_seen_at - interval '5 days'");
			use(context);
			context.stop();
			assertStopped(context);
			context.start();
			assertMissedTickIsRun();
			use(context);
			context.pause();
			assertStopped(context);
			context.restart();
			assertMissedTickIsRun();
			use(context);
			context.restart();
			use(context);
		});
		Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(threads()).isEmpty());
		assertThat(TestPostgres.locks()).isEmpty();
	}

	private void use(ConfigurableApplicationContext context) throws Exception {
		this.uses++;
		Jobs jobs = context.getBean(Jobs.class);
		Awaitility.await().until(() -> "led".equals(jobs.lead()));
		this.seen.events.clear();
		assertThatTickIsRememberedAndOthersAreStill(context.getBean(AdvisoryLockOperations.class));
		assertThatLossesAreTold(context);
		assertThatTicksAreRememberedByTheServer(this.uses);
		assertThatCallsWait(context);
		assertThatTickOfAnotherIsTakenOver(jobs);
		int ticking = this.seen.ticking.get();
		Awaitility.await().untilAsserted(() -> assertThat(this.seen.ticking).hasValueGreaterThan(ticking));
		Awaitility.await()
			.until(() -> TestPostgres.query("SELECT stopped_at FROM restart_tests.ledger_instance").get(0) == null);
		assertThat(threads()).filteredOn((name) -> !name.equals("advisory-lock-worker"))
			.containsExactlyInAnyOrder("advisory-lock-session", "advisory-lock-timer");
	}

	private void assertStopped(ConfigurableApplicationContext context) {
		assertThat(context.getBean(Jobs.class).lead()).isNull();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.connections("test")).isEmpty());
		assertThat(TestPostgres.query("SELECT stopped_at FROM restart_tests.ledger_instance").get(0)).isNotNull();
		Awaitility.await().untilAsserted(() -> assertThat(threads()).doesNotContain("advisory-lock-worker"));
		this.seen.nightly.set(0);
		forgetNightlyTick();
	}

	private void assertMissedTickIsRun() {
		Awaitility.await().untilAsserted(() -> assertThat(this.seen.nightly).hasValue(1));
	}

	private void assertThatTickIsRememberedAndOthersAreStill(AdvisoryLockOperations operations) {
		List<LockOutcome> outcomes = IntStream.rangeClosed(1, this.uses)
			.mapToObj((use) -> LockRequest.of("remembered")
				.scope(LockScope.SESSION)
				.rememberTick(tick(use), Duration.ofMinutes(5)))
			.map((request) -> operations.execute(request, (lock) -> true).outcome())
			.toList();
		assertThat(outcomes).filteredOn(LockOutcome.EXECUTED::equals).hasSize(1);
		assertThat(outcomes).endsWith(LockOutcome.EXECUTED);
	}

	private static void assertThatTicksAreRememberedByTheServer(int uses) {
		Awaitility.await()
			.until(() -> IntStream.rangeClosed(1, uses)
				.mapToObj((use) -> AdvisoryLockKey.of("test", "advisory-lock:tick:remembered@" + tick(use)))
				.filter(ForeignSession::isHeld)
				.count() == uses);
	}

	private static Instant tick(int use) {
		return HOUR_AGO.plusSeconds(use);
	}

	private void assertThatLossesAreTold(ConfigurableApplicationContext context) throws Exception {
		AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
		HeldLock held = operations.tryAcquire(LockRequest.of("held")).orElseThrow();
		CountDownLatch lost = new CountDownLatch(1);
		held.onLost(lost::countDown);
		CompletableFuture<Void> running = new CompletableFuture<>();
		Future<?> session = run(operations, LockScope.SESSION, (lock) -> running.complete(null));
		running.get(20, TimeUnit.SECONDS);
		TestPostgres.terminate("test");
		assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		Future<?> transaction = run(operations, LockScope.TRANSACTION, (lock) -> {
			// Only what the session has seen can be missing
			Pause.of(Duration.ofSeconds(1));
			TestPostgres.execute("SELECT pg_terminate_backend("
					+ jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class) + ")");
		});
		assertThat(session.get(20, TimeUnit.SECONDS)).isEqualTo(true);
		assertThat(transaction.get(20, TimeUnit.SECONDS)).isEqualTo(true);
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(this.seen.events).containsExactlyInAnyOrder("held is lost", "SESSION is lost",
							"TRANSACTION is lost", "leader:reports is lost", "reports is lost", "reports is gained"));
	}

	/**
	 * Run until the thread is interrupted, and return whether that was for a loss.
	 */
	private Future<Object> run(AdvisoryLockOperations operations, LockScope scope, Consumer<LockContext> action) {
		CompletableFuture<Object> told = new CompletableFuture<>();
		this.executor.execute(() -> {
			try {
				operations.execute(LockRequest.of(scope.name()).scope(scope), (lock) -> {
					action.accept(lock);
					Pause.of(Duration.ofSeconds(30));
					return told.complete(!lock.isHeld());
				});
			}
			catch (RuntimeException ex) {
				told.completeExceptionally(ex);
			}
		});
		return told;
	}

	private void assertThatCallsWait(ConfigurableApplicationContext context) throws Exception {
		AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
		try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "awaited"))) {
			Future<Boolean> waiting = this.executor.submit(
					() -> operations.execute(LockRequest.of("awaited").waitFor(Duration.ofSeconds(20)), (lock) -> true)
						.executed());
			Pause.of(Duration.ofMillis(100));
			assertThat(waiting).isNotDone();
			other.unlock(AdvisoryLockKey.of("test", "awaited"));
			assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
		}
	}

	private void assertThatTickOfAnotherIsTakenOver(Jobs jobs) {
		this.seen.nightly.set(0);
		try (ForeignSession other = ForeignSession.holding(NIGHTLY)) {
			forgetNightlyTick();
			PlannedTime.run(HOUR_AGO, jobs::nightly);
			assertThat(this.seen.nightly).hasValue(0);
			assertThat(other.unlock(NIGHTLY)).isTrue();
		}
		Awaitility.await().untilAsserted(() -> assertThat(this.seen.nightly).hasValue(1));
	}

	private static void forgetNightlyTick() {
		TestPostgres.execute("UPDATE restart_tests.ledger_job SET last_tick = NULL WHERE key = 'nightly'");
	}

	/**
	 * Return the names of the threads of the library that this test has made.
	 */
	private List<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("advisory-lock-")
					&& !LockThread.isOfOlder(thread, this.begun))
			.map(Thread::getName)
			.toList();
	}

	private static String dailyAt(Instant instant) {
		ZonedDateTime time = instant.atZone(ZoneOffset.UTC);
		return time.getSecond() + " " + time.getMinute() + " " + time.getHour() + " * * *";
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	/**
	 * What jobs have done and heard.
	 */
	private static final class Seen {

		private final AtomicInteger nightly = new AtomicInteger();

		private final AtomicInteger ticking = new AtomicInteger();

		private final List<String> events = new CopyOnWriteArrayList<>();

	}

	/**
	 * Uses all there is, and hears of it.
	 */
	static class Jobs {

		private final Seen seen;

		Jobs(Seen seen) {
			this.seen = seen;
		}

		@LeaderOnly("reports")
		@Nullable String lead() {
			return "led";
		}

		@Scheduled(cron = "${daily}", zone = "UTC")
		@SingleRunner(key = "nightly", once = Once.PER_TICK, catchUp = "2h")
		void nightly() {
			this.seen.nightly.incrementAndGet();
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRunner("ticking")
		void ticking() {
			this.seen.ticking.incrementAndGet();
		}

		@EventListener
		void lost(LockLostEvent event) {
			this.seen.events.add(event.key().name() + " is lost");
		}

		@EventListener
		void lost(LeadershipLostEvent event) {
			this.seen.events.add(event.role() + " is lost");
		}

		@EventListener
		void gained(LeadershipGainedEvent event) {
			this.seen.events.add(event.role() + " is gained");
		}

	}

}
