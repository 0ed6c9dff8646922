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

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.server.PgDriver;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * One lock that this application holds, or is about to take, and how it ended.
 */
public abstract sealed class Hold {

	private final AdvisoryLockKey key;

	private volatile @Nullable AdvisoryLockKey permit;

	final LockMode mode;

	/**
	 * How many may hold the key at a time.
	 */
	final int permits;

	private final LockScope scope;

	private final LockScheduler.Ticker ticker;

	/**
	 * The thread that asked for the lock; a lock of the programmatic API may be released
	 * by another one.
	 */
	final Thread owner = Thread.currentThread();

	private final List<Runnable> lostActions = new ArrayList<>();

	private volatile State state = State.ACTIVE;

	private volatile @Nullable Long acquiredNanos;

	private volatile @Nullable Run run;

	/**
	 * Whether the lock was handed over to a holder who closes it: no call waits for its
	 * end.
	 */
	private volatile boolean handedOver;

	private volatile @Nullable Loss loss;

	/**
	 * Whether the caller of the run has been told of the loss by an exception, and
	 * decides about its transaction.
	 */
	private volatile boolean lossThrown;

	private final AtomicBoolean reported = new AtomicBoolean();

	private final @Nullable Function<Hold, SideConnection> side;

	/**
	 * Create a hold whose lock is not taken yet.
	 * @param permits how many may hold the key at a time
	 * @param ticker tells for how long it is held
	 * @param side makes its side connection, {@code null} if there is no session for
	 * locks
	 */
	private Hold(AdvisoryLockKey key, LockMode mode, int permits, LockScope scope, LockScheduler.Ticker ticker,
			@Nullable Function<Hold, SideConnection> side) {
		this.key = key;
		this.mode = mode;
		this.permits = permits;
		this.scope = scope;
		this.ticker = ticker;
		this.side = side;
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	/**
	 * Return what the server locks for it: the key, or the permit of it that it has.
	 */
	AdvisoryLockKey lock() {
		AdvisoryLockKey permit = this.permit;
		return (permit != null) ? permit : this.key;
	}

	/**
	 * Note which permit of the key it has, {@code null} for none.
	 */
	void take(@Nullable AdvisoryLockKey permit) {
		this.permit = permit;
	}

	/**
	 * Return what another hold of the key need not ask for: what it has, or what only it
	 * can get.
	 * @return the lock, {@code null} if it may yet get any
	 */
	@Nullable AdvisoryLockKey taken() {
		return (this.permits > 1) ? this.permit : this.key;
	}

	LockScope scope() {
		return this.scope;
	}

	/**
	 * Make sure that work which asks for the given mode may run under this hold.
	 */
	void checkCovers(LockMode requested) {
		Assert.state(requested == LockMode.SHARED || this.mode == LockMode.EXCLUSIVE,
				() -> "Failed to acquire advisory lock '" + this.key
						+ "' exclusively: the current run holds it shared, and a shared lock can't be upgraded");
	}

	/**
	 * Note that the lock is taken.
	 */
	void acquired() {
		this.acquiredNanos = this.ticker.nanoTime();
	}

	/**
	 * Return for how long the lock has been held, zero before it is.
	 */
	Duration heldFor() {
		Long acquired = this.acquiredNanos;
		return (acquired != null) ? Duration.ofNanos(this.ticker.nanoTime() - acquired) : Duration.ZERO;
	}

	/**
	 * Note that this hold was reported.
	 * @return whether it was not before
	 */
	boolean report() {
		return this.reported.compareAndSet(false, true);
	}

	/**
	 * Return the process of the server whose transaction has the lock, 0 in scope SESSION
	 * and before the lock is taken.
	 */
	int backend() {
		return 0;
	}

	/**
	 * Return whether the lock is held, or about to be taken, as far as is known. Does not
	 * ask the server: it says with each answer whether its transaction goes on, and most
	 * drivers hand that on.
	 * @return {@code false} once it is lost or begins to be released
	 */
	public boolean isActive() {
		return this.state == State.ACTIVE;
	}

	/**
	 * Return whether {@link #isActive()} can't know it: the driver does not tell how the
	 * transaction of the lock is doing.
	 */
	boolean isKnownByServerOnly() {
		return false;
	}

	/**
	 * Return whether the driver tells that the transaction of the lock can be committed.
	 */
	boolean isCommittable() {
		return false;
	}

	/**
	 * Return whether the lock is lost, or the holder was told to give it up.
	 */
	boolean isLost() {
		return this.state == State.LOST || this.state == State.REVOKED || this.state == State.GIVEN_UP;
	}

	/**
	 * Return whether the lock can be lost: also while it is being released.
	 */
	private boolean isOpen() {
		return this.state == State.ACTIVE || this.state == State.RELEASING;
	}

	/**
	 * Begin to release the lock. Until that is done it can still be lost. A revoked lock
	 * is released, and stays revoked.
	 * @return {@code true} for the one caller that has to release it
	 */
	synchronized boolean beginRelease() {
		State before = this.state;
		this.state = (before == State.ACTIVE) ? State.RELEASING : (before == State.REVOKED) ? State.GIVEN_UP : before;
		return this.state != before;
	}

	/**
	 * Note that the transaction that has the lock is about to end: from now on the lock
	 * may be gone because of that.
	 * @return whether the lock was not lost before
	 */
	synchronized boolean beginCompletion() {
		if (this.state == State.ACTIVE) {
			this.state = State.COMPLETING;
		}
		return !isLost();
	}

	/**
	 * End this hold in order.
	 * @return whether it had not ended before
	 */
	synchronized boolean release() {
		boolean open = isOpen() || this.state == State.COMPLETING;
		if (open) {
			this.state = State.RELEASED;
		}
		return open;
	}

	/**
	 * End this hold because its lock is gone.
	 * @return the actions for the loss, or {@code null} when this hold had ended before
	 */
	synchronized @Nullable List<Runnable> markLost() {
		if (!isOpen()) {
			return null;
		}
		this.state = State.LOST;
		return List.copyOf(this.lostActions);
	}

	/**
	 * End this hold although its lock is there, because its holder is to give it up. A
	 * run that is over is left alone.
	 * @return the actions for the loss, or {@code null} when this hold had ended before
	 */
	synchronized @Nullable List<Runnable> revoke(Loss loss) {
		if (this.state != State.ACTIVE || !(isRunning() || this.handedOver)) {
			return null;
		}
		this.loss = loss;
		this.state = State.REVOKED;
		return List.copyOf(this.lostActions);
	}

	/**
	 * Note that the lock goes to a holder who closes it.
	 */
	void handOver() {
		this.handedOver = true;
	}

	boolean isHandedOver() {
		return this.handedOver;
	}

	/**
	 * Note what the run has thrown to its caller.
	 */
	void thrown(Throwable failure) {
		this.lossThrown |= failure instanceof LockLostException;
	}

	boolean isLossThrown() {
		return this.lossThrown;
	}

	/**
	 * Return whether a run has not ended under this hold.
	 */
	synchronized boolean isRunning() {
		return this.run != null && !this.run.isOver();
	}

	/**
	 * Return whether the run of a fencing token runs, or ran last, under this hold.
	 */
	boolean runs(long token) {
		return this.run != null && this.run.has(token);
	}

	/**
	 * Return why the holder was told to give up a lock that is there.
	 * @return why, {@code null} if it was not
	 */
	@Nullable Loss loss() {
		return this.loss;
	}

	/**
	 * Return whether the holder was told to give up a lock that is there.
	 * @return {@code true} after it was cancelled, or held for too long
	 */
	public boolean isRevoked() {
		return this.loss != null;
	}

	/**
	 * Return whether an operator has told the holder to give up its lock.
	 * @return {@code true} after it was cancelled
	 */
	public boolean isCancelled() {
		return this.loss != null && this.loss.reason() == LockLostEvent.Reason.CANCELLED;
	}

	/**
	 * Return whether the lock is known to have gone with what had it in the database. To
	 * be asked before the connection of its transaction is given back. Does not ask the
	 * server.
	 * @return {@code false} for one that its holder was told to give up
	 */
	public boolean isGone() {
		return this.loss == null && isLost();
	}

	/**
	 * Return what tells that the lock is lost, and why if that is known.
	 * @return the exception
	 */
	public LockLostException lostException() {
		Loss loss = this.loss;
		return (loss != null) ? new LockLostException(this.key, loss.reason(), loss.text())
				: new LockLostException(this.key);
	}

	/**
	 * Release what this application keeps for the hold, at once when it is lost. Must be
	 * quick.
	 */
	void cleanUp() {
	}

	/**
	 * Register an action for the loss; it runs at once when the lock is lost already.
	 */
	void onLost(Runnable action) {
		synchronized (this) {
			if (isOpen()) {
				this.lostActions.add(action);
				return;
			}
		}
		if (isLost()) {
			action.run();
		}
	}

	/**
	 * Make sure that the lock is held.
	 * @throws LockLostException if it is not
	 */
	public void confirm() {
	}

	/**
	 * Return whether the lock is held, and ask the server where the driver does not tell.
	 * Threads other than the owner do not wait for its connection.
	 */
	boolean isHeld() {
		if (this.owner != Thread.currentThread() || !isKnownByServerOnly()) {
			return isActive();
		}
		try {
			checkHeld();
			return true;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	/**
	 * Make sure that the lock is held, as {@link #isHeld()} knows.
	 * @throws LockLostException if it is not
	 */
	void checkNotLost() {
		if (!isHeld()) {
			throw lostException();
		}
	}

	/**
	 * Make sure, by an answer of the server, that the lock is held.
	 * @throws LockLostException if it is not
	 */
	void checkHeld() {
		checkActive();
		DeferredInterrupt.during(this::confirm);
		checkActive();
	}

	/**
	 * Make sure that the lock is held, as {@link #isActive()} knows.
	 */
	void checkActive() {
		if (!isActive()) {
			throw lostException();
		}
	}

	/**
	 * Return how to reach the server without a connection of the pool.
	 * @return the connection, {@code null} if there is no session for locks
	 */
	public @Nullable SideConnection sideConnection() {
		return (this.side != null) ? this.side.apply(this) : null;
	}

	/**
	 * Begin a run of the current thread under this hold.
	 * @param record its record, {@code null} if it is not recorded
	 * @throws LockLostException if the lock is lost already: no interrupt would tell
	 */
	synchronized Run beginRun(Run.@Nullable Entry record) {
		if (isLost()) {
			throw lostException();
		}
		Run begun = new Run(record);
		this.run = begun;
		return begun;
	}

	/**
	 * Return what runs, or ran last, under this hold.
	 */
	@Nullable Run run() {
		return this.run;
	}

	/**
	 * A lock that lives in a transaction.
	 */
	static final class InTransaction extends Hold {

		private final BiConsumer<Hold, Connection> confirmation;

		private volatile int backend;

		/**
		 * That of the transaction that has the lock, past what a pool has put around it.
		 */
		private volatile @Nullable Connection connection;

		/**
		 * Create a hold whose lock is not taken yet.
		 * @param confirmation makes sure that a connection has the lock of a hold
		 * @param side makes its side connection, or {@code null}
		 */
		InTransaction(AdvisoryLockKey key, LockMode mode, int permits, LockScheduler.Ticker ticker,
				BiConsumer<Hold, Connection> confirmation, @Nullable Function<Hold, SideConnection> side) {
			super(key, mode, permits, LockScope.TRANSACTION, ticker, side);
			this.confirmation = confirmation;
		}

		/**
		 * Note that the lock is taken for as long as a transaction lasts.
		 * @param connection the connection, past what a pool has put around it
		 * @param backend the process of the server
		 */
		void acquired(Connection connection, int backend) {
			this.backend = backend;
			this.connection = connection;
			acquired();
		}

		@Override
		int backend() {
			return this.backend;
		}

		@Override
		public boolean isActive() {
			Connection current = this.connection;
			return super.isActive() && (current == null || PgDriver.isTransactionOpen(current));
		}

		@Override
		boolean isKnownByServerOnly() {
			Connection current = this.connection;
			return super.isActive() && current != null
					&& PgDriver.transactionState(current) == PgDriver.TransactionState.UNTOLD;
		}

		@Override
		boolean isCommittable() {
			Connection current = this.connection;
			return current != null && PgDriver.transactionState(current) == PgDriver.TransactionState.OPEN;
		}

		/**
		 * A run that is short is over before a heartbeat finds its backend gone.
		 */
		@Override
		public boolean isGone() {
			Connection current = this.connection;
			return super.isGone() || (!isRevoked() && current != null && PgDriver.isCut(current));
		}

		@Override
		public void confirm() {
			Connection current = this.connection;
			if (current != null) {
				this.confirmation.accept(this, current);
			}
		}

	}

	/**
	 * A lock on the connection of session locks: of a call, of a holder who closes it, or
	 * one that no call of its own runs under, as that of a leader's role.
	 */
	static sealed class InSession extends Hold {

		private final Consumer<Hold> confirmation;

		private final Consumer<Hold> whenLost;

		/**
		 * Create a hold whose lock is not taken yet, for no call.
		 * @param whenLost is run at once when it is lost; must be quick
		 */
		InSession(AdvisoryLockKey key, LockMode mode, LockScheduler.Ticker ticker, Runnable whenLost) {
			this(key, mode, 1, ticker, (hold) -> {
			}, null, (hold) -> whenLost.run());
		}

		/**
		 * Create a hold whose lock is not taken yet.
		 * @param confirmation asks the server whether it is held
		 * @param side makes its side connection
		 * @param whenLost is told at once when it is lost; must be quick
		 */
		InSession(AdvisoryLockKey key, LockMode mode, int permits, LockScheduler.Ticker ticker,
				Consumer<Hold> confirmation, @Nullable Function<Hold, SideConnection> side, Consumer<Hold> whenLost) {
			super(key, mode, permits, LockScope.SESSION, ticker, side);
			this.confirmation = confirmation;
			this.whenLost = whenLost;
		}

		@Override
		void cleanUp() {
			this.whenLost.accept(this);
		}

		@Override
		public void confirm() {
			this.confirmation.accept(this);
		}

	}

	/**
	 * The lock of a tick, whose loss is told to nobody.
	 */
	static final class OfTick extends InSession {

		OfTick(AdvisoryLockKey key, LockMode mode, Runnable whenLost) {
			super(key, mode, LockScheduler.Ticker.SYSTEM, whenLost);
		}

	}

	/**
	 * What one piece of work has of a lock that somebody else holds.
	 */
	static final class OfWork extends InSession {

		private final BooleanSupplier trusted;

		/**
		 * Create the part of some work.
		 * @param trusted knows whether the lock is held, without asking the server
		 * @param confirmation asks the server, and throws a {@link LockLostException}
		 */
		OfWork(AdvisoryLockKey key, BooleanSupplier trusted, Runnable confirmation) {
			super(key, LockMode.EXCLUSIVE, 1, LockScheduler.Ticker.SYSTEM, (hold) -> confirmation.run(), null,
					(hold) -> {
					});
			this.trusted = trusted;
		}

		@Override
		public boolean isActive() {
			return super.isActive() && this.trusted.getAsBoolean();
		}

		/**
		 * Return whether the lock may be gone, and nobody has said so yet.
		 */
		boolean isDistrusted() {
			return super.isActive() && !this.trusted.getAsBoolean();
		}

	}

	/**
	 * Reaches the server without a connection of the pool, which a run may have the last
	 * one of.
	 */
	public interface SideConnection {

		/**
		 * Ask for a number on the connection of session locks. In scope SESSION an answer
		 * says that the lock is held. An interrupt changes nothing, and is kept: it is to
		 * be {@linkplain DeferredInterrupt#begin deferred} before another connection is
		 * asked.
		 * @param sql the statement, whose first column is the number
		 * @param parameters what it binds
		 * @return the number
		 * @throws org.springframework.dao.DataAccessException if the server could not be
		 * asked, or the lock of a session is not held any more
		 */
		long ask(String sql, List<Object> parameters);

		/**
		 * Open a connection like that of session locks.
		 * @return the connection, to be closed by the caller
		 * @throws SQLException if it can't be opened
		 */
		Connection open() throws SQLException;

	}

	/**
	 * Why a holder is told to give up a lock that is there.
	 *
	 * @param reason the kind of reason
	 * @param text the same for people
	 */
	record Loss(LockLostEvent.Reason reason, String text) {

	}

	/**
	 * How a hold is doing. One that is {@code RELEASING} can still be lost, and one that
	 * is {@code COMPLETING} ends with its transaction. The lock of one that is
	 * {@code REVOKED} is held, and its holder was told to give it up; while that is done
	 * it is {@code GIVEN_UP}.
	 */
	private enum State {

		ACTIVE, RELEASING, COMPLETING, RELEASED, LOST, REVOKED, GIVEN_UP

	}

}
