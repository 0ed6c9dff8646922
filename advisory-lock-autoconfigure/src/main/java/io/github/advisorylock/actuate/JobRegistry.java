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

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
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
	 * Return the jobs that are recorded, 50,000 at most.
	 */
	List<JobId> names() {
		return List.of();
	}

	/**
	 * Return some jobs with their last run.
	 * @param redaction hides values
	 */
	List<RecordedJob> histories(Collection<JobId> ids, Redaction redaction) {
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
	 * @param template whether those of the keys that were made from it are asked for
	 */
	List<RunDescriptor> runs(JobId id, boolean template, int limit, Redaction redaction) {
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
	 * @param lastRun its last run, {@code null} if there is none
	 * @param facts what it is, as is recorded
	 * @param overdue whether it is overdue, given what is asked of its runs
	 */
	record RecordedJob(JobId id, boolean registered, @Nullable Instant lastTick, @Nullable TickDescriptor openTick,
			@Nullable Instant completedAt, @Nullable PauseDescriptor paused, @Nullable String lastOutcome,
			@Nullable RunDescriptor lastRun, RecordedFacts facts, Predicate<LedgerOperation> overdue) {

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

}
