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
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.log.LockLog;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * {@link AdvisoryLockOperations} on PostgreSQL.
 * <p>
 * {@link LockScope#TRANSACTION} locks are taken on the connection of the transaction that
 * the work runs in, {@link LockScope#SESSION} locks on one connection of the library's
 * own. Threads of one template exclude each other as applications do.
 *
 * @since 0.1.0
 */
public class PostgresAdvisoryLockTemplate implements AdvisoryLockOperations {

	private final String namespace;

	private final AdvisoryLockKeyFactory keyFactory;

	private final Duration waitFor;

	private final DataSource dataSource;

	private final ActiveCalls calls = new ActiveCalls();

	private final LockWaits waits = new LockWaits();

	private final LocalHolds holds;

	private final TransactionLocks transactionLocks;

	private final TransactionScopeStrategy transactionScope;

	private final boolean transactional;

	private final TransactionCoverage coverage;

	private final @Nullable SessionScopeStrategy sessionScope;

	private final @Nullable Supplier<? extends RunLedger> ledger;

	private volatile boolean used;

	private volatile Runnable whenUsed = () -> {
	};

	/**
	 * Create a template without a ledger.
	 * @param dataSource the application's DataSource
	 * @param transactionManager begins the transaction of a run where there is none, or
	 * {@code null} to refuse that
	 * @param session carries session locks, or {@code null} to refuse those
	 * @param namespace the namespace for requests that do not name one
	 * @param keyFactory makes the keys of requests that were created by name
	 * @param waitFor how long to wait for requests that do not say so, zero to not wait
	 * @param maxHeldLocks how many locks may be held at a time
	 */
	public PostgresAdvisoryLockTemplate(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager,
			@Nullable LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory, Duration waitFor,
			int maxHeldLocks) {
		this(dataSource, transactionManager, session, namespace, keyFactory, waitFor, maxHeldLocks, null);
	}

	/**
	 * Create a template.
	 * @param dataSource the application's DataSource
	 * @param transactionManager begins the transaction of a run where there is none, or
	 * {@code null} to refuse that
	 * @param session carries session locks, or {@code null} to refuse those
	 * @param namespace the namespace for requests that do not name one
	 * @param keyFactory makes the keys of requests that were created by name
	 * @param waitFor how long to wait for requests that do not say so, zero to not wait
	 * @param maxHeldLocks how many locks may be held at a time
	 * @param ledger records runs on the same DataSource, asked for when the first one is
	 * to be recorded, or {@code null} to refuse that
	 */
	public PostgresAdvisoryLockTemplate(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager,
			@Nullable LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory, Duration waitFor,
			int maxHeldLocks, @Nullable Supplier<? extends RunLedger> ledger) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		Assert.notNull(namespace, "'namespace' must not be null");
		Assert.notNull(keyFactory, "'keyFactory' must not be null");
		Assert.notNull(waitFor, "'waitFor' must not be null");
		this.namespace = namespace;
		this.keyFactory = keyFactory;
		this.waitFor = waitFor;
		this.holds = new LocalHolds(maxHeldLocks);
		this.dataSource = unwrap(dataSource);
		this.coverage = new TransactionCoverage(this.dataSource, transactionManager);
		this.transactionLocks = new TransactionLocks(this.dataSource, this.coverage);
		Runnable whenAcquired = (session != null) ? new TransactionWatch(this.holds, session)::expect : () -> {
		};
		this.transactionScope = new TransactionScopeStrategy(this, this.holds, this.transactionLocks, this.coverage,
				whenAcquired, transactionManager);
		this.transactional = transactionManager != null;
		this.sessionScope = (session != null) ? new SessionScopeStrategy(this, this.holds, session, this.coverage)
				: null;
		this.ledger = ledger;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		return execute(request, (LocalTurn) null, action);
	}

	<T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			@Nullable LocalTurn turn, LockCallback<T, X> action) throws X {
		Assert.notNull(request, "'request' must not be null");
		Assert.notNull(action, "'action' must not be null");
		AdvisoryLockKey key = key(request);
		noteUse();
		this.calls.begin();
		try {
			return execute(request, key, turn, action);
		}
		finally {
			this.calls.end();
		}
	}

	private void noteUse() {
		if (!this.used) {
			this.used = true;
			this.whenUsed.run();
		}
	}

	private <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			AdvisoryLockKey key, @Nullable LocalTurn turn, LockCallback<T, X> action) throws X {
		LockRun enclosing = LockRun.find(this, key);
		if (enclosing != null) {
			enclosing.hold().checkCovers(request.mode());
			return LockResult.executed(enclosing.nested().run(action));
		}
		RunRecord record = request.isRecorded() ? record(request, key) : null;
		Hold held = HoldSynchronization.findInCurrentTransaction(key, this.holds);
		if (held != null) {
			held.checkCovers(request.mode());
			return new LockRun(this, held, record, LockRun.callersBoundary(held, record, this.coverage), this.coverage)
				.runOrRecordFailure(action);
		}
		LockOutcome foreseen = (turn != null || request.isForeseen()) ? LockOutcome.EXECUTED : foresee(request, key);
		if (foreseen != LockOutcome.EXECUTED) {
			return LockResult.skipped(foreseen, key);
		}
		if (request.scope() == LockScope.SESSION) {
			return sessionScope(key).execute(key, request.mode(), deadline(request), record, action);
		}
		Hold entered = (turn != null) ? turn.take() : null;
		Deadline deadline = (turn != null && entered != null) ? turn.deadline() : deadline(request);
		return this.transactionScope.execute(entered, key, request.mode(), deadline, record, action);
	}

	private RunRecord record(LockRequest request, AdvisoryLockKey key) {
		Assert.isTrue(request.mode() == LockMode.EXCLUSIVE, () -> "'request' must not ask for mode SHARED: runs of "
				+ "advisory lock '" + key + "' can be recorded only one after the other");
		Assert.state(this.ledger != null, () -> "Failed to record a run of advisory lock '" + key
				+ "': there is no ledger; do not set 'advisory-lock.ledger.enabled' to false");
		LockScope scope = (request.scope() != null) ? request.scope() : LockScope.TRANSACTION;
		return this.ledger.get().record(key, scope, request);
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		AdvisoryLockKey key = key(request);
		Assert.isTrue(request.scope() != LockScope.TRANSACTION,
				() -> "'request' must not ask for scope TRANSACTION, which ends with a transaction: advisory lock '"
						+ key + "' can't be held beyond it");
		Assert.isTrue(!request.isRecorded(), () -> "'request' must not ask for the ledger, which records work that "
				+ "is executed: advisory lock '" + key + "' can only be held");
		SessionScopeStrategy scope = sessionScope(key);
		noteUse();
		Hold hold = scope.acquire(key, request.mode(), deadline(request));
		return (hold != null) ? Optional.of(scope.hand(hold)) : Optional.empty();
	}

	/**
	 * Return whether locks of a scope can be taken outside a transaction.
	 * @param scope the scope
	 * @return {@code false} if what it needs is missing: a transaction manager or a
	 * connection of its own
	 */
	public boolean supports(LockScope scope) {
		return (scope == LockScope.TRANSACTION) ? this.transactional : this.sessionScope != null;
	}

	/**
	 * Return whether another thread of this application holds the requested lock. Asks no
	 * database.
	 * @param request which lock
	 * @return {@code true} if {@link #execute} would find the lock busy here
	 */
	public boolean isBusyLocally(LockRequest request) {
		return this.holds.isBusyForThisThread(key(request), request.mode());
	}

	/**
	 * Find out what can be known about a call before it begins a transaction, and in
	 * scope {@link LockScope#TRANSACTION} wait for other threads of this application. A
	 * call for a tick that was completed must not take the lock just to learn that:
	 * meanwhile a call for the next tick, on an instance whose clock is right, would find
	 * it busy.
	 * @param request which lock
	 * @return the turn of the call, to be {@linkplain LocalTurn#end() ended} in any case.
	 * Its outcome is {@link LockOutcome#BUSY} if another thread of this application holds
	 * the lock for longer than the request waits, {@link LockOutcome#ALREADY_RAN} or
	 * {@link LockOutcome#PAUSED} if the ledger is against its tick, else
	 * {@link LockOutcome#EXECUTED}
	 */
	public LocalTurn takeTurn(LockRequest request) {
		AdvisoryLockKey key = key(request);
		Deadline deadline = deadline(request);
		LockOutcome outcome = foresee(request, key);
		Hold hold = null;
		boolean enters = outcome == LockOutcome.EXECUTED && request.scope() != LockScope.SESSION;
		if (enters && !this.holds.isHeldByThisThread(key)) {
			hold = this.holds.enter(key, request.mode(), LockScope.TRANSACTION, deadline);
			outcome = (hold != null) ? outcome : LockOutcome.BUSY;
		}
		return new LocalTurn(this, outcome, deadline, hold);
	}

	void leave(Hold hold) {
		this.holds.leave(hold);
	}

	private LockOutcome foresee(LockRequest request, AdvisoryLockKey key) {
		Duration waitFor = request.waitFor();
		if (waitFor != null && waitFor.isZero() && this.holds.isBusyForThisThread(key, request.mode())) {
			return LockOutcome.BUSY;
		}
		Instant tick = request.tick();
		return (tick != null && this.ledger != null && !TransactionSynchronizationManager.isActualTransactionActive())
				? record(request, key).foresee() : LockOutcome.EXECUTED;
	}

	/**
	 * Return whether the transaction that the current thread is in, if any, is one that
	 * locks can live in.
	 * @return {@code true} if it is one on the DataSource of the locks
	 */
	public boolean isInLockTransaction() {
		return this.coverage.isCovered();
	}

	/**
	 * Return how many locks this application holds or is about to take.
	 * @return the number of locks, leaders' not among them
	 */
	public int getHeldLocks() {
		return this.holds.size();
	}

	/**
	 * Warn of each lock that this application has held for long, once. Asks no database.
	 * @param duration how long that is
	 */
	public void reportLongHolds(Duration duration) {
		this.holds.takeHeldLonger(duration)
			.forEach((hold) -> LockLog.heldLong(hold.key(), hold.scope(), hold.heldFor()));
	}

	/**
	 * Return whether anybody holds a lock, on whatever instance. Asks the database.
	 * @param key the key
	 * @return {@code true} if a session of the database holds it
	 */
	public boolean isHeldAnywhere(AdvisoryLockKey key) {
		return this.transactionLocks.isHeld(key);
	}

	/**
	 * Run something as soon as a lock was asked for, at once if one was already.
	 * @param action what to run, possibly more than once
	 */
	public void whenUsed(Runnable action) {
		this.whenUsed = action;
		if (this.used) {
			action.run();
		}
	}

	/**
	 * End all waits for busy locks, and those to come: the locks are busy.
	 */
	public void stopWaiting() {
		this.waits.end();
	}

	/**
	 * Let calls wait again after {@link #stopWaiting()}.
	 */
	public void resumeWaiting() {
		this.waits.allow();
	}

	/**
	 * Run an action once no {@link #execute} is under way, at once if none is. Calls of
	 * the current thread, and of threads that wait for the JVM to exit, are not waited
	 * for: they would wait for whoever waits for the action.
	 * @param action what to do, once
	 */
	public void whenIdle(Runnable action) {
		this.calls.whenNoOther(action);
	}

	private SessionScopeStrategy sessionScope(AdvisoryLockKey key) {
		Assert.state(this.sessionScope != null, () -> "Failed to acquire advisory lock '" + key
				+ "' in scope SESSION: no URL is known to connect to; set 'advisory-lock.session.url'");
		return this.sessionScope;
	}

	private AdvisoryLockKey key(LockRequest request) {
		return request.key(this.namespace, this.keyFactory);
	}

	private Deadline deadline(LockRequest request) {
		Duration requested = request.waitFor();
		return this.waits.until((requested != null) ? requested : this.waitFor);
	}

	/**
	 * Return the DataSource that transactions are bound to.
	 * @param dataSource the DataSource, or a proxy for its transactions
	 * @return the DataSource behind such a proxy, else itself
	 */
	public static DataSource unwrap(DataSource dataSource) {
		DataSource target = (dataSource instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: dataSource;
		Assert.state(target != null, "'dataSource' must have a target");
		return target;
	}

}
