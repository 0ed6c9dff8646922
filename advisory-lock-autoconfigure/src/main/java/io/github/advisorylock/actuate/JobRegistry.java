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

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.ProblemGroup;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoint wants of jobs that are recorded, and can ask for them: the place of
 * the ledger in it. As it stands here, nothing is recorded.
 *
 * @since 0.1.0
 */
public class JobRegistry {

	/**
	 * Where nothing is recorded.
	 */
	public static final JobRegistry NONE = new JobRegistry();

	JobRegistry() {
	}

	/**
	 * Return whether there are records to look at.
	 */
	boolean isInUse() {
		return false;
	}

	/**
	 * Return whether jobs can be paused, resumed and run.
	 */
	boolean isWritable() {
		return false;
	}

	/**
	 * Return the keys that are locked for the records themselves.
	 */
	List<String> ownKeys() {
		return List.of();
	}

	/**
	 * Return some jobs with their last runs.
	 * @param runs of how many runs the outcomes are told
	 * @param redaction hides values
	 */
	List<RecordedJob> histories(Collection<JobId> ids, int runs, Redaction redaction) {
		return List.of();
	}

	/**
	 * Return a page of all jobs, in the order that is asked for.
	 * @param own the jobs of the methods of this instance
	 * @param keys makes the keys of jobs
	 * @param offset how many to leave out
	 * @param limit how many at most
	 */
	JobPage page(List<OwnJob> own, Function<JobId, AdvisoryLockKey> keys, JobFilter filter, int offset, int limit) {
		return JobPage.NONE;
	}

	/**
	 * Return in short how all jobs are.
	 * @param own the jobs of the methods of this instance
	 * @param keys makes the keys of jobs
	 * @param redaction hides values
	 */
	JobSummary summary(List<OwnJob> own, Function<JobId, AdvisoryLockKey> keys, Redaction redaction) {
		return new JobSummary(Map.of(), List.of(), List.of(), Map.of());
	}

	/**
	 * Return a page of the runs of a job.
	 * @param outcome how they must have ended, {@code RUNNING}, or {@code all}
	 * @param longest whether the longest come first, rather than the latest
	 */
	RunPage runs(JobId id, String outcome, boolean longest, int offset, int limit, Redaction redaction) {
		return new RunPage(0, List.of());
	}

	/**
	 * Return the ticks that runs of a job are known of, latest first.
	 */
	List<Instant> ticks(JobId id) {
		return List.of();
	}

	/**
	 * Return whose some locks are.
	 * @param locks the entries of the locks
	 */
	List<RecordedLock> owners(Collection<String> locks) {
		return List.of();
	}

	/**
	 * Return those of some ids that are those of jobs, else of keys that have run, else
	 * of templates.
	 */
	List<JobId> known(List<JobId> ids) {
		return List.of();
	}

	/**
	 * Return the keys that were made from templates, with those whose last run failed.
	 * @param latest how many keys of each are told
	 * @param redaction hides values
	 */
	Map<JobId, KeysDescriptor> keys(List<JobId> templates, int latest, Redaction redaction) {
		return Map.of();
	}

	/**
	 * Return the last runs of a job, latest first.
	 */
	List<RunDescriptor> runs(JobId id, int limit, Redaction redaction) {
		return List.of();
	}

	/**
	 * Return when which instance ran some jobs, in the order of the jobs and of their
	 * start.
	 * @param slot the shortest time that is told apart
	 */
	List<RunPeriod> periods(List<JobId> ids, Duration lookBack, Duration slot) {
		return List.of();
	}

	/**
	 * Return the instances of a namespace, those that are alive first.
	 */
	List<RecordedInstance> instances(String namespace) {
		return List.of();
	}

	/**
	 * Let no instance run a job for now.
	 */
	void pause(JobId id, String user, @Nullable String reason) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Let instances run a job again.
	 */
	void resume(JobId id, String user) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Let no instance run any job of a namespace for now.
	 * @return how many there are
	 */
	int pauseAll(String namespace, String user, @Nullable String reason) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Let instances run the jobs of a namespace again.
	 * @return how many that are
	 */
	int resumeAll(String namespace, String user) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Return the pause of all jobs of a namespace, {@code null} if they are not paused.
	 */
	@Nullable PauseDescriptor pauseOfAll(String namespace) {
		return null;
	}

