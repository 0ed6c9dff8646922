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

package io.github.advisorylock.interceptor;

import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.util.Assert;

/**
 * One call of a method, on its way from its admission outside its transaction to its run
 * inside.
 */
final class GuardedCall implements LockCallback<@Nullable Object, Exception> {

	final long started = System.nanoTime();

	private final SingleRunnerOperation operation;

	private final Supplier<? extends AdvisoryLockOperations> operations;

	private final boolean now;

	final AdvisoryLockKey key;

	final boolean fixed;

	final LockScope scope;

	final String method;

	final SingleRunnerObserver.@Nullable Call observed;

	/**
	 * The scheduled call that this one is made in, and what it has for this one.
	 */
	final @Nullable PlannedTime scheduled;

	private final PlannedTime.@Nullable Plan plan;

	final LockRequest request;

	private TwoPhaseLockOperations.@Nullable Admission admission;

	/**
	 * The one that the work ran with last.
	 */
	private TwoPhaseLockOperations.@Nullable Admission used;

	private @Nullable MethodInvocation invocation;

	/**
	 * Whether the call got to where its lock is asked for, or was skipped before.
	 */
	boolean decided;

	/**
	 * How often the method was run.
	 */
	private int runs;

	private int lockAttempt;

	int attempt = 1;

	/**
	 * Whether it is known how the call ended.
	 */
	boolean over;

	/**
	 * How the call ended, {@code null} when it failed before that was known.
	 */
	@Nullable LockOutcome outcome;

	/**
	 * What there is to say of that.
	 */
	@Nullable String reason;

	/**
	 * What the run threw, even if other advice has kept that from the caller.
	 */
	@Nullable Throwable failure;

	/**
	 * What the work threw.
	 */
	@Nullable Throwable thrown;

	/**
	 * Create a call.
	 * @param operation how the method runs
	 * @param operations take the locks
	 * @param observed watches the call, {@code null} if nobody does
	 * @param now whether an operator asks for it
	 * @param invocation what the advice of the method has of it
	 */
	GuardedCall(SingleRunnerOperation operation, AdvisoryLockKey key,
			Supplier<? extends AdvisoryLockOperations> operations, SingleRunnerObserver.@Nullable Call observed,
			boolean now, MethodInvocation invocation) {
		this.operation = operation;
		this.key = key;
		this.operations = operations;
		this.observed = observed;
		this.now = now;
		this.scope = operation.scope;
		this.method = operation.method;
		this.fixed = operation.fixedKey != null;
		this.scheduled = PlannedTime.current();
		this.plan = (this.scheduled != null) ? operation.takePlan(key, now, this.scheduled) : null;
		if (this.scheduled != null && this.plan != null && operation.waitFor().isZero()
				&& operation.ledger().minInterval() == null) {
			this.scheduled.guarded();
		}
		this.request = operation.createRequest(key, now, this.scheduled, this.plan, invocation);
	}

	boolean admit() {
		AdvisoryLockOperations operations = this.operations.get();
		this.admission = (operations instanceof TwoPhaseLockOperations admitting) ? admitting.admit(this.request)
				: new OnePhaseAdmission(operations, this.request);
		this.outcome = this.admission.outcome();
		boolean admitted = this.outcome == LockOutcome.EXECUTED;
		this.reason = admitted ? null : this.admission.reason();
		return admitted;
	}

	/**
	 * Go on with the invocation under the lock, or skip it. Where other advice repeats
	 * that, each time is admitted for itself.
	 */
	@Nullable Object execute(MethodInvocation invocation) throws Throwable {
		Throwable before = this.failure;
		boolean admitted = !this.decided || admit();
		TwoPhaseLockOperations.Admission current = this.admission;
		this.decided = true;
		if (!admitted || current == null) {
			return refuse(before);
		}
		this.failure = null;
		this.outcome = null;
		this.invocation = invocation;
		this.used = current;
		current.keepTick();
		Object result;
		String kept;
		try (current) {
			result = current.execute(this);
			this.outcome = current.outcome();
			kept = (this.outcome == LockOutcome.ALREADY_RAN) ? current.keptResult() : null;
		}
		catch (Throwable ex) {
			this.failure = ex;
			throw ex;
		}
		finally {
			this.admission = null;
		}
		if (this.outcome == LockOutcome.EXECUTED) {
			return result;
		}
		this.reason = current.reason();
		return (kept != null) ? this.operation.keptValue(kept, this.key) : refuse(before);
	}

	/**
	 * Skip the call, unless other advice repeats it after a run that has failed: it has
	 * not been skipped then.
	 */
	private @Nullable Object refuse(@Nullable Throwable before) throws Throwable {
		if (before == null) {
			return skip(this.outcome);
		}
		this.outcome = LockOutcome.EXECUTED;
		this.failure = before;
		throw before;
	}

