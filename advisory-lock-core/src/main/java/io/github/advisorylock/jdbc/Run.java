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

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.thread.LockThread;
import io.github.advisorylock.jdbc.thread.SafeTask;
import org.jspecify.annotations.Nullable;

/**
 * The thread that runs under a {@link Hold}, what it is doing, and whether the library
 * has interrupted it.
 *
 * @since 0.1.0
 */
public final class Run {

	private final Thread thread = Thread.currentThread();

	private final @Nullable Entry record;

	private volatile @Nullable Stack noted;

	private State state = State.UNDER_WAY;

	private @Nullable Runnable cancelled;

	/**
	 * Begin a run of the current thread.
	 * @param record its record, {@code null} if it is not recorded
	 */
	Run(@Nullable Entry record) {
		this.record = record;
	}

	/**
	 * Note what is done under a hold, for the log and its record: it has lasted for long.
	 * Never fails, as those who do so have more important things to do.
	 * @param run what runs, or ran last, under it
	 * @param process the process of the server whose transaction has the lock
	 * @param later does what may wait
	 * @return what that is, {@code null} if no thread has run under it
	 */
	static @Nullable Stack note(@Nullable Run run, int process, Executor later) {
		if (run == null) {
			return null;
		}
		new SafeTask("Failed to note what a run is doing", () -> run.note(process, later)).run();
		return run.noted;
	}

	private void note(int process, Executor later) {
		Stack stack = stack(process);
		if (stack != null) {
			this.noted = stack;
			if (this.record != null) {
				this.record.hangs(stack, later);
			}
		}
	}

	/**
	 * Return whether its thread is a virtual one: an interrupt closes the connection that
	 * such a thread waits on.
	 */
	boolean isVirtual() {
		return LockThread.isVirtual(this.thread);
	}

	/**
	 * Return whether this is the run that has a fencing token.
	 */
	boolean has(long token) {
		return this.record != null && this.record.has(token);
	}

	/**
	 * Return what was noted last.
	 */
	static @Nullable Stack noted(@Nullable Run run) {
		return (run != null) ? run.noted : null;
	}

	/**
	 * Return what is done under a hold now.
	 * @param run what runs, or ran last, under it
	 * @param process the process of the server whose transaction has the lock
	 */
	static Stack now(@Nullable Run run, int process) {
		Stack stack = (run != null) ? run.stack(process) : null;
		return (stack != null) ? stack : Stack.none(process);
	}

	/**
	 * Return what the thread is doing, {@code null} once the run is over: what it does
	 * then is nobody's business here, so the end is looked for after the look.
	 */
	private @Nullable Stack stack(int process) {
		Stack stack = Stack.of(this.thread, process);
		return isOver() ? null : stack;
	}

	/**
	 * Interrupt the thread. An interrupt from somewhere else that is pending serves both,
	 * and is not taken back.
	 */
	synchronized void interrupt() {
		if (this.state == State.UNDER_WAY && !this.thread.isInterrupted()) {
			this.state = State.INTERRUPTED;
			this.thread.interrupt();
		}
	}

	/**
	 * Have the statement that the thread waits for cancelled, unless the run is over. Its
	 * end waits for that: a cancel that is late would hit what the connection does next.
	 * @param cancel sends it, and returns what waits for its answer
	 */
	synchronized void cancelStatement(Supplier<Runnable> cancel) {
		if (this.state != State.OVER) {
			this.cancelled = cancel.get();
		}
	}

	/**
	 * End the run. An interrupt by the library that did not reach it must not hit what
	 * the thread does next. An interrupt from somewhere else must: the flag stays where
	 * it was set before, and where the run has taken the library's. An interrupt on top
	 * of the library's can't be told from it.
	 * @param tookInterrupt whether the run has ended by an interrupt, which cleared the
	 * flag
	 */
	void end(boolean tookInterrupt) {
		Runnable waiting = over(tookInterrupt);
		if (waiting != null) {
			waiting.run();
		}
	}

	private synchronized @Nullable Runnable over(boolean tookInterrupt) {
		if (this.state == State.INTERRUPTED && !tookInterrupt) {
			Thread.interrupted();
		}
		this.state = State.OVER;
		return this.cancelled;
	}

	synchronized boolean isOver() {
		return this.state == State.OVER;
	}

	/**
	 * What is done under a lock at a moment. Prints as a thread dump does.
	 *
	 * @param thread the name of the thread, {@code null} where no thread runs under the
	 * lock: it was handed over, or its run has not begun yet, or is over
	 * @param state the state of the thread, {@code null} without one
	 * @param frames the frames of its stack, the innermost first, 200 at most
	 * @param process the process of the server whose transaction has the lock, 0 in scope
	 * {@code SESSION}: on which connections such a run works, the library does not know
	 */
	public record Stack(@Nullable String thread, Thread.@Nullable State state, List<String> frames, int process) {

		private static final int MOST_FRAMES = 200;

		private static final int LONGEST_TEXT = 8000;

		/**
		 * Look at a thread, be it a virtual one or not.
		 * @param thread the thread
		 * @param process the process of the server
		 * @return what it is doing
		 */
		static Stack of(Thread thread, int process) {
			Thread.State state = thread.getState();
			List<String> frames = Arrays.stream(thread.getStackTrace()).limit(MOST_FRAMES).map(Stack::text).toList();
			// a virtual thread has no name by itself
			String name = thread.getName().isEmpty() ? "thread " + thread.getId() : thread.getName();
			return new Stack(AdvisoryLockKey.display(name), state, frames, process);
		}

		/**
		 * Without class loader and module, which Java 17 prints in the frames of other
		 * threads.
		 */
		private static String text(StackTraceElement frame) {
			return new StackTraceElement(frame.getClassName(), frame.getMethodName(), frame.getFileName(),
					frame.getLineNumber())
				.toString();
		}

		/**
		 * Return what stands for a lock that no thread runs under.
		 * @param process the process of the server
		 * @return nothing that is done
		 */
		public static Stack none(int process) {
			return new Stack(null, null, List.of(), process);
		}

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder("\"" + this.thread + "\" " + this.state);
			for (String frame : this.frames) {
				if (text.length() + frame.length() < LONGEST_TEXT) {
					text.append("\n\tat ").append(frame);
				}
			}
			return text.toString();
		}

	}

	/**
	 * The record of a run. Any thread may use it while the run is under way.
	 */
	public interface Entry {

		/**
		 * Return whether a token is the fencing token of the run. Waits for nothing.
		 * @param token the token
		 * @return whether it is
		 */
		default boolean has(long token) {
			return false;
		}

		/**
		 * Note what the run is doing, which has lasted for long. May be called again;
		 * must be quick.
		 * @param stack what it is doing
		 * @param later does what may wait
		 */
		default void hangs(Stack stack, Executor later) {
		}

	}

	private enum State {

		UNDER_WAY, INTERRUPTED, OVER

	}

}
