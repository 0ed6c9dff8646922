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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * One daemon thread for work that recurs, or that nobody is to wait for: it comes with
 * the first task, does one after the other, and goes ten seconds after the last. Who must
 * not wait behind somebody else's work has a scheduler of its own, as the heartbeat has.
 * <p>
 * Spring's task schedulers stop with the phase of their beans; these are needed until the
 * last run has ended.
 *
 * @since 0.1.0
 */
public final class LockScheduler implements Executor, AutoCloseable {

	/**
	 * How long a thread stays that has nothing to do.
	 */
	static final long KEEP_ALIVE_SECONDS = 10;

	private static final Duration LONGEST = Duration.ofDays(36_500);

	private static final MethodHandle IS_VIRTUAL = findIsVirtual();

	private final ScheduledThreadPoolExecutor executor;

	private final Ticker ticker;

	private @Nullable Future<?> recurring;

	private @Nullable Future<?> next;

	/**
	 * Create a scheduler without a thread.
	 * @param name the name of its thread
	 * @param threads makes its thread
	 */
	public LockScheduler(String name, Threads threads) {
		this.executor = threads.executor(name);
		this.ticker = threads.ticker();
		// what is due already is done nevertheless
		this.executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Return whether a thread is of something that was made before a time, such as of an
	 * application that was there: its threads come and go.
	 * @param thread the thread
	 * @param nanoTime the time, as of {@link System#nanoTime()}
	 * @return {@code false} for threads of others too
	 */
	public static boolean isOfOlder(Thread thread, long nanoTime) {
		return thread instanceof LockThread made && made.madeNanos - nanoTime < 0;
	}

	/**
	 * Tell virtual threads from others, also in a JVM that has none.
	 */
	static boolean isVirtual(Thread thread) {
		try {
			return (boolean) IS_VIRTUAL.invokeExact(thread);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("Failed to ask a thread whether it is virtual", ex);
		}
	}

	/**
	 * Find the method of Java 21.
	 */
	private static MethodHandle findIsVirtual() {
		try {
			return MethodHandles.publicLookup()
				.findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
		}
		catch (ReflectiveOperationException ex) {
			return MethodHandles.dropArguments(MethodHandles.constant(boolean.class, false), 0, Thread.class);
		}
	}

	/**
	 * Return whether a thread waits for the JVM to exit. Who calls {@link Runtime#exit}
	 * waits there for the shutdown hooks, and one of those may wait for that thread: only
	 * its stack tells. To be asked while waiting, never before.
	 * @param thread the thread
	 * @return {@code true} if nothing else of it will end
	 */
	public static boolean waitsForExit(Thread thread) {
		for (StackTraceElement frame : thread.getStackTrace()) {
			if (frame.getClassName().equals(Runtime.class.getName()) && frame.getMethodName().equals("exit")) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Let the thread stay for a while after each task again, after {@link #stop()}.
	 */
	public void start() {
		this.executor.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
	}

	/**
	 * Do something soon.
	 * @param task what to do
	 * @throws RejectedExecutionException if this is closed
	 */
	@Override
	public void execute(Runnable task) {
		this.executor.execute(task);
	}

	/**
	 * {@link #start()}, and do something now and then. Does nothing where something
	 * recurs already, or this is closed.
	 * @param delay how long to wait for the first time
	 * @param period how long to wait after each time
	 * @param task what to do
	 */
	public synchronized void every(Duration delay, Duration period, GuardedTask task) {
		if (this.recurring == null && !this.executor.isShutdown()) {
			start();
			this.recurring = this.ticker.every(delay.toNanos(), period.toNanos(), this.executor, task);
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
		if (!this.executor.isShutdown()) {
			this.next = this.ticker.after(delay.toNanos(), this.executor, task);
		}
	}

	/**
	 * Do something after a while, whatever else is to be done so.
	 * @param delay how long to wait; what is longer than a hundred years is for ever
	 * @param task what to do
	 * @return what takes it back
	 */
	Future<?> after(Duration delay, GuardedTask task) {
		if (this.executor.isShutdown()) {
			return CompletableFuture.completedFuture(null);
		}
		long nanos = (delay.compareTo(LONGEST) < 0) ? delay.toNanos() : LONGEST.toNanos();
		return this.ticker.after(nanos, this.executor, task);
	}

	/**
	 * End what recurs, by an interrupt if it is under way, forget what was to be done
	 * after a while, and let the thread go as soon as it has done what else there is.
	 * Until {@link #start()}, another comes for what is still to be done, and goes as
	 * soon.
	 */
	public synchronized void stop() {
		if (this.recurring != null) {
			this.recurring.cancel(true);
			this.recurring = null;
		}
		if (this.next != null) {
			this.next.cancel(false);
			this.next = null;
		}
		this.executor.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
	}

	/**
	 * As {@link #stop()}, for good, and without what is planned for later.
	 */
	@Override
	public synchronized void close() {
		stop();
		this.executor.shutdown();
	}

	/**
	 * Makes the threads of the library for one application, and has its class loader,
	 * which finds the driver and the classes of those who are called back: theirs and
	 * that of whoever opens a connection. Left to itself, a thread has the class loader
	 * of the thread that happens to need it, or, from Java 19 on, the one that the JVM
	 * was started with, which does not look into the jars within an executable jar.
	 * <p>
	 * Has the clock of the application, too.
	 */
	public static final class Threads {

		private final @Nullable ClassLoader classLoader;

		private final Ticker ticker;

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
			this.classLoader = (classLoader != null) ? classLoader : LockScheduler.class.getClassLoader();
			this.ticker = ticker;
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
		 * Make an executor that has a thread only while there is something to do, and
		 * keeps nothing of what is cancelled.
		 * @param name the name of its thread
		 * @return the executor, to be shut down by the caller
		 */
		public ScheduledThreadPoolExecutor executor(String name) {
			ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, named(name));
			executor.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
			executor.allowCoreThreadTimeOut(true);
			executor.setRemoveOnCancelPolicy(true);
			return executor;
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
	 * The clock that the library reads and waits by, so that a test can set it.
	 */
	public interface Ticker {

		/**
		 * The clock of the computer.
		 */
		Ticker SYSTEM = new SystemTicker();

		/**
		 * Return the time of day.
		 * @return the time
		 */
		Instant now();

		/**
		 * Return a time of which only differences mean something, as
		 * {@link System#nanoTime()} does.
		 * @return nanoseconds
		 */
		long nanoTime();

		/**
		 * Park the current thread for a while, as
		 * {@link LockSupport#parkNanos(Object, long)} does.
		 * @param blocker what the thread waits for
		 * @param nanos for how long
		 */
		void park(Object blocker, long nanos);

		/**
		 * Do something after a while.
		 * @param nanos how long to wait
		 * @param executor does it
		 * @param task what to do
		 * @return what takes it back
		 */
		Future<?> after(long nanos, ScheduledThreadPoolExecutor executor, Runnable task);

		/**
		 * Do something now and then.
		 * @param delay how long to wait for the first time, in nanoseconds
		 * @param period how long to wait after each time
		 * @param executor does it
		 * @param task what to do
		 * @return what ends it
		 */
		Future<?> every(long delay, long period, ScheduledThreadPoolExecutor executor, Runnable task);

		/**
		 * Return what hands tasks to an executor after a while, which needs no thread
		 * until then.
		 * @param nanos how long to wait
		 * @param executor does the tasks
		 * @return the executor
		 */
		Executor delayed(long nanos, Executor executor);

	}

	private static final class SystemTicker implements Ticker {

		@Override
		public Instant now() {
			return Instant.now();
		}

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public void park(Object blocker, long nanos) {
			LockSupport.parkNanos(blocker, nanos);
		}

		@Override
		public Future<?> after(long nanos, ScheduledThreadPoolExecutor executor, Runnable task) {
			return executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
		}

		@Override
		public Future<?> every(long delay, long period, ScheduledThreadPoolExecutor executor, Runnable task) {
			return executor.scheduleWithFixedDelay(task, delay, period, TimeUnit.NANOSECONDS);
		}

		@Override
		public Executor delayed(long nanos, Executor executor) {
			return CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, executor);
		}

	}

	/**
	 * A thread that knows how old what it works for is, as the thread is younger.
	 */
	private static final class LockThread extends Thread {

		private final long madeNanos;

		LockThread(Runnable task, String name, long madeNanos, @Nullable ClassLoader classLoader) {
			super(null, task, name, 0, false);
			this.madeNanos = madeNanos;
			setDaemon(true);
			setContextClassLoader(classLoader);
		}

	}

}
