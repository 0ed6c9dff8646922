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
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeyDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedFacts;
import io.github.advisorylock.actuate.JobRegistry.RecordedJob;
import io.github.advisorylock.actuate.JobRegistry.RunPeriod;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.JobCatalog;
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

	private static final int MOST_RUNNING = 20;

	private static final int LATEST_PROBLEMS = 5;

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
	List<String> ownKeys() {
		return List.of(PostgresAdvisoryLockLedger.HOUSEKEEPING_KEY);
	}

	@Override
	List<RecordedJob> histories(Collection<JobId> ids, int runs, Redaction redaction) {
		return repository().histories(names(ids), runs)
			.stream()
			.map((job) -> describe(job, (job.lastRun() != null) ? describe(job.lastRun(), redaction) : null))
			.toList();
	}

	@Override
	JobPage page(List<OwnJob> own, Function<JobId, AdvisoryLockKey> keys, JobFilter filter, int offset, int limit) {
		JobCatalog catalog = ledger().catalog();
		JobCatalog.JobPage page = catalog.jobs(known(catalog.hints(), own, keys), filter.text(), filter.state(),
				filter.sort(), offset, limit);
		return new JobPage(page.seen(), page.total(),
				page.places().stream().map((place) -> new Place(id(place.name()), place.rank())).toList());
	}

	@Override
	JobSummary summary(List<OwnJob> own, Function<JobId, AdvisoryLockKey> keys, Redaction redaction) {
		JobCatalog catalog = ledger().catalog();
		JobCatalog.Summary summary = catalog.summary(known(catalog.hints(), own, keys), MOST_RUNNING, LATEST_PROBLEMS);
		Map<Problem, ProblemGroup> groups = new EnumMap<>(Problem.class);
		for (JobCatalog.Trouble trouble : summary.problems()) {
			Problem problem = Problem.valueOf(trouble.kind());
			groups.computeIfAbsent(problem, (kind) -> new ProblemGroup(kind, trouble.count(), new ArrayList<>()))
				.latest()
				.add(describe(trouble, redaction));
		}
		return new JobSummary(summary.states(),
				summary.running().stream().map((job) -> describe(job, redaction)).toList(),
				List.copyOf(groups.values()),
				summary.pauses()
					.entrySet()
					.stream()
					.collect(Collectors.toMap(Map.Entry::getKey, (pause) -> describe(pause.getValue()))));
	}

	private static PauseDescriptor describe(JobRepository.PauseOfAll pause) {
		return new PauseDescriptor(pause.since(), pause.by(), pause.reason(), true);
	}

	private static ProblemDescriptor describe(JobCatalog.Trouble trouble, Redaction redaction) {
		String reason = (trouble.reason() != null) ? ": " + trouble.reason() : "";
		String detail = (trouble.by() != null) ? "by " + trouble.by() + reason
				: redaction.error(trouble.errorClass(), trouble.error());
		Long failures = trouble.failures();
		return new ProblemDescriptor(trouble.name().key(), trouble.name().namespace(), id(trouble.name()).text(),
				trouble.at(), trouble.instance(), (failures != null) ? failures.intValue() : null, detail, null);
	}

	/**
	 * What is planned is the same for all jobs of one schedule. Jobs whose locks nobody
	 * has told, as instances of earlier versions and requests in code do not, are told of
	 * where these are held.
	 */
	private static JobCatalog.Known known(JobCatalog.Hints hints, List<OwnJob> own,
			Function<JobId, AdvisoryLockKey> keys) {
		Map<JobName, JobCatalog.OwnJob> jobs = new LinkedHashMap<>();
		for (OwnJob job : own) {
			jobs.put(name(job.id()),
					new JobCatalog.OwnJob(name(job.id()), job.target(),
							(job.key() != null) ? PostgresAdvisoryLockTemplate.lockEntry(job.key()) : null,
							job.paused(), job.troubled()));
		}
		for (JobName name : hints.held().isEmpty() ? List.<JobName>of() : hints.untold()) {
			String lock = PostgresAdvisoryLockTemplate.lockEntry(keys.apply(id(name)));
			if (hints.held().contains(lock)) {
				jobs.putIfAbsent(name, new JobCatalog.OwnJob(name, null, lock, false, false));
			}
		}
		Instant now = Instant.now();
		return new JobCatalog.Known(jobs.values(),
				hints.schedules().stream().map((schedules) -> plan(schedules, now)).toList());
	}

	private static JobCatalog.Plan plan(String schedules, Instant now) {
		RecordedSchedule schedule = RecordedSchedule.of(schedules);
		ScheduleDescriptor interval = schedule.interval();
		return new JobCatalog.Plan(schedules, schedule.nextTick(now),
				schedule.latestTick(now, now.minus(LedgerJob.OVERDUE_AFTER)),
				(interval != null) ? interval.interval() : null,
				interval != null && interval.type().equals("fixedDelay"));
	}

	@Override
	RunPage runs(JobId id, String outcome, boolean longest, int offset, int limit, Redaction redaction) {
		JobCatalog.RunPage page = ledger().catalog().runs(name(id), outcome, longest, offset, limit);
		return new RunPage(page.total(),
				page.runs()
					.stream()
					.map((run) -> describe(run, run.key().equals(id.key()) ? null : run.key(), redaction))
					.toList());
	}

	@Override
	List<Instant> ticks(JobId id) {
		return ledger().catalog().ticks(name(id));
	}

	@Override
	List<RecordedLock> owners(Collection<String> locks) {
		return ledger().catalog()
			.owners(locks)
			.stream()
			.map((owner) -> new RecordedLock(owner.lock(), id(owner.name()), owner.method(), owner.instance(),
					owner.startedAt()))
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
	List<RunDescriptor> runs(JobId id, int limit, Redaction redaction) {
		return repository().runs(id.namespace(), id.key(), limit)
			.stream()
			.map((run) -> describe(run, redaction))
			.toList();
	}

	@Override
	List<RunPeriod> periods(List<JobId> ids, Duration lookBack, Duration slot) {
		return repository().periods(names(ids), lookBack, slot)
			.stream()
			.map((period) -> new RunPeriod(period.namespace(), period.key(), period.instance(), period.startedAt(),
					period.finishedAt(), period.runs(), period.failures(), period.cut()))
			.toList();
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
		return repository().pauseOfAll(namespace).map(LedgerJobRegistry::describe).orElse(null);
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
				history.outcomes(), history.durations(), facts(job, history.facts()),
				(operation) -> job.overdueTick(operation, Instant.now()) != null);
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

	private static RunDescriptor describe(LedgerRun run, Redaction redaction) {
		return describe(run, null, redaction);
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
		return new KeyDescriptor(job.key(), id(job).text(), job.lastStartedAt(), name(job.lastOutcome()), null);
	}

	private static KeyDescriptor key(LedgerRun run, Redaction redaction) {
		return new KeyDescriptor(run.key(), new JobId(run.namespace(), run.key()).text(), run.startedAt(),
				name(run.outcome()), redaction.error(run.errorClass(), run.error()));
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
