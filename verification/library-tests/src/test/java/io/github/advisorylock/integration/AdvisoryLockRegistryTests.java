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

package io.github.advisorylock.integration;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.AbstractLockTests;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link AdvisoryLockRegistry}: what Spring Integration's own tests of its
 * registries ask for, seen from outside, and what no table can do.
 */
@Tag("gate")
class AdvisoryLockRegistryTests extends AbstractLockTests {

	private static final AdvisoryLockKey ORDERS = AdvisoryLockKey.of(NAMESPACE, "orders");

	private AdvisoryLockRegistry registry;

	private PostgresAdvisoryLockTemplate otherTemplate;

	/**
	 * That of another application.
	 */
	private AdvisoryLockRegistry other;

	@BeforeEach
	void createRegistries() {
		this.registry = new AdvisoryLockRegistry(this.template);
		this.otherTemplate = createTemplate(this.pool, this.transactionManager);
		this.other = new AdvisoryLockRegistry(this.otherTemplate);
	}

	@Test
	void lockIsHeldUntilItIsUnlockedHoweverItWasTaken() throws Exception {
		DistributedLock lock = this.registry.obtain("orders");
		List<Callable<?>> ways = List.of(() -> {
			lock.lock();
			return true;
		}, () -> {
			lock.lockInterruptibly();
			return true;
		}, lock::tryLock, () -> lock.tryLock(1, TimeUnit.SECONDS), () -> {
			lock.lock(LONG);
			return true;
		}, () -> lock.tryLock(SHORT, LONG));
		for (Callable<?> way : ways) {
			assertThat(way.call()).isEqualTo(true);
			assertThat(ForeignSession.isHeld(ORDERS)).isTrue();
			assertThat(this.other.obtain("orders").tryLock()).isFalse();
			lock.unlock();
			assertThat(ForeignSession.isHeld(ORDERS)).isFalse();
		}
	}

	@Test
	void timeToLiveKeepsNoThreadOfClosedRegistry() {
		// the session has a timer of its own, while it carries a lock
		DistributedLock another = this.registry.obtain("another");
		assertThat(another.tryLock()).isTrue();
		Awaitility.await().until(() -> !timers().isEmpty());
		List<Thread> before = timers();
		DistributedLock lock = this.registry.obtain("orders");
		lock.lock(LONG);
		List<Thread> clocks = timers();
		clocks.removeAll(before);
		assertThat(clocks).hasSize(1);
		this.registry.close();
		Awaitility.await().until(() -> !clocks.get(0).isAlive());
		lock.unlock();
		another.unlock();
		assertThat(ForeignSession.isHeld(ORDERS)).isFalse();
	}