	/**
	 * Note that the method begins to run, not for the first time where other advice
	 * repeats that.
	 */
	void attempt() {
		if (this.runs++ > 0) {
			LockLog.repeated(this.key, this.fixed, this.scope, this.method, this.thrown, this.request.tick(),
					this.attempt);
			this.attempt++;
		}
		this.attempt = Math.max(this.attempt, this.lockAttempt);
	}

	@Override
	@SuppressWarnings("NullAway") // a method may return null
	public @Nullable Object doWithLock(LockContext lock) throws Exception {
		Assert.state(this.invocation != null, "'invocation' must be set");
		this.outcome = LockOutcome.EXECUTED;
		this.lockAttempt = lock.attempt();
		SingleRunnerObserver.Work work = (this.observed != null) ? this.observed.begin(lock) : null;
		boolean hasPlan = this.plan != null || this.now;
		PlannedTime outside = hasPlan ? PlannedTime.bind(null) : null;
		try {
			if (this.scope == LockScope.TRANSACTION) {
				attempt();
			}
			Object result = this.invocation.proceed();
			if (result != null) {
				checkFinished(result);
			}
			return result;
		}
		catch (Throwable ex) {
			this.thrown = ex;
			if (this.scope == LockScope.TRANSACTION) {
				RefusedTransaction.explain(ex, this.method, this.key);
			}
			throw GuardedCall.<Exception>unchanged(ex);
		}
		finally {
			if (hasPlan) {
				PlannedTime.bind(outside);
			}
			if (work != null) {
				work.close();
			}
		}
	}

	/**
	 * Note whether a run has done what the scheduled call is for.
	 */
	void usePlan(boolean done) {
		if (this.scheduled != null && this.plan != null && this.outcome == LockOutcome.EXECUTED) {
			this.scheduled.used(this.key, done);
		}
	}

	/**
	 * What the declared type of a method does not tell, its result does.
	 * @throws IllegalStateException if the work goes on after the method has returned
	 */
	private void checkFinished(Object result) {
		boolean finished = (result instanceof Future<?> future) ? future.isDone()
				: ReactiveAdapterRegistry.getSharedInstance().getAdapter(result.getClass()) == null;
		if (!finished) {
			throw new IllegalStateException("Failed to guard '" + this.method + "' (advisory lock '" + this.key
					+ "'): it returned a " + result.getClass().getName() + ", so that its work goes on when the lock "
					+ "is released; wait for its end in the method, as by join() or block(), and return its result");
		}
	}

	/**
	 * A method may declare to throw anything, and what it throws gets to its caller as it
	 * is.
	 */
	@SuppressWarnings({ "unchecked", "TypeParameterUnusedInFormals" })
	private static <X extends Throwable> X unchanged(Throwable failure) throws X {
		throw (X) failure;
	}

	@Nullable Object skip(@Nullable LockOutcome reason) {
		Assert.state(reason != null, "'reason' must not be null");
		this.decided = true;
		this.outcome = reason;
		return this.operation.skippedValue(LockResult.skipped(reason, this.key, this.reason));
	}

	/**
	 * Explain a commit that was a rollback, of a run that has ended well: the transaction
	 * is that of the lock, or one that other advice of the method has begun.
	 */
	Throwable explainRollback(Throwable failure) {
		if (failure == this.thrown || this.outcome != LockOutcome.EXECUTED || this.scope != LockScope.TRANSACTION
				|| !(failure instanceof UnexpectedRollbackException ex)) {
			return failure;
		}
		return (failure == this.failure) ? RefusedTransaction.name(ex, this.method)
				: RefusedTransaction.explain(ex, this.method, this.key);
	}

	/**
	 * Have somebody told when it is over: for a run in a caller's transaction, when that
	 * has ended.
	 */
	void whenOver(BiConsumer<TwoPhaseLockOperations.End, @Nullable Throwable> listener) {
		if (this.used != null && (this.outcome == null || this.outcome == LockOutcome.EXECUTED)) {
			this.used.whenOver(listener);
		}
		else {
			listener.accept(TwoPhaseLockOperations.End.UNKNOWN, null);
		}
	}

	/**
	 * Return why the run has failed. What is thrown after the commit is no failure of the
	 * run, and what was rolled back is one.
	 * @param own why the run failed before its transaction ended, if it did
	 */
	@Nullable Throwable failure(TwoPhaseLockOperations.End end, @Nullable Throwable own) {
		return switch (end) {
			case COMMITTED -> own;
			case ROLLED_BACK -> (this.failure != null) ? this.failure
					: new UnexpectedRollbackException("Failed to complete @SingleRunner method '" + this.method
							+ "' (advisory lock '" + this.key + "'): it returned, and its transaction was rolled back");
			case UNKNOWN -> this.failure;
		};
	}

	void close() {
		if (this.admission != null) {
			this.admission.close();
		}
		if (this.used != null) {
			this.used.letTickGo();
		}
	}

}
