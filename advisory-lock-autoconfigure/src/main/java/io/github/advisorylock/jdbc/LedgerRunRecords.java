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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;

import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records a run in the ledger, in its transaction where that is one on the ledger's
 * DataSource.
 */
final class LedgerRunRecords implements RunRecords {

	private final LedgerRuns runs;

	private final TransactionCoverage coverage;

	private final AdvisoryLockKey key;

	private final RecordedRun run;

	LedgerRunRecords(LedgerRuns runs, TransactionCoverage coverage, AdvisoryLockKey key, RecordedRun run) {
		this.runs = runs;
		this.coverage = coverage;
		this.key = key;
		this.run = run;
	}

	@Override
	public RunRecord inOwnTransaction() {
		return new TransactionRunRecord(this.runs, this.run);
	}

	@Override
	public RunRecord inCallersTransaction() {
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		if (this.run.scope() == LockScope.SESSION && (readOnly || !this.coverage.isCovered())) {
			return outsideTransaction();
		}
		if (readOnly) {
			throw new IllegalTransactionStateException("Failed to record a run of advisory lock '" + this.key
					+ "' in the current transaction: that transaction is read-only");
		}
		return new JoinedRunRecord(this.runs, this.run);
	}

	@Override
	public RunRecord outsideTransaction() {
		return new SessionRunRecord(this.runs, this.key, this.run);
	}

}
