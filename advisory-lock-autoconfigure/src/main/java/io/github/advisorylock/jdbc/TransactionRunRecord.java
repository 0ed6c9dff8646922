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

import java.util.OptionalLong;

import io.github.advisorylock.LockOutcome;

/**
 * Records a run in the transaction that was begun for it: row and effect commit together.
 */
final class TransactionRunRecord implements RunRecord {

	private final LedgerRuns runs;

	private RecordedRun run;

	TransactionRunRecord(LedgerRuns runs, RecordedRun run) {
		this.runs = runs;
		this.run = run;
	}

	@Override
	public LockOutcome begin() {
		this.run = this.runs.decide(this.run);
		return this.run.decision().outcome();
	}

	@Override
	public void complete() {
		this.runs.complete(this.run);
	}

	/**
	 * To be called after the rollback.
	 */
	@Override
	public void fail(Throwable failure) {
		if (this.run.begun()) {
			try {
				this.runs.fail(this.run, failure);
			}
			catch (RuntimeException | Error ex) {
				failure.addSuppressed(ex);
			}
		}
	}

	@Override
	public OptionalLong fencingToken() {
		return this.run.fencingToken();
	}

}
