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
import java.util.Set;
import java.util.WeakHashMap;

import io.github.advisorylock.AdvisoryLockKey;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;

/**
 * A run in a transaction of somebody else: row and effect commit together, or the run has
 * failed, whatever became of the work.
 */
final class JoinedRun implements TransactionSynchronization {

	private static final Log logger = LogFactory.getLog(JoinedRun.class);

	private final LedgerRuns runs;

	private final RecordedRun run;

	private final Set<Object> youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>());

	private boolean completed;

	private @Nullable RunFailure failure;

	JoinedRun(LedgerRuns runs, RecordedRun run) {
		this.runs = runs;
		this.run = run;
	}

	void complete() {
		this.completed = true;
		// a savepoint of the work itself is older than what was just written
		this.youngerSavepoints.clear();
	}

	void fail(Throwable failure) {
		this.failure = RunFailure.of(failure);
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
					: RunFailure.rollback("Rolled back to a savepoint before the run");
		}
	}

	@Override
	public void afterCompletion(int status) {
		if (status == STATUS_COMMITTED && this.completed) {
			return;
		}
		RunFailure failure = (this.failure != null) ? this.failure
				: RunFailure.rollback("The transaction that the run was part of was not committed");
		try {
			this.runs.failAfterCompletion(this.run, failure);
		}
		catch (RuntimeException ex) {
			logger.warn("The failed run of advisory lock '" + AdvisoryLockKey.display(this.run.name().toString())
					+ "' could not be recorded (" + failure.text() + ")", ex);
		}
	}

}
