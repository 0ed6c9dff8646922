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

package io.github.advisorylock.jdbc.thread;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LockScheduler}.
 */
class LockSchedulerTests {

	private final long begun = System.nanoTime();

	private final LockScheduler.Threads threads = LockScheduler.Threads.ofCurrent();

	@Test
	void taskThatIsPlannedKeepsNoThreadAfterClose() {
		LockScheduler scheduler = LockScheduler.inTurn(this.threads);
		Future<?> planned = scheduler.after(Duration.ofHours(1), nothing());
		await().atMost(Patience.TIME).until(() -> count("advisory-lock-timer") == 1);
		scheduler.close();
		assertThat(planned.isCancelled()).isTrue();
		await().atMost(Patience.TIME).until(() -> count("advisory-lock-timer") == 0);
		assertThat(scheduler.after(Duration.ofHours(1), nothing()).isDone()).isTrue();
	}

	@Test
	void taskThatIsDueIsDoneDespiteClose() throws InterruptedException {
		LockScheduler scheduler = LockScheduler.inTurn(this.threads);
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch second = new CountDownLatch(1);
		scheduler.execute(() -> awaitQuietly(end));
		scheduler.execute(second::countDown);
		scheduler.close();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> scheduler.execute(nothing()))
			.withMessage("The scheduler is closed");
		end.countDown();
		assertThat(second.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void taskThatHangsHoldsUpItsOwnSchedulerOnly() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		LockScheduler hanging = LockScheduler.inTurn(this.threads);
		hanging.execute(() -> awaitQuietly(end));
		CountDownLatch others = new CountDownLatch(2);
		LockScheduler.inTurn(this.threads).every(Duration.ZERO, Duration.ofHours(1), count(others));
		LockScheduler.onTimer(this.threads).every(Duration.ZERO, Duration.ofHours(1), count(others));
		assertThat(others.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		CountDownLatch next = new CountDownLatch(1);
		hanging.execute(next::countDown);
		assertThat(next.getCount()).isOne();
		end.countDown();
		assertThat(next.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void taskIsDoneThoughTheHandlerOfThoseBeforeItFails() throws InterruptedException {
		LockScheduler scheduler = LockScheduler.inTurn(new LockScheduler.Threads(null) {

			@Override
			public ThreadFactory named(String name) {
				return (task) -> {
					Thread thread = new Thread(task);
					thread.setUncaughtExceptionHandler((failed, ex) -> {
						throw new IllegalStateException("expected");
					});
					return thread;
				};
			}

		});
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch next = new CountDownLatch(1);
		scheduler.execute(() -> awaitQuietly(end));
		scheduler.execute(() -> {
			throw new IllegalStateException("expected");
		});
		scheduler.execute(next::countDown);
		end.countDown();
		assertThat(next.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void tasksOfOneSchedulerAreDoneInOrder() {
		LockScheduler scheduler = LockScheduler.inTurn(this.threads);
		AtomicInteger done = new AtomicInteger();
		Set<Integer> wrong = ConcurrentHashMap.newKeySet();
		for (int i = 0; i < 10_000; i++) {
			int number = i;
			scheduler.execute(() -> {
				if (done.getAndIncrement() != number) {
					wrong.add(number);
				}
			});
		}
		await().atMost(Patience.TIME).until(() -> done.get() == 10_000);
		assertThat(wrong).isEmpty();
	}

	@Test
	void manySchedulersShareATimerAndNeedNoOtherThreadUntilSomethingIsDue() {
		for (int i = 0; i < 20; i++) {
			LockScheduler.inTurn(this.threads).every(Duration.ofHours(1), Duration.ofHours(1), nothing());
		}
		await().atMost(Patience.TIME).until(() -> count("advisory-lock-timer") == 1);
		assertThat(count("advisory-lock-worker")).isZero();
	}

	@Test
	void stopInterruptsWorkerAndEndsRecurrence() {
		LockScheduler scheduler = LockScheduler.inTurn(this.threads);
		AtomicInteger begun = new AtomicInteger();
		CountDownLatch interrupted = new CountDownLatch(1);
		scheduler.every(Duration.ZERO, Duration.ZERO, new SafeTask("Failed", () -> {
			begun.incrementAndGet();
			try {
				assertThat(new CountDownLatch(1).await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
		}));
		await().atMost(Patience.TIME).until(() -> begun.get() == 1);
		scheduler.stop();
		await().atMost(Patience.TIME).until(() -> interrupted.getCount() == 0);
		await().atMost(Patience.TIME).until(() -> count("advisory-lock-worker") == 0);
		assertThat(begun).hasValue(1);
	}

	private static SafeTask nothing() {
		return new SafeTask("Failed", () -> {
		});
	}

	private static SafeTask count(CountDownLatch latch) {
		return new SafeTask("Failed", latch::countDown);
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private long count(String name) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals(name) && !LockThread.isOfOlder(thread, this.begun))
			.count();
	}

}
