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
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What all calls of one application context on one database use. Tells the calls of one
 * context from those of another.
 *
 * @param holds the locks that it has
 * @param coverage knows its transactions
 * @param ledger records its runs, {@code null} to refuse that
 * @param ticks locks the ticks of its runs, {@code null} without a session
 * @param permits chooses what holds ask for where a key has several permits
 * @param session ends runs that last too long, {@code null} to refuse to limit them
 * @param instance holds its locks
 * @param ticker the clock that calls are measured by
 */
record LockResources(HoldRegistry holds, TransactionCoverage coverage, @Nullable Supplier<? extends RunLedger> ledger,
		@Nullable TickLocks ticks, PermitRequests permits, @Nullable LockSession session, LockInstance instance,
		LockScheduler.Ticker ticker) {

	/**
	 * Return whether this instance is drained, and this thread does nothing that goes on.
	 */
	boolean mayNotBegin() {
		return this.instance.isDrained() && LockContext.current().isEmpty();
	}

	LockResources with(TransactionCoverage coverage) {
		return new LockResources(this.holds, coverage, this.ledger, this.ticks, this.permits, this.session,
				this.instance, this.ticker);
	}

	Future<?> limit(Hold hold, Duration maxRun) {
		Assert.state(this.session != null, () -> "Failed to limit the time of advisory lock '" + hold.key()
				+ "': no URL is known to connect to; set 'advisory-lock.session.url', or remove 'maxRun'");
		return this.session.losses.limit(hold, maxRun);
	}

	/**
	 * Return the lock of the tick or interval that a request is for, {@code null} where
	 * none is asked for.
	 */
	TickLocks.@Nullable Tick tick(AdvisoryLockKey key, LockRequest request) {
		return (this.ticks != null) ? this.ticks.of(key, request) : null;
	}

	RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest recording) {
		if (recording.mode() != LockMode.EXCLUSIVE) {
			throw new IllegalArgumentException("'request' must not ask for mode SHARED: runs of advisory lock '" + key
					+ "' can be recorded only one after the other");
		}
		if (this.ledger == null) {
			throw new IllegalStateException("Failed to record a run of advisory lock '" + key
					+ "': there is no ledger; add 'advisory-lock-ledger', and do not set 'advisory-lock.ledger.enabled' to false");
		}
		return this.ledger.get().record(key, scope, recording);
	}

}
