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
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
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
 * asks on its own connection whether another instance remembers the tick, and leaves it
 * unremembered itself.
 */
final class TickLocks {

	private static final Log logger = LogFactory.getLog(TickLocks.class);

	private final LockSession session;

	private final Map<AdvisoryLockKey, Tick> ticks = new ConcurrentHashMap<>();

	private final LockScheduler later;

	private final LockScheduler.Ticker ticker;

	private final Deadline.Waits waits;

	private final SafeTask look = new SafeTask("A look at the remembered ticks failed", this::look);

	private final AtomicBoolean failing = new AtomicBoolean();

	/**
	 * Create it without a lock.
	 * @param session carries the locks; opened for the first one
	 * @param waits are those of the application
	 */
	TickLocks(LockSession session, Deadline.Waits waits) {
		this.session = session;
		this.later = session.scheduler();
		this.ticker = session.ticker();
		this.waits = waits;
	}

	/**
	 * Return the tick or interval that a request is for, whose lock is not taken yet.
	 * @param key the key of the work
	 * @return the tick, {@code null} if the request is for none that a lock remembers
	 */
	@Nullable Tick of(AdvisoryLockKey key, LockRequest request) {
		TickMemory memory = TickMemory.of(key, request);
		if (memory == null) {
			return null;
		}
		Assert.isTrue(request.mode() == LockMode.EXCLUSIVE,
				() -> "'request' must not ask for mode SHARED: work under advisory lock '" + key
						+ "' can be done once for a tick or an interval only by one after the other");
		return new Tick(memory);
	}

	private void lookLater() {
		this.look.handTo((task) -> this.later.next(this.session.settings.heartbeat(), task));
	}

	/**
	 * Forget the ticks whose time is over, and take the locks again that were lost.
	 */
	private void look() {
		try {
			forget(this.ticks.values().stream().filter(Tick::isOver).toList());
			if (!this.session.isSuspended()) {
				this.ticks.values().forEach(Tick::restore);
			}
		}
		finally {
			if (!this.ticks.isEmpty()) {
				lookLater();
			}
		}
	}

