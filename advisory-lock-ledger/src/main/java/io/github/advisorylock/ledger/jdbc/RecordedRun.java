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

import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.DeferredInterrupt;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.KeptResult;
import io.github.advisorylock.support.RequestDetail.Retries;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.util.Assert;

/**
 * One run that the ledger decides about and records: as its boundary goes on, in the
 * transaction of the run, or at once where there is none.
 */
final class RecordedRun implements RunRecord {

	private static final Log logger = LogFactory.getLog(RecordedRun.class);

	private static final String READ_ONLY_TRANSACTION = "25006";

	private static final int LONGEST_TEMPLATE = 255;

	private final RunRepository runs;

	private final AdvisoryLockKey key;

	private final JobName name;

	private final LockScope scope;

	private final @Nullable Instant tick;

	private final RequestDetail.@Nullable Planned planned;

	/**
	 * Whether the run leaves something behind in the row of its job. One of many keys
	 * that run once has no use for that.
	 */
	private final boolean keepsJob;

	/**
	 * Whether others must know of a failure before they get the lock.
	 */
	private final boolean failureMatters;

	/**
	 * How often the tick is tried again where it has failed, {@code null} where nobody
	 * makes up for it: a failure is all that a bad end can be then.
	 */
	private final @Nullable Integer maxRetries;

	private final BooleanSupplier stopping;

	private final @Nullable Function<@Nullable Object, String> resultFormat;

	private final RunStatements.Kind kind;

	private final MapSqlParameterSource parameters;

	private @Nullable Instant scheduleKnown;

	private RunRepository.@Nullable Decision decision;

	private Boundary boundary = Boundary.NONE;

	private @Nullable Hold hold;

	private volatile @Nullable String hangStack;

	private boolean durable;

	private boolean judged;

	private boolean failed;

