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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.GuardedTask;
import io.github.advisorylock.jdbc.LockScheduler;

/**
 * Keeps the ledger from growing, on one instance at a time: every ten minutes, in small
 * batches with a transaction each.
 */
final class LedgerHousekeeping {

	private static final Duration PERIOD = Duration.ofMinutes(10);

	private final PostgresAdvisoryLockLedger ledger;

	private final AdvisoryLockOperations operations;

	private final LockRequest lock;

	private final LockScheduler scheduler = new LockScheduler("advisory-lock-housekeeping");

	LedgerHousekeeping(PostgresAdvisoryLockLedger ledger, AdvisoryLockOperations operations, LockScope scope) {
		this.ledger = ledger;
		this.operations = operations;
		this.lock = LockRequest.ofOwn(PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY).scope(scope);
	}

	/**
	 * Begin, unless that was done already.
	 */
	void start() {
		this.scheduler.every(Duration.ofSeconds(ThreadLocalRandom.current().nextLong(PERIOD.toSeconds())), PERIOD,
				new GuardedTask("The ledger of advisory locks could not be purged", this::purge));
	}

	void stop() {
		this.scheduler.stop();
	}

	/**
	 * Forget what need not be remembered, unless another instance does.
	 */
	void purge() {
		LockResult<Boolean> more;
		do {
			more = this.operations.execute(this.lock, (lock) -> this.ledger.purgeBatch());
		}
		while (Boolean.TRUE.equals(more.value()) && !Thread.currentThread().isInterrupted());
	}

}
