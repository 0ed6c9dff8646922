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
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.Assert;

/**
 * Locks of ticks, and of the intervals of schedules that have no ticks, on the
 * {@linkplain LockSession lock session}. A run takes the lock of its tick before the lock
 * of its key: exclusively while it is under way, shared after a good end until the tick
 * is forgotten. Another instance learns from the mode whether the tick is being run or
 * has been. A run that fails releases the lock.
 * <p>
 * The loss of such a lock interrupts no run: it is taken again. A run in scope
 * TRANSACTION does not fail because its tick can't be locked: the lock of the key keeps
 * runs apart, and a tick that nobody runs is worse than one that may be run again. It
 * asks on its own connection whether another instance remembers the tick.
 */
final class TickLocks {

	private static final Log logger = LogFactory.getLog(TickLocks.class);

	private final LockSession session;

	private final Map<AdvisoryLockKey, Tick> ticks = new ConcurrentHashMap<>();

	private final LockScheduler later;

	private final Deadline.Waits waits;

	private final Runnable look = new SafeTask("A look at the remembered ticks failed", this::look);

	private final SafeTask forget = new SafeTask("Failed to forget intervals", this::forget);

	private final AtomicBoolean expecting = new AtomicBoolean();

	private final AtomicBoolean failing = new AtomicBoolean();

	/**
	 * Create it without a lock.
	 * @param session carries the locks; opened for the first one
	 * @param waits are those of the application
	 */
	TickLocks(LockSession session, Deadline.Waits waits) {
		this.session = session;
		this.later = session.scheduler();
		this.waits = waits;
	}

	/**
	 * Return the tick or interval that a request is for, whose lock is not taken yet.
	 * @param key the key of the work
	 * @return the tick, {@code null} if the request is for none that a lock remembers
	 */
	@Nullable Tick of(AdvisoryLockKey key, LockRequest request) {
		TickMemory memory = TickMemory.of(key, request);
		Assert.isTrue(memory == null || request.mode() == LockMode.EXCLUSIVE,
				() -> "'request' must not ask for mode SHARED: work under advisory lock '" + key
						+ "' can be done once for a tick or an interval only by one after the other");
		return (memory != null) ? new Tick(memory) : null;
	}

	private void lookLater() {
		if (!this.expecting.get() && this.expecting.compareAndSet(false, true)) {
			this.later.next(this.session.settings().heartbeat(), this.look);
		}
	}

	/**
	 * Forget the ticks whose time is over, and take the locks again that were lost.
	 */
	private void look() {
		this.expecting.set(false);
		try {
			forget();
			if (!this.session.isResting()) {
				this.ticks.values().stream().filter(Tick::isMissing).forEach(Tick::retake);
			}
		}
		finally {
			if (!this.ticks.isEmpty()) {
				lookLater();
			}
		}
	}

	private void forget() {
		forget(this.ticks.values().stream().filter((tick) -> tick.isOver() && !tick.isSharing()).toList());
	}

	/**
	 * A lock that can't be released is tried again at the next look.
	 */
	private void forget(List<Tick> over) {
		release(over.stream().filter(Tick::isLocked).map((tick) -> Objects.requireNonNull(tick.hold)).toList());
		over.stream().filter((tick) -> !tick.isLocked()).forEach((tick) -> this.ticks.remove(tick.lock, tick));
	}

	private void release(List<Hold> holds) {
		try {
			this.session.forget(holds);
		}
		catch (RuntimeException ex) {
			logger.debug("Failed to release the locks of ticks", ex);
		}
	}

