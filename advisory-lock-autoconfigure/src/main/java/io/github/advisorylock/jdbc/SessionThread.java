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
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The one thread that uses the connection of a {@link LockSession}, and the commands that
 * wait for it: those that arrive while the server is asked are sent together after that.
 * What happens to a caller, as an interrupt or a full stack, reaches neither the
 * connection nor the locks of others. The thread comes with the first command, and goes
 * when there was none for a while.
 */
final class SessionThread {

	private static final int MOST_AT_A_TIME = 64;

	private final Queue<Caller> callers = new ConcurrentLinkedQueue<>();

	private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();

	private final Consumer<List<SessionCommand>> work;

	private final ThreadFactory threads;

	private volatile long keepAliveNanos = TimeUnit.SECONDS.toNanos(LockScheduler.KEEP_ALIVE_SECONDS);

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
		submit(new Caller(command)).await();
	}

	/**
	 * As {@link #submit(SessionCommand)}, and wait for no longer than a time: the command
	 * is executed later.
	 * @return whether it was executed
	 */
	boolean submit(SessionCommand command, Duration limit) {
		return submit(new Caller(command)).await(limit.toNanos());
	}

	/**
	 * Everybody wakes the thread, whoever may have begun to: a caller whose stack is full
	 * ends anywhere.
	 */
	private Caller submit(Caller caller) {
		this.callers.add(caller);
		Thread current = this.thread.get();
		if (current != null) {
			LockSupport.unpark(current);
		}
		else {
			startThread();
		}
		return caller;
	}

	private void startThread() {
		Thread made = null;
		try {
			made = this.threads.newThread(this::run);
			if (this.thread.compareAndSet(null, made)) {
				made.start();
			}
		}
		catch (Throwable ex) {
			// who has seen the thread relies on it
			this.thread.compareAndSet(made, null);
			List<Caller> stranded = poll();
			stranded.forEach((caller) -> caller.command.fail(ex));
			stranded.forEach(Caller::wake);
		}
	}

	/**
	 * Let the thread go after each command.
	 */
	void close() {
		this.keepAliveNanos = 0;
		LockSupport.unpark(this.thread.get());
	}

	private void run() {
		Thread self = Thread.currentThread();
		long idleSince = System.nanoTime();
		while (true) {
			List<Caller> served = poll();
			if (!served.isEmpty()) {
				serve(served);
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
			if (this.callers.isEmpty() || !this.thread.compareAndSet(null, self)) {
				return;
			}
		}
	}

	private List<Caller> poll() {
		List<Caller> callers = new ArrayList<>();
		Caller next = this.callers.poll();
		while (next != null) {
			callers.add(next);
			next = (callers.size() < MOST_AT_A_TIME) ? this.callers.poll() : null;
		}
		return callers;
	}

	private void serve(List<Caller> callers) {
		try {
			this.work.accept(callers.stream().map((caller) -> caller.command).toList());
		}
		catch (Throwable ex) {
			callers.forEach((caller) -> caller.command.failUnanswered(ex));
		}
		finally {
			callers.forEach(Caller::wake);
		}
	}

	/**
	 * A command, and the thread that waits for it.
	 */
	private static final class Caller {

		private final SessionCommand command;

		private final Thread thread = Thread.currentThread();

		private volatile boolean served;

		private Caller(SessionCommand command) {
			this.command = command;
		}

		private void await() {
			boolean interrupted = false;
			while (!this.served) {
				LockSupport.park(this);
				interrupted |= Thread.interrupted();
			}
			bringBack(interrupted);
		}

		private boolean await(long nanos) {
			boolean interrupted = false;
			long start = System.nanoTime();
			for (long left = nanos; !this.served && left > 0; left = nanos - (System.nanoTime() - start)) {
				LockSupport.parkNanos(this, left);
				interrupted |= Thread.interrupted();
			}
			bringBack(interrupted);
			return this.served;
		}

		private void bringBack(boolean interrupt) {
			if (interrupt) {
				this.thread.interrupt();
			}
		}

		private void wake() {
			this.served = true;
			LockSupport.unpark(this.thread);
		}

	}

}
