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

import java.time.Instant;
import java.util.OptionalLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.RunRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records one run. In a transaction, row and effect commit together. Without one, start
 * and end are there for all to see at once: a run whose instance vanishes stays open, for
 * the next holder to find.
 */
final class LedgerRunRecord implements RunRecord {

	private final LedgerRuns runs;

	private final AdvisoryLockKey key;

	private RecordedRun run;

	private Boundary boundary = Boundary.NONE;

	private @Nullable JoinedRun joined;

	LedgerRunRecord(LedgerRuns runs, AdvisoryLockKey key, RecordedRun run) {
		this.runs = runs;
		this.key = key;
		this.run = run;
	}

	@Override
	public LockOutcome foresee() {
		Instant tick = this.run.tick();
		return (tick != null) ? this.runs.foresee(this.key, tick) : LockOutcome.EXECUTED;
	}

	@Override
	public LockOutcome begin(Boundary boundary) {
		this.boundary = boundary;
		this.run = (boundary == Boundary.NONE) ? this.runs.begin(this.run) : this.runs.decide(this.run);
		if (boundary == Boundary.CALLERS_TRANSACTION && this.run.begun()) {
			this.joined = new JoinedRun(this.runs, this.run);
			TransactionSynchronizationManager.registerSynchronization(this.joined);
		}
		return this.run.decision().outcome();
	}

	@Override
	public void complete() {
		if (this.boundary != Boundary.NONE) {
			this.runs.complete(this.run);
		}
		else if (!this.runs.end(this.run, RunOutcome.EXECUTED, null)) {
			throw new LockLostException(this.key);
		}
		if (this.joined != null) {
			this.joined.complete();
		}
	}

	@Override
	public void fail(Throwable failure) {
		if (!this.run.begun()) {
			return;
		}
		try {
			if (this.joined != null) {
				this.joined.fail(failure);
			}
			else if (this.boundary == Boundary.NONE) {
				this.runs.end(this.run, RunOutcome.FAILED, failure);
			}
			else {
				this.runs.fail(this.run, failure);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
	}

	@Override
	public OptionalLong fencingToken() {
		return this.run.fencingToken();
	}

}
