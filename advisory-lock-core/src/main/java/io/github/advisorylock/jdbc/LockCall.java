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
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import io.github.advisorylock.support.TwoPhaseLockOperations.End;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One call on its way: admitted outside its transaction, executed inside, once.
 */
abstract class LockCall implements TwoPhaseLockOperations.Admission {

	private static final String DRAINED = "this instance is drained";

	final AdvisoryLockKey key;

	final @Nullable Deadline deadline;

	final LockRequest request;

	private final LockResources resources;

	private final HoldRegistry holds;

	private final LockScope scope;

	/**
	 * Whether the ledger has to do with the call. It is asked no earlier than the call
	 * asks for its lock.
	 */
	final boolean recorded;

	@Nullable RunRecord record;

	/**
	 * The lock of the tick or interval, {@code null} where none is asked for.
	 */
	final TickLocks.@Nullable Tick tickLock;

	LockOutcome outcome = LockOutcome.EXECUTED;

	private @Nullable Hold hold;

	/**
	 * The end of the run that the work was, or was part of, {@code null} without a
	 * transaction.
	 */
	TransactionPart.@Nullable OfRun end;

	private @Nullable Throwable failure;

	private boolean entered;

	private boolean interruptDeferred;

	/**
	 * Create a call.
	 * @param deadline until when to wait for the lock, {@code null} to not wait
	 * @param request what is asked for
	 */
	LockCall(LockResources resources, AdvisoryLockKey key, LockScope scope, @Nullable Deadline deadline,
			LockRequest request) {
		this.resources = resources;
		this.holds = resources.holds();
		this.key = key;
		this.request = request;
		this.scope = scope;
		this.deadline = deadline;
		this.recorded = RequestDetail.isRecorded(request);
		boolean remembered = request.memory() != null || request.detail(RequestDetail.Interval.class) != null;
		this.tickLock = remembered ? resources.tick(key, request) : null;
	}

	/**
	 * Wait for other threads of this application, take the lock of the tick, and ask the
	 * ledger. A call of a thread that has the lock of the key already is admitted
	 * without: its transaction decides whether it joins.
	 */
	final LockCall admit() {
		if (isRefused()) {
			return this;
		}
		tick(TickLocks.Tick::awaitEndOfInterval);
		Hold candidate = newHold();
		if (this.holds.enterUnlessHeld(candidate, this.key, this.deadline)) {
			admit(candidate, true);
		}
		else if (!this.holds.isHeldByThisThread(this.key)) {
			this.outcome = LockOutcome.BUSY;
		}
		return this;
	}

	/**
	 * Refuse the call if this instance is drained, unless it is part of what runs.
	 */
	private boolean isRefused() {
		boolean refused = this.resources.mayNotBegin()
				&& (this.hold != null || !this.holds.isHeldByThisThread(this.key));
		if (refused) {
			this.outcome = LockOutcome.PAUSED;
		}
		return refused;
	}

	private void admit(Hold own, boolean askLedger) {
		this.hold = own;
		this.entered = true;
		boolean admitted = false;
		try {
			this.outcome = takeTick();
			if (askLedger && this.outcome == LockOutcome.EXECUTED && this.recorded) {
				this.outcome = precheck();
			}
			admitted = this.outcome == LockOutcome.EXECUTED;
		}
		finally {
			if (!admitted) {
				close();
			}
		}
	}

	/**
	 * Ask the ledger before the lock is taken, unless that would be in a transaction of
	 * the caller.
	 */
	private LockOutcome precheck() {
		RunRecord record = record();
		return TransactionSynchronizationManager.isActualTransactionActive() ? LockOutcome.EXECUTED : record.precheck();
	}

	private RunRecord record() {
		RunRecord record = (this.record != null) ? this.record
				: this.resources.record(this.key, this.scope, this.request);
		this.record = record;
		return record;
	}

	/**
	 * Take the lock of the tick, before a transaction is begun. Another instance that has
	 * it may fail, and is waited for as for the key.
	 */
	private LockOutcome takeTick() {
		TickLocks.Tick tick = this.tickLock;
		if (tick == null) {
			return LockOutcome.EXECUTED;
		}
		Supplier<LockOutcome> attempt = () -> tick.take(this.scope == LockScope.SESSION);
		LockOutcome first = attempt.get();
		LockOutcome last = (first == LockOutcome.BUSY && this.deadline != null)
				? this.deadline.pollWhile(LockOutcome.BUSY, attempt) : first;
		// one that has ended the wait would close the connection of the transaction
		deferInterruptUntilClosed();
		return last;
	}

