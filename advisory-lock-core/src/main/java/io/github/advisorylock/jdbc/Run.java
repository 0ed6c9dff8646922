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

/**
 * The thread that runs under a {@link Hold}, and whether the library has interrupted it.
 */
final class Run {

	private final Thread thread = Thread.currentThread();

	private State state = State.UNDER_WAY;

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
