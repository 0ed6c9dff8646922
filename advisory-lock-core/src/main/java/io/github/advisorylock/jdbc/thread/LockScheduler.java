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
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.LockInstance;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * What a part of the library does later, or again and again. The timer of the application
 * tells when; what may wait for a table or the network is done by another thread than the
 * timer's.
 * <p>
 * Spring's task schedulers stop with the phase of their beans; these are needed until the
 * last run has ended.
 *
 * @since 0.1.0
 */
public final class LockScheduler implements Executor, AutoCloseable {

	private static final Duration LONGEST = Duration.ofDays(36_500);

	private final Executor executor;

	private final Threads threads;

	private final boolean interrupting;

	private final Set<Future<?>> planned = new HashSet<>();

	private @Nullable Recurrence recurring;

	private @Nullable Future<?> next;

	private boolean closed;

	private LockScheduler(Threads threads, Executor executor, boolean interrupting) {
		this.threads = threads;
		this.executor = executor;
		this.interrupting = interrupting;
	}

	/**
	 * Create a scheduler for tasks that never wait, not even for a statement: the timer
	 * does them itself.
	 * @param threads has the timer
	 * @return the scheduler
	 */
	public static LockScheduler onTimer(Threads threads) {
		return new LockScheduler(threads, threads.timer(), false);
	}

	/**
	 * Create a scheduler for tasks that may wait, and are done one after the other, in
	 * order: one that hangs holds up its successors here, and nothing else.
	 * @param threads has the workers
	 * @return the scheduler
	 */
	public static LockScheduler inTurn(Threads threads) {
		Executor worker = threads.worker();
		return new LockScheduler(threads,
				(task) -> worker.execute(new SafeTask("A task of the advisory locks failed", task)), true);
	}

	/**
	 * Create a scheduler for tasks that may wait, none for another.
	 * @param threads has the workers
	 * @return the scheduler
	 */
	public static LockScheduler atOnce(Threads threads) {
		return new LockScheduler(threads, threads.workers(), true);
	}

	/**
	 * Create a scheduler for the tasks of a thread that must not be interrupted, such as
	 * that of a session.
	 * @param executor does the tasks
	 * @param threads has the timer
	 * @return the scheduler
	 */
	public static LockScheduler on(Executor executor, Threads threads) {
		return new LockScheduler(threads, executor, false);
	}

	/**
	 * Do something soon.
	 * @param task what to do
	 * @throws RejectedExecutionException if this is closed
	 */
	@Override
	public void execute(Runnable task) {
		if (isClosed()) {
			throw new RejectedExecutionException("The scheduler is closed");
		}
		this.executor.execute(task);
	}

	private synchronized boolean isClosed() {
		return this.closed;
	}

	/**
	 * Do something now and then. Does nothing where something recurs already, or this is
	 * closed.
	 * @param delay how long to wait for the first time
	 * @param period how long to wait after each time
	 * @param task what to do
	 */
	public synchronized void every(Duration delay, Duration period, SafeTask task) {
		if (this.recurring == null && !this.closed) {
			this.recurring = new Recurrence();
			recur(this.recurring, delay, period, task);
		}
	}

	private synchronized void recur(Recurrence recurrence, Duration delay, Duration period, SafeTask task) {
		if (this.recurring == recurrence) {
			recurrence.planned = plan(delay, () -> {
				try {
					task.run();
				}
				finally {
					recur(recurrence, period, period, task);
				}
			});
		}
	}

	/**
	 * Do something after a while, instead of what was to be done so before. Does nothing
	 * when this is closed.
	 * @param delay how long to wait
	 * @param task what to do
	 */
	public synchronized void next(Duration delay, Runnable task) {
		if (this.next != null) {
			this.next.cancel(false);
		}
		if (!this.closed) {
			this.next = plan(delay, task);
		}
	}

	/**
	 * Do something after a while, whatever else is to be done so.
	 * @param delay how long to wait; what is longer than a hundred years is for ever
	 * @param task what to do
	 * @return what takes it back; done already if this is closed
	 */
	public synchronized Future<?> after(Duration delay, SafeTask task) {
		if (this.closed) {
			return CompletableFuture.completedFuture(null);
		}
		Future<?> after = plan(delay, task);
		this.planned.removeIf(Future::isDone);
		this.planned.add(after);
		return after;
	}

	private Future<?> plan(Duration delay, Runnable task) {
		long nanos = ((delay.compareTo(LONGEST) < 0) ? delay : LONGEST).toNanos();
		return this.threads.ticker.after(nanos, this.threads.timer(), this.executor, task);
	}

