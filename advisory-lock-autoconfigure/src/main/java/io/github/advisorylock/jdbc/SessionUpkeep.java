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

import org.jspecify.annotations.Nullable;

/**
 * What is done to a connection now and then while it is open: the heartbeat notices that
 * it is lost, or leads to another database than the pool, and one that has carried
 * nothing for long is closed. Works on the thread of the session.
 */
final class SessionUpkeep implements AutoCloseable {

	private final GuardedTask beat = new GuardedTask("A heartbeat of the session locks failed", this::beat);

	private final ConnectionOwner owner;

	private final LockSession session;

	private final TrustWindow trust;

	private final @Nullable PoolComparison comparison;

	private final LockSessionSettings settings;

	private final LockScheduler scheduler;

	private long lastLockNanos;

	/**
	 * Create it.
	 * @param session is asked now and then
	 * @param owner has the connection
	 * @param comparison knows the database of the pool, {@code null} if nobody does
	 */
	SessionUpkeep(LockSession session, ConnectionOwner owner, @Nullable PoolComparison comparison) {
		this.session = session;
		this.owner = owner;
		this.trust = session.trust();
		this.comparison = comparison;
		this.settings = session.settings();
		this.scheduler = LockScheduler.on(session.executor(), session.threads());
		this.lastLockNanos = session.ticker().nanoTime();
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
			this.lastLockNanos = this.session.ticker().nanoTime();
			this.owner.execute(List.of(new Ask.Nothing(null)));
			this.session.pollCancellations();
			compareAgain();
		}
		else if (isIdle()) {
			this.owner.leaveUnlessLocked();
		}
		if (!this.owner.isOpen()) {
			this.scheduler.stop();
		}
	}

	private void compareAgain() {
		PoolComparison comparison = this.comparison;
		if (comparison != null) {
			comparison.again((call) -> this.session.ask(call.sql(), call.parameters()), (difference) -> this.session
				.later("Failed to close the connection of the session locks", () -> this.owner.destroy(difference)));
		}
	}

	/**
	 * Return whether nobody has used the connection for long, nor listens on it.
	 */
	private boolean isIdle() {
		long now = this.session.ticker().nanoTime();
		long idleNanos = this.settings.idleTimeout().toNanos();
		return !this.owner.isListening() && this.trust.age(now) > idleNanos && now - this.lastLockNanos > idleNanos;
	}

	@Override
	public void close() {
		this.scheduler.close();
	}

}
