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

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import io.github.advisorylock.support.LockContextBinding;
import org.jspecify.annotations.Nullable;

/**
 * What work can ask about its lock while it is under way.
 */
class LockRun implements LockContext, RunLedger.Traced {

	final Hold hold;

	private final @Nullable HoldRegistry holds;

	private final @Nullable RunRecord record;

	private final @Nullable Instant tick;

	final TransactionPart.@Nullable OfRun end;

	private @Nullable LockContext enclosing;

	/**
	 * Create a run of the current thread.
	 * @param hold its lock
	 * @param holds tells its application context from others, {@code null} for one that
	 * is no call
	 * @param record its record in the ledger, if it is recorded
	 * @param tick the planned time, if it is for one
	 * @param end its end, if it is part of a transaction
	 */
	LockRun(Hold hold, @Nullable HoldRegistry holds, @Nullable RunRecord record, @Nullable Instant tick,
			TransactionPart.@Nullable OfRun end) {
		this.hold = hold;
		this.holds = holds;
		this.record = record;
		this.tick = tick;
		this.end = end;
	}

	/**
	 * Find the run of the same key that the current thread is in, with whatever else is
	 * in between.
	 */
	static @Nullable LockRun findEnclosing(AdvisoryLockKey key, HoldRegistry holds) {
		LockContext context = LockContext.current().orElse(null);
		while (context instanceof LockRun run) {
			if (run.holds == holds && run.key().equals(key)) {
				return run;
			}
			context = run.enclosing;
		}
		return null;
	}

	/**
	 * Become the context of the current thread.
	 */
	final void bind() {
		this.enclosing = LockContextBinding.bind(this);
	}

	/**
	 * Give the current thread the context back that it had before.
	 */
	final void unbind() {
		LockContextBinding.bind(this.enclosing);
	}

	/**
	 * Run a part of the work that asks for the same key.
	 * @param tick the planned time that the part is for, if it is for one
	 */
	final <T extends @Nullable Object, X extends Exception> T runPart(@Nullable Instant tick, LockCallback<T, X> action)
			throws X {
		LockRun part = new LockRun(this.hold, this.holds, this.record, tick, this.end);
		part.bind();
		try {
			return action.doWithLock(part);
		}
		finally {
			part.unbind();
		}
	}

	@Override
	public final AdvisoryLockKey key() {
		return this.hold.key();
	}

	@Override
	public final LockScope scope() {
		return this.hold.scope();
	}

	@Override
	public final boolean isHeld() {
		return this.hold.isHeld();
	}

	@Override
	public final void checkHeld() throws LockLostException {
		this.hold.checkHeld();
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.record != null) ? DeferredInterrupt.during(this.record::fencingToken) : OptionalLong.empty();
	}

	@Override
	public final Optional<Instant> tick() {
		return Optional.ofNullable(this.tick);
	}

	@Override
	public final int attempt() {
		return (this.record != null) ? this.record.attempt() : 1;
	}

	@Override
	public final void traced(String traceId) {
		if (this.record != null) {
			this.record.traced(traceId);
		}
	}

}