	/**
	 * End what recurs, and forget what was to be done {@linkplain #next next}. A worker
	 * that is at it is interrupted.
	 */
	public synchronized void stop() {
		if (this.recurring != null) {
			this.recurring.planned.cancel(this.interrupting);
			this.recurring = null;
		}
		if (this.next != null) {
			this.next.cancel(false);
			this.next = null;
		}
	}

	/**
	 * As {@link #stop()}, for good, and without what is planned for later. What is to be
	 * done soon is done nevertheless.
	 */
	@Override
	public synchronized void close() {
		stop();
		this.closed = true;
		this.planned.forEach((task) -> task.cancel(false));
		this.planned.clear();
	}

	/**
	 * What is done again some time after it was done.
	 */
	private static final class Recurrence {

		private Future<?> planned = CompletableFuture.completedFuture(null);

	}

	/**
	 * The threads of the library for one application: a timer, workers, and those that
	 * have a name of their own. They have its class loader, which finds the driver and
	 * the classes of those who are called back: theirs and that of whoever opens a
	 * connection. Left to itself, a thread has the class loader of the thread that
	 * happens to need it, or, from Java 19 on, the one that the JVM was started with,
	 * which does not look into the jars within an executable jar.
	 * <p>
	 * Timer and workers go when they have nothing to do, so nobody closes them. Has the
	 * clock of the application, too, and knows which instance of it this is.
	 */
	public static class Threads {

		private static final String WORKER = "advisory-lock-worker";

		private static final long KEEP_ALIVE_MILLIS = 500;

		private final @Nullable ClassLoader classLoader;

		private final Ticker ticker;

		private final LockInstance instance;

		private final ScheduledThreadPoolExecutor timer;

		private final Executor workers;

		/**
		 * Create what makes threads.
		 * @param classLoader the class loader of the application, {@code null} for that
		 * of this library
		 */
		public Threads(@Nullable ClassLoader classLoader) {
			this(classLoader, Ticker.SYSTEM);
		}

		/**
		 * Create what makes threads that wait by a clock.
		 * @param classLoader the class loader of the application, {@code null} for that
		 * of this library
		 * @param ticker the clock
		 */
		public Threads(@Nullable ClassLoader classLoader, Ticker ticker) {
			this(classLoader, ticker, new LockInstance(null));
		}

		/**
		 * Create what makes threads for an instance of an application.
		 * @param classLoader the class loader of the application, {@code null} for that
		 * of this library
		 * @param ticker the clock
		 * @param instance the instance
		 */
		public Threads(@Nullable ClassLoader classLoader, Ticker ticker, LockInstance instance) {
			this.instance = instance;
			this.classLoader = (classLoader != null) ? classLoader : LockScheduler.class.getClassLoader();
			this.ticker = ticker;
			this.timer = new ScheduledThreadPoolExecutor(1, named("advisory-lock-timer"));
			this.timer.setKeepAliveTime(KEEP_ALIVE_MILLIS, TimeUnit.MILLISECONDS);
			this.timer.allowCoreThreadTimeOut(true);
			this.timer.setRemoveOnCancelPolicy(true);
			this.workers = new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_ALIVE_MILLIS, TimeUnit.MILLISECONDS,
					new SynchronousQueue<>(), named(WORKER));
		}

		/**
		 * Create what makes threads for an application of which nothing is known: with
		 * the class loader of the current thread, or that of this library if it has none.
		 * @return what makes threads
		 */
		public static Threads ofCurrent() {
			return new Threads(ClassUtils.getDefaultClassLoader());
		}

		/**
		 * Return the clock of the application.
		 * @return the clock
		 */
		public Ticker ticker() {
			return this.ticker;
		}

		/**
		 * Return the instance of the application.
		 * @return the instance
		 */
		public LockInstance instance() {
			return this.instance;
		}

		/**
		 * Return the timer, whose tasks never wait.
		 * @return the timer
		 */
		protected ScheduledExecutorService timer() {
			return this.timer;
		}

		/**
		 * Return what has a thread for each task.
		 * @return the workers
		 */
		public Executor workers() {
			return this.workers;
		}

		/**
		 * Return what has one thread for all tasks. Its queue needs no lock: whoever adds
		 * a task may end anywhere, as its stack may be full.
		 * @return a worker
		 */
		protected Executor worker() {
			ThreadPoolExecutor worker = new ThreadPoolExecutor(1, 1, KEEP_ALIVE_MILLIS, TimeUnit.MILLISECONDS,
					new LinkedTransferQueue<>(), named(WORKER));
			worker.allowCoreThreadTimeOut(true);
			return worker;
		}

