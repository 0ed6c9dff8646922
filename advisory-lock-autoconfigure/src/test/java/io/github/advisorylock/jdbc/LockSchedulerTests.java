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

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LockScheduler}.
 */
class LockSchedulerTests {

	@Test
	void whatIsPlannedKeepsNoThreadAfterClose() throws Exception {
		LockScheduler scheduler = new LockScheduler("test-planned", LockScheduler.Threads.ofCurrent());
		Future<?> planned = scheduler.after(Duration.ofHours(1), new GuardedTask("Failed", () -> {
		}));
		await().atMost(Patience.TIME).until(() -> hasThread("test-planned"));
		scheduler.close();
		assertThat(planned.isCancelled()).isTrue();
		await().atMost(Patience.TIME).until(() -> !hasThread("test-planned"));
		assertThat(scheduler.after(Duration.ofHours(1), new GuardedTask("Failed", () -> {
		})).isDone()).isTrue();
	}

	@Test
	void whatIsDueIsDoneDespiteClose() throws InterruptedException {
		LockScheduler scheduler = new LockScheduler("test-due", LockScheduler.Threads.ofCurrent());
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch second = new CountDownLatch(1);
		scheduler.execute(() -> {
			begun.countDown();
			awaitQuietly(end);
		});
		scheduler.execute(second::countDown);
		assertThat(begun.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		scheduler.close();
		end.countDown();
		assertThat(second.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void threadGoesAtOnceWhileStoppedAndStaysOnceStartedAgain() throws Exception {
		LockScheduler scheduler = new LockScheduler("test-stopped", LockScheduler.Threads.ofCurrent());
		scheduler.stop();
		assertThat(threadOf(scheduler)).isNotSameAs(threadOf(scheduler));
		scheduler.start();
		assertThat(threadOf(scheduler)).isSameAs(threadOf(scheduler));
		scheduler.stop();
		scheduler.next(Duration.ofMillis(1), () -> {
		});
		await().atMost(Duration.ofSeconds(5)).until(() -> !hasThread("test-stopped"));
		scheduler.every(Duration.ofHours(1), Duration.ofHours(1), new GuardedTask("Failed", () -> {
		}));
		assertThat(threadOf(scheduler)).isSameAs(threadOf(scheduler));
		scheduler.close();
	}

	/**
	 * Return the thread of a task, after one that has nothing to do has gone.
	 */
	private static Thread threadOf(LockScheduler scheduler) throws Exception {
		FutureTask<Thread> task = new FutureTask<>(Thread::currentThread);
		scheduler.execute(task);
		Thread thread = task.get(30, TimeUnit.SECONDS);
		thread.join(500);
		return thread;
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean hasThread(String name) {
		return Thread.getAllStackTraces().keySet().stream().anyMatch((thread) -> thread.getName().equals(name));
	}

}
