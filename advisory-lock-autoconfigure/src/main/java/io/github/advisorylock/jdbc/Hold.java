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
import java.util.function.BiConsumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * One lock that this application holds, or is about to take, and how it ended.
 */
public final class Hold {

	private final AdvisoryLockKey key;

	private final LockMode mode;

	private final LockScope scope;

	private final LockScheduler.Ticker ticker;

	private final Thread owner = Thread.currentThread();

	private final List<Runnable> lostActions = new ArrayList<>();

	private volatile Runnable cleanUp = () -> {
	};

	private volatile Runnable confirmation = () -> {
	};

	private volatile @Nullable Besides besides;

	private @Nullable Thread runner;

	private boolean interrupted;

	private volatile State state = State.ACTIVE;

	private volatile long acquiredNanos;

	private volatile boolean acquired;

	private volatile @Nullable Connection connection;

	private volatile int backend;

	private volatile boolean handedOver;

	private volatile boolean lossTold;

	private volatile @Nullable Loss loss;

	private boolean givenUp;

	private boolean reported;

	private boolean quiet;

	Hold(AdvisoryLockKey key, LockMode mode, LockScope scope) {
		this(key, mode, scope, LockScheduler.Ticker.SYSTEM);
	}

	/**
	 * Create a hold whose lock is not taken yet.
	 * @param ticker tells for how long it is held
	 */
	Hold(AdvisoryLockKey key, LockMode mode, LockScope scope, LockScheduler.Ticker ticker) {
		this.key = key;
		this.mode = mode;
		this.scope = scope;
		this.ticker = ticker;
	}

	/**
	 * Create a candidate for the lock of a tick, which nobody runs under. Nobody is told
	 * when it is lost.
	 * @param whenLost is run at once when it is; must be quick
	 */
	static Hold quiet(AdvisoryLockKey key, LockMode mode, Runnable whenLost) {
		Hold hold = new Hold(key, mode, LockScope.SESSION);
		hold.quiet = true;
		hold.setCleanUp(whenLost);
		return hold;
	}

	/**
	 * Return whether nobody runs under this hold.
	 */
	boolean isQuiet() {
		return this.quiet;
	}

	AdvisoryLockKey key() {
		return this.key;
	}

	LockMode mode() {
		return this.mode;
	}

	LockScope scope() {
		return this.scope;
	}

	/**
	 * Return the thread that asked for the lock; a lock of the programmatic API may be
	 * released by another one.
	 */
	Thread owner() {
		return this.owner;
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
		this.acquired = true;
	}

	/**
	 * Note that the lock is taken, in a transaction, and as long as that lasts.
	 * @param connection the connection, past what a pool has put around it
	 * @param backend the process of the server
	 * @param confirmation makes sure that the connection has a key
	 */
	void acquired(Connection connection, int backend, BiConsumer<AdvisoryLockKey, Connection> confirmation) {
		this.connection = connection;
		this.backend = backend;
		this.confirmation = () -> confirmation.accept(this.key, connection);
		acquired();
	}

	/**
	 * Return the process of the server whose transaction has the lock, 0 in scope SESSION
	 * and before the lock is taken.
	 */
	int backend() {
		return this.backend;
	}

	/**
	 * Note that the lock was handed over to a holder who closes it: no call waits for its
	 * end.
	 */
	void handOver() {
		this.handedOver = true;
	}

	boolean isHandedOver() {
		return this.handedOver;
	}

	/**
	 * Return for how long the lock has been held, zero before it is.
	 */
	Duration heldFor() {
		return this.acquired ? Duration.ofNanos(this.ticker.nanoTime() - this.acquiredNanos) : Duration.ZERO;
	}

	/**
	 * Note that somebody was told about this hold.
	 * @return whether nobody was before
	 */
	synchronized boolean report() {
		boolean first = !this.reported;
		this.reported = true;
		return first;
	}

	/**
	 * Return whether the lock is held, or about to be taken, as far as is known. Does not
	 * ask the server: it says with each answer whether its transaction goes on, and most
	 * drivers hand that on.
	 * @return {@code false} once it is lost or begins to be released
	 */
	public boolean isActive() {
		Connection connection = this.connection;
		return this.state == State.ACTIVE && (connection == null || PgDriver.isTransactionOpen(connection));
	}

	/**
	 * Return whether {@link #isActive()} can't know it: the driver does not tell how the
	 * transaction of the lock is doing.
	 */
	boolean isUntold() {
		Connection connection = this.connection;
		return this.state == State.ACTIVE && connection != null && PgDriver.isTransactionUntold(connection);
	}

	boolean isLost() {
		return this.state == State.LOST;
	}

	/**
	 * Begin to release the lock. Until that is done it can still be lost. One that its
	 * holder was told to give up is not released by that.
	 * @return {@code true} for the one caller that has to release it
	 */
	synchronized boolean beginRelease() {
		Loss loss = this.loss;
		if (loss != null) {
			boolean first = !this.givenUp;
			this.givenUp = true;
			return first;
		}
		boolean first = this.state == State.ACTIVE;
		if (first) {
			this.state = State.RELEASING;
		}
		return first;
	}

	/**
	 * Note that the transaction that has the lock is about to end: from now on the lock
	 * may be gone because that has.
	 * @return whether the lock was not lost before
	 */
	synchronized boolean beginEnd() {
		if (this.state == State.ACTIVE) {
			this.state = State.ENDING;
		}
		return this.state != State.LOST;
	}

