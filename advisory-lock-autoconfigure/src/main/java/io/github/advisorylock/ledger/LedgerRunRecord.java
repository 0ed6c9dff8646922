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

import java.util.Collections;
import java.util.OptionalLong;
import java.util.Set;
import java.util.WeakHashMap;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.RunRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records one run. In a transaction, row and effect commit together. Without one, start
 * and end are there for all to see at once: a run whose instance vanishes stays open, for
 * the next holder to find.
 */
final class LedgerRunRecord implements RunRecord {

	private static final Log logger = LogFactory.getLog(LedgerRunRecord.class);

	private final RunRepository runs;

	private final AdvisoryLockKey key;

	private RecordedRun run;

	private Boundary boundary = Boundary.NONE;

	private @Nullable JoinedRun joined;

	LedgerRunRecord(RunRepository runs, AdvisoryLockKey key, RecordedRun run) {
		this.runs = runs;
		this.key = key;
		this.run = run;
	}

	@Override
	public LockOutcome foresee() {
		return (this.run.tick() != null) ? this.runs.foresee(this.run) : LockOutcome.EXECUTED;
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
		else if (!this.runs.end(this.run, LedgerRun.Outcome.EXECUTED, null)) {
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
				this.runs.end(this.run, LedgerRun.Outcome.FAILED, failure);
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

	/**
	 * A run in a transaction of somebody else: row and effect commit together, or the run
	 * has failed, whatever became of the work.
	 */
	private static final class JoinedRun implements TransactionSynchronization {

		private final RunRepository runs;

		private final RecordedRun run;

		private final Set<Object> youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>());

		private boolean completed;

		private LedgerRun.@Nullable Failure failure;

		JoinedRun(RunRepository runs, RecordedRun run) {
			this.runs = runs;
			this.run = run;
		}

		void complete() {
			this.completed = true;
			// a savepoint of the work itself is older than what was just written
			this.youngerSavepoints.clear();
		}

		void fail(Throwable failure) {
			this.failure = LedgerRun.Failure.of(failure);
		}

		@Override
		public void savepoint(Object savepoint) {
			this.youngerSavepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			if (!this.youngerSavepoints.contains(savepoint)) {
				this.completed = false;
				this.failure = (this.failure != null) ? this.failure
						: LedgerRun.Failure.rollback("Rolled back to a savepoint before the run");
			}
		}

		@Override
		public void afterCompletion(int status) {
			if (status == STATUS_COMMITTED && this.completed) {
				return;
			}
			LedgerRun.Failure failure = (this.failure != null) ? this.failure
					: LedgerRun.Failure.rollback("The transaction that the run was part of was not committed");
			try {
				this.runs.failAfterCompletion(this.run, failure);
			}
			catch (RuntimeException ex) {
				logger.warn("The failed run of advisory lock '" + AdvisoryLockKey.display(this.run.name().toString())
						+ "' could not be recorded (" + failure.text() + ")", ex);
			}
		}

	}

}