		/**
		 * Make daemon threads. But for the class loader they inherit nothing of the
		 * thread that happens to need them first.
		 * @param name the name of the threads
		 * @return what makes them
		 */
		public ThreadFactory named(String name) {
			long madeNanos = System.nanoTime();
			return (task) -> new LockThread(task, name, madeNanos, this.classLoader);
		}

		/**
		 * Do something that loads classes by the class loader of the current thread,
		 * which may be anybody's: with that of the application for as long as it takes.
		 * @param <T> what it returns
		 * @param <X> what it throws
		 * @param task what to do
		 * @return what the task returned
		 * @throws X what the task threw
		 */
		public <T extends @Nullable Object, X extends Exception> T call(Task<T, X> task) throws X {
			Thread thread = Thread.currentThread();
			ClassLoader before = thread.getContextClassLoader();
			thread.setContextClassLoader(this.classLoader);
			try {
				return task.call();
			}
			finally {
				thread.setContextClassLoader(before);
			}
		}

		/**
		 * What is done with a class loader.
		 *
		 * @param <T> what it returns
		 * @param <X> what it throws
		 */
		@FunctionalInterface
		public interface Task<T extends @Nullable Object, X extends Exception> {

			/**
			 * Do it.
			 * @return what comes of it
			 * @throws X if it fails
			 */
			T call() throws X;

		}

	}

	/**
	 * The clock that the library reads and waits by, so that a test can set it: by itself
	 * that of the computer.
	 */
	public interface Ticker {

		/**
		 * The clock of the computer.
		 */
		Ticker SYSTEM = new Ticker() {
		};

		/**
		 * Return the time of day.
		 * @return the time
		 */
		default Instant now() {
			return Instant.now();
		}

		/**
		 * Return a time of which only differences mean something, as
		 * {@link System#nanoTime()} does.
		 * @return nanoseconds
		 */
		default long nanoTime() {
			return System.nanoTime();
		}

		/**
		 * Return a number by chance, for waits that must not all be the same.
		 * @param least the least that it can be
		 * @param bound what it is less than
		 * @return the number
		 */
		default long random(long least, long bound) {
			return ThreadLocalRandom.current().nextLong(least, bound);
		}

		/**
		 * Park the current thread for a while, as
		 * {@link LockSupport#parkNanos(Object, long)} does.
		 * @param blocker what the thread waits for
		 * @param nanos for how long
		 */
		default void park(Object blocker, long nanos) {
			LockSupport.parkNanos(blocker, nanos);
		}

		/**
		 * Wait for what another thread does, as {@link Future#get(long, TimeUnit)} does.
		 * @param result what to wait for
		 * @param limit for how long at most
		 * @param <T> the type of the result
		 * @return the result
		 * @throws InterruptedException if the current thread is interrupted
		 * @throws ExecutionException if the other thread has failed
		 * @throws TimeoutException if it takes longer
		 */
		default <T extends @Nullable Object> T await(Future<T> result, Duration limit)
				throws InterruptedException, ExecutionException, TimeoutException {
			return result.get(limit.toNanos(), TimeUnit.NANOSECONDS);
		}

		/**
		 * Have something done after a while.
		 * @param nanos how long to wait
		 * @param timer waits
		 * @param executor does it
		 * @param task what to do
		 * @return what takes it back
		 */
		default Future<?> after(long nanos, ScheduledExecutorService timer, Executor executor, Runnable task) {
			PlannedTask planned = new PlannedTask(timer, executor, task);
			planned.await(nanos);
			return planned;
		}

	}

	/**
	 * What is handed over when its time has come. Where no thread can be had for it, that
	 * is tried again: what recurs would else never do so again.
	 */
	private static final class PlannedTask extends FutureTask<@Nullable Void> {

		private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

		private final ScheduledExecutorService timer;

		private final Executor executor;

		private volatile @Nullable Future<?> wait;

		@SuppressWarnings("NullAway") // has no result
		private PlannedTask(ScheduledExecutorService timer, Executor executor, Runnable task) {
			super(task, null);
			this.timer = timer;
			this.executor = executor;
		}

		private void await(long nanos) {
			this.wait = this.timer.schedule(this::handOver, nanos, TimeUnit.NANOSECONDS);
		}

		private void handOver() {
			try {
				this.executor.execute(this);
			}
			catch (Throwable ex) {
				await(RETRY_NANOS);
			}
		}

		@Override
		protected void done() {
			Future<?> wait = this.wait;
			if (isCancelled() && wait != null) {
				wait.cancel(false);
			}
		}

	}

}
