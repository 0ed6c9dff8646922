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

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs methods under a lock, or skips them. Stands outside the transaction of the method:
 * that is where a {@link LockScope#SESSION} lock belongs. A {@link LockScope#TRANSACTION}
 * lock belongs inside and is left to {@link #insideTransaction()}, but a call that is
 * bound to be skipped does not get as far as beginning a transaction.
 *
 * @since 0.1.0
 */
public class SingleRunnerInterceptor implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(SingleRunnerInterceptor.class);

	private static final String CALL = SingleRunnerInterceptor.class.getName() + ".call";

	private final SingleRunnerOperationSource operationSource;

	private final Supplier<AdvisoryLockOperations> operations;

	private volatile @Nullable GuardedObserver observer;

	private final ApplicationEventPublisher eventPublisher;

	private final MethodInterceptor insideTransaction;

	private final @Nullable Consumer<@Nullable LockOutcome> now;

	/**
	 * Create an interceptor.
	 * @param operationSource knows which methods run under a lock
	 * @param operations take the locks; asked for at the first call
	 * @param observer watches the calls, {@code null} if nobody does; asked for at the
	 * first call
	 * @param eventPublisher is told about {@link SingleRunnerFinishedEvent finished} and
	 * {@link SingleRunnerSkippedEvent skipped} runs
	 */
	public SingleRunnerInterceptor(SingleRunnerOperationSource operationSource,
			Supplier<? extends AdvisoryLockOperations> operations,
			Supplier<? extends @Nullable SingleRunnerObserver> observer, ApplicationEventPublisher eventPublisher) {
		this.operationSource = operationSource;
		this.operations = SingletonSupplier.of(operations::get);
		this.observer = new GuardedObserver(observer);
		this.eventPublisher = eventPublisher;
		this.insideTransaction = new InsideTransaction();
		this.now = null;
	}

	private SingleRunnerInterceptor(SingleRunnerInterceptor other, Consumer<@Nullable LockOutcome> now) {
		this.operationSource = other.operationSource;
		this.operations = other.operations;
		this.observer = other.observer;
		this.eventPublisher = other.eventPublisher;
		this.insideTransaction = other.insideTransaction;
		this.now = now;
	}

	/**
	 * Return an interceptor for a call that an operator asks for: its time does not
	 * matter, so it is for no tick and after no interval.
	 * @param outcome is told how the call ended, {@code null} if it failed
	 * @return an interceptor for a proxy that is made for the call, in the place of this
	 * one
	 */
	public SingleRunnerInterceptor now(Consumer<@Nullable LockOutcome> outcome) {
		return new SingleRunnerInterceptor(this, outcome);
	}

	/**
	 * Return the interceptor that takes {@link LockScope#TRANSACTION} locks. Must stand
	 * in the same proxy as this one, inside the transaction interceptor.
	 * @return the interceptor for the innermost place
	 */
	public MethodInterceptor insideTransaction() {
		return this.insideTransaction;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Assert.state(target != null, "'target' must not be null");
		SingleRunnerOperation operation = this.operationSource.getOperation(invocation.getMethod(), target.getClass());
		if (operation == null) {
			return invocation.proceed();
		}
		AdvisoryLockKey key = operation.key(invocation.getArguments());
		boolean paused = operation.paused();
		Call call = new Call(operation, key, PlannedTime.current(), invocation);
		Object result;
		try {
			if (paused) {
				result = call.skip(LockOutcome.PAUSED);
			}
			else if (operation.isRepeated(PlannedTime.current())) {
				result = call.skip(LockOutcome.ALREADY_RAN);
			}
			else if (!call.admit()) {
				result = call.skip(call.outcome);
			}
			else {
				((ProxyMethodInvocation) invocation).setUserAttribute(CALL, call);
				result = (call.scope == LockScope.SESSION) ? call.execute(invocation) : invocation.proceed();
			}
			call.close();
			if (!call.decided) {
				checkDidNotRun(call, invocation);
				return result;
			}
		}
		catch (Throwable ex) {
			call.close();
			Throwable failure = call.explainRollback(ex);
			call.failure = failure;
			call.whenOver((end, own) -> announce(call, end, own));
			throw failure;
		}
		call.whenOver((end, own) -> announce(call, end, own));
		if (!call.over) {
			call.usePlan(true);
		}
		return result;
	}

	/**
	 * Make sure that a call did not run which came back without having got to where its
	 * lock is taken. What answered it instead is no run and no skip, so nothing is said
	 * of it.
	 * @throws IllegalStateException if the method may have run without its lock
	 */
	private void checkDidNotRun(Call call, MethodInvocation invocation) {
		if (!OtherAdvice.mayHaveAnswered(invocation, this.insideTransaction)) {
			throw new IllegalStateException("Failed to guard '" + call.method + "' (advisory lock '" + call.key
					+ "'): the call came back without having got to where its lock is taken, inside its "
					+ "transaction, so the method may have run without it; remove the advice of the bean that goes past "
					+ "that, or set 'scope' to SESSION");
		}
	}

	/**
	 * Tell how a call has ended.
	 * @param end what became of the transaction of the run, if it has run
	 * @param own why the run failed before that, if it did
	 */
	private void announce(Call call, TwoPhaseLockOperations.End end, @Nullable Throwable own) {
		LockOutcome outcome = call.outcome;
		Throwable failure = call.failure(end, own);
		boolean done = failure == null || end == TwoPhaseLockOperations.End.COMMITTED;
		call.over = true;
		call.usePlan(done);
		if (call.observed != null) {
			call.observed.end(outcome, failure);
		}
		if (this.now != null) {
			this.now.accept((failure == null) ? outcome : null);
		}
		Instant tick = call.request.tick();
		Object event;
		if (outcome != null && outcome != LockOutcome.EXECUTED) {
			LockLog.skipped(call.key, call.scope, call.method, outcome, tick, call.request);
			event = new SingleRunnerSkippedEvent(call.key, call.scope, call.method, outcome, tick);
		}
		else {
			Duration duration = Duration.ofNanos(System.nanoTime() - call.started);
			LockLog.finished(call.key, call.fixed, call.scope, call.method, duration, failure, tick, call.attempt,
					done);
			event = new SingleRunnerFinishedEvent(call.key, call.scope, call.method, duration, failure, tick,
					call.attempt, done);
		}
		try {
			this.eventPublisher.publishEvent(event);
		}
		catch (Throwable ex) {
			logger.warn("A listener failed on " + event, ex);
		}
	}

	/**
	 * Takes the lock of a call inside its transaction, and counts how often other advice
	 * has the method run.
	 */
	private static final class InsideTransaction implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Object call = ((ProxyMethodInvocation) invocation).getUserAttribute(CALL);
			if (!(call instanceof Call inside)) {
				return invocation.proceed();
			}
			if (inside.scope == LockScope.TRANSACTION) {
				return inside.execute(invocation);
			}
			inside.attempt();
			try {
				return invocation.proceed();
			}
			catch (Throwable ex) {
				inside.thrown = ex;
				throw ex;
			}
		}

	}

	/**
	 * One call of a method, on its way from its admission outside its transaction to its
	 * run inside.
	 */
	private final class Call implements LockCallback<@Nullable Object, Exception> {

		private final long started = System.nanoTime();

		private final SingleRunnerOperation operation;

		private final AdvisoryLockKey key;

		private final boolean fixed;

		private final LockScope scope;

		private final String method;

		private final SingleRunnerObserver.@Nullable Call observed;

		/**
		 * The scheduled call that this one is made in, and what it has for this one.
		 */
		private final @Nullable PlannedTime scheduled;

		private final PlannedTime.@Nullable Plan plan;

		private final LockRequest request;

		private TwoPhaseLockOperations.@Nullable Admission admission;

		/**
		 * The one that the work ran with last.
		 */
		private TwoPhaseLockOperations.@Nullable Admission used;

		private @Nullable MethodInvocation invocation;

		/**
		 * Whether the call got to where its lock is asked for, or was skipped before.
		 */
		private boolean decided;

		/**
		 * How often the method was run.
		 */
		private int runs;

		private int lockAttempt;

		private int attempt = 1;

		/**
		 * Whether it is known how the call ended.
		 */
		private boolean over;

		/**
		 * How the call ended, {@code null} when it failed before that was known.
		 */
		private @Nullable LockOutcome outcome;

		/**
		 * What the run threw, even if other advice has kept that from the caller.
		 */
		private @Nullable Throwable failure;

		/**
		 * What the work threw.
		 */
		private @Nullable Throwable thrown;

		private Call(SingleRunnerOperation operation, AdvisoryLockKey key, @Nullable PlannedTime scheduled,
				MethodInvocation invocation) {
			this.operation = operation;
			this.key = key;
			this.scope = operation.scope();
			this.method = operation.method();
			this.fixed = operation.fixedKey() != null;
			this.scheduled = scheduled;
			boolean now = SingleRunnerInterceptor.this.now != null;
			this.plan = operation.takePlan(key, now, scheduled);
			this.request = operation.lockTickIfRepeated(operation.createRequest(key, now, scheduled != null, this.plan),
					invocation);
			this.observed = observe();
		}

		private SingleRunnerObserver.@Nullable Call observe() {
			GuardedObserver observer = SingleRunnerInterceptor.this.observer;
			if (observer == null) {
				return null;
			}
			if (observer.watchesNothing()) {
				SingleRunnerInterceptor.this.observer = null;
				return null;
			}
			return observer.observe(this.operation, this.key);
		}

		private boolean admit() {
			AdvisoryLockOperations operations = SingleRunnerInterceptor.this.operations.get();
			this.admission = (operations instanceof TwoPhaseLockOperations admitting) ? admitting.admit(this.request)
					: new OnePhaseAdmission(operations, this.request);
			this.outcome = this.admission.outcome();
			return this.outcome == LockOutcome.EXECUTED;
		}

		/**
		 * Go on with the invocation under the lock, or skip it. Where other advice
		 * repeats that, each time is admitted for itself.
		 */
		private @Nullable Object execute(MethodInvocation invocation) throws Throwable {
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
			return (kept != null) ? this.operation.keptValue(kept, this.key) : refuse(before);
		}

		/**
		 * Skip the call, unless other advice repeats it after a run that has failed: it
		 * has not been skipped then.
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
		private void attempt() {
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
			boolean hasPlan = this.plan != null || SingleRunnerInterceptor.this.now != null;
			PlannedTime outside = PlannedTime.bind(hasPlan ? null : PlannedTime.current());
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
				throw Call.<Exception>unchanged(ex);
			}
			finally {
				PlannedTime.bind(outside);
				if (work != null) {
					work.close();
				}
			}
		}

		/**
		 * Note whether a run has done what the scheduled call is for.
		 */
		private void usePlan(boolean done) {
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
						+ "'): it returned a " + result.getClass().getName()
						+ ", so that its work goes on when the lock "
						+ "is released; wait for its end in the method, as by join() or block(), and return its result");
			}
		}

		/**
		 * A method may declare to throw anything, and what it throws gets to its caller
		 * as it is.
		 */
		@SuppressWarnings({ "unchecked", "TypeParameterUnusedInFormals" })
		private static <X extends Throwable> X unchanged(Throwable failure) throws X {
			throw (X) failure;
		}

		private @Nullable Object skip(@Nullable LockOutcome reason) {
			Assert.state(reason != null, "'reason' must not be null");
			this.decided = true;
			this.outcome = reason;
			return this.operation.skippedValue(LockResult.skipped(reason, this.key));
		}

		/**
		 * Explain a commit that was a rollback, of a run that has ended well: the
		 * transaction is that of the lock, or one that other advice of the method has
		 * begun.
		 */
		private Throwable explainRollback(Throwable failure) {
			if (failure == this.thrown || this.outcome != LockOutcome.EXECUTED || this.scope != LockScope.TRANSACTION
					|| !(failure instanceof UnexpectedRollbackException ex)) {
				return failure;
			}
			return (failure == this.failure) ? RefusedTransaction.name(ex, this.method)
					: RefusedTransaction.explain(ex, this.method, this.key);
		}

		/**
		 * Have somebody told when it is over: for a run in a caller's transaction, when
		 * that has ended.
		 */
		private void whenOver(BiConsumer<TwoPhaseLockOperations.End, @Nullable Throwable> listener) {
			if (this.used != null && (this.outcome == null || this.outcome == LockOutcome.EXECUTED)) {
				this.used.whenOver(listener);
			}
			else {
				listener.accept(TwoPhaseLockOperations.End.UNKNOWN, null);
			}
		}

		/**
		 * Return why the run has failed. What is thrown after the commit is no failure of
		 * the run, and what was rolled back is one.
		 * @param own why the run failed before its transaction ended, if it did
		 */
		private @Nullable Throwable failure(TwoPhaseLockOperations.End end, @Nullable Throwable own) {
			return switch (end) {
				case COMMITTED -> own;
				case ROLLED_BACK -> (this.failure != null) ? this.failure
						: new UnexpectedRollbackException(
								"Failed to complete @SingleRunner method '" + this.method + "' (advisory lock '"
										+ this.key + "'): it returned, and its transaction was rolled back");
				case UNKNOWN -> this.failure;
			};
		}

		private void close() {
			if (this.admission != null) {
				this.admission.close();
			}
			if (this.used != null) {
				this.used.letTickGo();
			}
		}

	}

}
