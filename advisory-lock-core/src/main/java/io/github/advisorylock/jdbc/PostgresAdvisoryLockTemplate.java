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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.thread.Deadline;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * {@link io.github.advisorylock.AdvisoryLockOperations} on PostgreSQL.
 * <p>
 * {@link LockScope#TRANSACTION} locks are taken on the connection of the transaction that
 * the work runs in, {@link LockScope#SESSION} locks on one connection of the library's
 * own. Threads of one template exclude each other as applications do.
 * <p>
 * Is for one database: what picks another one by the transaction manager that a request
 * names stands outside.
 *
 * @since 0.1.0
 */
public class PostgresAdvisoryLockTemplate implements TwoPhaseLockOperations {

	private final String namespace;

	private final AdvisoryLockKeyFactory keyFactory;

	private final Duration waitFor;

	private final Deadline.Waits waits;

	private final HoldRegistry holds;

	private final TransactionScope transactionScope;

	private final @Nullable SessionScope sessionScope;

	private final DataSource target;

	private final @Nullable PlatformTransactionManager transactionManager;

	private final @Nullable LockSession session;

	private final TransactionCoverage coverage;

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
		this(dataSource, transactionManager, session, namespace, keyFactory, waitFor, maxHeldLocks, ledger,
				(session != null) ? session.threads().instance() : new LockInstance(null));
	}

	/**
	 * Create the template of an instance.
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
	 * @param instance holds the locks
	 */
	public PostgresAdvisoryLockTemplate(DataSource dataSource, @Nullable PlatformTransactionManager transactionManager,
			@Nullable LockSession session, String namespace, AdvisoryLockKeyFactory keyFactory, Duration waitFor,
			int maxHeldLocks, @Nullable Supplier<? extends RunLedger> ledger, LockInstance instance) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		Assert.notNull(namespace, "'namespace' must not be null");
		Assert.notNull(keyFactory, "'keyFactory' must not be null");
		Assert.notNull(waitFor, "'waitFor' must not be null");
		this.namespace = namespace;
		this.keyFactory = keyFactory;
		this.waitFor = waitFor;
		this.holds = new HoldRegistry(maxHeldLocks);
		DataSource target = unwrap(dataSource);
		this.target = target;
		this.transactionManager = transactionManager;
		this.coverage = new TransactionCoverage(target, transactionManager);
		LockScheduler.Ticker ticker = (session != null) ? session.ticker() : LockScheduler.Ticker.SYSTEM;
		this.waits = new Deadline.Waits(ticker);
		LockResources resources = new LockResources(this.holds, this.coverage, ledger,
				(session != null) ? new TickLocks(session, this.waits) : null, new PermitRequests(this.holds, session),
				session, instance, ticker);
		if (session != null) {
			session.notifications().listenToOperators(new RunCancellation(session, this.holds, ledger).listener());
		}
		this.transactionScope = new TransactionScope(resources, target, transactionManager);
		this.sessionScope = (session != null) ? new SessionScope(resources, session) : null;
		this.session = session;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		checkNamesNoManager(request);
		return execute(request, action, this.transactionScope);
	}

	private <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action, TransactionScope transactions) throws X {
		Assert.notNull(action, "'action' must not be null");
		try (LockCall call = admit(request, transactions)) {
			T value = (call.outcome() == LockOutcome.EXECUTED) ? call.execute(action) : null;
			return (call.outcome() == LockOutcome.EXECUTED) ? LockResult.executed(value)
					: LockResult.skipped(call.outcome(), call.key, call.reason());
		}
	}

	@Override
	public Admission admit(LockRequest request) {
		checkNamesNoManager(request);
		return admit(request, this.transactionScope);
	}

	private LockCall admit(LockRequest request, TransactionScope transactions) {
		Assert.notNull(request, "'request' must not be null");
		AdvisoryLockKey key = request.key(this.namespace, this.keyFactory);
		LockScope scope = request.scope();
		Duration wait = waitFor(request);
		Deadline deadline = wait.isZero() ? null : this.waits.until(wait);
		LockCall call = (scope == LockScope.SESSION) ? sessionScope(key).call(key, deadline, request)
				: transactions.call(key, deadline, request);
		return call.admit();
	}

	/**
	 * Return what takes the same locks, in transactions that another manager begins.
	 * @param manager the manager
	 * @return what takes locks for requests that name it
	 */
	public TwoPhaseLockOperations with(PlatformTransactionManager manager) {
		return new Named((manager == this.transactionManager) ? this.transactionScope
				: this.transactionScope.with(manager, new TransactionCoverage(this.target, manager)));
	}

	private Duration waitFor(LockRequest request) {
		Duration requested = request.waitFor();
		return (requested != null) ? requested : this.waitFor;
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		checkNamesNoManager(request);
		return tryAcquireHere(request);
	}

	private static void checkNamesNoManager(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		if (request.transactionManager() != null) {
			throw new IllegalStateException("Failed to find the database of transaction manager '"
					+ request.transactionManager() + "': this template is for one database");
		}
	}

	private Optional<HeldLock> tryAcquireHere(LockRequest request) {
		AdvisoryLockKey key = request.key(this.namespace, this.keyFactory);
		RequestDetail.checkHoldable(key, request);
		return Optional.ofNullable(sessionScope(key).tryAcquire(key, this.waits.until(waitFor(request)), request));
	}

	private SessionScope sessionScope(AdvisoryLockKey key) {
		if (this.sessionScope == null) {
			throw new IllegalStateException("Failed to acquire advisory lock '" + key
					+ "' in scope SESSION: no URL is known to connect to; set 'advisory-lock.session.url'");
		}
		return this.sessionScope;
	}

	/**
	 * Return whether locks of a scope can be taken outside a transaction.
	 * @param scope the scope
	 * @return {@code false} if what it needs is missing: a transaction manager or a
	 * connection of its own
	 */
	public boolean supports(LockScope scope) {
		return (scope == LockScope.TRANSACTION) ? this.transactionManager != null : this.session != null;
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
	 * Return how many locks this application holds or is about to take here.
	 * @return the number of locks, leaders' not among them
	 */
	public int getHeldLocks() {
		return this.holds.size();
	}

	/**
	 * Warn of each lock that this application has held for long, once, with what its run
	 * is doing, which its record keeps. Asks no database.
	 * @param duration how long that is
	 */
	public void reportLongHolds(Duration duration) {
		// without a session, there is no run that is recorded before its end
		Executor later = (this.session != null) ? this.session.threads().workers() : Runnable::run;
		this.holds.takeHeldLonger(duration).forEach((hold) -> {
			Run.Stack stack = Run.note(hold.run(), hold.backend(), later);
			LockLog.heldLong(hold.key(), hold.scope(), hold.heldFor(), (stack != null) ? stack.toString() : null);
		});
	}

	/**
	 * Return what this application does under a lock now. Asks no database.
	 * @param key the key
	 * @return what is done, once for each time that it holds the lock
	 */
	public List<Run.Stack> stacks(AdvisoryLockKey key) {
		return this.holds.stacks(lockEntry(key));
	}

	/**
	 * Return whether anybody holds a lock, on whatever instance. Asks the database.
	 * @param key the key
	 * @return {@code true} if a session of the database holds it
	 */
	public boolean isHeldAnywhere(AdvisoryLockKey key) {
		return this.transactionScope.isHeldAnywhere(key);
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
		this.holds.whenIdle(action);
	}

	/**
	 * Close the connections of session locks, each as soon as nobody works under a lock
	 * of it, until {@link #resume()}. Who needs one opens it for as long.
	 */
	public void suspend() {
		if (this.session != null) {
			this.session.suspend();
		}
	}

	/**
	 * Keep the connections of session locks again, after {@link #suspend()}.
	 */
	public void resume() {
		if (this.session != null) {
			this.session.resume();
		}
	}

	/**
	 * Return how the lock table of the server names a key.
	 * @param key the key
	 * @return class, object and kind, with a colon between them
	 */
	public static String lockEntry(AdvisoryLockKey key) {
		return PostgresAdvisoryLockFunctions.entry(key);
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

	/**
	 * Takes locks for requests that name a manager.
	 */
	private final class Named implements TwoPhaseLockOperations {

		private final TransactionScope transactions;

		private Named(TransactionScope transactions) {
			this.transactions = transactions;
		}

		@Override
		public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
				LockCallback<T, X> action) throws X {
			return PostgresAdvisoryLockTemplate.this.execute(request, action, this.transactions);
		}

		@Override
		public Admission admit(LockRequest request) {
			return PostgresAdvisoryLockTemplate.this.admit(request, this.transactions);
		}

		@Override
		public Optional<HeldLock> tryAcquire(LockRequest request) {
			return tryAcquireHere(request);
		}

	}

}