	/**
	 * Have the open tick of a job tried again.
	 * @return what does that on this thread, {@code null} if it is left to others
	 */
	@Nullable Supplier<LockOutcome> retry(JobId id, String user) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Forget a job.
	 */
	void forget(JobId id, String user) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Run a job on this thread.
	 */
	LockOutcome runNow(JobId id, String user) {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Describe why a run failed, as the records do.
	 */
	@Nullable String describe(Throwable failure, Redaction redaction) {
		return redaction.error(failure.getClass().getName(), failure.toString());
	}

	/**
	 * What is recorded of a job.
	 *
	 * @param id what tells it from others
	 * @param registered whether more than its runs is recorded
	 * @param lastTick the latest tick that was completed
	 * @param openTick the tick that was tried last and is not completed, {@code null} if
	 * there is none
	 * @param completedAt since when its key is not run again, {@code null} if it is
	 * @param paused its pause, {@code null} if it is not paused
	 * @param lastOutcome how its last run ended, {@code null} if it runs
	 * @param lastRun its last run, {@code null} if there is none, or runs are not asked
	 * for
	 * @param outcomes the first letters of the outcomes of its last runs
	 * @param durations what each of these took, in milliseconds, -1 for one that is not
	 * over
	 * @param facts what it is, as is recorded
	 * @param overdue whether it is overdue, given what is asked of its runs
	 */
	record RecordedJob(JobId id, boolean registered, @Nullable Instant lastTick, @Nullable TickDescriptor openTick,
			@Nullable Instant completedAt, @Nullable PauseDescriptor paused, @Nullable String lastOutcome,
			@Nullable RunDescriptor lastRun, String outcomes, List<Long> durations, RecordedFacts facts,
			Predicate<LedgerOperation> overdue) {

	}

	/**
	 * An instance, as is recorded.
	 *
	 * @param instance what it says of itself, with the roles that it says it leads
	 * @param roles the roles that it may have
	 */
	record RecordedInstance(InstanceDescriptor instance, List<RecordedRole> roles) {

	}

	/**
	 * A role of an instance.
	 *
	 * @param name the role
	 * @param term the term in which it leads, {@code null} if it does not
	 * @param since since when it leads, {@code null} if it does not
	 */
	record RecordedRole(String name, @Nullable Long term, @Nullable Instant since) {

	}

	/**
	 * What a job is, as is recorded by the instances that have its method.
	 *
	 * @param target its method, {@code null} if nobody has told
	 * @param scope how long its lock lives, {@code null} if nobody has told
	 * @param schedule when it is called
	 * @param startedAt when its last run started, {@code null} if there was none
	 * @param finishedAt when that ended, {@code null} if none has
	 * @param operation what is asked of its runs
	 */
	record RecordedFacts(@Nullable String target, @Nullable LockScope scope, RecordedSchedule schedule,
			@Nullable Instant startedAt, @Nullable Instant finishedAt, LedgerOperation operation) {

	}

	/**
	 * Whose a lock is.
	 *
	 * @param lock the entry of the lock
	 * @param id the job or key
	 * @param target its method, {@code null} if nobody has told
	 * @param instance where it runs, {@code null} if that is not recorded yet
	 * @param startedAt since when, {@code null} if that is not recorded yet
	 */
	record RecordedLock(String lock, JobId id, @Nullable String target, @Nullable String instance,
			@Nullable Instant startedAt) {

	}

	/**
	 * A job of the methods of this instance.
	 *
	 * @param id what tells it from others
	 * @param target its methods, with spaces between them
	 * @param key its key, {@code null} if that depends on arguments
	 * @param paused whether it is paused by its configuration
	 * @param troubled whether it has a problem that only this instance knows
	 */
	record OwnJob(JobId id, String target, @Nullable AdvisoryLockKey key, boolean paused, boolean troubled) {

	}

	/**
	 * How all jobs are.
	 *
	 * @param states how many are in each state, as far as there are any
	 * @param running some of those that run, and since when, as far as that is recorded
	 * @param problems the problems of each kind
	 * @param pauses the pauses of all jobs of a namespace
	 */
	record JobSummary(Map<String, Integer> states, List<ProblemDescriptor> running, List<ProblemGroup> problems,
			Map<String, PauseDescriptor> pauses) {

	}

	/**
	 * Some runs.
	 *
	 * @param total how many are asked for
	 * @param runs those of the page
	 */
	record RunPage(int total, List<RunDescriptor> runs) {

	}

	/**
	 * A page of jobs.
	 *
	 * @param seen how many jobs there are
	 * @param total how many of these are asked for
	 * @param places those of the page
	 */
	record JobPage(int seen, int total, List<Place> places) {

		static final JobPage NONE = new JobPage(0, 0, List.of());

		List<JobId> ids() {
			return this.places.stream().map(Place::id).toList();
		}

	}

	/**
	 * A job in an order.
	 *
	 * @param id the job
	 * @param rank what is lower comes first, {@code null} last; jobs of one rank are in
	 * the order of their names
	 */
	record Place(JobId id, @Nullable Double rank) {

	}

	/**
	 * A time in which one instance ran one job, for a timeline.
	 *
	 * @param namespace the namespace of the key
	 * @param key the key of the job
	 * @param instance the instance
	 * @param startedAt when the first of these runs started
	 * @param finishedAt when the last of them ended, now if it has not
	 * @param runs how many there were
	 * @param failures how many of them failed or were abandoned
	 * @param cut whether there may have been earlier runs of the job, which are not told
	 */
	public record RunPeriod(String namespace, String key, String instance, Instant startedAt, Instant finishedAt,
			int runs, int failures, boolean cut) {

	}

}
