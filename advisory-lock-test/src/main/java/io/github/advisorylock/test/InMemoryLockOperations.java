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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.ledger.jdbc.JobName;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * {@link io.github.advisorylock.AdvisoryLockOperations} of one instance of an application
 * on locks in memory.
 */
final class InMemoryLockOperations implements TwoPhaseLockOperations {

	private final InMemoryLocks locks;

	private final Supplier<AdvisoryLockProperties> properties;

	private final InMemoryTransactions transactions;

	private final @Nullable FleetInstance instance;

	/**
	 * The calls whose work the current thread is in, innermost first.
	 */
	private final ThreadLocal<Deque<InMemoryCall>> running = ThreadLocal.withInitial(ArrayDeque::new);

	/**
	 * The keys whose last tick that came here was run here.
	 */
	private final Set<AdvisoryLockKey> ran = ConcurrentHashMap.newKeySet();

	/**
	 * Create operations.
	 * @param locks where the locks are
	 * @param beans has the transaction managers and the properties, if there are any
	 * @param instance whose operations they are, {@code null} if not those of a fleet
	 */
	InMemoryLockOperations(InMemoryLocks locks, ConfigurableListableBeanFactory beans,
			@Nullable FleetInstance instance) {
		this.locks = locks;
		this.properties = SingletonSupplier.of(() -> beans.getBeanProvider(AdvisoryLockProperties.class)
			.getIfAvailable(() -> new Binder().bindOrCreate("advisory-lock", AdvisoryLockProperties.class)));
		this.transactions = new InMemoryTransactions(beans, this.properties);
		this.instance = instance;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		Assert.notNull(action, "'action' must not be null");
		Assert.notNull(request, "'request' must not be null");
		try (InMemoryCall call = new InMemoryCall(this, request)) {
			T value = call.execute(action);
			this.locks.record(new LockCall(call.key(), call.scope(), call.outcome(), null, request.tick()));
			return (call.outcome() == LockOutcome.EXECUTED) ? LockResult.executed(value)
					: LockResult.skipped(call.outcome(), call.key());
		}
		catch (Throwable ex) {
			this.locks.record(
					new LockCall(this.locks.key(request), scope(request), LockOutcome.EXECUTED, ex, request.tick()));
			throw ex;
		}
	}

	@Override
	public Admission admit(LockRequest request) {
		return new InMemoryCall(this, request);
	}

	static LockScope scope(LockRequest request) {
		return (request.scope() != null) ? request.scope() : LockScope.TRANSACTION;
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		AdvisoryLockKey key = this.locks.key(request);
		RequestDetail.checkHoldable(key, request);
		this.locks.answers().checkKnown(key, request);
		boolean free = this.instance == null || awaitOwn(key, request);
		InMemoryHold held = free ? enter(key, request, Duration.ZERO) : null;
		Fleet fleet = this.locks.fleet();
		if (held != null && fleet != null && request.maxRun() != null) {
			fleet.time().at(fleet.now().plus(request.maxRun()), this.instance, held::revoke);
		}
		return Optional.ofNullable(held);
	}

	/**
	 * Wait as long as a request does until no call of this instance has the lock: that is
	 * decided here, whether or not there is a database.
	 * @return whether none has it
	 */
	boolean awaitOwn(AdvisoryLockKey key, LockRequest request) {
		return this.locks.table().awaitOwn(hold(key, request), waitFor(request));
	}

	/**
	 * Take a lock, waiting for it as long as the request does.
	 * @param waited for how long it has waited already
	 * @return the lock, {@code null} if it is busy
	 */
	@Nullable InMemoryHold enter(AdvisoryLockKey key, LockRequest request, Duration waited) {
		InMemoryHold hold = hold(key, request);
		int most = this.properties.get().maxHeldLocks();
		if (this.locks.table().count(hold) >= most) {
			throw new CannotAcquireLockException(
					"Failed to acquire advisory lock '" + key + "': this application holds " + most
							+ " already, as many as 'advisory-lock.max-held-locks' allows");
		}
		this.locks.checkDatabase(key);
		long nanos = TimeUnit.NANOSECONDS.convert(waitFor(request).minus(waited));
		return this.locks.table().enter(hold, nanos) ? hold : null;
	}

	/**
	 * Return whether a run is interrupted whose lock is lost.
	 */
	boolean interrupts() {
		return this.properties.get().session().whenLost() == LockSessionSettings.WhenLost.INTERRUPT;
	}

	/**
	 * Make sure that the ledger would record runs for a key.
	 */
	void checkRecorded(AdvisoryLockKey key) {
		Assert.state(this.locks.settings().ledger() != SingleRunnerSettings.LedgerUse.OFF,
				() -> "Failed to record a run of advisory lock '" + key
						+ "': there is no ledger; do not set 'advisory-lock.ledger.enabled' to false");
		String excess = JobName.of(key).findExcess();
		Assert.isTrue(excess == null, () -> "Failed to record runs of advisory lock '" + key + "': " + excess);
	}

	/**
	 * Return for how long a key is remembered that was completed.
	 */
	Duration rememberKeys() {
		return this.properties.get().rememberKeys();
	}

	private InMemoryHold hold(AdvisoryLockKey key, LockRequest request) {
		return new InMemoryHold(this.locks.table(), key, request.mode(), request.permits(), this);
	}

	private Duration waitFor(LockRequest request) {
		return (request.waitFor() != null) ? request.waitFor() : this.locks.settings().waitFor();
	}

	/**
	 * Note that a tick is run here.
	 */
	void noteTick(AdvisoryLockKey key) {
		this.ran.add(key);
	}

	/**
	 * Return whether a tick is looked up before the lock is asked for.
	 */
	boolean looksFirst(AdvisoryLockKey key) {
		return !this.ran.remove(key);
	}

	@Nullable FleetInstance instance() {
		return this.instance;
	}

	InMemoryLocks locks() {
		return this.locks;
	}

	InMemoryTransactions transactions() {
		return this.transactions;
	}

	Deque<InMemoryCall> running() {
		return this.running.get();
	}

	@Nullable InMemoryCall findRunning(AdvisoryLockKey key) {
		return running().stream().filter((call) -> call.key().equals(key)).findFirst().orElse(null);
	}

}
