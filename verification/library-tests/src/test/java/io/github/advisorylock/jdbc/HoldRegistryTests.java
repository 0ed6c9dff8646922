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

package io.github.advisorylock.jdbc;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link HoldRegistry}: who is let in when.
 */
class HoldRegistryTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "job");

	private static final Duration LONG = Duration.ofSeconds(30);

	private final HoldRegistry holds = new HoldRegistry(100);

	private final List<String> entered = new CopyOnWriteArrayList<>();

	private final List<Thread> waiters = new ArrayList<>();

	@AfterEach
	void endWaiters() throws InterruptedException {
		for (Thread waiter : this.waiters) {
			waiter.interrupt();
			waiter.join(TimeUnit.SECONDS.toMillis(10));
		}
	}

	@Test
	void thoseWhoWaitAreLetInInOrderAndReadersTogether() {
		Hold first = enter(this.holds, LockMode.SHARED, Duration.ZERO);
		Thread writer = enterLater("writer", LockMode.EXCLUSIVE, () -> this.holds);
		enterLater("reader 1", LockMode.SHARED, () -> this.holds);
		enterLater("reader 2", LockMode.SHARED, () -> this.holds);
		assertThat(this.holds.size()).isOne();
		this.holds.leave(first);
		Awaitility.await().untilAsserted(() -> assertThat(this.entered).containsExactly("writer"));
		writer.interrupt();
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.entered).startsWith("writer", "writer left")
				.contains("reader 1", "reader 2")
				.hasSize(4));
	}

	/**
	 * Each of them would else wait for the other one's own call.
	 */
	@Test
	void twoThreadsThatWaitForTheEndOfCallsDoNotWaitForTheirOwn() throws Exception {
		List<String> idle = new CopyOnWriteArrayList<>();
		Hold own = enter(this.holds, LockMode.EXCLUSIVE, Duration.ZERO);
		AtomicReference<Hold> other = new AtomicReference<>();
		Thread another = new Thread(() -> other
			.set(enter(this.holds, AdvisoryLockKey.of("tests", "other"), LockMode.EXCLUSIVE, Duration.ZERO)));
		another.start();
		another.join();
		this.holds.whenIdle(() -> idle.add("first"));
		Thread second = new Thread(() -> this.holds.whenIdle(() -> idle.add("second")));
		second.start();
		second.join();
		assertThat(idle).isEmpty();
		this.holds.leave(other.get());
		assertThat(idle).containsExactly("first");
		this.holds.leave(own);
		assertThat(idle).containsExactly("first", "second");
	}

	@Test
	void writerThatGivesUpLetsThoseBehindItIn() {
		enter(this.holds, LockMode.SHARED, Duration.ZERO);
		Thread writer = enterLater("writer", LockMode.EXCLUSIVE, () -> this.holds);
		enterLater("reader", LockMode.SHARED, () -> this.holds);
		assertThat(this.entered).isEmpty();
		writer.interrupt();
		Awaitility.await().untilAsserted(() -> assertThat(this.entered).containsExactly("reader"));
	}

	@Test
	void onlyThoseWhoWaitForTheKeyAreWoken() throws InterruptedException {
		Hold other = enter(this.holds, AdvisoryLockKey.of("tests", "other"), LockMode.EXCLUSIVE, Duration.ZERO);
		enter(this.holds, LockMode.EXCLUSIVE, Duration.ZERO);
		Thread waiter = enterLater("waiter", LockMode.EXCLUSIVE, () -> this.holds);
		long parkedBefore = parked(waiter);
		assertThat(other).isNotNull();
		this.holds.leave(other);
		Thread next = new Thread(() -> this.holds.isHeldByThisThread(KEY));
		next.start();
		next.join();
		assertThat(parked(waiter)).isEqualTo(parkedBefore);
	}

	/**
	 * Return how often a thread has waited.
	 */
	private static long parked(Thread thread) {
		return ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId()).getWaitedCount();
	}

	@Test
	void asManyAreLetInAsTheNewcomerHasPermits() {
		assertThat(enter(permits(2))).isTrue();
		assertThat(enter(permits(2))).isTrue();
		assertThat(enter(permits(2))).isFalse();
		assertThat(enter(permits(1))).isFalse();
		assertThat(enter(permits(3))).isTrue();
		assertThat(enter(this.holds, KEY, LockMode.SHARED, Duration.ZERO)).isNull();
		assertThat(this.holds.size()).isEqualTo(3);
	}

	@Test
	void whatOthersHaveIsNotAskedFor() {
		Hold first = permits(3);
		Hold second = permits(3);
		assertThat(enter(first)).isTrue();
		assertThat(enter(second)).isTrue();
		assertThat(this.holds.takenByOthers(second)).as("has got none yet").isEmpty();
		first.take(KEY.permit(2));
		assertThat(this.holds.takenByOthers(second)).containsExactly(KEY.permit(2));
		assertThat(this.holds.takenByOthers(first)).isEmpty();
		this.holds.leave(first);
		assertThat(this.holds.takenByOthers(second)).isEmpty();
	}

	private boolean enter(Hold hold) {
		return this.holds.enter(hold, KEY, null);
	}

	private static Hold permits(int permits) {
		return new Hold.InSession(KEY, LockMode.EXCLUSIVE, permits, LockScheduler.Ticker.SYSTEM, (hold) -> {
		}, (hold) -> {
			throw new IllegalStateException("There is no session");
		}, (hold) -> {
		});
	}

	@Test
	void limitIsAnErrorForThoseWhoWaitToo() {
		HoldRegistry limited = new HoldRegistry(1);
		Hold first = enter(limited, LockMode.EXCLUSIVE, Duration.ZERO);
		enterLater("first", LockMode.SHARED, () -> limited);
		enterLater("second", LockMode.SHARED, () -> limited);
		limited.leave(first);
		Awaitility.await().untilAsserted(() -> assertThat(this.entered).containsExactlyInAnyOrder("first", "too many"));
		assertThat(limited.size()).isOne();
	}

	/**
	 * Keys may be those of webhooks: each one that was kept would be kept for ever.
	 */
	@Test
	void keyThatTheLimitHasRefusedIsNotKept() {
		HoldRegistry limited = new HoldRegistry(1);
		Hold first = enter(limited, LockMode.EXCLUSIVE, Duration.ZERO);
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> enter(limited, AdvisoryLockKey.of("tests", "other"), LockMode.EXCLUSIVE, Duration.ZERO))
			.withMessageContaining("advisory-lock.max-held-locks");
		assertThat(limited).extracting("keys", InstanceOfAssertFactories.MAP).containsOnlyKeys(KEY);
		limited.leave(first);
		assertThat(limited).extracting("keys", InstanceOfAssertFactories.MAP).isEmpty();
	}

	private static Hold enter(HoldRegistry holds, LockMode mode, Duration waitFor) {
		Hold hold = enter(holds, KEY, mode, waitFor);
		assertThat(hold).isNotNull();
		return hold;
	}

	/**
	 * Have a thread enter, which leaves when it is interrupted, and wait until it waits.
	 */
	private Thread enterLater(String name, LockMode mode, Supplier<HoldRegistry> holds) {
		Thread waiter = new Thread(() -> enterUntilInterrupted(name, mode, holds.get()));
		this.waiters.add(waiter);
		waiter.start();
		Awaitility.await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
		return waiter;
	}

	private void enterUntilInterrupted(String name, LockMode mode, HoldRegistry holds) {
		try {
			Hold hold = enter(holds, KEY, mode, LONG);
			if (hold != null) {
				this.entered.add(name);
				while (!Thread.currentThread().isInterrupted()) {
					Thread.onSpinWait();
				}
				this.entered.add(name + " left");
				holds.leave(hold);
			}
		}
		catch (CannotAcquireLockException ex) {
			this.entered.add("too many");
		}
	}

	private static Hold enter(HoldRegistry holds, AdvisoryLockKey key, LockMode mode, Duration waitFor) {
		Hold hold = new Hold.InSession(key, mode, LockScheduler.Ticker.SYSTEM, () -> {
		});
		return holds.enter(hold, key, new Deadline.Waits(LockScheduler.Ticker.SYSTEM).until(waitFor)) ? hold : null;
	}

}
