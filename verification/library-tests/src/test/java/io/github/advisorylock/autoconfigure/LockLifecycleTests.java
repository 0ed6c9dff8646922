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
import java.time.temporal.ChronoField;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.LockLifecycle;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockLifecycle}.
 */
@Tag("gate")
class LockLifecycleTests {

	private final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	private final CountDownLatch running = new CountDownLatch(1);

	@AfterEach
	void stopThreads() {
		this.threads.shutdownNow();
	}

	@Test
	void runThatEndsWithinThePhaseKeepsItsLockAndTheDataSource() throws Exception {
		ConfigurableApplicationContext context = start("60s");
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		HikariDataSource pool = context.getBean(HikariDataSource.class);
		Thread closing = Thread.currentThread();
		Future<Integer> job = run(context, () -> {
			// not for a time: the pool of a slow machine may be open for long without
			// being kept
			Awaitility.await()
				.atMost(Duration.ofSeconds(50))
				.until(() -> pool.isClosed() || isWaitingForTheLastPhase(context, closing));
			return jdbc.queryForObject("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", Integer.class);
		});
		context.close();
		assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS)).isOne();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void runThatOutlastsThePhaseIsTold(LockScope scope) throws Exception {
		ConfigurableApplicationContext context = start("200ms");
		List<Object> told = new CopyOnWriteArrayList<>();
		context.addApplicationListener((ApplicationEvent event) -> {
			if (event instanceof PayloadApplicationEvent<?> published
					&& published.getPayload() instanceof LockLostEvent lost) {
				told.add(lost.key().name());
			}
		});
		HeldLock kept = context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("kept")).orElseThrow();
		kept.onLost(LockLifecycleTests::takeTime);
		Future<Throwable> job = run(context, scope, () -> {
			LockContext lock = LockContext.current().orElseThrow();
			try {
				new CountDownLatch(1).await();
				return null;
			}
			catch (InterruptedException ex) {
				assertThat(lock.isHeld()).isFalse();
				return ex;
			}
		});
		context.close();
		assertThat(job).failsWithin(Patience.TIME)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class);
		assertThat(told).containsExactlyInAnyOrder("kept", "job");
	}

	/**
	 * The phase of its scheduler, and none of the library for itself.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session", "leader" })
	void runThatIgnoresItsInterruptHoldsTheShutdownUpForOnePhase(String work) {
		StubbornJob.end = new CountDownLatch(1);
		StubbornJob.begun = new CountDownLatch(1);
		ConfigurableApplicationContext context = start("1s", StubbornScheduling.class, "spring.application.name=test",
				"leader=" + work.equals("leader"),
				"advisory-lock.jobs.stubborn.scope=" + (work.equals("leader") ? "session" : work));
		try (LogRecorder log = LogRecorder.of(DefaultLifecycleProcessor.class.getName(), "INFO")) {
			Awaitility.await().until(() -> StubbornJob.begun.getCount() == 0);
			context.close();
			assertThat(log.messages()).filteredOn((message) -> message.contains("still running"))
				.singleElement()
				.asString()
				.contains(Integer.toString(ExecutorConfigurationSupport.DEFAULT_PHASE));
		}
		finally {
			StubbornJob.end.countDown();
		}
	}

	@Test
	void everyCallerWhoStopsTheLocksGoesOnWhenTheRunHasEnded() throws Exception {
		try (ConfigurableApplicationContext context = start("60s")) {
			CountDownLatch end = new CountDownLatch(1);
			Future<Boolean> job = run(context, () -> end.await(Patience.SECONDS, TimeUnit.SECONDS));
			List<LockLifecycle> phases = List.copyOf(context.getBeansOfType(LockLifecycle.class).values());
			CountDownLatch stopped = new CountDownLatch(2 * phases.size());
			phases.forEach((phase) -> phase.stop(stopped::countDown));
			phases.forEach((phase) -> phase.stop(stopped::countDown));
			assertThat(stopped.getCount()).as("the run goes on").isPositive();
			end.countDown();
			assertThat(job.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(stopped.await(Patience.SECONDS, TimeUnit.SECONDS)).as("each caller went on").isTrue();
		}
	}

	@Test
	void contextThatIsClosedInsideARunDoesNotWaitForThatRun() throws Exception {
		ConfigurableApplicationContext context = start("60s");
		Future<Boolean> job = run(context, () -> {
			context.close();
			return true;
		});
		assertThat(job).failsWithin(Patience.TIME)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class);
	}

	@Tag("slow")
	@ParameterizedTest
	@EnumSource
	void scheduledCallThatOnlyWaitsForItsLockDoesNotHoldUpTheShutdown(LockScope scope) {
		AdvisoryLockKey key = AdvisoryLockKey.of("test", "waiting");
		try (ForeignSession busy = ForeignSession.holding(key)) {
			ConfigurableApplicationContext context = start("60s", Scheduling.class, "spring.application.name=test",
					"advisory-lock.jobs.waiting.scope=" + scope.name().toLowerCase(Locale.ROOT));
			PostgresAdvisoryLockTemplate template = context.getBean(PostgresAdvisoryLockTemplate.class);
			Awaitility.await().until(() -> template.getHeldLocks() > 0);
			long start = System.nanoTime();
			context.close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(40));
			assertThat(busy.unlock(key)).isTrue();
		}
	}

	/**
	 * Spring begins a call of a cron schedule that becomes due after the last phase, and
	 * interrupts it unless it is told to wait.
	 */
	@Test
	void scheduledCallThatBeginsAfterTheLastPhaseKeepsItsLockWhereItsSchedulerWaits() {
		ConfigurableApplicationContext context = start("60s", LateScheduling.class, "spring.application.name=test",
				"spring.task.scheduling.shutdown.await-termination=true",
				"spring.task.scheduling.shutdown.await-termination-period=30s");
		LateJob job = context.getBean(LateJob.class);
		AtomicBoolean late = new AtomicBoolean();
		// destroyed before all others, and so before the scheduler
		((DefaultListableBeanFactory) context.getBeanFactory()).registerDisposableBean("slow", () -> {
			int before = job.begun();
			Awaitility.await().until(() -> job.begun() > before);
			late.set(true);
		});
		// what becomes due while the phases end waits for the end of its scheduler
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> isMillisOfSecond(400, 700));
		context.close();
		assertThat(late).isTrue();
		assertThat(job.ended()).isEqualTo(job.begun());
	}

	/**
	 * Longer than a context needs to close.
	 */
	private static void takeTime() {
		try {
			new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean isMillisOfSecond(int least, int bound) {
		int millis = Instant.now().get(ChronoField.MILLI_OF_SECOND);
		return millis >= least && millis < bound;
	}

	private static boolean isWaitingForTheLastPhase(ConfigurableApplicationContext context, Thread closing) {
		return context.getBeansOfType(LockLifecycle.class)
			.values()
			.stream()
			.noneMatch((lifecycle) -> lifecycle.getPhase() == Integer.MIN_VALUE && lifecycle.isRunning())
				&& closing.getState() == Thread.State.TIMED_WAITING && Arrays.stream(closing.getStackTrace())
					.anyMatch((frame) -> frame.getClassName().startsWith(DefaultLifecycleProcessor.class.getName()));
	}

	private <T> Future<T> run(ConfigurableApplicationContext context, Callable<T> action) throws InterruptedException {
		return run(context, LockScope.SESSION, action);
	}

	private <T> Future<T> run(ConfigurableApplicationContext context, LockScope scope, Callable<T> action)
			throws InterruptedException {
		AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
		Future<T> job = this.threads.submit(() -> operations.execute(LockRequest.of("job").scope(scope), (lock) -> {
			this.running.countDown();
			return action.call();
		}).orElseThrow());
		assertThat(this.running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		return job;
	}

	private static ConfigurableApplicationContext start(String timeout) {
		return start(timeout, Application.class);
	}

	private static ConfigurableApplicationContext start(String timeout, Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.properties(properties)
			.properties("spring.datasource.url=" + TestPostgres.url(),
					"spring.lifecycle.timeout-per-shutdown-phase=" + timeout, "spring.jpa.hibernate.ddl-auto=none",
					"spring.flyway.enabled=false", "spring.liquibase.enabled=false")
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Scheduling {

		@Bean
		WaitingJob waitingJob() {
			return new WaitingJob();
		}

	}

	/**
	 * A job that somebody else keeps from running.
	 */
	static class WaitingJob {

		@Scheduled(fixedDelay = 3_600_000)
		@SingleRunner(key = "waiting", waitFor = "300s")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class StubbornScheduling {

		@Bean
		@ConditionalOnBooleanProperty(name = "leader", havingValue = false)
		StubbornJob stubbornJob() {
			return new StubbornJob();
		}

		@Bean
		@ConditionalOnBooleanProperty("leader")
		StubbornLeader stubbornLeader() {
			return new StubbornLeader();
		}

	}

	/**
	 * A job that goes on whatever it is told.
	 */
	static class StubbornJob {

		private static volatile CountDownLatch begun = new CountDownLatch(1);

		private static volatile CountDownLatch end = new CountDownLatch(1);

		@Scheduled(fixedDelay = 3_600_000)
		@SingleRunner(key = "stubborn", once = Once.NONE)
		void run() {
			goOn();
		}

		private static void goOn() {
			begun.countDown();
			while (end.getCount() > 0) {
				LockSupport.parkNanos(1_000_000);
				Thread.interrupted();
			}
		}

	}

	/**
	 * As the job, for a role.
	 */
	static class StubbornLeader {

		@Scheduled(fixedDelay = 100)
		@LeaderOnly("stubborn")
		void run() {
			StubbornJob.goOn();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class LateScheduling {

		@Bean
		LateJob lateJob() {
			return new LateJob();
		}

	}

	/**
	 * A job that takes a moment, each second, and ends only under its lock.
	 */
	static class LateJob {

		private final AtomicInteger begun = new AtomicInteger();

		private final AtomicInteger ended = new AtomicInteger();

		@Scheduled(cron = "* * * * * *")
		@SingleRunner(key = "late", scope = LockScope.SESSION)
		void run() {
			this.begun.incrementAndGet();
			Pause.of(Duration.ofMillis(300));
			LockContext.current().orElseThrow().checkHeld();
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			this.ended.incrementAndGet();
		}

		int begun() {
			return this.begun.get();
		}

		int ended() {
			return this.ended.get();
		}

	}

}
