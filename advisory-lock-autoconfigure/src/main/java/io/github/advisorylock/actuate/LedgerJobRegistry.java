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

package io.github.advisorylock.actuate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.BackfillDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RescheduledDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.ledger.jdbc.JobName;
import io.github.advisorylock.ledger.jdbc.JobRepository;
import io.github.advisorylock.ledger.jdbc.KnownInstance;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What the ledger has recorded.
 *
 * @since 0.1.0
 */
class LedgerJobRegistry extends JobRegistry {

	private static final int MOST_JOBS = 50_000;

	private final @Nullable PostgresAdvisoryLockLedger ledger;

	/**
	 * Create a registry.
	 * @param ledger the ledger, {@code null} if it is switched off
	 */
	LedgerJobRegistry(@Nullable PostgresAdvisoryLockLedger ledger) {
		this.ledger = ledger;
	}

	@Override
	PostgresAdvisoryLockLedger ledger() {
		Assert.state(this.ledger != null, "'ledger' must not be null");
		return this.ledger;
	}

	private JobRepository repository() {
		return ledger().repository();
	}

	@Override
	boolean isInUse() {
		return this.ledger != null && this.ledger.isOpen();
	}

	@Override
	boolean isWritable() {
		return this.ledger != null;
	}

	@Override
	Overview overview(String namespace, Redaction redaction) {
		JobRepository.Overview all = repository().overview(namespace, MOST_JOBS);
		return new Overview(all.jobs().stream().map((job) -> describe(job, redaction)).toList(),
				all.instances().stream().map(LedgerJobRegistry::describe).toList(), describe(all.pause()),
				all.differing()
					.stream()
					.map((one) -> new ProblemDescriptor(one.key(), namespace, one.since(), one.instance(),
							one.detail()))
					.toList());
	}

	/**
	 * What can't be stored, the ledger can't be asked for either.
	 */
	@Override
	Optional<RecordedJob> job(JobId id, Redaction redaction) {
		return hasRoom(id) ? repository().state(name(id)).map((job) -> describe(job, redaction)) : Optional.empty();
	}

	private static boolean hasRoom(JobId id) {
		return !id.key().isBlank() && id.namespace().indexOf('/') < 0 && name(id).findExcess() == null
				&& StandardCharsets.UTF_8.newEncoder().canEncode(id.namespace() + id.key());
	}

	@Override
	KeysDescriptor keys(JobId template, int latest, Redaction redaction) {
		JobRepository.Some<LedgerJob> keys = repository().keys(name(template), latest);
		JobRepository.Some<LedgerRun> failures = repository().failures(name(template), latest);
		return new KeysDescriptor(keys.count(), keys.latest().stream().map(LedgerJobRegistry::key).toList(),
				failures.count(), failures.latest().stream().map((run) -> key(run, redaction)).toList());
	}

	@Override
	List<RunDescriptor> runs(JobId id, boolean template, int limit, Redaction redaction) {
		List<LedgerRun> runs = template ? repository().runsOfTemplate(name(id), limit)
				: repository().runs(id.namespace(), id.key(), limit);
		return runs.stream().map((run) -> describe(run, template ? run.key() : null, redaction)).toList();
	}

	@Override
	List<RunDescriptor> latest(String namespace, RunFilter filter, Redaction redaction) {
		String outcome = filter.outcome();
		return repository()
			.latest(namespace, (outcome != null) ? LedgerRun.Outcome.valueOf(outcome) : null, filter.instance(),
					filter.from(), filter.to(), filter.runs())
			.stream()
			.map((run) -> describe(run, run.key(), redaction))
			.toList();
	}

	private static RecordedInstance describe(KnownInstance one) {
		List<RecordedRole> roles = one.roles()
			.stream()
			.map((role) -> new RecordedRole(role.name(), role.term(), role.since()))
			.toList();
		return new RecordedInstance(new InstanceDescriptor(one.instance(), one.namespace(),
				one.state().name().toLowerCase(Locale.ROOT), one.startedAt(), one.seenAt(), endedAt(one), one.version(),
				one.library(), one.clockSkew(), one.locks(), List.of(), one.drainedAt(), one.drainedBy()), roles);
	}

	private static @Nullable Instant endedAt(KnownInstance instance) {
		return switch (instance.state()) {
			case ALIVE -> null;
			case STOPPED -> instance.stoppedAt();
			case VANISHED -> instance.seenAt();
		};
	}

	private static @Nullable PauseDescriptor describe(JobRepository.@Nullable PauseOfAll pause) {
		return (pause != null) ? new PauseDescriptor(pause.since(), pause.by(), pause.reason(), true) : null;
	}

