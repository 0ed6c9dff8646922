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
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.Patience;
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

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link AdvisoryLockProvider} in two instances of an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisoryLockProviderTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static ShedLockApplication application;

	private static ShedLockApplication other;

	private final String name = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = ShedLockApplication.start(List.of(Jobs.class), "advisory-lock.session.heartbeat=200ms");
		other = ShedLockApplication.start("advisory-lock.session.heartbeat=200ms");
	}

	@AfterAll
	static void stop() {
		application.close();
		other.close();
	}

	@AfterEach
	void checkThatNothingIsLeft() {
		Awaitility.await().atMost(Patience.TIME).until(() -> !ShedLockApplication.isLocked(this.name));
	}

	@Test
	void annotatedMethodRunsUnderLockAndExtendsIt() {
		Jobs jobs = application.context.getBean(Jobs.class);
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(1);
		SimpleLock lock = lock(other, "job", HOUR, Duration.ZERO).orElseThrow();
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(1);
		lock.unlock();
		jobs.run();
		assertThat(jobs.runs()).isEqualTo(2);
	}

	@Test
	void nameIsKeyInNamespaceOfApplication() {
		AdvisoryLockOperations operations = other.context.getBean(AdvisoryLockOperations.class);
		SimpleLock lock = lock(application, this.name, HOUR, Duration.ZERO).orElseThrow();
		assertThat(operations.execute(LockRequest.of(this.name), (context) -> true).outcome())
			.isEqualTo(LockOutcome.BUSY);
		lock.unlock();
		assertThat(operations.execute(LockRequest.of(this.name), (context) -> true).executed()).isTrue();
	}

	/**
	 * Methods of the application may wait, by a property; locks of ShedLock never do.
	 */
	@Test
	void lockIsAskedForWithoutWaiting() {
		Busy busy = new Busy(new CopyOnWriteArrayList<>());
		AdvisoryLockProvider provider = new AdvisoryLockProvider(busy, () -> null, (event) -> {
		}, LockScheduler.Threads.ofCurrent());
		assertThat(provider.lock(configuration(this.name, HOUR, Duration.ZERO))).isEmpty();
		provider.destroy();
		assertThat(busy.requests).singleElement().extracting(LockRequest::waitFor).isEqualTo(Duration.ZERO);
	}

	@Test
	void recordedRunIsTooSoonWhileKeyIsKept() {
		AdvisoryLockOperations operations = other.context.getBean(AdvisoryLockOperations.class);
		lock(application, this.name, HOUR, HOUR).orElseThrow().unlock();
		LockRequest request = LockRequest.of(this.name).with(new Recorded(this.name));
		for (LockScope scope : LockScope.values()) {
			assertThat(operations.execute(request.scope(scope), (context) -> true).outcome())
				.isEqualTo(LockOutcome.TOO_SOON);
		}
		ShedLockApplication.letTimePass(this.name);
		assertThat(operations.execute(request, (context) -> true).executed()).isTrue();
	}

	@Test
	void lockAtLeastForOutlivesHolder() {
		lock(application, this.name, HOUR, HOUR).orElseThrow();
		terminateHolder();
		assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		assertThat(lock(other, this.name, HOUR, Duration.ZERO)).isEmpty();
		ShedLockApplication.letTimePass(this.name);
		lock(other, this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
	}

	@Test
	void lockAtLeastForGivesWayToExtension() {
		SimpleLock lock = lock(application, this.name, HOUR, HOUR).orElseThrow();
		assertThat(ShedLockApplication.isKept(this.name)).isTrue();
		lock.extend(HOUR, Duration.ZERO).orElseThrow().unlock();
		lock(other, this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
	}

	@Test
	void lockIsGivenUpAfterLockAtMostForAndItsRunnerLeftAlone() throws Throwable {
		AtomicReference<Boolean> interrupted = new AtomicReference<>();
		executor().executeWithLock((LockingTaskExecutor.Task) () -> {
			awaitLoss();
			lock(other, this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
			interrupted.set(Thread.currentThread().isInterrupted());
		}, configuration(this.name, Duration.ofMillis(100), Duration.ZERO));
		assertThat(interrupted).hasValue(false);
	}

	@Test
	void lossOfLockIsTold() throws Throwable {
		executor().executeWithLock((LockingTaskExecutor.Task) () -> {
			terminateHolder();
			awaitLoss();
		}, configuration(this.name, HOUR, Duration.ZERO));
		assertThat(application.lost).contains(AdvisoryLockKey.of(ShedLockApplication.NAMESPACE, this.name));
	}

	@Test
	void failureOfWorkIsNotReplacedByLossOfLock() {
		assertThatExceptionOfType(LockExtender.LockCanNotBeExtendedException.class)
			.isThrownBy(() -> executor().executeWithLock((LockingTaskExecutor.Task) () -> {
				awaitLoss();
				LockExtender.extendActiveLock(HOUR, Duration.ZERO);
			}, configuration(this.name, Duration.ofMillis(100), Duration.ZERO)));
	}

	@Test
	void lockThatWasGivenUpCanBeUnlockedOnceAndNotExtended() {
		SimpleLock lock = lock(application, this.name, Duration.ofMillis(50), Duration.ZERO).orElseThrow();
		awaitLoss();
		assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
		lock.unlock();
		assertThatIllegalStateException().isThrownBy(lock::unlock)
			.withMessage("Lock '" + this.name + "' was unlocked or extended before");
	}

	@Test
	void lockIsKeptAliveBeyondItsTime() {
		AtomicReference<Runnable> extension = new AtomicReference<>();
		ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(0) {

			@Override
			public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long delay, long period, TimeUnit unit) {
				extension.set(command);
				return super.schedule(command, 1, TimeUnit.HOURS);
			}

		};
		KeepAliveLockProvider provider = new KeepAliveLockProvider((ExtensibleLockProvider) application.provider(),
				clock);
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

	@Test
	void lockIsKeptItselfWithoutLedgerUntilApplicationStops(CapturedOutput output) {
		try (ShedLockApplication stopping = ShedLockApplication.start("advisory-lock.ledger.enabled=false")) {
			lock(stopping, this.name, HOUR, HOUR).orElseThrow().unlock();
			lock(stopping, this.name + "-2", HOUR, HOUR).orElseThrow().unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
			assertThat(lock(other, this.name, HOUR, Duration.ZERO)).isEmpty();
		}
		assertThat(ShedLockApplication.isLocked(this.name)).isFalse();
		assertThat(output).containsOnlyOnce("advisory-lock.ledger.initialize-schema")
			.contains("'shedlock/" + this.name + "' and others");
	}

	@Test
	void lockIsKeptItselfWhereTablesAreMissing() {
		try (ShedLockApplication without = ShedLockApplication.start("advisory-lock.ledger.table-prefix=none_",
				"advisory-lock.ledger.initialize-schema=never")) {
			lock(without, this.name, HOUR, Duration.ZERO).orElseThrow().unlock();
			lock(without, this.name, HOUR, HOUR).orElseThrow().unlock();
			assertThat(ShedLockApplication.isLocked(this.name)).isTrue();
		}
	}

	private static Optional<SimpleLock> lock(ShedLockApplication application, String name, Duration atMost,
			Duration atLeast) {
		return application.provider().lock(configuration(name, atMost, atLeast));
	}

	private static LockConfiguration configuration(String name, Duration atMost, Duration atLeast) {
		return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
	}

	private static LockingTaskExecutor executor() {
		return new DefaultLockingTaskExecutor(application.provider());
	}

	private void awaitLoss() {
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
