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

/**
 * For how long what a server has confirmed is trusted: counted from before the question
 * that it has answered last. Answers are noted one after the other; any thread may read.
 *
 * @since 0.1.0
 */
public final class TrustWindow {

	private final Duration length;

	private final long nanos;

	private final LockScheduler.Ticker ticker;

	/**
	 * Written before the time of the confirmation that begins it.
	 */
	private volatile long unbrokenSince;

	private volatile long confirmed;

	/**
	 * Create a window in which nothing was confirmed yet.
	 * @param length how long it is
	 * @param ticker tells how much of it is left
	 */
	public TrustWindow(Duration length, LockScheduler.Ticker ticker) {
		this.length = length;
		this.ticker = ticker;
		this.nanos = length.toNanos();
	}

	/**
	 * Note that the server has answered.
	 * @param asked when it was asked, as {@link System#nanoTime()} tells
	 * @param answered when the answer came
	 */
	public void confirm(long asked, long answered) {
		if (answered - this.confirmed >= this.nanos) {
			this.unbrokenSince = asked;
		}
		this.confirmed = asked;
	}

	/**
	 * Return how long the window is.
	 * @return the length
	 */
	public Duration length() {
		return this.length;
	}

	/**
	 * Return when the confirmations of the server began to come each within the window of
	 * the one before.
	 * @return what {@link #left} expects
	 */
	public long unbrokenSince() {
		return this.unbrokenSince;
	}

	/**
	 * Return for how long what was held at a time can be trusted to be held still, unless
	 * it turns out to be lost.
	 * @param since the time, as of {@link #unbrokenSince()}
	 * @return nanoseconds, none left if there was a gap since
	 */
	public long left(long since) {
		long last = this.confirmed;
		return (this.unbrokenSince == since) ? last + this.nanos - this.ticker.nanoTime() : 0;
	}

	/**
	 * Return for how long nothing was confirmed.
	 * @param now the time
	 * @return nanoseconds
	 */
	public long age(long now) {
		return now - this.confirmed;
	}

}
