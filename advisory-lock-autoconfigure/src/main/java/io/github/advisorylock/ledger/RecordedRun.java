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

import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.OptionalLong;
import java.util.Set;
import java.util.WeakHashMap;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One run that the ledger decides about and records: as its boundary goes on, in the
 * transaction of the run, or at once where there is none.
 */
final class RecordedRun implements RunRecord {

	private static final Log logger = LogFactory.getLog(RecordedRun.class);

	private static final int LONGEST_TEMPLATE = 255;

	private final RunRepository runs;

	private final AdvisoryLockKey key;

	private final String namespace;

	private final String name;

	private final LockScope scope;

	private final @Nullable Instant tick;

	private final boolean oncePerKey;

	private final @Nullable Duration minInterval;

	/**
	 * Whether the run leaves something behind in the row of its job. One of many keys
	 * that run once has no use for that.
	 */
	private final boolean keepsJob;

	private final @Nullable String template;

	private RunRepository.@Nullable Decision decision;

	private Boundary boundary = Boundary.NONE;

	private @Nullable JoinedRun joined;

	/**
	 * Create the record of a run that nothing is decided about yet.
	 * @throws IllegalArgumentException if the ledger has no room for its key
	 */
	RecordedRun(RunRepository runs, AdvisoryLockKey key, LockScope scope, LockRequest request) {
		this.namespace = key.namespace();
		this.name = key.name();
		String excess = JobName.findExcess(this.namespace, this.name);
		if (excess != null) {
			throw new IllegalArgumentException("Failed to record runs of advisory lock '" + key + "': " + excess);
		}
		this.runs = runs;
		this.key = key;
		this.scope = scope;
		this.tick = request.tick();
		this.oncePerKey = request.isOncePerKey();
		this.minInterval = request.minInterval();
		this.keepsJob = !this.oncePerKey || this.minInterval != null;
		this.template = request.template();
	}

	@Override
	public LockOutcome foresee() {
		return (this.tick != null) ? this.runs.foresee(parameters()) : LockOutcome.EXECUTED;
	}

	@Override
	public LockOutcome begin(Boundary boundary, Hold hold) {
		this.boundary = boundary;
		RunRepository.Decision decision = (boundary == Boundary.NONE) ? this.runs.begin(parameters())
				: this.runs.decide(parameters());
		this.decision = decision;
		if (boundary == Boundary.CALLERS_TRANSACTION && hasBegun()) {
			this.joined = new JoinedRun();
			TransactionSynchronizationManager.registerSynchronization(this.joined);
		}
		return decision.outcome();
	}

	@Override
	public void complete() {
		if (this.boundary == Boundary.NONE) {
			if (!this.runs.end(parameters(), LedgerRun.Outcome.EXECUTED, null)) {
				throw new LockLostException(this.key);
			}
			return;
		}
		if (!this.runs.complete(parameters(), this.oncePerKey, this.keepsJob)) {
			throw new IllegalStateException("Failed to complete the run of advisory lock '" + this.key
					+ "': somebody else has completed it meanwhile");
		}
		if (this.joined != null) {
			this.joined.complete();
		}
	}

	@Override
	public void fail(Throwable failure) {
		if (!hasBegun()) {
			return;
		}
		try {
			if (this.joined != null) {
				this.joined.fail(failure);
			}
			else if (this.boundary == Boundary.NONE) {
				this.runs.end(parameters(), LedgerRun.Outcome.FAILED, failure);
			}
			else {
				this.runs.fail(parameters(), failure);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.decision != null && this.decision.token() != null) ? OptionalLong.of(this.decision.token())
				: OptionalLong.empty();
	}

	@Override
	public int attempt() {
		return 1;
	}

	private boolean hasBegun() {
		return this.decision != null && this.decision.token() != null;
	}

	private MapSqlParameterSource parameters() {
		RunRepository.Decision decision = this.decision;
		Duration minInterval = this.minInterval;
		return new MapSqlParameterSource().addValue("namespace", this.namespace)
			.addValue("key", this.name)
			.addValue("tick", time(this.tick), Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("scope", this.scope.name())
			.addValue("oncePerKey", this.oncePerKey)
			.addValue("minInterval", (minInterval != null) ? LedgerSettings.micros(minInterval) : null, Types.BIGINT)
			.addValue("template", template(this.name, this.template), Types.VARCHAR)
			.addValue("keepsJob", this.keepsJob)
			.addValue("token", (decision != null) ? decision.token() : null, Types.BIGINT)
			.addValue("startedAt", (decision != null) ? decision.startedAt() : null, Types.TIMESTAMP_WITH_TIMEZONE);
	}

	private static @Nullable OffsetDateTime time(@Nullable Instant instant) {
		return (instant != null) ? instant.atOffset(ZoneOffset.UTC) : null;
	}

	/**
	 * Of a template that has no room in an index, or is the key itself, runs are recorded
	 * as those of keys without one.
	 */
	private static @Nullable String template(String key, @Nullable String template) {
		return (template == null || template.equals(key) || template.length() > LONGEST_TEMPLATE
				|| template.indexOf('\0') >= 0) ? null : template;
	}

	/**
	 * A run in a transaction of somebody else: row and effect commit together, or the run
	 * has failed, whatever became of the work.
	 */
	private final class JoinedRun implements TransactionSynchronization {

		private final Set<Object> youngerSavepoints = Collections.newSetFromMap(new WeakHashMap<>());

		private boolean completed;

		private LedgerRun.@Nullable Failure failure;

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
				RecordedRun.this.runs.failAfterCompletion(parameters(), failure);
			}
			catch (RuntimeException ex) {
				logger.warn("The failed run of advisory lock '" + RecordedRun.this.key + "' could not be recorded ("
						+ failure.text() + ")", ex);
			}
		}

	}

}
