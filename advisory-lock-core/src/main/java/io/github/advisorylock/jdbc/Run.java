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

import java.util.concurrent.Executor;

import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.RunLedger.RunStack;
import org.jspecify.annotations.Nullable;

/**
 * The thread that runs under a {@link Hold}, what it is doing, and whether the library
 * has interrupted it.
 */
final class Run {

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunRecord record;

	private volatile @Nullable RunStack noted;

	private State state = State.UNDER_WAY;

	/**
	 * Begin a run of the current thread.
	 * @param record its record in the ledger, if it is recorded
	 */
	Run(@Nullable RunRecord record) {
		this.record = record;
	}

	/**
	 * Note what is done under a hold, for the log and its record: it has lasted for long.
	 * Never fails, as those who do so have more important things to do.
	 * @param later does what may wait
	 * @return what that is, {@code null} if no thread has run under it
	 */
	static @Nullable RunStack note(Hold hold, Executor later) {
		Run run = hold.run();
		if (run == null) {
			return null;
		}
		new SafeTask("Failed to note what a run is doing", () -> run.note(hold.backend(), later)).run();
		return run.noted;
	}

	private void note(int process, Executor later) {
		RunStack stack = stack(process);
		if (stack != null) {
			this.noted = stack;
			if (this.record != null) {
				this.record.hangs(stack, later);
			}
		}
	}

	/**
	 * Return what was noted last of a hold.
	 */
	static @Nullable RunStack noted(Hold hold) {
		Run run = hold.run();
		return (run != null) ? run.noted : null;
	}

	/**
	 * Return what is done under a hold now.
	 */
	static RunStack now(Hold hold) {
		Run run = hold.run();
		RunStack stack = (run != null) ? run.stack(hold.backend()) : null;
		return (stack != null) ? stack : RunStack.none(hold.backend());
	}

	/**
	 * Return what the thread is doing, {@code null} once the run is over: what it does
	 * then is nobody's business here, so the end is looked for after the look.
	 */
	private @Nullable RunStack stack(int process) {
		RunStack stack = RunStack.of(this.thread, process);
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
	 * End the run. An interrupt by the library that did not reach it must not hit what
	 * the thread does next. An interrupt from somewhere else must: the flag stays where
	 * it was set before, and where the run has taken the library's. An interrupt on top
	 * of the library's can't be told from it.
	 * @param tookInterrupt whether the run has ended by an interrupt, which cleared the
	 * flag
	 */
	synchronized void end(boolean tookInterrupt) {
		if (this.state == State.INTERRUPTED && !tookInterrupt) {
			Thread.interrupted();
		}
		this.state = State.OVER;
	}

	synchronized boolean isOver() {
		return this.state == State.OVER;
	}

	private enum State {

		UNDER_WAY, INTERRUPTED, OVER

	}

}