	/**
	 * Alert once that ticks can't be remembered, until they can again.
	 */
	private void report(Tick tick, Exception failure) {
		if (this.session.isClosed()) {
			return;
		}
		logger.debug("Failed to take the lock of tick '" + tick.lock + "'", failure);
		if (this.failing.compareAndSet(false, true)) {
			tick.memory.unremembered(
					JdbcUrl.redact(String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage())));
		}
	}

	private long nanoTime() {
		return this.session.ticker().nanoTime();
	}

	/**
	 * A tick that one run is for. Its lock is taken by the thread of the run, or by the
	 * one thread of {@code later}.
	 */
	final class Tick {

		private final TickMemory memory;

		private final AdvisoryLockKey lock;

		private final AtomicReference<State> state = new AtomicReference<>(State.NEW);

		private volatile Future<?> kept = CompletableFuture.completedFuture(null);

		private volatile Future<?> forgetting = this.kept;

		private volatile long beginNanos;

		private volatile long endNanos;

		private volatile @Nullable Hold hold;

		private Tick(TickMemory memory) {
			this.memory = memory;
			this.lock = memory.lock();
		}

		/**
		 * Wait for an interval that this application has run for itself, if it is over
		 * soon. A run that began late ends its interval late, and the timer of the same
		 * instance, which is not late by itself, would call too soon and then a whole
		 * interval later.
		 */
		void awaitTurn() {
			Tick known = TickLocks.this.ticks.get(this.lock);
			Duration left = Duration.ofNanos((known != null) ? known.leftNanos() : 0);
			Deadline turn = (left.compareTo(this.memory.longestWait()) <= 0) ? TickLocks.this.waits.until(left) : null;
			if (known != null && turn != null) {
				turn.pollWhile(false, known::isOver);
			}
		}

		/**
		 * Note that the work begins.
		 */
		void workBegins() {
			this.beginNanos = nanoTime();
		}

		/**
		 * Take the lock.
		 * @return {@link LockOutcome#EXECUTED} to run, the outcome for a tick that has
		 * been run, or {@link LockOutcome#BUSY} while another instance runs the tick
		 * @throws org.springframework.dao.DataAccessException if the server can't be
		 * asked
		 */
		LockOutcome take() {
			return begin(isRemembered() ? this.memory.outcome() : tryLock(true));
		}

		/**
		 * As {@link #take()}, but run without the lock where the server can't be asked,
		 * or the session does not open in time.
		 */
		LockOutcome takeIfPossible() {
			return begin(isRemembered() ? this.memory.outcome()
					: TickLocks.this.session.isConnected() ? tryLockIfPossible() : tryLockWithPatience());
		}

		private LockOutcome begin(LockOutcome outcome) {
			if (outcome == LockOutcome.EXECUTED) {
				this.state.set(State.RUNNING);
				TickLocks.this.ticks.put(this.lock, this);
				lookLater();
			}
			return outcome;
		}

		/**
		 * Return whether this application has run the tick: its own session does not
		 * tell. What is to be forgotten is released first, as the session would take the
		 * lock once more beside it.
		 */
		private boolean isRemembered() {
			Tick known = TickLocks.this.ticks.get(this.lock);
			if (known == null || !known.isOver()) {
				return known != null && known.state.get() == State.KEPT;
			}
			TickLocks.this.forget(List.of(known));
			return known.isLocked();
		}

		private LockOutcome tryLock(boolean needed) {
			Hold taken = new Hold.OfTick(this.lock, LockMode.EXCLUSIVE, TickLocks.this::lookLater);
			LockOutcome outcome = TickLocks.this.session.tryTick(taken, needed);
			if (outcome == LockOutcome.EXECUTED) {
				locked(taken);
			}
			TickLocks.this.failing.set(false);
			return (outcome == LockOutcome.ALREADY_RAN) ? this.memory.outcome() : outcome;
		}

		private LockOutcome tryLockIfPossible() {
			try {
				return tryLock(false);
			}
			catch (RuntimeException ex) {
				report(this, ex);
				return LockOutcome.EXECUTED;
			}
		}

		/**
		 * The server may be up again only now, and a busy one needs time to let a
		 * connection in. Another thread opens it, so that an interrupt or the end of the
		 * patience ends the wait. A lock that is taken after that counts for the run.
		 */
		private LockOutcome tryLockWithPatience() {
			Duration patience = TickLocks.this.session.settings().deadClientTimeout();
			TickLocks.this.session.hurry();
			try {
				return TickLocks.this.session.ticker()
					.await(CompletableFuture.supplyAsync(this::tryLockIfPossible, TickLocks.this.later), patience);
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
			return LockOutcome.EXECUTED;
		}

		/**
		 * Take the lock again that the session has lost. Another instance may have it: it
		 * has run the tick meanwhile.
		 */
		private void retake() {
			try {
				if (this.state.get() == State.RUNNING) {
					tryLock(false);
				}
				else {
					Hold kept = new Hold.OfTick(this.lock, LockMode.SHARED, TickLocks.this::lookLater);
					if (TickLocks.this.session.tryLock(kept)) {
						locked(kept);
					}
					TickLocks.this.failing.set(false);
				}
			}
			catch (RuntimeException ex) {
				report(this, ex);
			}
		}

		/**
		 * The run may have failed while the server was asked.
		 */
		private void locked(Hold taken) {
			this.hold = taken;
			if (this.state.get() == State.GIVEN_BACK) {
				release(List.of(taken));
			}
		}

		/**
		 * Begin to remember the tick: the work for it is done. That takes one wait for
		 * the server, beside that for the commit of the work.
		 */
		void keep() {
			this.endNanos = this.memory.end(this.beginNanos, nanoTime());
			if (this.state.compareAndSet(State.RUNNING, State.KEPT)) {
				try {
					keep(this.hold);
				}
				catch (RejectedExecutionException ex) {
					logger.debug("The application is shutting down", ex);
				}
			}
		}

		private void keep(@Nullable Hold taken) {
			if (isOver()) {
				this.kept = CompletableFuture.runAsync(
						new SafeTask("Failed to forget an interval", () -> TickLocks.this.forget(List.of(this))),
						TickLocks.this.later);
			}
			else if (taken != null && taken.isActive()) {
				share(taken);
			}
			else {
				TickLocks.this.later.execute(new SafeTask("Failed to take the lock of a tick again", () -> {
					retake();
					forgetOnTime();
				}));
			}
		}

		/**
		 * The thread of the session does it, as jobs of one instant would wait for each
		 * other on any other one.
		 */
		private void share(Hold exclusive) {
			CompletableFuture<@Nullable Void> sharing = new CompletableFuture<>();
			this.kept = sharing;
			Hold shared = new Hold.OfTick(this.lock, LockMode.SHARED, TickLocks.this::lookLater);
			TickCommand.Share command = new TickCommand.Share(exclusive, shared);
			TickLocks.this.session.share(command, () -> {
				try {
					if (command.isDone()) {
						locked(shared);
					}
				}
				finally {
					sharing.complete(null);
				}
				// not before, as what is being shared is not forgotten
				forgetOnTime();
			});
		}

		private void forgetOnTime() {
			if (this.memory.endsOnTime()) {
				this.forgetting = TickLocks.this.later.after(Duration.ofNanos(leftNanos()), TickLocks.this.forget);
			}
		}

		/**
		 * Wait until other instances are told that the tick is remembered, rather than
		 * busy, unless its lock could not be taken, or the session does not answer in
		 * time.
		 */
		void awaitKept() {
			try {
				TickLocks.this.session.ticker().await(this.kept, TickLocks.this.session.settings().deadClientTimeout());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			catch (ExecutionException | TimeoutException ex) {
				logger.debug("The lock of tick '" + this.lock + "' is kept later", ex);
			}
		}

		/**
		 * Release the lock: the work was not done, or was undone.
		 */
		void giveBack() {
			if (this.state.getAndSet(State.GIVEN_BACK) != State.NEW) {
				// what is being kept is there only after that
				awaitKept();
				this.forgetting.cancel(false);
				TickLocks.this.forget(List.of(this));
			}
		}

		/**
		 * Return whether the run is under way without the lock.
		 */
		boolean isUnlocked() {
			return this.state.get() == State.RUNNING && !isLocked();
		}

		AdvisoryLockKey lock() {
			return this.lock;
		}

		/**
		 * Return the outcome of the call for this tick.
		 * @param kept whether another instance remembers that it has run it
		 */
		LockOutcome outcome(boolean kept) {
			return kept ? this.memory.outcome() : LockOutcome.EXECUTED;
		}

		private boolean isMissing() {
			return !isOver() && !isSharing() && !isLocked();
		}

		/**
		 * Return whether the lock was taken and is lost: another instance may have run
		 * the tick since.
		 */
		boolean isLost() {
			return this.hold != null && !isLocked();
		}

		/**
		 * Return whether the lock is being made a shared one, and may be either.
		 */
		private boolean isSharing() {
			return !this.kept.isDone();
		}

		private boolean isLocked() {
			Hold current = this.hold;
			return current != null && current.isActive();
		}

		private boolean isOver() {
			State current = this.state.get();
			return current == State.GIVEN_BACK || (current == State.KEPT && leftNanos() == 0);
		}

		/**
		 * Return how long the tick is remembered yet, zero if it is not, or no more.
		 */
		private long leftNanos() {
			return (this.state.get() == State.KEPT) ? Math.max(0, this.endNanos - nanoTime()) : 0;
		}

	}

	private enum State {

		NEW, RUNNING, KEPT, GIVEN_BACK

	}

}