	@Override
	@Nullable BackfillDescriptor lastBackfill(JobId id, Redaction redaction) {
		return ledger().lastBackfill(name(id))
			.map((one) -> new BackfillDescriptor(one.from(), one.to(), one.done(), one.of(), one.skipped(), one.tick(),
					one.instance(), one.by(), one.startedAt(), one.outcome(),
					redaction.error(one.errorClass(), one.error())))
			.orElse(null);
	}

	@Override
	List<RemoteStack> ask(LockNumber lock, Runnable wake, Predicate<List<RemoteStack>> enough, Duration patience) {
		return describe(repository().ask(lock.entry(), wake, (answers) -> enough.test(describe(answers)), patience));
	}

	private static List<RemoteStack> describe(List<KnownInstance.Answer> answers) {
		return answers.stream().map((answer) -> new RemoteStack(answer.instance(), answer.stack())).toList();
	}

	private static RecordedJob describe(JobRepository.JobState state, Redaction redaction) {
		LedgerJob job = state.job();
		LedgerRun run = state.lastRun();
		boolean executed = ((run != null) ? run.outcome() : job.lastOutcome()) == LedgerRun.Outcome.EXECUTED;
		return new RecordedJob(new JobId(job.namespace(), job.key()), state.registered(), state.recorded(),
				state.template(), state.state(), problems(state),
				(run != null) ? describe(run, state.template() ? run.key() : null, redaction) : null,
				executed ? job.lastStartedAt() : null, job.lastTick(), job.nextAt(), openTick(job), state.catchUp(),
				state.completedAt(), paused(job), rescheduled(state), state.method(), state.scope(), state.permits(),
				RecordedSchedule.parse(state.schedules()));
	}

	private static List<Problem> problems(JobRepository.JobState state) {
		JobRepository.Rescheduled rescheduled = state.rescheduled();
		boolean changed = rescheduled != null && rescheduled.schedule() != null && rescheduled.annotationChanged();
		return Stream
			.concat(state.problems().stream().map(Problem::valueOf),
					changed ? Stream.of(Problem.ANNOTATION_CHANGED) : Stream.empty())
			.toList();
	}

	private static @Nullable RescheduledDescriptor rescheduled(JobRepository.JobState state) {
		JobRepository.Rescheduled one = state.rescheduled();
		if (one == null) {
			return null;
		}
		String by = one.by();
		return new RescheduledDescriptor((one.zone() != null) ? one.schedule() : null, one.zone(),
				(one.zone() == null) ? one.schedule() : null, one.effectiveAt(), one.since(),
				(by != null) ? by : "unknown", one.reason());
	}

	private static @Nullable TickDescriptor openTick(LedgerJob job) {
		Instant tick = job.openTick();
		return (tick != null)
				? new TickDescriptor(tick, job.attempts(), job.retryAt(), job.givenUp() ? Boolean.TRUE : null) : null;
	}

	private static @Nullable PauseDescriptor paused(LedgerJob job) {
		String by = job.pausedBy();
		return job.isPaused() ? new PauseDescriptor(job.pausedAt(), (by != null) ? by : "unknown", job.pausedReason(),
				job.pausedWithAll() ? true : null) : null;
	}

	private static RunDescriptor describe(LedgerRun run, @Nullable String key, Redaction redaction) {
		Instant finishedAt = run.finishedAt();
		return new RunDescriptor(run.tick(), (run.tick() != null) ? run.attempt() : null, run.instance(),
				run.fencingToken(), run.startedAt(), finishedAt,
				(finishedAt != null) ? Duration.between(run.startedAt(), finishedAt) : null, name(run.outcome()),
				redaction.error(run.errorClass(), run.error()), run.traceId(), redaction.stackTrace(run.stackTrace()),
				redaction.stackTrace(run.hangStack()), key);
	}

	private static KeyDescriptor key(LedgerJob job) {
		return new KeyDescriptor(job.key(), job.lastStartedAt(), name(job.lastOutcome()), null);
	}

	private static KeyDescriptor key(LedgerRun run, Redaction redaction) {
		return new KeyDescriptor(run.key(), run.startedAt(), name(run.outcome()),
				redaction.error(run.errorClass(), run.error()));
	}

	private static @Nullable String name(LedgerRun.@Nullable Outcome outcome) {
		return (outcome != null) ? outcome.name() : null;
	}

	private static JobName name(JobId id) {
		return new JobName(id.namespace(), id.key());
	}

}
