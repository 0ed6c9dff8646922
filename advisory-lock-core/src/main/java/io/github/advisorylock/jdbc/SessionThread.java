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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that uses the connection of a {@link LockSession}. Commands that arrive
 * while the server is asked are sent together after that. Tasks are done in between, one
 * by one, and may submit commands themselves.
 * <p>
 * What happens to a caller, as an interrupt or a full stack, reaches neither the
 * connection nor the locks of others. The thread comes with the first command, and goes
 * when there was none for a while.
 */
class SessionThread implements Executor {

	private static final Log logger = LogFactory.getLog(SessionThread.class);

	/**
	 * For tasks that are waited for whatever they take.
	 */
	static final Duration NO_LIMIT = Duration.ofDays(1);

	private static final int MOST_AT_A_TIME = 64;

	private static final long LONGEST_GATHERING_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

	private final Queue<Call> calls = new ConcurrentLinkedQueue<>();

	private final Queue<SafeTask> tasks = new ConcurrentLinkedQueue<>();

	private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();

	private final Consumer<List<SessionCommand>> work;

	private final ThreadFactory threads;

	private volatile long keepAliveNanos = TimeUnit.SECONDS.toNanos(10);

	/**
	 * Create a queue without a thread.
	 * @param work executes commands
	 * @param threads makes the thread
	 */
	SessionThread(Consumer<List<SessionCommand>> work, LockScheduler.Threads threads) {
		this.work = work;
		this.threads = threads.named("advisory-lock-session");
	}

	/**
	 * Have a command executed. Returns when it has been; an interrupt changes nothing,
	 * and is kept. Where no thread can be made, the command fails.
	 */
	void submit(SessionCommand command) {
		if (isCurrent()) {
			executeAll(List.of(command));
			return;
		}
		Caller caller = new Caller();
		this.calls.add(new Call(command, caller));
		wake();
		caller.await(Long.MAX_VALUE);
	}

	/**
	 * As {@link #submit(SessionCommand)}, and do not wait for it.
	 * @param answered what to do after that
	 */
	void submit(SessionCommand command, Runnable answered) {
		this.calls.add(new Call(command, new SafeTask("Failed to use an answer of the lock session", answered)));
		wake();
	}

	/**
	 * Have something done between two commands, and do not wait for it.
	 * @param task what to do
	 * @throws RejectedExecutionException if no thread can be made for it
	 */
	@Override
	public void execute(Runnable task) {
		SafeTask safe = new SafeTask("Failed to use the connection of the session locks", task);
		this.tasks.add(safe);
		Throwable failure = wake();
		if (failure != null && this.tasks.remove(safe)) {
			throw new RejectedExecutionException("Failed to make the thread of the lock session", failure);
		}
	}

	/**
	 * As {@link #execute}, and wait for it, but no longer than a time: it is done later.
	 * An interrupt changes nothing, and is kept.
	 * @return whether it was done
	 */
	boolean run(Runnable task, Duration limit) {
		if (isCurrent()) {
			task.run();
			return true;
		}
		Caller caller = new Caller();
		try {
			execute(() -> {
				try {
					task.run();
				}
				finally {
					caller.run();
				}
			});
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The lock session has no thread: " + ex);
			return false;
		}
		return caller.await(limit.toNanos());
	}

	private boolean isCurrent() {
		return Thread.currentThread() == this.thread.get();
	}

	/**
	 * Everybody wakes the thread, whoever may have begun to: a caller whose stack is full
	 * ends anywhere. A thread that has died is replaced.
	 * @return why there is no thread, {@code null} if there is one
	 */
	private @Nullable Throwable wake() {
		Thread current = this.thread.get();
		if (current != null && current.getState() != Thread.State.TERMINATED) {
			LockSupport.unpark(current);
			return null;
		}
		this.thread.compareAndSet(current, null);
		Thread made = null;
		try {
			made = this.threads.newThread(this::run);
			if (this.thread.compareAndSet(null, made)) {
				made.start();
			}
			return null;
		}
		catch (Throwable ex) {
			// other callers that have seen the thread rely on it
			this.thread.compareAndSet(made, null);
			for (Call call = this.calls.poll(); call != null; call = this.calls.poll()) {
				call.fail(ex);
			}
			return ex;
		}
	}

