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

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.RunLedger.RunRecord;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.JobForgottenEvent;
import io.github.advisorylock.ledger.JobPausedEvent;
import io.github.advisorylock.ledger.JobRescheduledEvent;
import io.github.advisorylock.ledger.JobResumedEvent;
import io.github.advisorylock.ledger.JobTickRetriedEvent;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.ledger.LedgerRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.Assert;

/**
 * {@link AdvisoryLockLedger} in tables of the database that has the locks. Does not touch
 * that database before it is opened, by the first run that is to be recorded or by the
 * first question.
 *
 * @since 0.1.0
 */
public class PostgresAdvisoryLockLedger implements AdvisoryLockLedger, RunLedger {

	private static final Log logger = LogFactory.getLog(PostgresAdvisoryLockLedger.class);

	/**
	 * The key, in no namespace, of the lock under which one instance at a time forgets
	 * what is old, and of its rounds.
	 */
	public static final String HOUSEKEEPING_KEY = "advisory-lock:ledger-housekeeping";

	private static final int LONGEST_WHO = 255;

	private static final int LONGEST_REASON = 1000;

	private static final int MOST_JOBS = 1000;

	private final LedgerSettings settings;

	private final Consumer<Object> eventPublisher;

	private final LedgerOpening opening;

	private final String namespace;

	private final LockInstance instance;

	private final JobFinder finder;

	private volatile String seenSchedules = "0";

	private volatile boolean stopping;

	/**
	 * Create a ledger.
	 * @param dataSource the DataSource that has the locks
	 * @param settings how the ledger is kept
	 * @param defaultNamespace the namespace of keys that no method has
	 * @param instance this instance, for the history
	 * @param methods knows the annotated methods
	 * @param isHere whether a method has its lock on that DataSource
	 * @param beans has their beans
	 * @param eventPublisher is told what operators do: {@link JobPausedEvent},
	 * {@link JobResumedEvent}, {@link JobRescheduledEvent}, {@link JobTickRetriedEvent},
	 * {@link JobForgottenEvent}
	 */
	public PostgresAdvisoryLockLedger(DataSource dataSource, LedgerSettings settings, String defaultNamespace,
			LockInstance instance, SingleRunnerAnnotationBeanPostProcessor methods,
			Predicate<SingleRunnerMethod> isHere, BeanFactory beans, Consumer<Object> eventPublisher) {
		this(dataSource, settings, defaultNamespace, instance, new RecordedMethodRegistry(methods, beans, isHere),
				eventPublisher);
	}

