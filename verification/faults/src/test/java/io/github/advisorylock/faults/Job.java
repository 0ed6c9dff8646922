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

import io.github.advisorylock.LockScope;

/**
 * Work that is to be executed once for each number: as a tick of a key that comes again
 * after a while, or as a key of its own.
 */
enum Job {

	TICK_TRANSACTION(LockScope.TRANSACTION, true),

	TICK_SESSION(LockScope.SESSION, true),

	KEY_TRANSACTION(LockScope.TRANSACTION, false),

	KEY_SESSION(LockScope.SESSION, false);

	/**
	 * A job whose ticks instances remember without a ledger.
	 */
	static final String REMEMBERED = "remembered";

	/**
	 * A job that runs whenever it can, in scope {@code SESSION}.
	 */
	static final String SESSION = "session";

	/**
	 * The work of a leader.
	 */
	static final String LEADER = "leader";

	/**
	 * For how many numbers an instance goes on trying.
	 */
	static final int PATIENCE = 40;

	/**
	 * After how many numbers a key has its next tick: an older one would not be run.
	 */
	private static final int KEYS = 100;

	private final LockScope scope;

	private final boolean tick;

	Job(LockScope scope, boolean tick) {
		this.scope = scope;
		this.tick = tick;
	}

	/**
	 * Return the number that is due now, whatever the clock of the instance says: one
	 * that is set ahead would have it work in advance, and none left to be waited for.
	 */
	static long due(Duration period) {
		return History.now().toEpochMilli() / period.toMillis();
	}

	LockScope scope() {
		return this.scope;
	}

	boolean isTick() {
		return this.tick;
	}

	String key(long number) {
		return prefix() + (this.tick ? number % KEYS : number);
	}

	String prefix() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-') + ":";
	}

	/**
	 * Return whether a key is one that runs once, and not for each tick.
	 */
	static boolean runsOnce(String key) {
		return key.startsWith(KEY_TRANSACTION.prefix()) || key.startsWith(KEY_SESSION.prefix());
	}

	/**
	 * Return whether the effects of a key commit with its lock.
	 */
	static boolean isTransaction(String key) {
		return key.startsWith(TICK_TRANSACTION.prefix()) || key.startsWith(KEY_TRANSACTION.prefix())
				|| OperatedJob.isRecorded(key);
	}

	/**
	 * Return whether a key is that of work of a leader, of a role or of a shard.
	 */
	static boolean isLed(String key) {
		return key.equals(LEADER) || OperatedJob.isShard(key);
	}

	/**
	 * Return whether the lock of a key is that of a transaction, whatever its effects
	 * are.
	 */
	static boolean isInTransaction(String key) {
		return isTransaction(key) || key.equals(REMEMBERED) || Promise.isInTransaction(key);
	}

}
