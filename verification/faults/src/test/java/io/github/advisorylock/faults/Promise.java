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
import java.util.Locale;
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;

/**
 * Work that shows what else is promised, each once in a round of each instance.
 */
enum Promise {

	/**
	 * Runs at most once in {@link #MIN_INTERVAL}; each third run fails.
	 */
	INTERVAL(LockScope.TRANSACTION),

	/**
	 * The first attempt of each tick fails after its effect; the caller tries it again.
	 */
	THROWING(LockScope.TRANSACTION),

	/**
	 * Runs in a transaction of its caller, which rolls back each second one.
	 */
	JOINED(LockScope.TRANSACTION),

	/**
	 * Waits for the lock for {@link #WAIT}.
	 */
	WAIT_TRANSACTION(LockScope.TRANSACTION),

	/**
	 * Waits for the lock for {@link #WAIT}.
	 */
	WAIT_SESSION(LockScope.SESSION),

	/**
	 * Is paused and resumed by an operator.
	 */
	PAUSED(LockScope.TRANSACTION),

	/**
	 * Runs beside others of its kind.
	 */
	SHARED_READ(LockScope.SESSION),

	/**
	 * Runs beside none of {@link #SHARED_READ}.
	 */
	SHARED_WRITE(LockScope.TRANSACTION),

	/**
	 * Takes its lock from ShedLock's {@code LockProvider}.
	 */
	LOCK_PROVIDER(LockScope.SESSION),

	/**
	 * Is annotated with ShedLock's {@code @SchedulerLock}.
	 */
	SCHEDULER_LOCK(LockScope.SESSION),

	/**
	 * Takes its lock from Spring Integration's {@code LockRegistry}.
	 */
	LOCK_REGISTRY(LockScope.SESSION),

	/**
	 * A tick each minute that any instance makes up for; the first attempt of each second
	 * one fails.
	 */
	CATCH_UP(LockScope.TRANSACTION),

	/**
	 * A tick each minute of which each attempt fails; {@link #MAX_RETRIES} may follow the
	 * first.
	 */
	RETRIED(LockScope.TRANSACTION),

	/**
	 * Is called by a timer of each instance, and runs once in {@link #TIMER}, counted
	 * from the begin of a run; each third run fails.
	 */
	RATE(LockScope.TRANSACTION),

	/**
	 * The same, counted from the end of a run.
	 */
	DELAY(LockScope.SESSION),

	/**
	 * Has {@link #PERMITS} runs at a time at most; all instances call it at once.
	 */
	PERMIT_TRANSACTION(LockScope.TRANSACTION),

	/**
	 * The same, and who finds no permit waits for {@link #WAIT}.
	 */
	PERMIT_SESSION(LockScope.SESSION),

	/**
	 * Deletes the history of all these jobs from the ledger, as if it were old.
	 */
	HOUSEKEEPING(LockScope.SESSION);

	/**
	 * How long a run takes.
	 */
	static final Duration LENGTH = Duration.ofMillis(200);

	static final Duration MIN_INTERVAL = Duration.ofSeconds(5);

	static final Duration WAIT = Duration.ofSeconds(2);

	/**
	 * The time between two ticks of {@link #CATCH_UP}.
	 */
	static final Duration CATCH_UP_PERIOD = Duration.ofMinutes(1);

	/**
	 * The time between two calls of the timer of an instance, and between two runs on all
	 * of them.
	 */
	static final Duration TIMER = Duration.ofSeconds(6);

	/**
	 * How many runs may be under way: fewer than there are instances.
	 */
	static final int PERMITS = 2;

	static final int MAX_RETRIES = 1;

	static final String RETRIED_KEY = "retried";

	static final String RATE_KEY = "rate";

	static final String DELAY_KEY = "delay";

	static final String SCHEDULER_LOCK_KEY = "scheduler-lock";

	static final String CATCH_UP_KEY = "catch-up";

	/**
	 * The lock of those that read and those that write.
	 */
	private static final String SHARED = "shared";

	private final LockScope scope;

	Promise(LockScope scope) {
		this.scope = scope;
	}

	/**
	 * Return what its runs have as key.
	 */
	String key() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Return the key of its lock.
	 */
	String lock() {
		return lockOf(key());
	}

	LockScope scope() {
		return this.scope;
	}

	boolean isRunBy(Run run) {
		return run.key().equals(key());
	}

	/**
	 * Return whether it is due in each minute, and no more often: a trial may be shorter.
	 * A tick that is made up for runs on a thread of the library.
	 */
	boolean isMadeUpFor() {
		return this == CATCH_UP || this == RETRIED;
	}

	/**
	 * Return whether several runs may be under way.
	 */
	boolean hasPermits() {
		return this == PERMIT_TRANSACTION || this == PERMIT_SESSION;
	}

	/**
	 * Return whether two runs of a lock may be under way at a time: those that share it,
	 * and those of permits, which {@link PermitRules} count.
	 */
	static boolean mayRunBeside(Run run, Run other) {
		return Stream.of(SHARED_READ, PERMIT_TRANSACTION, PERMIT_SESSION)
			.anyMatch((promise) -> promise.isRunBy(run) && promise.isRunBy(other));
	}

	/**
	 * Return the key of the lock of runs with a key.
	 */
	static String lockOf(String key) {
		return (key.equals(SHARED_READ.key()) || key.equals(SHARED_WRITE.key())) ? SHARED : key;
	}

	/**
	 * Return whether runs with this key are such work, in a transaction that has their
	 * lock and their effect.
	 */
	static boolean isInTransaction(String key) {
		return Stream.of(values())
			.anyMatch((promise) -> promise.scope == LockScope.TRANSACTION && promise.key().equals(key));
	}

}
