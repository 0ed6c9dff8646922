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

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerLifecycle;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

/**
 * Does the work of each {@link Promise}.
 */
class PromisedWork implements SmartLifecycle {

	private static final Duration LENGTH = Duration.ofMillis(200);

	private static final Duration LONG = Duration.ofMinutes(10);

	/**
	 * The time between two ticks of the work that throws, in milliseconds.
	 */
	private static final long THROWING_PERIOD = 4_000;

	/**
	 * How long the operator waits before he pauses the job, and before he resumes it.
	 */
	private static final int OPERATOR = 5_000;

	private static final List<Promise> IN_TRANSACTIONS = List.of(Promise.INTERVAL, Promise.THROWING, Promise.JOINED,
			Promise.WAIT_TRANSACTION, Promise.PAUSED);

	private static final List<Promise> IN_SESSIONS = List.of(Promise.SHARED_READ, Promise.WAIT_SESSION,
			Promise.SHARED_WRITE, Promise.LOCK_PROVIDER, Promise.LOCK_REGISTRY);

	private final AdvisoryLockOperations operations;

	private final AdvisoryLockLedger ledger;

	private final LockProvider lockProvider;

	private final LockRegistry<?> lockRegistry;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final RecordedWork work;

	private final ApplicationContext context;

	private final boolean operator;

	private final boolean virtualThreads;

	/**
	 * The run of the annotated method on this thread.
	 */
	private final ThreadLocal<String> last = new ThreadLocal<>();

	private final Set<Thread> callers = ConcurrentHashMap.newKeySet();

	private volatile boolean running;

	private int intervals;

	private int joins;

	PromisedWork(AdvisoryLockOperations operations, AdvisoryLockLedger ledger, LockProvider lockProvider,
			LockRegistry<?> lockRegistry, JdbcTemplate jdbc, TransactionTemplate transaction, RecordedWork work,
			ContestantSettings settings, ApplicationContext context, Environment environment) {
		this.operations = operations;
		this.ledger = ledger;
		this.lockProvider = lockProvider;
		this.lockRegistry = lockRegistry;
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.work = work;
		this.context = context;
		this.operator = settings.instance().startsWith(Fleet.name(Fleet.SIZE - 1));
		this.virtualThreads = Threading.VIRTUAL.isActive(environment);
	}

	@Override
	public void start() {
		this.running = true;
		go(() -> IN_TRANSACTIONS.forEach(this::tryToCall));
		go(() -> IN_SESSIONS.forEach(this::tryToCall));
		if (this.operator) {
			go(this::operate);
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
			case PAUSED -> guarded(promise, request.recordedUnder(promise.key()), false);
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
				return run(promise, tick, lock, (run) -> {
					name[0] = run;
					write(promise, run);
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
				return run(promise, null, null, (name) -> write(promise, name));
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
			String run = run(promise, null, null, (name) -> {
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
			run = run(promise, null, null, (name) -> {
			});
		}
		finally {
			lock.unlock();
		}
		this.work.done(run, promise.key(), null, null);
	}

	@Scheduled(fixedDelay = 700)
	@SchedulerLock(name = Promise.SCHEDULER_LOCK_KEY)
	void schedulerLock() throws Exception {
		Promise promise = Promise.SCHEDULER_LOCK;
		String run = run(promise, null, null, (name) -> LockExtender.extendActiveLock(LONG, Duration.ZERO));
		this.work.done(run, promise.key(), null, null);
	}

	@Scheduled(cron = "0 * * * * *")
	@SingleRunner(key = Promise.CATCH_UP_KEY, once = Once.PER_TICK, catchUp = "58s")
	void catchUp() throws Exception {
		Promise promise = Promise.CATCH_UP;
		LockContext lock = LockContext.current().orElseThrow();
		Instant tick = lock.tick().orElseThrow();
		boolean failing = lock.attempt() == 1 && tick.getEpochSecond() / Promise.CATCH_UP_PERIOD.toSeconds() % 2 == 0;
		run(promise, tick, lock, (run) -> {
			this.last.set(run);
			write(promise, run);
			if (failing) {
				throw new PlannedFailure();
			}
		});
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		String run = this.last.get();
		this.last.remove();
		if (run != null && event.failure() == null) {
			this.work.done(run, Promise.CATCH_UP.key(), event.tick(), null);
		}
		else if (run != null && event.failure() instanceof PlannedFailure) {
			this.work.rolledBack(run, Promise.CATCH_UP.key(), event.tick());
		}
	}

	/**
	 * Resume before anything else: an operator before this one may have been killed.
	 */
	private void operate() {
		String key = Promise.PAUSED.key();
		this.work.say(Event.Kind.RESUMED, key, 0);
		attempt(() -> this.ledger.resume(key, "trial"));
		sleep(OPERATOR);
		attempt(() -> {
			this.ledger.pause(key, "trial");
			this.work.say(Event.Kind.PAUSED, key, 0);
			sleep(OPERATOR);
		});
		attempt(() -> run(Promise.HOUSEKEEPING, null, null, (run) -> keepHouse()));
	}

	/**
	 * Have a round of housekeeping at once, for which the library takes ten minutes.
	 */
	private void keepHouse() {
		String promised = "key IN ('"
				+ String.join("', '", List.of(Promise.INTERVAL.key(), Promise.PAUSED.key(), Promise.THROWING.key()))
				+ "')";
		this.jdbc.update("UPDATE advisory_lock_run SET keep_until = now() - interval '2 min' WHERE " + promised
				+ " AND finished_at IS NOT NULL");
		this.jdbc.update("DELETE FROM advisory_lock_completion WHERE key = 'advisory-lock:ledger-housekeeping'");
		LedgerLifecycle lifecycle = this.context.getBean(LedgerLifecycle.class);
		Object housekeeping = Objects.requireNonNull(invoke(lifecycle, "housekeeping"));
		invoke(housekeeping, "purge");
		Integer kept = this.jdbc.queryForObject("SELECT count(*) FROM advisory_lock_run WHERE " + promised
				+ " AND keep_until < now() - interval '1 min'", Integer.class);
		if (!Integer.valueOf(0).equals(kept)) {
			throw new IllegalStateException("Still there: " + kept);
		}
	}

	private static @Nullable Object invoke(Object target, String name) {
		Method method = Objects.requireNonNull(ReflectionUtils.findMethod(target.getClass(), name));
		ReflectionUtils.makeAccessible(method);
		return ReflectionUtils.invokeMethod(method, target);
	}

	private String run(Promise promise, @Nullable Instant tick, @Nullable LockContext lock, RecordedWork.Effect effect)
			throws Exception {
		OptionalLong token = (lock != null) ? lock.fencingToken() : OptionalLong.empty();
		return this.work.run(promise.key(), tick, token.isPresent() ? token.getAsLong() : null, LENGTH,
				() -> lock == null || lock.isHeld(), effect);
	}

	private void write(Promise promise, String run) {
		this.jdbc.update(AdvisoryLockContestant.EFFECT,
				(insert) -> this.work.bind(insert, promise.key(), null, null, run));
	}

	/**
	 * A call that fails is what faults are for: histories tell of it.
	 */
	private static void attempt(Attempt attempt) {
		try {
			attempt.make();
		}
		catch (Exception ex) {
			Thread.interrupted();
		}
	}

	private static void sleep(int milliseconds) {
		try {
			Thread.sleep(milliseconds);
		}
		catch (InterruptedException ex) {
			// meant for a run that has ended
		}
	}

	private interface Attempt {

		void make() throws Exception;

	}

}