	private static List<Thread> timers() {
		return new ArrayList<>(Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("advisory-lock-timer"))
			.toList());
	}

	@Test
	void lockIsThatOfTheNameForEverybodyElse() {
		try (ForeignSession holder = ForeignSession.holding(ORDERS)) {
			assertThat(this.registry.obtain("orders").tryLock()).isFalse();
		}
	}

	@Test
	void requestChoosesWhatIsLocked() {
		AdvisoryLockRegistry elsewhere = new AdvisoryLockRegistry(this.template,
				(key) -> LockRequest.of(key).namespace("elsewhere"));
		Lock lock = elsewhere.obtain("orders");
		lock.lock();
		assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("elsewhere", "orders"))).isTrue();
		assertThat(ForeignSession.isHeld(ORDERS)).isFalse();
		lock.unlock();
	}

	@Test
	void threadThatHoldsLockCanTakeItAgain() throws Exception {
		Lock first = this.registry.obtain("orders");
		first.lock();
		Lock second = this.registry.obtain("orders");
		assertThat(second).isSameAs(first);
		second.lockInterruptibly();
		assertThat(second.tryLock()).isTrue();
		second.unlock();
		second.unlock();
		assertThat(ForeignSession.isHeld(ORDERS)).isTrue();
		first.unlock();
		assertThat(ForeignSession.isHeld(ORDERS)).isFalse();
	}

	@Test
	void locksOfTwoKeysAreTwo() {
		Lock first = this.registry.obtain("orders");
		Lock second = this.registry.obtain("invoices");
		assertThat(second).isNotEqualTo(first);
		first.lock();
		second.lock();
		first.unlock();
		assertThat(ForeignSession.isHeld(AdvisoryLockKey.of(NAMESPACE, "invoices"))).isTrue();
		second.unlock();
	}

	@Test
	void strangerIsRefused() throws Exception {
		Lock lock = this.registry.obtain("orders");
		lock.lock();
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> this.threads.submit(lock::unlock).get(Patience.SECONDS, TimeUnit.SECONDS))
			.havingCause()
			.isInstanceOf(IllegalMonitorStateException.class)
			.withMessage("The current thread does not own advisory lock 'orders'");
		assertThat(ForeignSession.isHeld(ORDERS)).isTrue();
		lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
			.withMessage("The current thread does not own advisory lock 'orders'");
	}

	@Test
	void secondThreadGivesUpAfterItsTime() throws Exception {
		Lock lock = this.registry.obtain("orders");
		lock.lock();
		for (AdvisoryLockRegistry registry : List.of(this.registry, this.other)) {
			assertThat(this.threads.submit(() -> registry.obtain("orders").tryLock(50, TimeUnit.MILLISECONDS))
				.get(Patience.SECONDS, TimeUnit.SECONDS)).isFalse();
			assertThat(this.threads.submit(() -> registry.obtain("orders").tryLock(SHORT, LONG))
				.get(Patience.SECONDS, TimeUnit.SECONDS)).isFalse();
			assertThat(this.threads.submit(() -> registry.obtain("orders").tryLock(-1, TimeUnit.DAYS))
				.get(Patience.SECONDS, TimeUnit.SECONDS)).isFalse();
		}
		lock.unlock();
	}

	@Test
	void secondThreadGetsLockWhenFirstUnlocks() throws Exception {
		for (AdvisoryLockRegistry registry : List.of(this.registry, this.other)) {
			Lock lock = this.registry.obtain("orders");
			lock.lock();
			Future<Boolean> second = this.threads.submit(() -> {
				Lock lockOfSecond = registry.obtain("orders");
				lockOfSecond.lockInterruptibly();
				boolean held = ForeignSession.isHeld(ORDERS);
				lockOfSecond.unlock();
				return held;
			});
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> second.get(50, TimeUnit.MILLISECONDS));
			lock.unlock();
			assertThat(second.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void twentyThreadsOfTwoApplicationsComeOneAfterTheOther() throws Exception {
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger runs = new AtomicInteger();
		List<Future<?>> all = IntStream.range(0, 20).<Future<?>>mapToObj((i) -> this.threads.submit(() -> {
			AdvisoryLockRegistry registry = (i % 2 == 0) ? this.registry : this.other;
			for (int j = 0; j < 5; j++) {
				registry.executeLocked("orders", () -> {
					assertThat(inside.incrementAndGet()).isOne();
					runs.incrementAndGet();
					assertThat(inside.decrementAndGet()).isZero();
				});
			}
			return null;
		})).toList();
		for (Future<?> one : all) {
			one.get(60, TimeUnit.SECONDS);
		}
		assertThat(runs).hasValue(100);
	}

	@Test
	void timeToWaitOfTaskIsKept() {
		try (ForeignSession holder = ForeignSession.holding(ORDERS)) {
			assertThatExceptionOfType(TimeoutException.class)
				.isThrownBy(() -> this.registry.executeLocked("orders", SHORT, () -> "never"));
		}
	}

	@Test
	void interruptEndsWaitOfLockInterruptibly() throws Exception {
		try (ForeignSession holder = ForeignSession.holding(ORDERS)) {
			CountDownLatch ended = new CountDownLatch(1);
			AtomicReference<Throwable> failure = new AtomicReference<>();
			Thread waiter = new Thread(() -> {
				try {
					this.registry.obtain("orders").lockInterruptibly();
				}
				catch (Throwable ex) {
					failure.set(ex);
				}
				ended.countDown();
			});
			waiter.start();
			awaitParked(waiter);
			waiter.interrupt();
			assertThat(ended.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(failure.get()).isInstanceOf(InterruptedException.class);
		}
	}

	@Test
	void interruptBeforeIsFoundByThoseThatCanBeInterrupted() throws Exception {
		Lock lock = this.registry.obtain("orders");
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS));
		Thread.currentThread().interrupt();
		assertThat(lock.tryLock()).isTrue();
		assertThat(Thread.interrupted()).isTrue();
		lock.unlock();
	}

	@Test
	void interruptDoesNotEndWaitOfLockAndIsNotForgotten() throws Exception {
		ForeignSession holder = ForeignSession.holding(ORDERS);
		AtomicReference<Boolean> interrupted = new AtomicReference<>();
		Thread waiter = new Thread(() -> {
			Lock lock = this.registry.obtain("orders");
			lock.lock();
			interrupted.set(Thread.currentThread().isInterrupted());
			lock.unlock();
		});
		waiter.start();
		awaitParked(waiter);
		waiter.interrupt();
		awaitParked(waiter);
		assertThat(interrupted).hasNullValue();
		holder.close();
		waiter.join(10_000);
		assertThat(interrupted).hasValue(true);
	}

	@Test
	void waitThatStopOfApplicationEndsIsNoLock() throws Exception {
		try (ForeignSession holder = ForeignSession.holding(ORDERS)) {
			Future<?> waiter = this.threads.submit(() -> this.registry.obtain("orders").lock());
			Future<?> interruptible = this.threads.submit(() -> {
				this.registry.obtain("orders").lockInterruptibly();
				return null;
			});
			this.template.stopWaiting();
			for (Future<?> one : List.of(waiter, interruptible)) {
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> one.get(Patience.SECONDS, TimeUnit.SECONDS))
					.havingCause()
					.isInstanceOf(CannotAcquireLockException.class)
					.withMessageContaining("'orders'")
					.withMessageContaining("stops");
			}
			assertThat(this.registry.obtain("orders").tryLock(1, TimeUnit.DAYS)).isFalse();
		}
	}

	@Test
	void unlockSaysThatLockWasLost() throws Exception {
		Lock lock = this.registry.obtain("orders");
		lock.lock();
		killHolder();
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock)
			.withMessageContaining("'tests/orders'")
			.withCauseInstanceOf(LockLostException.class);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
			.withMessage("The current thread does not own advisory lock 'orders'");
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	void lostLockCanNotBeTakenAgainOrRenewedBeforeItIsUnlocked() throws Exception {
		Lock lock = this.registry.obtain("orders");
		lock.lock();
		killHolder();
		Awaitility.await().untilAsserted(() -> assertThat(this.events).isNotEmpty());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::tryLock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock);
		assertThatIllegalStateException().isThrownBy(() -> this.registry.renewLock("orders"))
			.withMessageContaining("it was lost");
		assertThat(this.threads.submit(() -> {
			Lock ofOther = this.registry.obtain("orders");
			boolean taken = ofOther.tryLock(10, TimeUnit.SECONDS);
			ofOther.unlock();
			return taken;
		}).get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock)
			.withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void lockIsRenewedByItsOwnerOnly() throws Exception {
		Lock lock = this.registry.obtain("orders");
		assertThatExceptionOfType(IllegalMonitorStateException.class)
			.isThrownBy(() -> this.registry.renewLock("orders"))
			.withMessage("The current thread does not own advisory lock 'orders'");
		lock.lock();
		this.registry.renewLock("orders");
		this.registry.renewLock("orders", LONG);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> this.threads.submit(() -> this.registry.renewLock("orders"))
				.get(Patience.SECONDS, TimeUnit.SECONDS))
			.withCauseInstanceOf(IllegalMonitorStateException.class);
		assertThat(ForeignSession.isHeld(ORDERS)).isTrue();
		lock.unlock();
	}

	@Test
	void lockIsGivenUpAfterItsTimeToLiveAndUnlockSaysSo() throws Exception {
		DistributedLock lock = this.registry.obtain("orders");
		try (LogRecorder alerts = LogRecorder.of(LockLog.ALERT, "warn")) {
			lock.lock(SHORT);
			Lock ofOther = this.other.obtain("orders");
			assertThat(ofOther.tryLock(10, TimeUnit.SECONDS)).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::tryLock);
			assertThatIllegalStateException().isThrownBy(() -> this.registry.renewLock("orders", LONG))
				.withMessage("Failed to renew advisory lock 'tests/orders': it was lost");
			assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock)
				.withCauseInstanceOf(LockLostException.class);
			ofOther.unlock();
			assertThat(alerts.messages()).singleElement().asString().startsWith("Lost the lock on 'tests/orders'");
		}
		assertThat(lock.tryLock(LONG, LONG)).isTrue();
		lock.unlock();
	}

	@Test
	void renewedLockOutlivesItsFirstTimeToLive() throws Exception {
		DistributedLock lock = this.registry.obtain("orders");
		assertThat(lock.tryLock(SHORT, Duration.ofSeconds(1))).isTrue();
		this.registry.renewLock("orders", Duration.ofDays(1));
		assertThat(this.other.obtain("orders").tryLock(1500, TimeUnit.MILLISECONDS)).isFalse();
		lock.unlock();
	}

	@Test
	void renewalWithoutATimeKeepsThatOfTheLatestRenewal() throws Exception {
		DistributedLock lock = this.registry.obtain("orders");
		assertThat(lock.tryLock(SHORT, Duration.ofSeconds(1))).isTrue();
		this.registry.renewLock("orders", Duration.ofDays(1));
		this.registry.renewLock("orders");
		assertThat(this.other.obtain("orders").tryLock(1500, TimeUnit.MILLISECONDS)).isFalse();
		lock.unlock();
	}

	@Test
	void timeToLiveIsTime() {
		DistributedLock lock = this.registry.obtain("orders");
		assertThatIllegalArgumentException().isThrownBy(() -> lock.lock(Duration.ZERO))
			.withMessage("'ttl' must be more than zero");
		assertThatIllegalArgumentException().isThrownBy(() -> lock.tryLock(LONG, Duration.ofSeconds(-1)))
			.withMessage("'ttl' must be more than zero");
		lock.lock(ChronoUnit.FOREVER.getDuration());
		lock.unlock();
	}

	@Test
	void keyIsTextThatIsAllowed() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(42))
			.withMessageContaining("'lockKey'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(""))
			.withMessage("'key' must not be empty");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain("leader:reports"))
			.withMessage("'key' starts with 'leader:', which is kept for the locks of leaders: 'leader:reports'");
	}

	@Test
	void thereAreNoConditions() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.registry.obtain("orders").newCondition())
			.withMessage("Conditions are not supported");
	}

	@Test
	void expiryLeavesHeldLocksAlone() {
		Lock lock = this.registry.obtain("orders");
		lock.lock();
		this.registry.expireUnusedOlderThan(-1000);
		assertThat(ForeignSession.isHeld(ORDERS)).isTrue();
		lock.unlock();
	}

	@Test
	void manyKeysLeaveNothingBehind() {
		for (int i = 0; i < 500; i++) {
			Lock lock = this.registry.obtain("order-" + i);
			lock.lock();
			lock.unlock();
		}
		assertThat(this.template.getHeldLocks()).isZero();
		assertThat(this.registry).extracting("possessions")
			.satisfies((possessions) -> assertThat(((ThreadLocal<?>) possessions).get()).isNull());
	}

	@Test
	void twentyWaitersAskDatabaseAsOneDoes() throws Exception {
		AdvisoryLockRegistry counted = new AdvisoryLockRegistry(createTemplate(this.pool, this.transactionManager,
				new DriverManagerDataSource(CountingSocketFactory.addTo(TestPostgres.url(), "waiters"))));
		try (ForeignSession holder = ForeignSession.holding(ORDERS)) {
			CountDownLatch waiting = new CountDownLatch(20);
			IntStream.range(0, 20).forEach((i) -> this.threads.submit(() -> {
				waiting.countDown();
				Lock lock = counted.obtain("orders");
				if (lock.tryLock(Patience.SECONDS, TimeUnit.SECONDS)) {
					lock.unlock();
				}
				return null;
			}));
			assertThat(waiting.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			// each may ask once as it comes, which takes a while on a busy machine
			Awaitility.await()
				.atMost(Patience.TIME)
				.untilAsserted(() -> assertThat(askedInTenthsOfASecond(20)).isBetween(1L, 80L));
		}
	}

	/**
	 * One that waits asks some ten times in a second, twenty that do so alone two hundred
	 * times.
	 */
	private static long askedInTenthsOfASecond(int tenths) {
		long before = CountingSocketFactory.roundTrips("waiters");
		long start = System.nanoTime();
		Pause.of(Duration.ofMillis(100L * tenths));
		long asked = CountingSocketFactory.roundTrips("waiters") - before;
		return asked * tenths * 100 / TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
	}

	private static void killHolder() {
		ForeignSession.holders(ORDERS)
			.forEach((pid) -> TestPostgres.query("SELECT pg_terminate_backend(" + pid + ", 10000)"));
	}

	private static void awaitParked(Thread thread) {
		Awaitility.await()
			.until(() -> thread.getState() == Thread.State.TIMED_WAITING || thread.getState() == Thread.State.WAITING);
	}

}
