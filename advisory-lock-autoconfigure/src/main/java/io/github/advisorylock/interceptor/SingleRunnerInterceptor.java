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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.log.LockLog;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.Assert;

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

	private static final String CALL = SingleRunnerCall.class.getName();

	private final SingleRunnerOperationSource operationSource;

	private final Function<LockRequest, PreparedCall> preparation;

	private final SingleRunnerObserver observer;

	private final Consumer<Object> eventPublisher;

	private final MethodInterceptor insideTransaction = this::invokeInsideTransaction;

	/**
	 * Create an interceptor.
	 * @param operationSource knows which methods run under a lock
	 * @param preparation does what a call can do before it begins a transaction: it may
	 * find out that it is bound to be skipped, and wait for others of this application
	 * @param observer watches the calls; asked for at the first call
	 * @param eventPublisher is told about {@link SingleRunnerFinishedEvent finished} and
	 * {@link SingleRunnerSkippedEvent skipped} runs
	 */
	public SingleRunnerInterceptor(SingleRunnerOperationSource operationSource,
			Function<LockRequest, PreparedCall> preparation, Supplier<SingleRunnerObserver> observer,
			Consumer<Object> eventPublisher) {
		this.operationSource = operationSource;
		this.preparation = preparation;
		this.observer = new GuardedObserver(observer);
		this.eventPublisher = eventPublisher;
	}

	/**
	 * Return the interceptor that takes {@link LockScope#TRANSACTION} locks. Must stand
	 * in the same proxy as this one, inside the transaction interceptor.
	 * @return the interceptor for the innermost place
	 */
	public MethodInterceptor insideTransaction() {
		return this.insideTransaction;
	}

	private @Nullable Object invokeInsideTransaction(MethodInvocation invocation) throws Throwable {
		Object call = ((ProxyMethodInvocation) invocation).getUserAttribute(CALL);
		return (call instanceof SingleRunnerCall inside) ? inside.run(invocation) : invocation.proceed();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Assert.state(target != null, "'target' must not be null");
		SingleRunnerOperation operation = this.operationSource.getOperation(invocation.getMethod(), target.getClass());
		if (operation == null) {
			return invocation.proceed();
		}
		RunNow now = RunNow.take();
		SingleRunnerCall call = new SingleRunnerCall(operation, invocation.getArguments(), now != null, this.observer);
		long started = System.nanoTime();
		try {
			Object result = run(call, invocation);
			if (!call.isDecided()) {
				checkDidNotRun(call, invocation);
				return result;
			}
			announce(call, started, call.failure());
			return result;
		}
		catch (Throwable ex) {
			announce(call, started, ex);
			throw ex;
		}
		finally {
			if (now != null) {
				now.setOutcome(call.outcome());
			}
		}
	}

	private @Nullable Object run(SingleRunnerCall call, MethodInvocation invocation) throws Throwable {
		SingleRunnerOperation operation = call.operation();
		if (operation.paused()) {
			return call.skip(LockOutcome.PAUSED);
		}
		PreparedCall prepared = this.preparation.apply(call.request());
		try {
			return run(call, prepared, invocation);
		}
		finally {
			prepared.end().run();
		}
	}

	private @Nullable Object run(SingleRunnerCall call, PreparedCall prepared, MethodInvocation invocation)
			throws Throwable {
		if (prepared.outcome() != LockOutcome.EXECUTED) {
			return call.skip(prepared.outcome());
		}
		call.use(prepared.operations());
		if (call.operation().scope() == LockScope.SESSION) {
			return call.run(invocation);
		}
		((ProxyMethodInvocation) invocation).setUserAttribute(CALL, call);
		return invocation.proceed();
	}

	/**
	 * Make sure that a call did not run which came back without having got to where its
	 * lock is taken. What answered it instead is no run and no skip, so nothing is said
	 * of it.
	 * @throws IllegalStateException if the method may have run without its lock
	 */
	private void checkDidNotRun(SingleRunnerCall call, MethodInvocation invocation) {
		if (!AnsweringAdvice.explains(invocation, this.insideTransaction)) {
			throw new IllegalStateException("Failed to guard '" + call.operation().method() + "' (advisory lock '"
					+ call.key() + "'): the call came back without having got to where its lock is taken, inside its "
					+ "transaction, so the method may have run without it; remove the advice of the bean that goes past "
					+ "that, or set 'scope' to SESSION");
		}
	}

	private void announce(SingleRunnerCall call, long started, @Nullable Throwable failure) {
		SingleRunnerOperation operation = call.operation();
		LockOutcome outcome = call.outcome();
		call.observed().end(outcome, failure);
		if (outcome != null && outcome != LockOutcome.EXECUTED) {
			LockLog.skipped(call.key(), operation.scope(), operation.method(), outcome);
			publish(new SingleRunnerSkippedEvent(call.key(), operation.scope(), operation.method(), outcome));
			return;
		}
		Duration duration = Duration.ofNanos(System.nanoTime() - started);
		LockLog.finished(call.key(), operation.key().fixed() != null, operation.scope(), operation.method(), duration,
				failure);
		publish(new SingleRunnerFinishedEvent(call.key(), operation.scope(), operation.method(), duration, failure));
	}

	private void publish(Object event) {
		try {
			this.eventPublisher.accept(event);
		}
		catch (Throwable ex) {
			logger.warn("A listener failed on " + event, ex);
		}
	}

}