	PostgresAdvisoryLockLedger(DataSource dataSource, LedgerSettings settings, String defaultNamespace,
			LockInstance instance, LedgerOpening.Methods methods, Consumer<Object> eventPublisher) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		Assert.notNull(settings, "'settings' must not be null");
		LedgerConnections connections = new LedgerConnections(PostgresAdvisoryLockTemplate.unwrap(dataSource));
		this.settings = settings;
		this.eventPublisher = eventPublisher;
		this.instance = instance;
		this.namespace = defaultNamespace;
		this.opening = new LedgerOpening(connections, settings, defaultNamespace, instance, methods);
		this.finder = new JobFinder(defaultNamespace, methods::withFixedKey, (name) -> repository().knows(name));
	}

	/**
	 * Create the tables if that is wanted, check them, and add the jobs of this
	 * application that are not known yet; inside a transaction the latter is left to the
	 * next use of the ledger.
	 * @throws LedgerSchemaException if tables, columns or privileges are missing
	 */
	public void prepare() {
		this.opening.prepare();
	}

	/**
	 * Set what to run as soon as the ledger is in use.
	 * @param action what to run, possibly more than once
	 */
	public void whenOpen(Runnable action) {
		this.opening.whenOpen(action);
	}

	/**
	 * Return whether the ledger is in use.
	 * @return {@code false} as long as nothing was recorded or asked
	 */
	@Override
	public boolean isOpen() {
		return this.opening.isOpen();
	}

	/**
	 * Make sure that the ledger can be used.
	 * @throws LedgerSchemaException if tables or columns are missing
	 * @throws org.springframework.dao.DataAccessException if the database can't be asked
	 */
	@Override
	public void check() {
		this.opening.check();
	}

	@Override
	public RunRecord record(AdvisoryLockKey key, LockScope scope, LockRequest request) {
		return new RecordedRun(this.opening.open().runs(), key, scope, request, () -> this.stopping);
	}

	/**
	 * Say whether the application is being shut down. What does not come to its end from
	 * then on ends with its instance, and has not failed.
	 */
	void shutDown(boolean stopping) {
		this.stopping = stopping;
	}

	@Override
	public @Nullable Instant keep(AdvisoryLockKey key, Duration time, @Nullable Instant own) {
		JobName name = JobName.of(key);
		String excess = name.findExcess();
		Assert.isTrue(excess == null, () -> "Failed to keep advisory lock '" + key + "': " + excess);
		return this.opening.open()
			.operators()
			.keep(name, PostgresAdvisoryLockTemplate.lockEntry(key), time, own, this.settings.rememberKeys());
	}

	@Override
	public void answer(Function<String, List<Run.Stack>> stacks, Hold.SideConnection side) {
		repository().questions().answer(stacks, side);
	}

	/**
	 * Return what is known of jobs and runs. Can be asked once the ledger is
	 * {@linkplain #isOpen() open}.
	 * @return the repository of jobs
	 */
	public JobRepository repository() {
		return this.opening.opened().jobs();
	}

	@Override
	public void look() {
		drained(repository().instances().isDrained(this.namespace));
	}

	/**
	 * Have an instance begin no guarded run and lead no role, or do both again.
	 * @param name the name of the instance
	 * @param by who wants that, {@code null} to have it begin runs again
	 * @return {@code false} if no instance of that name lives
	 */
	public boolean drain(String name, @Nullable String by) {
		if (by != null) {
			checkWho(by);
		}
		boolean found = this.opening.open().operators().drain(new JobName(this.namespace, name), by);
		if (found && name.equals(this.instance.name())) {
			look();
		}
		return found;
	}

	/**
	 * Have this instance know whether an operator has it begin no run.
	 */
	void drained(boolean drained) {
		this.opening.drained(drained);
	}

	/**
	 * Return the instance whose runs are recorded.
	 */
	LockInstance instance() {
		return this.instance;
	}

	@Override
	public List<LedgerJob> jobs(String namespace, String after, int limit) {
		Assert.notNull(namespace, "'namespace' must not be null");
		Assert.notNull(after, "'after' must not be null");
		Assert.isTrue(limit >= 1 && limit <= MOST_JOBS, "'limit' must be from 1 to " + MOST_JOBS);
		return this.opening.open().jobs().jobs(namespace, after, limit);
	}

	/**
	 * Return the jobs that are overdue, and those whose last tick is yet to come. Says
	 * before that what is planned next for those of this application whose pause has
	 * ended since.
	 */
	List<JobRepository.LateJob> late() {
		this.opening.open();
		this.opening.register();
		return repository().late();
	}

	/**
	 * Look at some jobs and the holders of their locks, with one statement.
	 */
	List<JobRepository.ObservedJob> observe(List<AdvisoryLockKey> keys) {
		return this.opening.open().jobs().observe(keys);
	}

	@Override
	public Optional<LedgerJob> job(String key) {
		return repository().job(find(key));
	}

	@Override
	public List<LedgerRun> runs(String key, int limit) {
		JobName name = find(key);
		return repository().runs(name.namespace(), name.key(), limit);
	}

	@Override
	public void pause(String key, String by) {
		pause(find(key), by, null);
	}

	/**
	 * As {@link #pause(String, String)}, for exactly this job.
	 * @param job the job
	 * @param by who wants this
	 * @param reason why, {@code null} if that is not told
	 */
	public void pause(JobName job, String by, @Nullable String reason) {
		checkReason(reason);
		act(job, by, (operators) -> operators.pause(job, by, reason), "pause '%s': the ledger has no job of that key",
				"'%s' was paused by ", new JobPausedEvent(job.namespace(), job.key(), by));
	}

	@Override
	public void resume(String key, String by) {
		resume(find(key), by);
	}

	/**
	 * As {@link #resume(String, String)}, for exactly this job.
	 * @param job the job
	 * @param by who wants this
	 */
	public void resume(JobName job, String by) {
		act(job, by, (operators) -> operators.resume(job), "resume '%s': the ledger has no job of that key",
				"'%s' was resumed by ", new JobResumedEvent(job.namespace(), job.key(), by));
	}

	@Override
	public Instant reschedule(String key, @Nullable String schedule, @Nullable String zone, String by,
			@Nullable String reason) {
		JobName job = find(key);
		boolean cron = zone != null || CronExpression.isValidExpression(schedule);
		return reschedule(job, cron ? schedule : null, zone, cron ? null : schedule, by, reason);
	}

	/**
	 * As {@link #reschedule(String, String, String, String, String)}, for exactly this
	 * job.
	 * @param job the job
	 * @param cron the cron expression, for a cron schedule
	 * @param zone the time zone of that
	 * @param interval the interval, for any other one
	 * @param by who wants this
	 * @param reason why, {@code null} if that is not told
	 * @return from when on the schedule holds
	 */
	public Instant reschedule(JobName job, @Nullable String cron, @Nullable String zone, @Nullable String interval,
			String by, @Nullable String reason) {
		checkReason(reason);
		checkWho(by);
		this.opening.open();
		Instant from = this.opening.schedules()
			.reschedule(job, new JobSchedules.Wanted(cron, zone, interval), by, reason);
		String schedule = (cron != null) ? cron : interval;
		tell("'" + display(job) + "' has "
				+ ((schedule != null) ? "the schedule '" + AdvisoryLockKey.display(schedule) + "'" : "its own schedule")
				+ " from " + from + " on, chosen by ", by,
				new JobRescheduledEvent(job.namespace(), job.key(), schedule, zone, from, by));
		return from;
	}

	/**
	 * Return when a job would be called next with another schedule.
	 * @param job the job
	 * @param cron the cron expression, for a cron schedule
	 * @param zone the time zone of that
	 * @param interval the interval, for any other one
	 * @param times how many times are wanted
	 * @return the times
	 */
	public List<Instant> preview(JobName job, @Nullable String cron, @Nullable String zone, @Nullable String interval,
			int times) {
		this.opening.open();
		return this.opening.schedules().preview(job, new JobSchedules.Wanted(cron, zone, interval), times);
	}

	/**
	 * Look up the schedules that operators have chosen if they are others than before.
	 * @param seen tells them from what they were
	 */
	void seeSchedules(String seen) {
		if (!seen.equals(this.seenSchedules)) {
			rescheduled();
			this.seenSchedules = seen;
		}
	}

	@Override
	public void rescheduled() {
		if (isOpen()) {
			this.opening.schedules().learn(false);
			this.opening.register();
		}
	}

	@Override
	public int pauseAll(String namespace, String by, @Nullable String reason) {
		Assert.notNull(namespace, "'namespace' must not be null");
		checkReason(reason);
		checkWho(by);
		int jobs = this.opening.open().operators().pauseAll(namespace, by, reason);
		tell("All jobs of '" + AdvisoryLockKey.display(namespace) + "' were paused by ", by,
				new JobPausedEvent(namespace, "", by));
		return jobs;
	}

	@Override
	public int resumeAll(String namespace, String by) {
		Assert.notNull(namespace, "'namespace' must not be null");
		checkWho(by);
		int jobs = this.opening.open()
			.operators()
			.resumeAll(namespace)
			.orElseThrow(() -> new IllegalArgumentException("Failed to resume all jobs of '"
					+ AdvisoryLockKey.display(namespace) + "': they were not all paused together"));
		tell("All jobs of '" + AdvisoryLockKey.display(namespace) + "' were resumed by ", by,
				new JobResumedEvent(namespace, "", by));
		return jobs;
	}

	@Override
	public Optional<LockOutcome> retry(String key, String by) {
		return Optional.ofNullable(retry(find(key), null, by)).map(Supplier::get);
	}

	/**
	 * End the wait of the open tick of exactly this job.
	 * @param job the job
	 * @param meant the tick that is meant, {@code null} for whichever is open
	 * @param by who wants this
	 * @return what tries the tick again here and tells how that ended, {@code null} if
	 * that is left to instances that have a method for it
	 */
	public @Nullable Supplier<LockOutcome> retry(JobName job, @Nullable Instant meant, String by) {
		checkWho(by);
		Instant tick = this.opening.open()
			.operators()
			.retry(job, meant)
			.orElseThrow(() -> new IllegalArgumentException("Failed to retry a tick of '" + display(job)
					+ "': it has none that was tried and not completed, or runs, or is paused"));
		tell("The tick of " + tick + " of '" + display(job) + "' is tried again for ", by,
				new JobTickRetriedEvent(job.namespace(), job.key(), by));
		return this.finder.methodsOf(job)
			.stream()
			.map(JobFinder.LedgerMethod::retry)
			.filter(Objects::nonNull)
			.findFirst()
			.<Supplier<LockOutcome>>map((retry) -> () -> retry.apply(tick))
			.orElse(null);
	}

	@Override
	public LockOutcome backfill(String key, Instant from, Instant to, boolean again, String by) {
		return backfill(find(key), from, to, again, by).get();
	}

	/**
	 * Begin a backfill of exactly this job.
	 * @param job the job
	 * @param from the first time whose ticks are run
	 * @param to the first time whose ticks are not run any more
	 * @param again whether also ticks are run that were executed
	 * @param by who wants this
	 * @return what runs the ticks
	 */
	public Supplier<LockOutcome> backfill(JobName job, Instant from, Instant to, boolean again, String by) {
		checkWho(by);
		BackfillRepository backfills = this.opening.open().backfills();
		List<Backfill.Work> works = this.finder.methodsOf(job)
			.stream()
			.flatMap((method) -> Stream.ofNullable(method.backfill()))
			.toList();
		return new Backfill(backfills, job, (works.size() == 1) ? works.get(0) : null, from, to, again, by,
				() -> this.stopping, LockScheduler.Ticker.SYSTEM);
	}

	/**
	 * End a backfill of exactly this job before its next run. Where there is none,
	 * nothing is written: a run can be cancelled in a database that is read-only.
	 * @param job the job
	 * @return {@code false} if none is under way
	 */
	public boolean cancelBackfill(JobName job) {
		BackfillRepository backfills = this.opening.opened().backfills();
		return backfills.find(job).filter((last) -> last.outcome() == null).isPresent() && backfills.cancel(job);
	}

	/**
	 * Return the last backfill of exactly this job.
	 * @param job the job
	 * @return the backfill, or empty if there was none
	 */
	public Optional<LedgerJob.Backfill> lastBackfill(JobName job) {
		return this.opening.opened().backfills().find(job);
	}

	@Override
	public void forget(String key, String by) {
		forget(find(key), by);
	}

	/**
	 * As {@link #forget(String, String)}, for exactly this job.
	 * @param job the job
	 * @param by who wants this
	 */
	public void forget(JobName job, String by) {
		Assert.isTrue(this.finder.methodsOf(job).isEmpty(),
				() -> "Failed to forget '" + display(job) + "': this instance has a method of that key");
		act(job, by, (operators) -> operators.forget(job),
				"forget '%s': the ledger has no job of that key, or its last run is not over",
				"'%s' was forgotten for ", new JobForgottenEvent(job.namespace(), job.key(), by));
	}

	/**
	 * Change a job for an operator, and tell everybody.
	 * @param change tells whether there was anything to change
	 * @param nothing what failed where there was not
	 * @param done what was done, before the name of who wanted it
	 */
	private void act(JobName job, String by, Predicate<OperatorRepository> change, String nothing, String done,
			Object event) {
		checkWho(by);
		Assert.isTrue(change.test(this.opening.open().operators()),
				() -> "Failed to " + nothing.formatted(display(job)));
		tell(done.formatted(display(job)), by, event);
	}

	@Override
	public LockOutcome runNow(String key, String by) {
		checkWho(by);
		return runNow(this.finder.findMethods(key), key, by);
	}

	/**
	 * As {@link #runNow(String, String)}, for exactly this job.
	 * @param job the job
	 * @param by who wants this
	 * @return how that ended
	 */
	public LockOutcome runNow(JobName job, String by) {
		checkWho(by);
		return runNow(this.finder.methodsOf(job), job.toString(), by);
	}

	private JobName find(String key) {
		this.opening.open();
		return this.finder.find(key);
	}

	private static LockOutcome runNow(List<JobFinder.LedgerMethod> methods, String key, String by) {
		List<Supplier<LockOutcome>> runs = methods.stream()
			.map(JobFinder.LedgerMethod::run)
			.filter(Objects::nonNull)
			.toList();
		Assert.isTrue(!runs.isEmpty(), () -> "Failed to run '" + AdvisoryLockKey.display(key)
				+ "' now: this instance has no method of that key that takes no arguments");
		logger.info("'" + AdvisoryLockKey.display(key) + "' is run now for " + AdvisoryLockKey.display(by));
		return JobFinder.runAll(runs.iterator());
	}

	/**
	 * Return what forgets what need not be remembered any more, {@code null} where this
	 * instance may not delete that. Can be asked once the ledger is {@linkplain #isOpen()
	 * open}.
	 */
	@Nullable LedgerHousekeeping housekeeping(LockScheduler.Threads threads) {
		return this.opening.opened().deletable() ? new LedgerHousekeeping(purge(),
				() -> this.opening.opened().runs().takeNoted(), this.settings.keepRunsOfKey(), threads) : null;
	}

	/**
	 * Return what does that in batches.
	 */
	LedgerPurge purge() {
		return this.opening.opened().purge();
	}

	/**
	 * Say what was done.
	 * @param done what, before the name of who wanted it
	 */
	private void tell(String done, String by, Object event) {
		logger.info(done + AdvisoryLockKey.display(by));
		new SafeTask("A listener failed on " + event, () -> this.eventPublisher.accept(event)).run();
	}

	private static String display(JobName job) {
		return AdvisoryLockKey.display(job.toString());
	}

	private static void checkReason(@Nullable String reason) {
		StorableText.check("reason", (reason != null) ? reason : "", LONGEST_REASON);
	}

	private static void checkWho(String by) {
		Assert.hasText(by, "'by' must not be empty");
		StorableText.check("by", by, LONGEST_WHO);
	}

}
