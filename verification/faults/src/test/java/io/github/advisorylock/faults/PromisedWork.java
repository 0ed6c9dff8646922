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

package io.github.advisorylock.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.support.RequestDetail.Recorded;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.thread.Threading;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Does the work of each {@link Promise}.
 */
class PromisedWork implements SmartLifecycle {

	static final Duration LONG = Duration.ofMinutes(10);

	/**
	 * The time between two ticks of the work that throws, in milliseconds.
	 */
	private static final long THROWING_PERIOD = 4_000;

	private static final List<Promise> IN_TRANSACTIONS = List.of(Promise.INTERVAL, Promise.THROWING, Promise.JOINED,
			Promise.WAIT_TRANSACTION, Promise.PAUSED);

	private static final List<Promise> IN_SESSIONS = List.of(Promise.SHARED_READ, Promise.WAIT_SESSION,
			Promise.SHARED_WRITE, Promise.LOCK_PROVIDER, Promise.LOCK_REGISTRY);

	private static final List<Promise> WITH_PERMITS = List.of(Promise.PERMIT_TRANSACTION, Promise.PERMIT_SESSION);

	/**
	 * All instances ask for a permit at the same moment, and again after this time, in
	 * milliseconds.
	 */
	private static final int RACE = 1_000;

	private final AdvisoryLockOperations operations;

	private final LockProvider lockProvider;

	private final LockRegistry<?> lockRegistry;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final RecordedWork work;

	private final @Nullable Operator operator;

	private final boolean virtualThreads;

	private final Set<Thread> callers = ConcurrentHashMap.newKeySet();

	private volatile boolean running;

	private int intervals;

	private int joins;

	PromisedWork(AdvisoryLockOperations operations, Operator operator, LockProvider lockProvider,
			LockRegistry<?> lockRegistry, JdbcTemplate jdbc, TransactionTemplate transaction, RecordedWork work,
			ContestantSettings settings, Environment environment) {
		this.operations = operations;
		this.lockProvider = lockProvider;
		this.lockRegistry = lockRegistry;
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.work = work;
		this.operator = settings.instance().startsWith(Fleet.name(Fleet.SIZE - 1)) ? operator : null;
		this.virtualThreads = Threading.VIRTUAL.isActive(environment);
	}

	@Override
	public void start() {
		this.running = true;
		go(() -> IN_TRANSACTIONS.forEach(this::tryToCall));
		go(() -> IN_SESSIONS.forEach(this::tryToCall));
		go(this::race);
		if (this.operator != null) {
			go(this.operator::operate);
		}
	}

