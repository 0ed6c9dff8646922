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

package io.github.advisorylock.test;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * {@link io.github.advisorylock.AdvisoryLockOperations} of one instance of an application
 * on locks in memory.
 */
final class InMemoryLockOperations implements TwoPhaseLockOperations {

	private final InMemoryLocks locks;

	private final Supplier<@Nullable PlatformTransactionManager> transactionManager;

	/**
	 * The calls whose work the current thread is in, innermost first.
	 */
	private final ThreadLocal<Deque<InMemoryCall>> running = ThreadLocal.withInitial(ArrayDeque::new);

	/**
	 * Create operations.
	 * @param locks where the locks are
	 * @param transactionManager returns what begins the transaction of a run,
	 * {@code null} to run without one
	 */
	InMemoryLockOperations(InMemoryLocks locks, Supplier<@Nullable PlatformTransactionManager> transactionManager) {
		this.locks = locks;
		this.transactionManager = transactionManager;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		Assert.notNull(action, "'action' must not be null");
		try (InMemoryCall call = call(request)) {
			T value = (call.outcome() == LockOutcome.EXECUTED) ? call.execute(action) : null;
			this.locks.record(new LockCall(call.key(), call.scope(), call.outcome(), null, request.tick()));
			return (call.outcome() == LockOutcome.EXECUTED) ? LockResult.executed(value)
					: LockResult.skipped(call.outcome(), call.key());
		}
		catch (Throwable ex) {
			LockScope scope = (request.scope() != null) ? request.scope() : LockScope.TRANSACTION;
			this.locks.record(new LockCall(this.locks.key(request), scope, LockOutcome.EXECUTED, ex, request.tick()));
			throw ex;
		}
	}

	@Override
	public Admission admit(LockRequest request) {
		return call(request);
	}

	private InMemoryCall call(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		return new InMemoryCall(this, request).admit();
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		AdvisoryLockKey key = this.locks.key(request);
		Assert.isTrue(request.scope() != LockScope.TRANSACTION,
				() -> "'request' must not ask for scope TRANSACTION, which ends with a transaction: advisory lock '"
						+ key + "' can't be held beyond it");
		Assert.isTrue(!request.isRecorded() && request.tick() == null,
				() -> "'request' must not ask for the ledger, which records work that is executed: advisory lock '"
						+ key + "' can only be held");
		InMemoryHold hold = new InMemoryHold(this.locks.table(), key, request.mode(), this);
		if (!this.locks.table().enter(hold, wait(request))) {
			return Optional.empty();
		}
		limit(hold, request);
		return Optional.of(hold);
	}

	/**
	 * Return how long a request waits, in nanoseconds.
	 */
	long wait(LockRequest request) {
		Duration waitFor = request.waitFor();
		Duration wait = (waitFor != null) ? waitFor : this.locks.waitFor();
		return (wait.compareTo(Duration.ofDays(1)) < 0) ? wait.toNanos() : Duration.ofDays(1).toNanos();
	}

	/**
	 * Have a lock lost if it is held for longer than a request allows.
	 */
	static void limit(InMemoryHold hold, LockRequest request) {
		Duration maxRun = request.maxRun();
		if (maxRun != null) {
			hold.limit(maxRun);
		}
	}

	InMemoryLocks locks() {
		return this.locks;
	}

	@Nullable PlatformTransactionManager transactionManager() {
		return this.transactionManager.get();
	}

	Deque<InMemoryCall> running() {
		return this.running.get();
	}

}
