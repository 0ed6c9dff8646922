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
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.github.advisorylock.jdbc.SessionCommand.Trait;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What is done to a connection now and then while it is open: the heartbeat notices that
 * it is lost, or leads to another database than the pool, and one that has carried
 * nothing for long is closed. Works on the thread of the session.
 */
final class SessionUpkeep implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(SessionUpkeep.class);

	/**
	 * How long instances take to log in whose calls are due at one instant.
	 */
	private static final Duration AHEAD = Duration.ofSeconds(10);

	private final SafeTask beat = new SafeTask("A heartbeat of the session locks failed", this::beat);

	private final ConnectionOwner owner;

	private final TrustWindow trust;

	private final LockSessionSettings settings;

	private final LockScheduler scheduler;

	private final LockScheduler.Ticker ticker;

	private final Runnable afterBeat;

	private final @Nullable PoolComparison comparison;

	private final Members members;

	private @Nullable String left;

	private long lastLockNanos;

	/**
	 * Create it.
	 * @param owner has the connection
	 * @param trust knows when the server has answered last
	 * @param settings how often the server is asked
	 * @param scheduler does that on the thread of the connection
	 * @param ticker the clock
	 * @param afterBeat what else is to be done after each answer while there are locks
	 * @param comparison knows whether a pooler may have kept locks
	 * @param members have locks that say nothing
	 */
	SessionUpkeep(ConnectionOwner owner, TrustWindow trust, LockSessionSettings settings, LockScheduler scheduler,
			LockScheduler.Ticker ticker, Runnable afterBeat, @Nullable PoolComparison comparison, Members members) {
		this.owner = owner;
		this.trust = trust;
		this.settings = settings;
		this.scheduler = scheduler;
		this.ticker = ticker;
		this.afterBeat = afterBeat;
		this.comparison = comparison;
		this.members = members;
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

	/**
	 * Open a connection that is not open before a call needs it, at some moment of the
	 * next seconds: instances would log in at one instant. Any thread may ask.
	 * @param left the time until the call; one that is idle for as long is not opened
	 */
	void openWithin(Duration left) {
		if (!this.owner.isOpen() && left.compareTo(this.settings.idleTimeout()) < 0) {
			long most = Math.max(1, Math.min(left.toNanos(), AHEAD.toNanos()));
			this.scheduler.next(Duration.ofNanos(ThreadLocalRandom.current().nextLong(most)),
					new SafeTask("Failed to open the connection of the session locks", () -> {
						if (!this.owner.isOpen() && !this.owner.isSuspended() && !this.owner.isClosed()) {
							this.owner.execute(
									List.of(new SessionCommand.Ask(null,
											new PostgresAdvisoryLockFunctions.Call(
													PostgresAdvisoryLockFunctions.HEARTBEAT, List.of()),
											Trait.OPTIONAL, Trait.ONCE)));
							ensure();
						}
					}));
		}
	}

	private void beat() {
		if (this.owner.isSuspended()) {
			this.owner.leaveUnlessAtWork();
		}
		if (this.owner.carriesLocks()) {
			this.lastLockNanos = this.ticker.nanoTime();
			this.owner.execute(List.of(new SessionCommand.Nothing(null)));
			this.afterBeat.run();
		}
		else if (isIdle()) {
			this.owner.leave();
		}
		if (this.owner.isOpen()) {
			lookForLeft();
		}
		else {
			this.scheduler.stop();
		}
	}

	/**
	 * Who opens a session around a pooler finds locks that it has kept busy for ever.
	 */
	private void lookForLeft() {
		Duration open = this.settings.heartbeat().multipliedBy(2);
		if (this.comparison != null && this.comparison.isLookDue(open)) {
			SessionCommand.Ask command = new SessionCommand.Ask(null,
					PostgresAdvisoryLockFunctions.findLeft(open.toMillis(), this.members.family()), Trait.OPTIONAL,
					Trait.ONCE);
			this.owner.execute(List.of(command));
			String found = command.text();
			if (found != null && !found.equals(this.left)) {
				this.left = found;
				logger.warn("Advisory locks are held by processes of the server that are no lock session (" + found
						+ "), and stay busy until these end. If a pooler has kept them, as when its mode was changed, have "
						+ "it end them (PgBouncer: RECONNECT), or "
						+ PostgresAdvisoryLockFunctions.END_PROCESS.formatted("...") + " each");
			}
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
