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
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedFacts;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.ledger.JobFacts;
import io.github.advisorylock.ledger.JobName;
import io.github.advisorylock.ledger.JobRepository;
import io.github.advisorylock.ledger.KnownInstance;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What the ledger has recorded.
 *
 * @since 0.1.0
 */
public class LedgerJobRegistry extends JobRegistry {

	private static final int MOST_JOBS = 50_000;

	private static final KeysDescriptor NO_KEYS = new KeysDescriptor(0, List.of(), 0, List.of());

	private final @Nullable PostgresAdvisoryLockLedger ledger;

	/**
	 * Create a registry.
	 * @param ledger the ledger, {@code null} if it is switched off
	 */
	public LedgerJobRegistry(@Nullable PostgresAdvisoryLockLedger ledger) {
		this.ledger = ledger;
	}

	private PostgresAdvisoryLockLedger ledger() {
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
	List<JobId> names() {
		return ledger().catalog().names(MOST_JOBS).stream().map(LedgerJobRegistry::id).toList();
	}

	@Override
	List<RecordedJob> histories(Collection<JobId> ids, Redaction redaction) {
		return repository().histories(names(ids), 1)
			.stream()
			.map((job) -> describe(job, (job.lastRun() != null) ? describe(job.lastRun(), null, redaction) : null))
			.toList();
	}

	/**
	 * What can't be stored, the ledger can't be asked for either.
	 */
	@Override
	List<JobId> known(List<JobId> ids) {
		List<JobName> names = names(ids.stream().filter(LedgerJobRegistry::hasRoom).toList());
		return repository().known(names).stream().map(LedgerJobRegistry::id).toList();
	}

	private static boolean hasRoom(JobId id) {
		return !id.key().isBlank() && id.namespace().indexOf('/') < 0 && name(id).findExcess() == null
				&& StandardCharsets.UTF_8.newEncoder().canEncode(id.namespace() + id.key());
	}

	@Override
	Map<JobId, KeysDescriptor> keys(List<JobId> templates, int latest, Redaction redaction) {
		Map<JobId, KeysDescriptor> keys = new HashMap<>(failures(templates, latest, redaction));
		for (JobRepository.KeysOfTemplate some : repository().keys(names(templates), latest)) {
			KeysDescriptor failed = keys.getOrDefault(id(some.name()), NO_KEYS);
			keys.put(id(some.name()),
					new KeysDescriptor(some.count(), some.latest().stream().map(LedgerJobRegistry::key).toList(),
							failed.failureCount(), failed.failed()));
		}
		return keys;
	}

	private Map<JobId, KeysDescriptor> failures(List<JobId> templates, int latest, Redaction redaction) {
		return repository().failures(names(templates), latest)
			.stream()
			.collect(Collectors.toMap((failures) -> id(failures.name()), (failures) -> new KeysDescriptor(0, List.of(),
					failures.count(), failures.latest().stream().map((run) -> key(run, redaction)).toList())));
	}

	@Override
	List<RunDescriptor> runs(JobId id, boolean template, int limit, Redaction redaction) {
		List<LedgerRun> runs = template ? ledger().catalog().runs(name(id), "all", false, 0, limit).runs()
				: repository().runs(id.namespace(), id.key(), limit);
		return runs.stream().map((run) -> describe(run, template ? run.key() : null, redaction)).toList();
	}

	@Override
	List<RecordedInstance> instances(String namespace) {
		return repository().instances(namespace).stream().map(LedgerJobRegistry::describe).toList();
	}

	private static RecordedInstance describe(KnownInstance one) {
		List<RecordedRole> roles = one.roles()
			.stream()
			.map((role) -> new RecordedRole(role.name(), role.term(), role.since()))
			.toList();
		return new RecordedInstance(new InstanceDescriptor(one.instance(), one.namespace(),
				one.state().name().toLowerCase(Locale.ROOT), one.startedAt(), one.seenAt(), endedAt(one), one.version(),
				one.library(), one.clockSkew(), one.locks(), List.of()), roles);
	}

	private static @Nullable Instant endedAt(KnownInstance instance) {
		return switch (instance.state()) {
			case ALIVE -> null;
			case STOPPED -> instance.stoppedAt();
			case VANISHED -> instance.seenAt();
		};
	}

	@Override
	void pause(JobId id, String user, @Nullable String reason) {
		ledger().pause(name(id), user, reason);
	}

	@Override
	void resume(JobId id, String user) {
		ledger().resume(name(id), user);
	}

	@Override
	int pauseAll(String namespace, String user, @Nullable String reason) {
		return ledger().pauseAll(namespace, user, reason);
	}

	@Override
	int resumeAll(String namespace, String user) {
		return ledger().resumeAll(namespace, user);
	}

	@Override
	@Nullable PauseDescriptor pauseOfAll(String namespace) {
		return repository().pauseOfAll(namespace)
			.map((pause) -> new PauseDescriptor(pause.since(), pause.by(), pause.reason(), true))
			.orElse(null);
	}

	@Override
	@Nullable Supplier<LockOutcome> retry(JobId id, String user) {
		return ledger().retry(name(id), user);
	}

	@Override
	void forget(JobId id, String user) {
		ledger().forget(name(id), user);
	}

	@Override
	LockOutcome runNow(JobId id, String user) {
		return ledger().runNow(name(id), user);
	}

	@Override
	@Nullable String describe(Throwable failure, Redaction redaction) {
		LedgerRun.Failure described = LedgerRun.Failure.of(failure);
		return redaction.error(described.type(), described.text());
	}

	private static RecordedJob describe(JobRepository.JobHistory history, @Nullable RunDescriptor lastRun) {
		LedgerJob job = history.job();
		return new RecordedJob(id(job), history.registered(), job.lastTick(), openTick(job), history.completedAt(),
				paused(job), (lastRun != null) ? lastRun.outcome() : name(job.lastOutcome()), lastRun,
				facts(job, history.facts()), (operation) -> job.overdueTick(operation, Instant.now()) != null);
	}

	private static RecordedFacts facts(LedgerJob job, @Nullable JobFacts facts) {
		if (facts == null) {
			return new RecordedFacts(null, null, RecordedSchedule.of(null), job.lastStartedAt(), job.lastFinishedAt(),
					LedgerOperation.RECORDED);
		}
		RecordedSchedule schedule = RecordedSchedule.of(facts.schedules());
		LedgerOperation operation = new LedgerOperation(true, "PER_TICK".equals(facts.once()), schedule.ticks(), false,
				duration(facts.minInterval()), duration(facts.catchUp()));
		return new RecordedFacts(facts.method(), (facts.scope() != null) ? LockScope.valueOf(facts.scope()) : null,
				schedule, job.lastStartedAt(), job.lastFinishedAt(), operation);
	}

	private static @Nullable Duration duration(@Nullable Long micros) {
		return (micros != null) ? Duration.of(micros, ChronoUnit.MICROS) : null;
	}

	private static @Nullable TickDescriptor openTick(LedgerJob job) {
		Instant tick = job.openTick();
		return (tick != null) ? new TickDescriptor(tick, job.attempts(), job.retryAt()) : null;
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
				key);
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

	private static List<JobName> names(Collection<JobId> ids) {
		return ids.stream().map(LedgerJobRegistry::name).toList();
	}

	private static JobName name(JobId id) {
		return new JobName(id.namespace(), id.key());
	}

	private static JobId id(JobName name) {
		return new JobId(name.namespace(), name.key());
	}

	private static JobId id(LedgerJob job) {
		return new JobId(job.namespace(), job.key());
	}

}
