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
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.support.LockContextBinding;
import org.jspecify.annotations.Nullable;

/**
 * What the work of one call can ask about its lock while it runs.
 */
final class LockRun implements LockContext, RunLedger.Traced {

	private final LockResources resources;

	private final Hold hold;

	private final @Nullable RunRecord record;

	private final @Nullable Instant tick;

	private final @Nullable RunEnd end;

	private @Nullable LockContext enclosing;

	/**
	 * Create a run.
	 * @param resources tells its application context from others
	 * @param hold its lock
	 * @param record its record in the ledger, if it is recorded
	 * @param tick the planned time, if it is for one
	 * @param end its end, if it is part of a transaction
	 */
	LockRun(LockResources resources, Hold hold, @Nullable RunRecord record, @Nullable Instant tick,
			@Nullable RunEnd end) {
		this.resources = resources;
		this.hold = hold;
		this.record = record;
		this.tick = tick;
		this.end = end;
	}

	/**
	 * Find the run of the same key that the current thread is in, with whatever else is
	 * in between.
	 */
	static @Nullable LockRun findEnclosing(AdvisoryLockKey key, LockResources resources) {
		LockContext context = LockContext.current().orElse(null);
		while (context != null) {
			if (context instanceof LockRun run) {
				if (run.resources.holds() == resources.holds() && run.key().equals(key)) {
					return run;
				}
				context = run.enclosing;
			}
			else {
				context = (context instanceof WorkContext work) ? work.enclosing() : null;
			}
		}
		return null;
	}

	/**
	 * Become the context of the current thread.
	 */
	void bind() {
		this.enclosing = LockContextBinding.bind(this);
	}

	/**
	 * Give the current thread the context back that it had before.
	 */
	void unbind() {
		LockContextBinding.bind(this.enclosing);
	}

	Hold hold() {
		return this.hold;
	}

	@Nullable RunRecord record() {
		return this.record;
	}

	@Nullable RunEnd end() {
		return this.end;
	}

	@Override
	public AdvisoryLockKey key() {
		return this.hold.key();
	}

	@Override
	public LockScope scope() {
		return this.hold.scope();
	}

	@Override
	public boolean isHeld() {
		return this.hold.isHeld();
	}

	@Override
	public void checkHeld() throws LockLostException {
		this.hold.checkHeld();
	}

	@Override
	public OptionalLong fencingToken() {
		boolean aside = DeferredInterrupt.putAside();
		try {
			return (this.record != null) ? this.record.fencingToken() : OptionalLong.empty();
		}
		finally {
			DeferredInterrupt.bringBack(aside);
		}
	}

	@Override
	public Optional<Instant> tick() {
		return Optional.ofNullable(this.tick);
	}

	@Override
	public void traced(String traceId) {
		if (this.record != null) {
			this.record.traced(traceId);
		}
	}

	@Override
	public int attempt() {
		return (this.record != null) ? this.record.attempt() : 1;
	}

}
