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
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What the ledger has to do with one call: it may be against the run, and is told how the
 * run ends. Asks the ledger no earlier than the call asks for its lock.
 */
final class CallRecording {

	private final LockResources resources;

	private final AdvisoryLockKey key;

	private final LockScope scope;

	private final LockRequest request;

	private @Nullable RunRecord record;

	/**
	 * Create the recording of a call.
	 * @param request what is asked of the ledger
	 */
	CallRecording(LockResources resources, AdvisoryLockKey key, LockScope scope, LockRequest request) {
		this.resources = resources;
		this.key = key;
		this.scope = scope;
		this.request = request;
	}

	/**
	 * Ask the ledger before the lock is taken, unless that would be in a transaction of
	 * the caller.
	 */
	LockOutcome precheck() {
		RunRecord record = record();
		return TransactionSynchronizationManager.isActualTransactionActive() ? LockOutcome.EXECUTED : record.precheck();
	}

	@Nullable String keptResult() {
		return (this.record != null) ? this.record.keptResult() : null;
	}

	RunRecord record() {
		RunRecord record = (this.record != null) ? this.record
				: this.resources.record(this.key, this.scope, this.request);
		this.record = record;
		return record;
	}

	void failWhileHeld(Throwable failure, @Nullable Hold hold) {
		if (this.record != null) {
			this.record.failWhileHeld(reason(failure, hold));
		}
	}

	void fail(Throwable failure, @Nullable Hold hold) {
		if (this.record != null) {
			Throwable reason = reason(failure, hold);
			this.record.fail(reason);
			if (reason != failure) {
				for (Throwable suppressed : reason.getSuppressed()) {
					failure.addSuppressed(suppressed);
				}
			}
		}
	}

	/**
	 * What the history tells of a run that was told to end: why, rather than what the run
	 * made of that.
	 */
	private static Throwable reason(Throwable failure, @Nullable Hold hold) {
		if (hold == null || hold.loss() == null || failure instanceof LockLostException) {
			return failure;
		}
		return hold.lostException().initCause(failure);
	}

}