	/**
	 * Let the thread go after each command.
	 */
	void close() {
		this.keepAliveNanos = 0;
		LockSupport.unpark(this.thread.get());
	}

	/**
	 * An error ends this thread only: what there is to do yet is done by the next one.
	 */
	private void run() {
		Thread self = Thread.currentThread();
		try {
			run(self);
		}
		finally {
			if (this.thread.compareAndSet(self, null) && !isIdle()) {
				wake();
			}
		}
	}

	private void run(Thread self) {
		long idleSince = System.nanoTime();
		while (true) {
			if (work()) {
				idleSince = System.nanoTime();
				continue;
			}
			long left = this.keepAliveNanos - (System.nanoTime() - idleSince);
			if (left > 0) {
				LockSupport.parkNanos(this, left);
				Thread.interrupted();
				continue;
			}
			this.thread.set(null);
			if (isIdle() || !this.thread.compareAndSet(null, self)) {
				return;
			}
		}
	}

	private boolean isIdle() {
		return this.calls.isEmpty() && this.tasks.isEmpty();
	}

	/**
	 * Do what there is to do: callers wait for commands, and nobody for most tasks.
	 * @return whether there was anything
	 */
	private boolean work() {
		boolean served = serve(poll());
		SafeTask task = this.tasks.poll();
		if (task != null) {
			task.run();
		}
		return served || task != null;
	}

	private boolean serve(List<Call> calls) {
		if (calls.isEmpty()) {
			return false;
		}
		long start = System.nanoTime();
		try {
			executeAll(calls.stream().map(Call::command).toList());
		}
		catch (Throwable ex) {
			calls.forEach((call) -> call.command.failUnanswered(ex));
		}
		finally {
			calls.forEach((call) -> call.answered.run());
		}
		gather(calls.size(), Math.min((System.nanoTime() - start) / 16, LONGEST_GATHERING_NANOS));
		return true;
	}

	/**
	 * Callers that were served together tend to come back together: the first of them is
	 * not to have the others wait for its round trip, which takes longer than this.
	 */
	@SuppressWarnings("ThreadPriorityCheck") // a hint: the time is the limit
	private void gather(int expected, long nanos) {
		long start = System.nanoTime();
		while (expected > 1 && this.calls.size() < expected && System.nanoTime() - start < nanos) {
			Thread.yield();
		}
	}

	/**
	 * What was taken out of the queue is in the list, even if memory runs out.
	 */
	private List<Call> poll() {
		if (this.calls.isEmpty()) {
			return List.of();
		}
		List<Call> calls = new ArrayList<>(MOST_AT_A_TIME);
		Call next = this.calls.poll();
		while (next != null) {
			calls.add(next);
			next = (calls.size() < MOST_AT_A_TIME) ? this.calls.poll() : null;
		}
		return calls;
	}

	final void executeAll(List<SessionCommand> commands) {
		try {
			this.work.accept(commands);
		}
		catch (Throwable ex) {
			commands.forEach((command) -> command.failUnanswered(ex));
		}
	}

	/**
	 * A command, and what to do after it.
	 */
	private record Call(SessionCommand command, Runnable answered) {

		private void fail(Throwable failure) {
			this.command.fail(failure);
			this.answered.run();
		}

	}

	/**
	 * A thread that waits.
	 */
	private static final class Caller implements Runnable {

		private final Thread thread = Thread.currentThread();

		private volatile boolean served;

		private boolean await(long nanos) {
			boolean interrupted = false;
			long start = System.nanoTime();
			for (long left = nanos; !this.served && left > 0; left = nanos - (System.nanoTime() - start)) {
				LockSupport.parkNanos(this, left);
				interrupted |= Thread.interrupted();
			}
			if (interrupted) {
				this.thread.interrupt();
			}
			return this.served;
		}

		@Override
		public void run() {
			this.served = true;
			LockSupport.unpark(this.thread);
		}

	}

}