	/**
	 * End this hold in order.
	 * @return whether it had not ended before
	 */
	synchronized boolean release() {
		return end(State.RELEASED);
	}

	/**
	 * End this hold because its lock is gone.
	 * @return what those who asked to be told want done, or {@code null} when this hold
	 * had ended before
	 */
	synchronized @Nullable List<Runnable> lose() {
		return end(State.LOST) ? List.copyOf(this.lostActions) : null;
	}

	/**
	 * End this hold although its lock is there, because its holder is to give it up. A
	 * run that is over is left alone.
	 * @return what those who asked to be told want done, or {@code null} when this hold
	 * had ended before
	 */
	synchronized @Nullable List<Runnable> lose(Loss loss) {
		if (this.state != State.ACTIVE || (this.runner == null && !this.handedOver)) {
			return null;
		}
		this.loss = loss;
		this.state = State.LOST;
		return List.copyOf(this.lostActions);
	}

	/**
	 * Return why the holder was told to give up a lock that is there.
	 * @return why, {@code null} if it was not
	 */
	@Nullable Loss loss() {
		return this.loss;
	}

	/**
	 * Return what tells that the lock is lost, and why if that is known.
	 */
	LockLostException lostException() {
		Loss loss = this.loss;
		return (loss != null) ? new LockLostException(this.key, loss.text()) : new LockLostException(this.key);
	}

	/**
	 * Note that whoever called the run has been told by an exception that its lock was
	 * lost, and decides about the rest.
	 */
	void tellLoss() {
		this.lossTold = true;
	}

	boolean isLossTold() {
		return this.lossTold;
	}

	/**
	 * Set what is to be done at once when this hold is lost.
	 */
	void setCleanUp(Runnable cleanUp) {
		this.cleanUp = cleanUp;
	}

	void cleanUp() {
		this.cleanUp.run();
	}

	/**
	 * Set what makes sure that the lock is held where this can't be known without asking.
	 */
	void setConfirmation(Runnable confirmation) {
		this.confirmation = confirmation;
	}

	/**
	 * Set what can be reached besides the transaction of the run.
	 */
	void setBesides(Besides besides) {
		this.besides = besides;
	}

	/**
	 * Return what can be reached besides the transaction of the run.
	 * @return what can be reached, {@code null} if there is no session for locks
	 */
	public @Nullable Besides besides() {
		return this.besides;
	}

	/**
	 * Make sure that the lock is held.
	 * @throws LockLostException if it is not
	 */
	public void confirm() {
		this.confirmation.run();
	}

	/**
	 * Note that the current thread runs under this hold.
	 * @throws LockLostException if the lock is lost already: no interrupt would tell
	 */
	synchronized void beginRun() {
		if (isLost()) {
			throw lostException();
		}
		this.runner = Thread.currentThread();
	}

	/**
	 * Note that the run is over. An interrupt of ours that did not reach it must not hit
	 * what the thread does next. One of somebody else's must: the flag stays where it was
	 * set before ours, and where the run has taken ours. What comes on top of ours can't
	 * be told from it.
	 * @param tookInterrupt whether the run has ended by an interrupt, which cleared the
	 * flag
	 */
	synchronized void endRun(boolean tookInterrupt) {
		this.runner = null;
		if (this.interrupted && !tookInterrupt) {
			Thread.interrupted();
		}
	}

	/**
	 * Interrupt the thread that runs under this hold. Where somebody else has done so
	 * before, that interrupt serves both, and is not taken back.
	 */
	synchronized void interruptRunner() {
		if (this.runner != null && !this.runner.isInterrupted()) {
			this.interrupted = true;
			this.runner.interrupt();
		}
	}

	/**
	 * Put an interrupt aside while a virtual thread asks the server: it would close the
	 * socket, with whatever lives in the session. One that comes while the answer is
	 * awaited still does. Platform threads keep theirs, which closes nothing.
	 * @return whether there is one to be brought back
	 */
	public static boolean putInterruptAside() {
		return isInterruptedVirtual() && Thread.interrupted();
	}

	/**
	 * Return whether the current thread is a virtual one, and interrupted.
	 */
	static boolean isInterruptedVirtual() {
		Thread thread = Thread.currentThread();
		return thread.isInterrupted() && LockScheduler.isVirtual(thread);
	}

	/**
	 * Let the current thread have its interrupt again.
	 * @param aside whether it was put aside
	 */
	public static void bringInterruptBack(boolean aside) {
		if (aside) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Register an action for the loss; it runs at once when the lock is lost already.
	 */
	void onLost(Runnable action) {
		synchronized (this) {
			// what is being released can still be lost
			if (this.state == State.ACTIVE || this.state == State.RELEASING) {
				this.lostActions.add(action);
				return;
			}
		}
		if (isLost()) {
			action.run();
		}
	}

	private boolean end(State end) {
		boolean open = this.state == State.ACTIVE || this.state == State.RELEASING;
		if (!open && (this.state != State.ENDING || end == State.LOST)) {
			return false;
		}
		this.state = end;
		return true;
	}

	/**
	 * What can be reached without a connection of the pool, which a run may have the last
	 * one of.
	 */
	public interface Besides {

		/**
		 * Ask for a number on the connection of session locks. In scope SESSION an answer
		 * says that the lock is held. An interrupt changes nothing, and is kept: it is to
		 * be {@linkplain Hold#putInterruptAside put aside} before another connection is
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

	private enum State {

		ACTIVE, RELEASING, ENDING, RELEASED, LOST

	}

}