	/**
	 * Return whether the tick is still to be run, once the lock of the key is held. The
	 * lock of the tick may have been lost meanwhile, and is asked for once more: another
	 * instance can have had both in between. Where it can't be had, the tick is not run
	 * if another instance is known to have run it. This instance may be drained by now: a
	 * tick that was taken at once is run, as the others have left it.
	 */
	final boolean isTickStillDue() {
		TickLocks.Tick tick = this.tickLock;
		if ((tick == null || this.deadline != null) && isRefused()) {
			return false;
		}
		if (tick == null) {
			return true;
		}
		if (tick.isLost()) {
			this.outcome = takeTick();
		}
		if (this.outcome == LockOutcome.EXECUTED && !tick.isLocked()) {
			this.outcome = tick.outcome(DeferredInterrupt.during(() -> isKept(tick.lock)));
		}
		return this.outcome == LockOutcome.EXECUTED;
	}

	/**
	 * Do something with the lock of the tick, if there is one.
	 */
	final void tick(Consumer<TickLocks.Tick> action) {
		if (this.tickLock != null) {
			action.accept(this.tickLock);
		}
	}

	/**
	 * Return whether another instance remembers a tick. Asked while the lock of the key
	 * is held, and that of the tick is not.
	 */
	abstract boolean isKept(AdvisoryLockKey tick);

	@Override
	public final LockOutcome outcome() {
		return this.outcome;
	}

	@Override
	public final @Nullable String reason() {
		return (this.outcome == LockOutcome.PAUSED && this.resources.mayNotBegin()) ? DRAINED : null;
	}

	@Override
	public final @Nullable String keptResult() {
		return (this.record != null && this.outcome == LockOutcome.ALREADY_RAN) ? this.record.keptResult() : null;
	}

	@Override
	public final <T extends @Nullable Object, X extends Exception> @Nullable T execute(LockCallback<T, X> action)
			throws X {
		LockRun enclosing = LockRun.findEnclosing(this.key, this.holds);
		if (enclosing != null) {
			return executeNested(enclosing, action);
		}
		Hold own = this.hold;
		if (own == null) {
			Hold joined = HoldSynchronization.findInCurrentTransaction(this.key, this.holds);
			if (joined != null) {
				return executeJoined(joined, action);
			}
			own = newHold();
			if (!this.holds.enter(own, this.key, this.deadline)) {
				this.outcome = LockOutcome.BUSY;
				return null;
			}
			admit(own, false);
			if (this.outcome != LockOutcome.EXECUTED) {
				return null;
			}
		}
		this.entered = false;
		boolean ran = false;
		try {
			T result = executeAlone(own, action);
			ran = this.outcome == LockOutcome.EXECUTED;
			return result;
		}
		finally {
			if (!ran && (this.end == null || this.end.isUndone())) {
				tick((lock) -> lock.giveBackUnlessCancelled(this.hold));
			}
		}
	}

	@Override
	public final void keepTick() {
		tick(TickLocks.Tick::keepWhileRepeating);
	}

	@Override
	public final void letTickGo() {
		tick(TickLocks.Tick::letGo);
	}

	@Override
	public final void whenOver(BiConsumer<End, @Nullable Throwable> listener) {
		if (this.end != null) {
			this.end.tell((end) -> listener.accept(end, this.failure));
		}
		else {
			listener.accept(End.UNKNOWN, null);
		}
	}

	/**
	 * Run as a part of a run of the same key.
	 */
	private <T extends @Nullable Object, X extends Exception> T executeNested(LockRun outer, LockCallback<T, X> action)
			throws X {
		close();
		outer.hold.checkCovers(this.request.mode());
		outer.hold.checkNotLost();
		this.end = outer.end;
		try {
			return outer.runPart(this.request.tick(), action);
		}
		catch (Throwable ex) {
			this.failure = ex;
			throw ex;
		}
	}

	/**
	 * Run under a lock that the current transaction has already.
	 */
	private <T extends @Nullable Object, X extends Exception> @Nullable T executeJoined(Hold joined,
			LockCallback<T, X> action) throws X {
		joined.checkCovers(this.request.mode());
		this.hold = joined;
		joined.checkNotLost();
		TransactionPart.OfRun.settle(joined);
		return runInTransaction(joined, boundary(), action);
	}