	/**
	 * A lock that can't be released, or is about to be shared, is left to the next look.
	 */
	private void forget(List<Tick> over) {
		List<Tick> settled = over.stream().filter((tick) -> !tick.isSharing()).toList();
		release(settled.stream().filter(Tick::isLocked).map((tick) -> Objects.requireNonNull(tick.hold)).toList());
		settled.stream().filter((tick) -> !tick.isLocked()).forEach((tick) -> this.ticks.remove(tick.lock, tick));
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
			String reason = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
			tick.memory.unremembered().accept(JdbcUrl.redact(reason));
		}
	}

	/**
	 * A tick that one run is for. Its lock is taken by the thread of the run, or by the
	 * one thread of {@code later}.
	 */
	final class Tick {

		private final TickMemory memory;

		final AdvisoryLockKey lock;

		private volatile State state = State.OPEN;

		private volatile Future<?> kept = CompletableFuture.completedFuture(null);

		private volatile Future<?> forgetting = this.kept;

		private volatile long beginNanos;

		private volatile long endNanos;

		private volatile @Nullable Hold hold;

		/**
		 * The thread that may try again when its run has failed.
		 */
		private volatile @Nullable Thread repeating;

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
		void awaitEndOfInterval() {
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
			this.beginNanos = TickLocks.this.ticker.nanoTime();
		}

		/**
		 * Take the lock. Where it is not needed, and the server can't be asked, or the
		 * session does not open in time, run without: such a tick is not remembered.
		 * @param needed whether the run fails without the lock
		 * @return {@link LockOutcome#EXECUTED} to run, the outcome for a tick that has
		 * been run, or {@link LockOutcome#BUSY} while another instance runs the tick
		 * @throws org.springframework.dao.DataAccessException if the lock is needed, and
		 * the server can't be asked
		 */
		LockOutcome take(boolean needed) {
			if (isRemembered()) {
				return this.memory.outcome();
			}
			Tick known = TickLocks.this.ticks.get(this.lock);
			if (known != null && known.repeating != null) {
				return known.handOver(this) ? LockOutcome.EXECUTED : LockOutcome.BUSY;
			}
			if (needed) {
				return tryLock(true);
			}
			try {
				return TickLocks.this.session.isConnected() ? tryLock(false) : tryLockOnceOpen();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return goWithout(new InterruptedException("the wait for the lock session was interrupted"));
			}
			catch (ExecutionException | TimeoutException | RuntimeException ex) {
				return goWithout(ex);
			}
		}

		/**
		 * Leave the lock to the next attempt of the thread whose run has failed. Other
		 * threads of this application would be granted it once more by the session.
		 */
		private synchronized boolean handOver(Tick next) {
			if (this.repeating != Thread.currentThread() || this.state != State.FAILED) {
				return false;
			}
			next.hold = this.hold;
			this.hold = null;
			this.state = State.GIVEN_BACK;
			this.repeating = null;
			TickLocks.this.ticks.put(this.lock, next);
			return true;
		}

		/**
		 * Keep the lock where the run fails: the current thread may try again.
		 */
		void keepWhileRepeating() {
			this.repeating = (this.hold != null) ? Thread.currentThread() : null;
		}

		/**
		 * Release the lock if the last attempt has failed: there is no other.
		 */
		void letGo() {
			synchronized (this) {
				this.repeating = null;
				if (this.state != State.FAILED) {
					return;
				}
			}
			giveBack();
		}

		private LockOutcome goWithout(Exception failure) {
			giveBack();
			report(this, failure);
			return LockOutcome.EXECUTED;
		}

		/**
		 * Return whether this application has run the tick: its own session does not
		 * tell. What is to be forgotten is released first, as the session would take the
		 * lock once more beside it.
		 */
		private boolean isRemembered() {
			Tick known = TickLocks.this.ticks.get(this.lock);
			if (known == null || !known.isOver()) {
				return known != null && known.state == State.KEPT;
			}
			TickLocks.this.forget(List.of(known));
			return known.isLocked() || known.isSharing();
		}

		private LockOutcome tryLock(boolean needed) {
			Hold taken = newHold(LockMode.EXCLUSIVE);
			LockOutcome outcome = TickLocks.this.session.tryTick(taken, needed);
			if (outcome == LockOutcome.EXECUTED) {
				granted(taken);
			}
			TickLocks.this.failing.set(false);
			return (outcome == LockOutcome.ALREADY_RAN) ? this.memory.outcome() : outcome;
		}

		/**
		 * The server may be up again only now, and a busy one needs time to let a
		 * connection in. Another thread opens it, so that an interrupt or the end of the
		 * patience ends the wait.
		 */
		private LockOutcome tryLockOnceOpen() throws InterruptedException, ExecutionException, TimeoutException {
			Duration patience = TickLocks.this.session.settings.deadClientTimeout();
			TickLocks.this.session.retryNow();
			try {
				return TickLocks.this.ticker.await(CompletableFuture.supplyAsync(
						() -> isOver() ? LockOutcome.EXECUTED : tryLock(false), TickLocks.this.later), patience);
			}
			catch (TimeoutException ex) {
				throw new TimeoutException(
						"the lock session could not be opened within " + patience.toMillis() + " ms");
			}
		}

		/**
		 * Have a lock that was granted, or release it: the run may have ended meanwhile,
		 * or gone on without it.
		 */
		private void granted(Hold taken) {
			boolean wanted;
			boolean done;
			synchronized (this) {
				done = this.state == State.KEPT;
				wanted = !isLocked() && this.state != State.GIVEN_BACK && (done || taken.mode == LockMode.EXCLUSIVE);
				if (wanted) {
					this.hold = taken;
					TickLocks.this.ticks.put(this.lock, this);
				}
			}
			if (!wanted) {
				release(List.of(taken));
				return;
			}
			lookLater();
			if (taken.mode == LockMode.EXCLUSIVE && done) {
				// the work has ended while its lock was taken again
				share(taken);
			}
			else if (taken.mode == LockMode.SHARED && this.memory.endsOnTime()) {
				this.forgetting = TickLocks.this.later.after(Duration.ofNanos(leftNanos()), TickLocks.this.look);
			}
		}

		/**
		 * Take the lock again if the session has lost it. Another instance may have it:
		 * it has run the tick meanwhile.
		 */
		private void restore() {
			if (isOver() || isSharing() || isLocked()) {
				return;
			}
			try {
				if (this.state != State.KEPT) {
					tryLock(false);
					return;
				}
				Hold shared = newHold(LockMode.SHARED);
				if (TickLocks.this.session.tryLock(shared)) {
					granted(shared);
				}
				TickLocks.this.failing.set(false);
			}
			catch (RuntimeException ex) {
				report(this, ex);
			}
		}

		/**
		 * Begin to remember the tick: the work for it is done. That takes one wait for
		 * the server, beside that for the commit of the work.
		 */
		void keep() {
			this.endNanos = this.memory.end(this.beginNanos, TickLocks.this.ticker.nanoTime());
			Hold exclusive;
			synchronized (this) {
				exclusive = (this.state == State.OPEN) ? this.hold : null;
				this.state = (this.state == State.OPEN) ? State.KEPT : this.state;
			}
			if (exclusive == null || isOver()) {
				return;
			}
			if (exclusive.isActive()) {
				share(exclusive);
			}
			else {
				TickLocks.this.later.next(Duration.ZERO, TickLocks.this.look);
			}
		}

		/**
		 * The thread of the session does it, as jobs of one instant would wait for each
		 * other on any other one.
		 */
		private void share(Hold exclusive) {
			CompletableFuture<@Nullable Void> sharing = new CompletableFuture<>();
			this.kept = sharing;
			Hold shared = newHold(LockMode.SHARED);
			SessionCommand.ShareTick command = new SessionCommand.ShareTick(exclusive, shared);
			TickLocks.this.session.share(command, () -> {
				try {
					if (command.isDone()) {
						granted(shared);
					}
				}
				finally {
					sharing.complete(null);
				}
			});
		}

		private Hold newHold(LockMode mode) {
			return new Hold.OfTick(this.lock, mode, TickLocks.this::lookLater);
		}

		/**
		 * Wait until other instances are told that the tick is remembered, rather than
		 * busy, unless its lock was lost, or the session does not answer in time. What is
		 * over by now is forgotten.
		 */
		void awaitKept() {
			try {
				TickLocks.this.ticker.await(this.kept, TickLocks.this.session.settings.deadClientTimeout());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			catch (ExecutionException | TimeoutException ex) {
				logger.debug("The lock of tick '" + this.lock + "' is kept later", ex);
			}
			if (isOver()) {
				TickLocks.this.forget(List.of(this));
			}
		}

		/**
		 * As {@link #giveBack()}, but for a tick whose run was cancelled, which nobody is
		 * to run again.
		 * @param run the lock of the run, {@code null} if there was none
		 */
		void giveBackUnlessCancelled(@Nullable Hold run) {
			if (run != null && run.isCancelled()) {
				keep();
			}
			else {
				giveBack();
			}
		}

		/**
		 * Release the lock: the work was not done, or was undone, or is done without.
		 */
		void giveBack() {
			synchronized (this) {
				this.state = (this.repeating != null && (this.state == State.OPEN || this.state == State.FAILED))
						? State.FAILED : State.GIVEN_BACK;
				if (this.state == State.FAILED) {
					return;
				}
			}
			awaitKept();
			this.forgetting.cancel(false);
		}

		/**
		 * Return the outcome of the call for this tick.
		 * @param kept whether another instance remembers that it has run it
		 */
		LockOutcome outcome(boolean kept) {
			return kept ? this.memory.outcome() : LockOutcome.EXECUTED;
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

		boolean isLocked() {
			Hold current = this.hold;
			return current != null && current.isActive();
		}

		private boolean isOver() {
			return this.state == State.GIVEN_BACK || (this.state == State.KEPT && leftNanos() == 0);
		}

		/**
		 * Return how long the tick is remembered yet, zero if it is not, or no more.
		 */
		private long leftNanos() {
			return (this.state == State.KEPT) ? Math.max(0, this.endNanos - TickLocks.this.ticker.nanoTime()) : 0;
		}

	}

	/**
	 * How a tick is doing: what is {@code OPEN} is being run, or about to be; the run of
	 * one that is {@code FAILED} may be tried again by its thread, which has its lock as
	 * long; what is {@code KEPT} is remembered.
	 */
	private enum State {

		OPEN, FAILED, KEPT, GIVEN_BACK

	}

}