	private void go(Runnable round) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("promised-");
		executor.setVirtualThreads(this.virtualThreads);
		executor.execute(() -> {
			this.callers.add(Thread.currentThread());
			while (this.running) {
				round.run();
				sleep(150);
			}
			this.callers.remove(Thread.currentThread());
		});
	}

	@Override
	public void stop() {
		this.running = false;
		while (!this.callers.isEmpty()) {
			sleep(20);
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	private void race() {
		long now = History.uptime();
		long turn = now / RACE + 1;
		sleep((int) (turn * RACE - now));
		tryToCall(WITH_PERMITS.get((int) (turn % WITH_PERMITS.size())));
	}

	private void tryToCall(Promise promise) {
		if (this.running) {
			attempt(() -> call(promise));
		}
	}

	private void call(Promise promise) throws Exception {
		LockRequest request = LockRequest.of(promise.lock()).scope(promise.scope());
		switch (promise) {
			case INTERVAL -> guarded(promise, request.minInterval(Promise.MIN_INTERVAL), ++this.intervals % 3 == 0);
			case THROWING -> {
				long now = History.now().toEpochMilli();
				guarded(promise, request.oncePerTick(Instant.ofEpochMilli(now - now % THROWING_PERIOD)), true);
			}
			case WAIT_TRANSACTION, WAIT_SESSION -> guarded(promise, request.waitFor(Promise.WAIT), false);
			case PAUSED -> guarded(promise, request.with(new Recorded(promise.key())), false);
			case PERMIT_TRANSACTION -> guarded(promise, request.permits(Promise.PERMITS), false);
			case PERMIT_SESSION -> guarded(promise, request.permits(Promise.PERMITS).waitFor(Promise.WAIT), false);
			case SHARED_READ -> guarded(promise, request.mode(LockMode.SHARED), false);
			case SHARED_WRITE -> guarded(promise, request.waitFor(Promise.WAIT), false);
			case JOINED -> joined(promise, request);
			case LOCK_PROVIDER -> provided(promise);
			case LOCK_REGISTRY -> registered(promise);
			default -> throw new IllegalArgumentException(promise.name());
		}
	}

	/**
	 * Run under a lock. Work that fails does so in the first attempt of a tick, or
	 * wherever there is no tick.
	 */
	private void guarded(Promise promise, LockRequest request, boolean failing) throws Exception {
		Instant tick = request.tick();
		long asked = History.uptime();
		String[] name = new String[1];
		try {
			LockResult<String> result = this.operations.execute(request, (lock) -> {
				answered(Event.Kind.WAITED, promise, asked);
				return this.work.run(promise, tick, lock, (run) -> {
					name[0] = run;
					write(this.jdbc, this.work, promise, run);
					if (failing && (tick == null || lock.attempt() == 1)) {
						throw new PlannedFailure();
					}
				});
			});
			String run = result.value();
			if (run != null) {
				this.work.done(run, promise.key(), tick, null);
			}
			else if (result.outcome() == LockOutcome.BUSY && this.running) {
				answered(Event.Kind.GAVE_UP, promise, asked);
			}
		}
		catch (PlannedFailure ex) {
			this.work.rolledBack(name[0], promise.key(), tick);
		}
	}

	private void answered(Event.Kind kind, Promise promise, long asked) {
		this.work.say(kind, promise.key(), History.uptime() - asked);
	}

	/**
	 * Do the work after the call that took the lock: the transaction still has it.
	 */
	private void joined(Promise promise, LockRequest request) {
		boolean undone = ++this.joins % 2 == 0;
		String run = this.transaction.execute((status) -> {
			if (!this.operations.execute(request, (lock) -> true).executed()) {
				return null;
			}
			if (undone) {
				status.setRollbackOnly();
			}
			try {
				return this.work.run(promise, null, null, (name) -> write(this.jdbc, this.work, promise, name));
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
		if (run != null && undone) {
			this.work.rolledBack(run, promise.key(), null);
		}
		else if (run != null) {
			this.work.done(run, promise.key(), null, null);
		}
	}

	private void provided(Promise promise) throws Exception {
		SimpleLock lock = this.lockProvider
			.lock(new LockConfiguration(Instant.now(), promise.lock(), LONG, Duration.ZERO))
			.orElse(null);
		if (lock == null) {
			return;
		}
		try {
			String run = this.work.run(promise, null, null, (name) -> {
			});
			lock = lock.extend(LONG, Duration.ZERO).orElse(null);
			if (lock != null) {
				this.work.done(run, promise.key(), null, null);
			}
		}
		finally {
			if (lock != null) {
				lock.unlock();
			}
		}
	}

	private void registered(Promise promise) throws Exception {
		Lock lock = this.lockRegistry.obtain(promise.lock());
		if (!lock.tryLock(Promise.WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
			return;
		}
		String run;
		try {
			run = this.work.run(promise, null, null, (name) -> {
			});
		}
		finally {
			lock.unlock();
		}
		this.work.done(run, promise.key(), null, null);
	}

	static void write(JdbcTemplate jdbc, RecordedWork work, Promise promise, String run) {
		jdbc.update(AdvisoryLockContestant.EFFECT, (insert) -> work.bind(insert, promise.key(), null, null, run));
	}

	/**
	 * A call that fails is what faults are for: histories tell of it.
	 */
	static void attempt(Attempt attempt) {
		try {
			attempt.make();
		}
		catch (Exception ex) {
			Thread.interrupted();
		}
	}

	static void sleep(int milliseconds) {
		try {
			Thread.sleep(milliseconds);
		}
		catch (InterruptedException ex) {
			// meant for a run that has ended
		}
	}

	interface Attempt {

		void make() throws Exception;

	}

}