	/**
	 * Create the record of a run that nothing is decided about yet.
	 * @param stopping knows whether the application is being shut down
	 * @throws IllegalArgumentException if the ledger has no room for its key
	 */
	RecordedRun(RunRepository runs, AdvisoryLockKey key, LockScope scope, LockRequest request,
			BooleanSupplier stopping) {
		this.name = JobName.of(key);
		String excess = this.name.findExcess();
		if (excess != null) {
			throw new IllegalArgumentException("Failed to record runs of advisory lock '" + key + "': " + excess);
		}
		this.runs = runs;
		this.key = key;
		this.scope = scope;
		this.tick = request.tick();
		this.planned = request.detail(RequestDetail.Planned.class);
		this.stopping = stopping;
		boolean oncePerKey = request.isOncePerKey();
		Long minInterval = (request.minInterval() != null) ? LedgerSettings.micros(request.minInterval()) : null;
		this.keepsJob = !oncePerKey || minInterval != null;
		Retries retries = (this.tick != null) ? request.detail(Retries.class) : null;
		boolean backOff = retries != null && retries.backOff();
		this.maxRetries = (retries != null) ? retries.most() : null;
		this.failureMatters = minInterval != null || this.maxRetries != null || backOff;
		KeptResult keptResult = request.detail(KeptResult.class);
		this.resultFormat = (keptResult != null) ? keptResult.format() : null;
		OffsetDateTime time = (this.tick != null) ? this.tick.atOffset(ZoneOffset.UTC) : null;
		RequestDetail.Backfill backfill = request.detail(RequestDetail.Backfill.class);
		RequestDetail.Recorded recorded = request.detail(RequestDetail.Recorded.class);
		String of = (recorded != null) ? recorded.template() : null;
		String template = template(this.name.key(), of);
		boolean kept = this.tick != null || this.name.key().equals(of);
		this.kind = new RunStatements.Kind(LockContext.current().isEmpty(), backfill != null, this.planned != null,
				oncePerKey);
		this.parameters = runs.parameters()
			.addValue("namespace", this.name.namespace())
			.addValue("key", this.name.key())
			.addValue("tick", time, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("ofTick", time, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("again", backfill != null && backfill.again())
			.addValue("scope", scope.name())
			.addValue("oncePerKey", oncePerKey)
			.addValue("backOff", backOff)
			.addValue("minInterval", minInterval, Types.BIGINT)
			.addValue("template", template, Types.VARCHAR)
			.addValue("keepsJob", this.keepsJob)
			.addValue("remembered", !kept)
			.addValue("pausable", kept || (this.keepsJob && template == null))
			.addValue("rememberJob",
					(minInterval != null) ? Math.max(runs.rememberKeys, minInterval) : runs.rememberKeys)
			.addValue("lock", PostgresAdvisoryLockTemplate.lockEntry(key));
	}

	/**
	 * Of a template that has no room in an index, or is the key itself, runs are recorded
	 * as those of keys without one.
	 */
	private static @Nullable String template(String key, @Nullable String template) {
		return (template == null || template.equals(key) || template.length() > LONGEST_TEMPLATE
				|| template.indexOf('\0') >= 0) ? null : template;
	}

	@Override
	public LockOutcome precheck() {
		return (this.tick != null && this.runs.looksFirst(this.name)) ? outcome(decide(false)) : LockOutcome.EXECUTED;
	}

	@Override
	public LockOutcome begin(Boundary boundary, Hold hold) {
		this.boundary = boundary;
		this.hold = hold;
		RunRepository.Decision decision = decide(true);
		LockOutcome outcome = outcome(decision);
		if (outcome == LockOutcome.EXECUTED) {
			if (this.tick != null) {
				this.runs.noteTick(this.name);
			}
			if (this.scope == LockScope.SESSION) {
				// the token is that of the holder if the lock is held after it was drawn
				hold.confirm();
			}
			begin(decision);
		}
		return outcome;
	}

	private void begin(RunRepository.Decision decision) {
		this.parameters.addValue("token", decision.token(), Types.BIGINT)
			.addValue("startedAt", decision.time(), Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("attempt", decision.attempt())
			.addValue("failedAttempts", decision.failedAttempts());
		if (decision.earlier()) {
			this.parameters.addValue("tick", null, Types.TIMESTAMP_WITH_TIMEZONE);
		}
		if (this.boundary == Boundary.NONE) {
			OffsetDateTime start = this.runs.begin(this.parameters);
			if (start == null) {
				throw new LockLostException(this.key);
			}
			this.parameters.addValue("startedAt", start, Types.TIMESTAMP_WITH_TIMEZONE);
		}
		this.decision = decision;
		if (decision.ignored() != null) {
			logger.warn("The ledger of advisory locks has " + decision.ignored().toInstant() + " as a time of '"
					+ this.key + "', which is later than the clock of the database server, "
					+ decision.time().toInstant() + ": it decides nothing, and this run goes on");
		}
		if (this.keepsJob) {
			this.runs.note(this.name);
		}
	}

	/**
	 * An instance that does not know the schedule looks it up, and asks again.
	 */
	private RunRepository.Decision decide(boolean locked) {
		RunRepository.Decision decision = ask(locked);
		if (RunStatements.RESCHEDULED.equals(decision.answer())) {
			this.runs.learnSchedules();
			decision = ask(locked);
		}
		return decision;
	}

	/**
	 * An interrupt that came while the session was asked is not to meet the connection
	 * that is asked now.
	 */
	private RunRepository.Decision ask(boolean locked) {
		Instant known = (this.planned != null) ? this.planned.changedAt().get() : null;
		this.scheduleKnown = known;
		this.parameters.addValue("scheduleKnown", (known != null) ? known.atOffset(ZoneOffset.UTC) : null,
				Types.TIMESTAMP_WITH_TIMEZONE);
		if (!locked) {
			return this.runs.precheck(this.kind, this.parameters);
		}
		boolean savepoint = this.failureMatters && this.boundary == Boundary.OWN_TRANSACTION;
		try {
			return DeferredInterrupt
				.during(() -> this.runs.decide(this.kind, this.parameters, this.boundary != Boundary.NONE, savepoint));
		}
		catch (UncategorizedSQLException ex) {
			throw explained(ex);
		}
	}

	private RuntimeException explained(RuntimeException ex) {
		if (ex.getCause() instanceof SQLException failure && READ_ONLY_TRANSACTION.equals(failure.getSQLState())) {
			return new IllegalTransactionStateException("Failed to record a run of advisory lock '" + this.key
					+ "': PostgreSQL says that the transaction is read-only; let connections of the pool write, as by "
					+ "'spring.datasource.hikari.read-only' or 'default_transaction_read_only' of the role", ex);
		}
		return LedgerSchemaException.explain(ex);
	}

	private LockOutcome outcome(RunRepository.Decision decision) {
		String answer = decision.answer();
		if (RunStatements.AHEAD.equals(answer)) {
			throw ahead(decision.time().toInstant());
		}
		if (RunStatements.DRAINED.equals(answer)) {
			this.runs.learnDrained();
			return LockOutcome.PAUSED;
		}
		boolean other = RunStatements.RESCHEDULED.equals(answer) || (this.planned != null && this.scheduleKnown != null
				&& !this.planned.allowed().test(this.tick, decision.time().toInstant()));
		return other ? LockOutcome.TOO_SOON : LockOutcome.valueOf(answer);
	}

	private IllegalStateException ahead(Instant now) {
		Assert.state(this.tick != null, "'tick' must not be null");
		return new IllegalStateException("Failed to run advisory lock '" + this.key + "' for tick " + this.tick
				+ ": that is " + Duration.between(now, this.tick).truncatedTo(ChronoUnit.SECONDS)
				+ " ahead of the clock of the database server, which says " + now + "; the clock of this instance says "
				+ Instant.now()
				+ "; if all instances report this, set the clock of the database server right, and else that of this "
				+ "instance");
	}

	@Override
	public @Nullable String keptResult() {
		return (this.resultFormat != null) ? this.runs.result(this.parameters, this.boundary != Boundary.NONE) : null;
	}

	@Override
	public void complete(@Nullable Object result) {
		if (this.resultFormat != null) {
			this.parameters.addValue("result", this.resultFormat.apply(result), Types.VARCHAR);
		}
		if (!this.runs.complete(ending(), this.boundary != Boundary.NONE)) {
			throw (this.boundary == Boundary.NONE) ? new LockLostException(this.key)
					: new IllegalStateException("Failed to complete the run of advisory lock '" + this.key
							+ "': another run has completed it meanwhile");
		}
		this.durable = true;
	}

	@Override
	public void completeFailed(Throwable failure) {
		if (this.hold != null && this.hold.isCancelled()) {
			judge(failure);
		}
		this.runs.completeFailed(ending(), failure);
	}

	/**
	 * Judge what a bad end means for the tick, the first time: a connection that went
	 * back to its pool tells nothing any more. A run that was told to end is not tried
	 * again. One that ends with its instance has not failed, and leaves the tick to
	 * others at once. One that ends with its lock is tried again as often as need be.
	 */
	private void judge(Throwable failure) {
		if (this.decision == null || this.hold == null) {
			return;
		}
		if (this.hold.isCancelled()) {
			this.parameters.addValue("badOutcome", LedgerRun.Outcome.CANCELLED.name()).addValue("givenUp", true);
		}
		else if (this.maxRetries != null && !this.judged) {
			this.judged = true;
			int failedBefore = this.decision.failedAttempts();
			boolean lost = failure instanceof LockLostException loss && loss.getKey().equals(this.key);
			if (this.hold.isRevoked()) {
				this.parameters.addValue("givenUp", true);
			}
			else if (this.stopping.getAsBoolean()) {
				this.parameters.addValue("badOutcome", LedgerRun.Outcome.ABANDONED.name());
			}
			else if (!lost && !this.hold.isGone()) {
				this.parameters.addValue("failedAttempts", failedBefore + 1)
					.addValue("givenUp", failedBefore >= this.maxRetries);
			}
		}
	}

	/**
	 * Return what the history tells of a run that was told to end: why, rather than what
	 * the run made of that.
	 */
	private Throwable reason(Throwable failure) {
		return (this.hold != null && this.hold.isRevoked() && !(failure instanceof LockLostException))
				? this.hold.lostException().initCause(failure) : failure;
	}

	@Override
	public void failWhileHeld(Throwable failure) {
		judge(failure);
		if (this.decision != null && this.failureMatters) {
			Hold.SideConnection side = (this.hold != null) ? this.hold.sideConnection() : null;
			try {
				if (this.boundary == Boundary.OWN_TRANSACTION) {
					this.runs.failInside(ending(), reason(failure));
					this.failed = true;
				}
				else if (side != null) {
					this.runs.failAside(side, ending(), reason(failure));
					this.failed = true;
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The failed run of advisory lock '" + this.key
						+ "' could not be recorded before its lock is free, and is after that", ex);
			}
		}
	}

	@Override
	public void fail(Throwable failure) {
		this.durable = true;
		if (this.decision == null || this.failed) {
			return;
		}
		judge(failure);
		if (!this.keepsJob) {
			// only a key that fails each time has a long history
			this.runs.note(this.name);
		}
		try {
			this.runs.fail(ending(), reason(failure), this.boundary == Boundary.CALLERS_TRANSACTION);
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
			if (this.boundary == Boundary.CALLERS_TRANSACTION) {
				logger.warn("The failed run of advisory lock '" + this.key + "' could not be recorded", failure);
			}
		}
	}

	@Override
	public OptionalLong fencingToken() {
		if (this.decision == null || this.decision.token() == null) {
			return OptionalLong.empty();
		}
		if (!this.durable) {
			this.runs.makeDurable(this.hold);
			this.durable = true;
		}
		return OptionalLong.of(this.decision.token());
	}

	@Override
	public boolean has(long token) {
		return this.decision != null && Long.valueOf(token).equals(this.decision.token());
	}

	@Override
	public void traced(String traceId) {
		this.parameters.addValue("traceId", this.runs.text().of(traceId), Types.VARCHAR);
	}

	@Override
	public int attempt() {
		return (this.decision != null) ? this.decision.attempt() : 1;
	}

	/**
	 * What has a row already may never come to its end: that is told at once.
	 */
	@Override
	public void hangs(Run.Stack stack, Executor later) {
		String text = this.runs.text().of(stack.toString());
		this.hangStack = text;
		Hold.SideConnection side = (this.hold != null) ? this.hold.sideConnection() : null;
		Long token = (this.decision != null) ? this.decision.token() : null;
		if (this.boundary == Boundary.NONE && side != null && token != null) {
			later.execute(new SafeTask("Failed to keep what the run of advisory lock '" + this.key + "' is doing",
					() -> this.runs.hang(side, this.key, token, text)));
		}
	}

	/**
	 * Return the run with what it did when it had lasted for long, if it has.
	 */
	private MapSqlParameterSource ending() {
		return this.parameters.addValue("hangStack", this.hangStack, Types.VARCHAR)
			.addValue("nextAt", this.runs.next(this.name, this.parameters), Types.TIMESTAMP_WITH_TIMEZONE);
	}

}
