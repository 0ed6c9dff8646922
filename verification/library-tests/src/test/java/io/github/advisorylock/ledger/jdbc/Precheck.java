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

package io.github.advisorylock.ledger.jdbc;

import java.util.OptionalLong;
import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Has a ledger not asked before the lock is taken, so that it decides under the lock.
 */
final class Precheck {

	private static final ThreadLocal<Boolean> MISSING = ThreadLocal.withInitial(() -> false);

	private Precheck() {
	}

	/**
	 * Return a ledger that threads may have not asked.
	 */
	static Supplier<RunLedger> of(RunLedger ledger) {
		return () -> (key, scope, request) -> {
			RunRecord record = ledger.record(key, scope, request);
			return MISSING.get() ? new Unchecked(record) : record;
		};
	}

	static <T> T without(Supplier<T> calls) {
		MISSING.set(true);
		try {
			return calls.get();
		}
		finally {
			MISSING.set(false);
		}
	}

	static void without(Runnable calls) {
		without(() -> {
			calls.run();
			return true;
		});
	}

	private record Unchecked(RunRecord record) implements RunRecord {

		@Override
		public LockOutcome precheck() {
			return LockOutcome.EXECUTED;
		}

		@Override
		public LockOutcome begin(Boundary boundary, Hold hold) {
			return this.record.begin(boundary, hold);
		}

		@Override
		public void complete(@Nullable Object result) {
			this.record.complete(result);
		}

		@Override
		public void completeFailed(Throwable failure) {
			this.record.completeFailed(failure);
		}

		@Override
		public void failWhileHeld(Throwable failure) {
			this.record.failWhileHeld(failure);
		}

		@Override
		public void fail(Throwable failure) {
			this.record.fail(failure);
		}

		@Override
		public OptionalLong fencingToken() {
			return this.record.fencingToken();
		}

		@Override
		public int attempt() {
			return this.record.attempt();
		}

	}

}
