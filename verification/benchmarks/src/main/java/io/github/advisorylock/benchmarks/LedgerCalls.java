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

package io.github.advisorylock.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;

import org.springframework.util.Assert;

/**
 * Calls that the ledger records, each for a tick or a key of its own. Their work is
 * empty.
 */
final class LedgerCalls {

	private final ApplicationState application;

	private final String suffix;

	private final LockRequest skipped;

	/**
	 * In microseconds: the next object of this class begins after the last tick of this
	 * one.
	 */
	private long tick = System.currentTimeMillis() * 1000;

	private long key = this.tick;

	LedgerCalls(ApplicationState application) {
		this(application, "");
	}

	/**
	 * Create calls.
	 * @param suffix the end of what their keys begin with
	 */
	LedgerCalls(ApplicationState application, String suffix) {
		this.application = application;
		this.suffix = suffix;
		this.skipped = LockRequest.of("skipped" + suffix).oncePerTick(Instant.EPOCH);
		application.operations().execute(this.skipped, (lock) -> true);
	}

	void perTick() {
		execute(nextTick(), LockOutcome.EXECUTED);
	}

	void perTickInSession() {
		execute(nextTick().scope(LockScope.SESSION), LockOutcome.EXECUTED);
	}

	void perKey() {
		execute(nextKey(), LockOutcome.EXECUTED);
	}

	void alreadyRan() {
		execute(this.skipped, LockOutcome.ALREADY_RAN);
	}

	private LockRequest nextTick() {
		return LockRequest.of("ticks" + this.suffix).oncePerTick(Instant.EPOCH.plus(this.tick++, ChronoUnit.MICROS));
	}

	private LockRequest nextKey() {
		return LockRequest.of("event" + this.suffix + "-" + this.key++).oncePerKey();
	}

	private void execute(LockRequest request, LockOutcome expected) {
		LockOutcome outcome = this.application.operations().execute(request, (lock) -> true).outcome();
		Assert.state(outcome == expected, "A call did not do what it is to measure");
	}

}
