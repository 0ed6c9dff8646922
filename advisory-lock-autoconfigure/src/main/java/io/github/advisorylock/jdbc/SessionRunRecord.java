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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.RunOutcome;

/**
 * Records start and end of a run, each for all to see at once: a run whose instance
 * vanishes stays open, for the next holder to find.
 */
final class SessionRunRecord implements RunRecord {

	private final LedgerRuns runs;

	private final AdvisoryLockKey key;

	private RecordedRun run;

	SessionRunRecord(LedgerRuns runs, AdvisoryLockKey key, RecordedRun run) {
		this.runs = runs;
		this.key = key;
		this.run = run;
	}

	@Override
	public LockOutcome begin() {
		this.run = this.runs.begin(this.run);
		return this.run.decision().outcome();
	}

	@Override
	public void complete() {
		if (!this.runs.end(this.run, RunOutcome.EXECUTED, null)) {
			throw new LockLostException(this.key);
		}
	}

	@Override
	public void fail(Throwable failure) {
		if (this.run.begun()) {
			try {
				this.runs.end(this.run, RunOutcome.FAILED, failure);
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
