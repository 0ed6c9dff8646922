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

import java.util.List;

/**
 * What is done to a connection now and then while it is open: the heartbeat notices that
 * it is lost, or leads to another database than the pool, and one that has carried
 * nothing for long is closed. Works on the thread of the session.
 */
final class SessionUpkeep implements AutoCloseable {

	private final SafeTask beat = new SafeTask("A heartbeat of the session locks failed", this::beat);

	private final ConnectionOwner owner;

	private final TrustWindow trust;

	private final LockSessionSettings settings;

	private final LockScheduler scheduler;

	private final LockScheduler.Ticker ticker;

	private final Runnable afterBeat;

	private final Runnable whileOpen;

	private long lastLockNanos;

	/**
	 * Create it.
	 * @param owner has the connection
	 * @param trust knows when the server has answered last
	 * @param settings how often the server is asked
	 * @param scheduler does that on the thread of the connection
	 * @param ticker the clock
	 * @param afterBeat what else is to be done after each answer while there are locks
	 * @param whileOpen what else is to be done with or without locks
	 */
	SessionUpkeep(ConnectionOwner owner, TrustWindow trust, LockSessionSettings settings, LockScheduler scheduler,
			LockScheduler.Ticker ticker, Runnable afterBeat, Runnable whileOpen) {
		this.owner = owner;
		this.trust = trust;
		this.settings = settings;
		this.scheduler = scheduler;
		this.ticker = ticker;
		this.afterBeat = afterBeat;
		this.whileOpen = whileOpen;
		this.lastLockNanos = ticker.nanoTime();
	}

	/**
	 * Begin while there is a connection, unless that was done already.
	 */
	void ensure() {
		if (this.owner.isOpen()) {
			this.scheduler.every(this.settings.heartbeat(), this.settings.heartbeat(), this.beat);
		}
	}

	private void beat() {
		if (this.owner.isResting()) {
			this.owner.leaveUnlessAtWork();
		}
		if (this.owner.carriesLocks()) {
			this.lastLockNanos = this.ticker.nanoTime();
			this.owner.execute(List.of(new SessionCommand.Nothing(null)));
			this.afterBeat.run();
		}
		else if (isIdle()) {
			this.owner.leaveUnlessLocked();
		}
		if (this.owner.isOpen()) {
			this.whileOpen.run();
		}
		else {
			this.scheduler.stop();
		}
	}

	/**
	 * Return whether nobody has used the connection for long, nor listens on it.
	 */
	private boolean isIdle() {
		long now = this.ticker.nanoTime();
		long idleNanos = this.settings.idleTimeout().toNanos();
		return !this.owner.isListening() && this.trust.age(now) > idleNanos && now - this.lastLockNanos > idleNanos;
	}

	@Override
	public void close() {
		this.scheduler.close();
	}

}
