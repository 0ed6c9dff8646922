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

package io.github.advisorylock.testsupport;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.awaitility.Awaitility;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A clock that stands still until the test sets it. What is planned is done when its time
 * comes, in order, by the thread that would do it anyway. Limits of drivers and sockets,
 * and the clock of the database, go on by themselves.
 */
public final class SettableTicker implements LockScheduler.Ticker {

	private final List<Planned> planned = new ArrayList<>();

	private final Set<Thread> parked = ConcurrentHashMap.newKeySet();

	private final Instant start = Instant.now();

	private final long startNanos = System.nanoTime();

	private long passed;

	/**
	 * Return what makes the threads of something that goes by this clock.
	 */
	public LockScheduler.Threads threads() {
		return new LockScheduler.Threads(SettableTicker.class.getClassLoader(), this);
	}

	/**
	 * Have applications go by this clock.
	 */
	public ApplicationContextRunner in(ApplicationContextRunner runner) {
		return runner
			.withInitializer((context) -> context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {

				@Override
				public Object postProcessBeforeInitialization(Object bean, String name) {
					return (bean instanceof LockScheduler.Threads) ? threads() : bean;
				}

			}));
	}

	/**
	 * Let time pass. Returns when what was due has been done.
	 */
	public void advance(Duration time) {
		advance(time.toNanos(), true);
	}

	/**
	 * Let time pass, and do not wait for what becomes due.
	 */
	public void pass(Duration time) {
		advance(time.toNanos(), false);
	}

	/**
	 * Let time pass bit by bit until something is seen. A thread that has read the clock
	 * and then says for how long to wait means the time that it has read, and not that of
	 * a jump in between.
	 */
	public void passUntil(BooleanSupplier seen) {
		Awaitility.await().pollInSameThread().until(() -> {
			boolean reached = seen.getAsBoolean();
			if (!reached) {
				pass(Duration.ofMillis(1));
			}
			return reached;
		});
	}

	private void advance(long nanos, boolean wait) {
		long end;
		synchronized (this) {
			end = this.passed + nanos;
		}
		for (Planned next = takeUntil(end); next != null; next = takeUntil(end)) {
			next.hand(wait);
		}
		this.parked.forEach(LockSupport::unpark);
	}

	private synchronized Planned takeUntil(long end) {
		this.planned.removeIf(Future::isDone);
		Planned next = this.planned.stream()
			.filter((task) -> task.due <= end)
			.min(Comparator.comparingLong((task) -> task.due))
			.orElse(null);
		this.planned.remove(next);
		this.passed = Math.max(this.passed, (next != null) ? next.due : end);
		return next;
	}

	/**
	 * Return how much is planned.
	 */
	public synchronized int planned() {
		this.planned.removeIf(Future::isDone);
		return this.planned.size();
	}

	/**
	 * Return whether something is planned, but not within a time.
	 */
	public synchronized boolean isIdleFor(Duration time) {
		this.planned.removeIf(Future::isDone);
		return !this.planned.isEmpty()
				&& this.planned.stream().allMatch((task) -> task.due - this.passed > time.toNanos());
	}

	@Override
	public synchronized Instant now() {
		return this.start.plusNanos(this.passed);
	}

	@Override
	public synchronized long nanoTime() {
		return this.startNanos + this.passed;
	}

	@Override
	public void park(Object blocker, long nanos) {
		this.parked.add(Thread.currentThread());
		try {
			LockSupport.park(blocker);
		}
		finally {
			this.parked.remove(Thread.currentThread());
		}
	}

	@Override
	public Future<?> after(long nanos, ScheduledExecutorService timer, Executor executor, Runnable task) {
		return plan(new Planned(nanos, executor, task));
	}

	private Planned plan(Planned task) {
		boolean due;
		synchronized (this) {
			task.due = this.passed + Math.max(0, task.delay);
			due = task.due == this.passed;
			if (!due) {
				this.planned.add(task);
			}
		}
		if (due) {
			task.hand(false);
		}
		return task;
	}

	private final class Planned extends FutureTask<Boolean> {

		private final Executor executor;

		private final long delay;

		private long due;

		private Planned(long delay, Executor executor, Runnable task) {
			super(task, true);
			this.delay = delay;
			this.executor = executor;
		}

		private void hand(boolean wait) {
			CountDownLatch done = new CountDownLatch(1);
			try {
				this.executor.execute(() -> {
					try {
						run();
					}
					finally {
						done.countDown();
					}
				});
				assertThat(!wait || done.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			}
			catch (RejectedExecutionException ex) {
				cancel(false);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
