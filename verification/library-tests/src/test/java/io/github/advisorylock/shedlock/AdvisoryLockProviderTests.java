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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockScheduler;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link AdvisoryLockProvider} in applications: one with session locks, one
 * with locks of transactions.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisoryLockProviderTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static ShedLockApplication session;

	private static ShedLockApplication transaction;

	private final String name = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		session = ShedLockApplication.start(List.of(Jobs.class), "advisory-lock.session.heartbeat=200ms");
		transaction = ShedLockApplication.start("advisory-lock.shedlock.scope=transaction",
				"advisory-lock.session.heartbeat=200ms");
	}

	@AfterAll
	static void stop() {
		session.close();
		transaction.close();
	}

	@AfterEach
	void checkThatNothingIsLeft() {
		Awaitility.await().atMost(Patience.TIME).until(() -> !ShedLockApplication.isLocked(this.name));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void annotatedMethodRunsUnderLockAndExtendsIt() {
		Jobs jobs = session.context.getBean(Jobs.class);
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(1);
		SimpleLock other = lock(transaction, "job", HOUR, Duration.ZERO).orElseThrow();
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(1);
		other.unlock();
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(2);
	}

	@Test
	void nameIsKeyInNamespaceOfApplication() {
		AdvisoryLockOperations operations = transaction.context.getBean(AdvisoryLockOperations.class);
		SimpleLock lock = lock(session, this.name, HOUR, Duration.ZERO).orElseThrow();
		assertThat(operations.execute(LockRequest.of(this.name), (context) -> true).outcome())
			.isEqualTo(LockOutcome.BUSY);
		lock.unlock();
		assertThat(operations.execute(LockRequest.of(this.name), (context) -> true).executed()).isTrue();
	}

	/**
	 * Methods of the application may wait, by a property; locks of ShedLock never do.
	 */
	@ParameterizedTest
	@EnumSource(LockScope.class)
	void lockIsAskedForWithoutWaiting(LockScope scope) {
		Busy busy = new Busy(new CopyOnWriteArrayList<>());
		AdvisoryLockProvider provider = new AdvisoryLockProvider(busy, () -> null, scope, true, (event) -> {
		}, LockScheduler.Threads.ofCurrent());
		assertThat(provider.lock(configuration(this.name, HOUR, Duration.ZERO))).isEmpty();
		provider.destroy();
		assertThat(busy.requests).singleElement().extracting(LockRequest::waitFor).isEqualTo(Duration.ZERO);
	}

	@Test
	void recordedRunIsTooSoonWhileKeyIsKept() {
		AdvisoryLockOperations operations = transaction.context.getBean(AdvisoryLockOperations.class);
		lock(session, this.name, HOUR, HOUR).orElseThrow().unlock();
		LockRequest request = LockRequest.of(this.name).recordedUnder(this.name);
		for (LockScope scope : LockScope.values()) {
			assertThat(operations.execute(request.scope(scope), (context) -> true).outcome())
				.isEqualTo(LockOutcome.TOO_SOON);
		}
		ShedLockApplication.letTimePass(this.name);
		assertThat(operations.execute(request, (context) -> true).executed()).isTrue();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void lockAtLeastForOutlivesHolder(LockScope scope) {
		lock(application(scope), this.name, HOUR, HOUR).orElseThrow();
		terminateHolder();
		assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		assertThat(lock(other(scope), this.name, HOUR, Duration.ZERO)).isEmpty();
		ShedLockApplication.letTimePass(this.name);
		lock(other(scope), this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void lockAtLeastForGivesWayToExtension(LockScope scope) {
		SimpleLock lock = lock(application(scope), this.name, HOUR, HOUR).orElseThrow();
		assertThat(ShedLockApplication.isKept(this.name)).isTrue();
		lock.extend(HOUR, Duration.ZERO).orElseThrow().unlock();
		lock(other(scope), this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runnerIsInterruptedAfterLockAtMostForAndLockGivenUp(LockScope scope) {
		ShedLockApplication application = application(scope);
		AtomicBoolean reached = new AtomicBoolean();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> executor(application).executeWithLock((LockingTaskExecutor.Task) () -> {
				reached.set(true);
				waitForInterrupt();
			}, configuration(this.name, Duration.ofMillis(100), Duration.ZERO)));
		assertThat(reached).isTrue();
		awaitLoss(application);
		lock(other(scope), this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void runnerIsInterruptedWhenLockIsLost(LockScope scope) {
		ShedLockApplication application = application(scope);
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> executor(application).executeWithLock((LockingTaskExecutor.Task) () -> {
				if (scope == LockScope.TRANSACTION) {
					TestPostgres.awaitLook(ShedLockApplication.NAMESPACE, Duration.ofMillis(200));
				}
				terminateHolder();
				waitForInterrupt();
			}, configuration(this.name, HOUR, Duration.ZERO)));
		awaitLoss(application);
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void interruptThatComesTooLateIsTakenBack(LockScope scope) throws Throwable {
		ShedLockApplication application = application(scope);
		executor(application).executeWithLock((LockingTaskExecutor.Task) () -> awaitFlag(application),
				configuration(this.name, Duration.ofMillis(100), Duration.ZERO));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void failureOfWorkIsNotReplacedByLossOfLock(LockScope scope) {
		ShedLockApplication application = application(scope);
		assertThatExceptionOfType(LockExtender.LockCanNotBeExtendedException.class)
			.isThrownBy(() -> executor(application).executeWithLock((LockingTaskExecutor.Task) () -> {
				awaitFlag(application);
				LockExtender.extendActiveLock(HOUR, Duration.ZERO);
			}, configuration(this.name, Duration.ofMillis(100), Duration.ZERO)));
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void threadThatTakesLockByHandIsNotInterrupted(LockScope scope) {
		ShedLockApplication application = application(scope);
		SimpleLock lock = lock(application, this.name, Duration.ofMillis(50), Duration.ZERO).orElseThrow();
		awaitLoss(application);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
		lock.unlock();
		assertThatIllegalStateException().isThrownBy(lock::unlock)
			.withMessage("Lock '" + this.name + "' was unlocked or extended before");
	}

	@Test
	void reportLeavesRunnerAlone() throws Throwable {
		try (ShedLockApplication reporting = ShedLockApplication.start("advisory-lock.session.when-lost=report")) {
			executor(reporting).executeWithLock((LockingTaskExecutor.Task) () -> awaitLoss(reporting),
					configuration(this.name, Duration.ofMillis(50), Duration.ZERO));
		}
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void lockIsKeptAliveBeyondItsTime(LockScope scope) {
		AtomicReference<Runnable> extension = new AtomicReference<>();
		ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(0) {

			@Override
			public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long delay, long period, TimeUnit unit) {
				extension.set(command);
				return super.schedule(command, 1, TimeUnit.HOURS);
			}

		};
		KeepAliveLockProvider provider = new KeepAliveLockProvider(
				(ExtensibleLockProvider) application(scope).provider(), clock);
		SimpleLock lock = provider.lock(configuration(this.name, Duration.ofMinutes(1), Duration.ofMinutes(1)))
			.orElseThrow();
		extension.get().run();
		extension.get().run();
		assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
		lock.unlock();
		clock.shutdownNow();
		assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		assertThat(ShedLockApplication.isKept(this.name)).isFalse();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void lockIsKeptItselfWithoutLedgerUntilApplicationStops(LockScope scope, CapturedOutput output) {
		try (ShedLockApplication application = ShedLockApplication.start("advisory-lock.ledger.enabled=false",
				"advisory-lock.shedlock.scope=" + scope)) {
			lock(application, this.name, HOUR, HOUR).orElseThrow().unlock();
			lock(application, this.name + "-2", HOUR, HOUR).orElseThrow().unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
			assertThat(lock(other(scope), this.name, HOUR, Duration.ZERO)).isEmpty();
		}
		assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		assertThat(output).containsOnlyOnce("advisory-lock.ledger.initialize-schema")
			.contains("'shedlock/" + this.name + "' and others");
	}

	@Test
	void lockIsKeptItselfWhereTablesAreMissing() {
		try (ShedLockApplication application = ShedLockApplication.start("advisory-lock.ledger.table-prefix=none_",
				"advisory-lock.ledger.initialize-schema=never")) {
			lock(application, this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
			lock(application, this.name, HOUR, HOUR).orElseThrow().unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
		}
	}

	private static ShedLockApplication application(LockScope scope) {
		return (scope == LockScope.SESSION) ? session : transaction;
	}

	private static ShedLockApplication other(LockScope scope) {
		return (scope == LockScope.SESSION) ? transaction : session;
	}

	private static Optional<SimpleLock> lock(ShedLockApplication application, String name, Duration atMost,
			Duration atLeast) {
		return application.provider().lock(configuration(name, atMost, atLeast));
	}

	private static LockConfiguration configuration(String name, Duration atMost, Duration atLeast) {
		return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
	}

	private static LockingTaskExecutor executor(ShedLockApplication application) {
		return new DefaultLockingTaskExecutor(application.provider());
	}

	private static void waitForInterrupt() throws InterruptedException {
		assertThat(new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	/**
	 * Wait for the interrupt without taking it, and until everybody was told.
	 */
	private void awaitFlag(ShedLockApplication application) {
		long start = System.nanoTime();
		while (!Thread.currentThread().isInterrupted()
				|| !application.lost.contains(AdvisoryLockKey.of(ShedLockApplication.NAMESPACE, this.name))) {
			assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(30));
			Thread.onSpinWait();
		}
	}

	private void awaitLoss(ShedLockApplication application) {
		Awaitility.await()
			.atMost(Patience.TIME)
			.until(() -> application.lost.contains(AdvisoryLockKey.of(ShedLockApplication.NAMESPACE, this.name)));
	}

	/**
	 * Have the server end the session that has the lock, and wait for that.
	 */
	private void terminateHolder() {
		ShedLockApplication.terminateHolder(this.name);
		Awaitility.await().atMost(Patience.TIME).until(() -> !ShedLockApplication.isLocked(this.name));
	}

	/**
	 * Notes what is asked for, all of which somebody else has.
	 */
	private record Busy(List<LockRequest> requests) implements AdvisoryLockOperations {

		@Override
		public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
				LockCallback<T, X> action) {
			this.requests.add(request);
			return LockResult.skipped(LockOutcome.BUSY, AdvisoryLockKey.of("busy"));
		}

		@Override
		public Optional<HeldLock> tryAcquire(LockRequest request) {
			this.requests.add(request);
			return Optional.empty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Jobs {

		private int runs;

		@SchedulerLock(name = "job", lockAtMostFor = "5m")
		void run() {
			LockAssert.assertLocked();
			assertThat(ShedLockApplication.isLocked("job")).isTrue();
			LockExtender.extendActiveLock(Duration.ofMinutes(10), Duration.ZERO);
			this.runs++;
		}

		int runs() {
			return this.runs;
		}

	}

}