	/**
	 * Return a hold whose lock is not taken yet.
	 */
	abstract Hold newHold();

	/**
	 * Take the lock, run, and let it go, or see to it that somebody does.
	 * @param hold what was entered for this call, to be left in any case
	 */
	abstract <T extends @Nullable Object, X extends Exception> @Nullable T executeAlone(Hold hold,
			LockCallback<T, X> action) throws X;

	final RunRecord.Boundary boundary() {
		return this.resources.coverage().boundary(this.key, this.scope, this.recorded);
	}

	/**
	 * Run, and record a failure at once where no transaction decides: what surrounds the
	 * run goes on after it.
	 */
	final <T extends @Nullable Object, X extends Exception> @Nullable T runInTransaction(Hold hold,
			RunRecord.Boundary boundary, LockCallback<T, X> action) throws X {
		try {
			return run(hold, boundary, action);
		}
		catch (Throwable ex) {
			failed(hold, ex);
			throw ex;
		}
	}

	/**
	 * Record a failure, unless a transaction decides.
	 */
	final void failed(Hold hold, Throwable failure) {
		hold.thrown(failure);
		deferInterruptUntilClosed();
		if (!noteFailure(failure) && this.record != null) {
			this.record.fail(failure);
		}
	}

	/**
	 * Note that a run which is part of a transaction has failed before that ends.
	 * @return whether it is part of one
	 */
	final boolean noteFailure(Throwable failure) {
		if (this.end != null && !this.end.isEnded()) {
			this.failure = failure;
			this.end.ended(failure);
		}
		return this.end != null;
	}

	/**
	 * Run under the lock, unless the ledger is against it.
	 */
	final <T extends @Nullable Object, X extends Exception> @Nullable T run(Hold hold, RunRecord.Boundary boundary,
			LockCallback<T, X> action) throws X {
		RunRecord record = this.recorded ? record() : null;
		if (record != null) {
			this.outcome = record.begin(boundary, hold);
			if (this.outcome != LockOutcome.EXECUTED) {
				return null;
			}
		}
		TransactionPart.OfRun end = TransactionPart.OfRun.begin(hold, boundary, record);
		this.end = end;
		LockRun context = new LockRun(hold, this.holds, record, this.request.tick(), end);
		Run run = hold.beginRun(record);
		Duration maxRun = this.request.maxRun();
		Future<?> limit = null;
		T result;
		boolean tookInterrupt = false;
		try {
			context.bind();
			limit = (maxRun != null) ? this.resources.limit(hold, maxRun) : null;
			tick(TickLocks.Tick::workBegins);
			result = action.doWithLock(context);
		}
		catch (Throwable ex) {
			tookInterrupt = ex instanceof InterruptedException;
			if (hold.loss() != null && !(ex instanceof LockLostException)) {
				ex.addSuppressed(hold.lostException());
			}
			throw ex;
		}
		finally {
			context.unbind();
			run.end(tookInterrupt);
			deferInterruptUntilClosed();
			if (limit != null) {
				limit.cancel(false);
			}
		}
		if (!hold.isCommittable() || hold.isLost()) {
			this.resources.coverage().checkGoodEnd(hold, record != null);
			deferInterruptUntilClosed();
		}
		if (record != null) {
			record.complete(result);
		}
		if (end != null) {
			end.ended(null);
		}
		return result;
	}

	@Override
	public final void close() {
		if (this.entered && this.hold != null) {
			this.entered = false;
			tick((lock) -> lock.giveBackUnlessCancelled(this.hold));
			this.holds.leave(this.hold);
		}
		if (this.interruptDeferred || Thread.currentThread().isInterrupted()) {
			DeferredInterrupt.end(this.interruptDeferred);
			this.interruptDeferred = false;
			DeferredInterrupt.atEndOfTransaction();
		}
	}

	/**
	 * Keep an interrupt away from what this call, and the end of the transaction that it
	 * is in, have to ask the server yet: one from the run, or from a wait of ours since.
	 */
	final void deferInterruptUntilClosed() {
		this.interruptDeferred |= Thread.currentThread().isInterrupted() && DeferredInterrupt.begin();
	}

}
