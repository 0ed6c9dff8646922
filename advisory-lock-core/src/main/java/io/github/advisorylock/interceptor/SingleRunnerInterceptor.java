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

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockOutcome;
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

	private final BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> operationSource;

	private final Supplier<? extends AdvisoryLockOperations> operations;

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
	public SingleRunnerInterceptor(BiFunction<Method, Class<?>, @Nullable SingleRunnerOperation> operationSource,
			Supplier<? extends AdvisoryLockOperations> operations,
			Supplier<? extends @Nullable SingleRunnerObserver> observer, ApplicationEventPublisher eventPublisher) {
		this.operationSource = operationSource;
		this.operations = SingletonSupplier.of(operations);
		this.observer = new GuardedObserver(observer, () -> this.observer = null);
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
		SingleRunnerOperation operation = this.operationSource.apply(invocation.getMethod(), target.getClass());
		if (operation == null) {
			return invocation.proceed();
		}
		AdvisoryLockKey key = operation.key(invocation.getArguments());
		GuardedObserver observer = this.observer;
		SingleRunnerObserver.Call observed = (observer != null) ? observer.observe(operation, key) : null;
		GuardedCall call = new GuardedCall(operation, key, this.operations, observed, this.now != null, invocation);
		Object result;
		try {
			if (operation.paused && !(this.operations.get() instanceof UnguardedLockOperations)) {
				result = call.skip(LockOutcome.PAUSED);
			}
			else if (call.scheduled != null && operation.isRepeated(call.scheduled)) {
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
	private void checkDidNotRun(GuardedCall call, MethodInvocation invocation) {
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
	private void announce(GuardedCall call, TwoPhaseLockOperations.End end, @Nullable Throwable own) {
		LockOutcome outcome = call.outcome;
		Throwable failure = call.failure(end, own);
		boolean done = failure == null || end == TwoPhaseLockOperations.End.COMMITTED;
		call.over = true;
		call.usePlan(done);
		if (call.observed != null) {
			call.observed.end(outcome, failure);
		}
		if (this.now != null) {
			this.now.accept((failure != null) ? null : outcome);
		}
		Instant tick = call.request.tick();
		Object event;
		if (outcome != null && outcome != LockOutcome.EXECUTED) {
			LockLog.skipped(call.key, call.scope, call.method, outcome, tick, call.request, call.reason);
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
			if (!(call instanceof GuardedCall inside)) {
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

}
