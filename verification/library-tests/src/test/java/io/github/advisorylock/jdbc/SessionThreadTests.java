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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SessionThread}.
 */
class SessionThreadTests {

	private final AtomicReference<@Nullable Error> failure = new AtomicReference<>();

	private final Set<Thread> used = ConcurrentHashMap.newKeySet();

	private final ExecutorService threads = Executors.newFixedThreadPool(8);

	private final SessionThread thread = new SessionThread(this::execute, LockScheduler.Threads.ofCurrent());

	private void execute(List<SessionCommand> commands) {
		this.used.add(Thread.currentThread());
		Error error = this.failure.getAndSet(null);
		if (error != null) {
			throw error;
		}
		commands.forEach(SessionCommand::answer);
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.thread.close();
	}

	@Test
	void eachCommandIsExecutedOnceAndByOneThread() throws Exception {
		AtomicInteger executed = new AtomicInteger();
		List<Future<Integer>> callers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			callers.add(this.threads.submit(() -> {
				int missing = 0;
				for (int j = 0; j < 2000; j++) {
					AtomicInteger own = new AtomicInteger();
					submit();
					missing += this.thread.run(() -> {
						own.incrementAndGet();
						executed.incrementAndGet();
					}, Patience.TIME) ? 1 - own.get() : 1;
				}
				return missing;
			}));
		}
		for (Future<Integer> caller : callers) {
			assertThat(caller.get(Patience.SECONDS, TimeUnit.SECONDS)).isZero();
		}
		assertThat(executed).hasValue(16_000);
		assertThat(this.used).hasSize(1);
	}

	@Test
	void whoDoesNotWaitIsToldByTheThread() throws Exception {
		SessionCommand command = new SessionCommand.Nothing(null);
		CompletableFuture<Thread> answered = new CompletableFuture<>();
		this.failure.set(new StackOverflowError("expected"));
		this.thread.submit(command, () -> answered.complete(Thread.currentThread()));
		assertThat(this.used).containsExactly(answered.get(Patience.SECONDS, TimeUnit.SECONDS));
		assertThat(command.failure()).hasMessage("expected");
	}

	@Test
	void errorReachesWhoIsServedAndTheNextOneIsExecuted() {
		StackOverflowError expected = new StackOverflowError("expected");
		this.failure.set(expected);
		SessionCommand failing = submit();
		assertThat(failing.failure()).isSameAs(expected);
		assertThat(submit().failure()).isNull();
	}

	@Test
	void interruptIsKept() {
		Thread.currentThread().interrupt();
		submit();
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void whoWaitsForATimeOnlyDoesNotWaitLonger() throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		this.thread.execute(() -> await(end));
		AtomicInteger executed = new AtomicInteger();
		assertThat(this.thread.run(executed::incrementAndGet, Duration.ofMillis(1))).isFalse();
		end.countDown();
		assertThat(this.thread.run(() -> {
		}, Patience.TIME)).isTrue();
		assertThat(executed).hasValue(1);
	}

	@Test
	void commandOfTaskIsExecutedAtOnce() {
		AtomicReference<@Nullable SessionCommand> command = new AtomicReference<>();
		assertThat(this.thread.run(() -> command.set(submit()), Patience.TIME)).isTrue();
		assertThat(this.used).hasSize(1);
	}

	@Test
	void taskThatFailsIsFollowedByTheNext() {
		this.thread.execute(() -> {
			throw new StackOverflowError("expected");
		});
		AtomicInteger executed = new AtomicInteger();
		assertThat(this.thread.run(executed::incrementAndGet, Patience.TIME)).isTrue();
		assertThat(executed).hasValue(1);
	}

	@Test
	void errorOfWhoIsToldEndsNeitherTheThreadNorTheWaitOfOthers() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.thread.execute(() -> {
			begun.countDown();
			await(end);
		});
		begun.await();
		this.thread.submit(new SessionCommand.Nothing(null), () -> {
			throw new StackOverflowError("expected");
		});
		Future<SessionCommand> together = this.threads.submit(() -> submit());
		end.countDown();
		assertThat(together.get(Patience.SECONDS, TimeUnit.SECONDS).failure()).isNull();
		assertThat(this.threads.submit(() -> submit()).get(Patience.SECONDS, TimeUnit.SECONDS).failure()).isNull();
		assertThat(this.used).hasSize(1);
	}

	@Test
	void everybodyIsToldThatNoThreadCanBeMade() throws Exception {
		ThreadlessMachine machine = new ThreadlessMachine();
		SessionThread none = new SessionThread(this::execute, machine);
		List<Future<Throwable>> callers = new ArrayList<>();
		Set<Thread> asking = ConcurrentHashMap.newKeySet();
		ExecutorService many = Executors.newCachedThreadPool();
		try {
			for (int i = 0; i < 150; i++) {
				callers.add(many.submit(() -> {
					asking.add(Thread.currentThread());
					SessionCommand command = new SessionCommand.Nothing(null);
					none.submit(command);
					return command.failure();
				}));
			}
			Awaitility.await()
				.until(() -> asking.size() == 150 && asking.stream()
					.allMatch((thread) -> thread.getState() == Thread.State.WAITING
							|| thread.getState() == Thread.State.TIMED_WAITING));
			machine.refused.countDown();
			for (Future<Throwable> caller : callers) {
				assertThat(caller.get(Patience.SECONDS, TimeUnit.SECONDS)).hasMessage("expected");
			}
		}
		finally {
			many.shutdownNow();
		}
	}

	/**
	 * A thread that has ended by an error that nobody could catch.
	 */
	@Test
	void threadThatHasDiedIsReplaced() throws Exception {
		MortalMachine machine = new MortalMachine();
		SessionThread thread = new SessionThread(this::execute, machine);
		thread.submit(new SessionCommand.Nothing(null), () -> {
		});
		machine.made.get(0).join();
		Future<?> caller = this.threads.submit(() -> {
			SessionCommand command = new SessionCommand.Nothing(null);
			thread.submit(command);
			assertThat(command.failure()).isNull();
		});
		caller.get(Patience.SECONDS, TimeUnit.SECONDS);
		thread.close();
	}

	private SessionCommand submit() {
		SessionCommand command = new SessionCommand.Nothing(null);
		this.thread.submit(command);
		return command;
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Refuses to start a thread when it is told to.
	 */
	private static final class ThreadlessMachine extends LockScheduler.Threads {

		private final CountDownLatch refused = new CountDownLatch(1);

		private ThreadlessMachine() {
			super(null);
		}

		@Override
		public ThreadFactory named(String name) {
			return (task) -> new Thread(task) {

				@Override
				public void start() {
					SessionThreadTests.await(ThreadlessMachine.this.refused);
					throw new OutOfMemoryError("expected");
				}

			};
		}

	}

	/**
	 * Its first thread dies at once.
	 */
	private static final class MortalMachine extends LockScheduler.Threads {

		private final List<Thread> made = new ArrayList<>();

		private MortalMachine() {
			super(null);
		}

		@Override
		public ThreadFactory named(String name) {
			return (task) -> {
				Thread thread = new Thread((name.endsWith("session") && this.made.isEmpty()) ? () -> {
				} : task);
				if (name.endsWith("session")) {
					this.made.add(thread);
				}
				return thread;
			};
		}

	}

}
