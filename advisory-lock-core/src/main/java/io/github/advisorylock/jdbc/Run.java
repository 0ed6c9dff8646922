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

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.support.LockContextBinding;
import org.jspecify.annotations.Nullable;

/**
 * Work under a {@link Hold}: what it can ask about its lock, the thread that does it,
 * what that is doing, and whether the library has interrupted it.
 *
 * @since 0.1.0
 */
public sealed class Run implements LockContext permits WorkContext {

	private final Hold hold;

	private final @Nullable HoldRegistry holds;

	private final @Nullable RunRecord record;

	private final @Nullable Instant tick;

	private final @Nullable RunEnd end;

	private final Thread thread = Thread.currentThread();

	private @Nullable LockContext enclosing;

	private volatile @Nullable Stack noted;

	private State state = State.UNDER_WAY;

	/**
	 * Create a run of the current thread.
	 * @param hold its lock
	 * @param holds tells its application context from others, {@code null} for one that
	 * is no call
	 * @param record its record in the ledger, if it is recorded
	 * @param tick the planned time, if it is for one
	 * @param end its end, if it is part of a transaction
	 */
	Run(Hold hold, @Nullable HoldRegistry holds, @Nullable RunRecord record, @Nullable Instant tick,
			@Nullable RunEnd end) {
		this.hold = hold;
		this.holds = holds;
		this.record = record;
		this.tick = tick;
		this.end = end;
	}

	/**
	 * Find the run of the same key that the current thread is in, with whatever else is
	 * in between.
	 */
	static @Nullable Run findEnclosing(AdvisoryLockKey key, HoldRegistry holds) {
		LockContext context = LockContext.current().orElse(null);
		while (context instanceof Run run) {
			if (run.holds == holds && run.key().equals(key)) {
				return run;
			}
			context = run.enclosing;
		}
		return null;
	}

	/**
	 * Become the context of the current thread.
	 */
	final void bind() {
		this.enclosing = LockContextBinding.bind(this);
	}

	final Hold hold() {
		return this.hold;
	}

	final @Nullable RunRecord record() {
		return this.record;
	}

	final @Nullable RunEnd end() {
		return this.end;
	}

	@Override
	public final AdvisoryLockKey key() {
		return this.hold.key();
	}

	@Override
	public final LockScope scope() {
		return this.hold.scope();
	}

	@Override
	public final boolean isHeld() {
		return this.hold.isHeld();
	}

	@Override
	public final void checkHeld() throws LockLostException {
		this.hold.checkHeld();
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.record != null) ? DeferredInterrupt.during(this.record::fencingToken) : OptionalLong.empty();
	}

	@Override
	public final Optional<Instant> tick() {
		return Optional.ofNullable(this.tick);
	}

	@Override
	public final int attempt() {
		return (this.record != null) ? this.record.attempt() : 1;
	}

	/**
	 * Note which trace tells more of the run, if it is recorded.
	 * @param traceId the id of the trace
	 */
	public final void traced(String traceId) {
		if (this.record != null) {
			this.record.traced(traceId);
		}
	}

	/**
	 * Note what is done under a hold, for the log and its record: it has lasted for long.
	 * Never fails, as those who do so have more important things to do.
	 * @param later does what may wait
	 * @return what that is, {@code null} if no thread has run under it
	 */
	static @Nullable Stack note(Hold hold, Executor later) {
		Run run = hold.run();
		if (run == null) {
			return null;
		}
		new SafeTask("Failed to note what a run is doing", () -> run.note(later)).run();
		return run.noted;
	}

	private void note(Executor later) {
		Stack stack = stack();
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
	final boolean isVirtual() {
		return LockThread.isVirtual(this.thread);
	}

	/**
	 * Return whether this is the run that has a fencing token.
	 */
	final boolean has(long token) {
		return this.record != null && this.record.has(token);
	}

	/**
	 * Return what was noted last of what is done under a hold.
	 */
	static @Nullable Stack noted(Hold hold) {
		Run run = hold.run();
		return (run != null) ? run.noted : null;
	}

	/**
	 * Return what is done under a hold now.
	 */
	static Stack now(Hold hold) {
		Run run = hold.run();
		Stack stack = (run != null) ? run.stack() : null;
		return (stack != null) ? stack : Stack.none(hold.backend());
	}

	/**
	 * Return what the thread is doing, {@code null} once the run is over: what it does
	 * then is nobody's business here, so the end is looked for after the look.
	 */
	private @Nullable Stack stack() {
		Stack stack = Stack.of(this.thread, this.hold.backend());
		return isOver() ? null : stack;
	}

	/**
	 * Interrupt the thread. An interrupt from somewhere else that is pending serves both,
	 * and is not taken back.
	 */
	final synchronized void interrupt() {
		if (this.state == State.UNDER_WAY && !this.thread.isInterrupted()) {
			this.state = State.INTERRUPTED;
			this.thread.interrupt();
		}
	}

	/**
	 * End the run, and give the thread the context back that it had before. An interrupt
	 * by the library that did not reach the run must not hit what the thread does next.
	 * An interrupt from somewhere else must: the flag stays where it was set before, and
	 * where the run has taken the library's. An interrupt on top of the library's can't
	 * be told from it.
	 * @param tookInterrupt whether the run has ended by an interrupt, which cleared the
	 * flag
	 */
	final synchronized void end(boolean tookInterrupt) {
		LockContextBinding.bind(this.enclosing);
		if (this.state == State.INTERRUPTED && !tookInterrupt) {
			Thread.interrupted();
		}
		this.state = State.OVER;
	}

	final synchronized boolean isOver() {
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

	private enum State {

		UNDER_WAY, INTERRUPTED, OVER

	}

}
