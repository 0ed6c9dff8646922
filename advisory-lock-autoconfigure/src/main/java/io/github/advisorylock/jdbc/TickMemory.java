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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.log.LockLog;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.Assert;

/**
 * Remembers for which ticks this application has done its work: each by a lock of its own
 * on the {@linkplain LockSession lock session}, taken before the work's own lock is free
 * again. Who gets that then sees that the tick has run, by whichever clock it is late.
 * <p>
 * Nobody runs under these locks, so the loss of one is told to nobody: it is taken again
 * while its time lasts. A run never fails because its tick can't be remembered.
 */
final class TickMemory {

	/**
	 * What the names of these locks begin with. Requests can't have such names.
	 */
	static final String PREFIX = "advisory-lock:tick:";

	private static final Log logger = LogFactory.getLog(TickMemory.class);

	private final LockSession session;

	private final Map<AdvisoryLockKey, Tick> ticks = new ConcurrentHashMap<>();

	private final LockScheduler later;

	private final Runnable look = new GuardedTask("A look at the remembered ticks failed", this::look);

	private final AtomicBoolean expecting = new AtomicBoolean();

	private final AtomicBoolean failing = new AtomicBoolean();

	/**
	 * Create a memory.
	 * @param session carries the locks; opened for the first one
	 */
	TickMemory(LockSession session) {
		this.session = session;
		this.later = session.scheduler("advisory-lock-ticks");
	}

	/**
	 * Return the key of the lock that remembers a tick.
	 * @param key the key of the work
	 * @param tick the planned time
	 */
	static AdvisoryLockKey key(AdvisoryLockKey key, Instant tick) {
		return AdvisoryLockKey.of(key.namespace(), PREFIX + key.name() + "@" + tick);
	}

	/**
	 * Return what is known of a tick that work is to be done for.
	 * @param key the key of the work
	 * @param mode how that is to be locked
	 * @param tick the planned time
	 * @param memory for how long the tick is to be remembered after the work is done
	 */
	Tick tick(AdvisoryLockKey key, LockMode mode, Instant tick, Duration memory) {
		Assert.isTrue(mode == LockMode.EXCLUSIVE, () -> "'request' must not ask for mode SHARED: work under advisory "
				+ "lock '" + key + "' can be done once for a tick only by one after the other");
		return new Tick(key, tick, memory);
	}

	private void lookLater() {
		if (!this.expecting.get() && this.expecting.compareAndSet(false, true)) {
			this.later.next(this.session.settings().heartbeat(), this.look);
		}
	}

	/**
	 * Forget what is over, and take again what was lost.
	 */
	private void look() {
		this.expecting.set(false);
		try {
			forget(this.ticks.values().stream().filter(Tick::isOver).toList());
			if (!this.session.isResting()) {
				this.ticks.values().stream().filter((tick) -> !tick.isOver() && !tick.isTaken()).forEach(this::take);
			}
		}
		finally {
			if (!this.ticks.isEmpty()) {
				lookLater();
			}
		}
	}

	/**
	 * What can't be released is tried again.
	 */
	private void forget(List<Tick> over) {
		List<Hold> taken = new ArrayList<>();
		for (Tick tick : over) {
			Hold hold = tick.hold;
			if (hold != null && hold.isActive()) {
				taken.add(hold);
			}
		}
		release(taken);
		over.stream().filter((tick) -> !tick.isTaken()).forEach((tick) -> this.ticks.remove(tick.lock, tick));
	}

	private void release(List<Hold> holds) {
		try {
			this.session.forget(holds);
		}
		catch (RuntimeException ex) {
			logger.debug("Failed to release the locks of remembered ticks", ex);
		}
	}

	/**
	 * Take the lock of a tick. Somebody else has it who has run the tick while the
	 * session was lost, or who is just looking whether we have.
	 */
	private void take(Tick tick) {
		Hold hold = Hold.quiet(tick.lock, this::lookLater);
		try {
			if (this.session.tryLock(hold)) {
				tick.taken(hold);
			}
			this.failing.set(false);
		}
		catch (RuntimeException ex) {
			report(tick, ex);
		}
	}

	/**
	 * Say once that ticks can't be remembered, until they can again.
	 */
	private void report(Tick tick, Exception failure) {
		if (this.session.isClosed()) {
			return;
		}
		logger.debug("Failed to remember the tick '" + tick.lock + "'", failure);
		if (this.failing.compareAndSet(false, true)) {
			LockLog.unremembered(tick.key, tick.time,
					JdbcUrl.redact(String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage())));
		}
	}

	/**
	 * A tick that work is to be done for, or was.
	 */
	final class Tick implements Hold.Keepsake {

		private final AdvisoryLockKey key;

		private final AdvisoryLockKey lock;

		private final Instant time;

		private final Duration memory;

		private volatile long endNanos;

		private volatile @Nullable Hold hold;

		private Tick(AdvisoryLockKey key, Instant time, Duration memory) {
			this.key = key;
			this.lock = key(key, time);
			this.time = time;
			this.memory = memory;
		}

		/**
		 * Return the key of the lock that remembers this tick.
		 */
		AdvisoryLockKey lock() {
			return this.lock;
		}

		/**
		 * Return whether this application remembers the tick, which its own session can't
		 * tell.
		 */
		boolean isRemembered() {
			return TickMemory.this.ticks.containsKey(this.lock);
		}

		/**
		 * Remember the tick: the work for it is done. Waits for the session as long as
		 * opening it may take, and never fails.
		 */
		@Override
		public void keep() {
			this.endNanos = TickMemory.this.session.ticker().nanoTime() + this.memory.toNanos();
			TickMemory.this.ticks.put(this.lock, this);
			lookLater();
			if (TickMemory.this.session.isConnected()) {
				take(this);
			}
			else {
				// The server that the work was just done at may be up again only now
				TickMemory.this.session.hurry();
				takeWithPatience();
			}
		}

		/**
		 * Wait less, and whoever is late runs a tick again that this server, slow as it
		 * is, would have remembered. Opened by another thread, so that an interrupt ends
		 * the wait, and so does time where a driver knows no limit.
		 */
		private void takeWithPatience() {
			Duration patience = TickMemory.this.session.settings().deadClientTimeout();
			try {
				CompletableFuture.runAsync(() -> take(this), TickMemory.this.later)
					.get(patience.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			catch (TimeoutException ex) {
				report(this, new TimeoutException(
						"the lock session could not be opened within " + patience.toMillis() + " ms"));
			}
			catch (ExecutionException | RuntimeException ex) {
				report(this, ex);
			}
		}

		/**
		 * Forget the tick: what was done for it was undone.
		 */
		@Override
		public void giveBack() {
			TickMemory.this.ticks.remove(this.lock, this);
			Hold current = this.hold;
			if (current != null) {
				release(List.of(current));
			}
		}

		/**
		 * Note that the lock is taken, unless it was given back meanwhile, or somebody
		 * else has taken it for this tick: a session has a lock as often as it takes it.
		 */
		private void taken(Hold taken) {
			if (!isFirst(taken) || TickMemory.this.ticks.get(this.lock) != this) {
				release(List.of(taken));
			}
		}

		private synchronized boolean isFirst(Hold taken) {
			boolean first = !isTaken();
			if (first) {
				this.hold = taken;
			}
			return first;
		}

		private boolean isTaken() {
			Hold current = this.hold;
			return current != null && current.isActive();
		}

		private boolean isOver() {
			return TickMemory.this.session.ticker().nanoTime() - this.endNanos >= 0;
		}

	}

}
