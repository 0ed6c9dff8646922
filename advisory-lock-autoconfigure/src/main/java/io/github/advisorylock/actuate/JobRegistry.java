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
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.BackfillDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.KeysDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ProblemDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RescheduledDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.TickDescriptor;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * What the endpoint wants of jobs that are recorded, and can ask for them: the place of
 * the ledger in it. As it stands here, nothing is recorded.
 *
 * @since 0.1.0
 */
class JobRegistry {

	/**
	 * Where nothing is recorded.
	 */
	static final JobRegistry NONE = new JobRegistry();

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
	 * Return the ledger, which does what operators want.
	 */
	PostgresAdvisoryLockLedger ledger() {
		throw new UnsupportedOperationException("Nothing is recorded");
	}

	/**
	 * Return what a list of jobs shows.
	 * @param namespace the namespace of the instances, and of the pause of all jobs
	 * @param redaction hides values
	 */
	Overview overview(String namespace, Redaction redaction) {
		return new Overview(List.of(), List.of(), null, List.of());
	}

	/**
	 * Return one job, or a key that has run, with its state.
	 * @param redaction hides values
	 */
	Optional<RecordedJob> job(JobId id, Redaction redaction) {
		return Optional.empty();
	}

	/**
	 * Return the keys that were made from a template, with those whose last run failed.
	 * @param latest how many keys are told
	 * @param redaction hides values
	 */
	@Nullable KeysDescriptor keys(JobId template, int latest, Redaction redaction) {
		return null;
	}

	/**
	 * Return the last runs of a job, latest first.
	 * @param template whether those of the keys that were made from it are asked for
	 */
	List<RunDescriptor> runs(JobId id, boolean template, int limit, Redaction redaction) {
		return List.of();
	}

	/**
	 * Return the latest runs of all jobs, latest first.
	 */
	List<RunDescriptor> latest(String namespace, RunFilter filter, Redaction redaction) {
		return List.of();
	}

	/**
	 * Return the last backfill of a job, {@code null} if there was none.
	 */
	@Nullable BackfillDescriptor lastBackfill(JobId id, Redaction redaction) {
		return null;
	}

	/**
	 * Ask the instances that hold a lock what they do under it, and wait for the answers.
	 * @param lock the lock of the key, or its first permit
	 * @param wake tells instances that they are asked
	 * @param enough whether these answers are all
	 * @param patience how long to wait
	 * @return what was answered, {@code null} where nobody can be asked
	 */
	@Nullable List<RemoteStack> ask(LockNumber lock, Runnable wake, Predicate<List<RemoteStack>> enough, Duration patience) {
		return null;
	}

	/**
	 * What an instance does under a lock.
	 *
	 * @param instance the instance
	 * @param stack what it does
	 */
	record RemoteStack(String instance, Run.Stack stack) {

		/**
		 * Return whether both are of one run, seen at different moments.
		 */
		boolean isSame(RemoteStack other) {
			return this.instance.equals(other.instance) && this.stack.process() == other.stack.process()
					&& Objects.equals(this.stack.thread(), other.stack.thread());
		}

	}

	/**
	 * What a list of jobs shows.
	 *
	 * @param jobs the jobs that are listed, with their states, 50,000 at most
	 * @param instances the instances, those that are alive first
	 * @param pause the pause of all jobs, {@code null} if they are not paused
	 * @param differing the jobs whose schedules differ between instances
	 */
	record Overview(List<RecordedJob> jobs, List<RecordedInstance> instances, @Nullable PauseDescriptor pause,
			List<ProblemDescriptor> differing) {

	}

	/**
	 * What is recorded of a job.
	 *
	 * @param id what tells it from others
	 * @param registered whether more than its runs is recorded
	 * @param recorded whether its runs are recorded, so that it can be paused
	 * @param template whether it is what keys with arguments are made from
	 * @param state its state, {@code null} if only its runs are recorded
	 * @param problems what is wrong with it
	 * @param lastRun its last run, {@code null} if there is none; of a template, the
	 * latest of a key that failed and has not run since
	 * @param executedAt when its last run started if that was executed
	 * @param lastTick the latest tick that was completed
	 * @param nextAt when its schedule calls it next, {@code null} without a schedule
	 * @param openTick the tick that was tried last and is not completed, {@code null} if
	 * there is none
	 * @param catchUp for how long any instance makes up for that, {@code null} if none
	 * does
	 * @param completedAt since when its key is not run again, {@code null} if it is
	 * @param paused its pause, {@code null} if it is not paused
	 * @param rescheduled the schedule that an operator has chosen, {@code null} if none
	 * has
	 * @param target its method, {@code null} if nobody has told
	 * @param scope how long its lock lives, {@code null} if nobody has told
	 * @param permits how many may run at a time, as the instances that have its method
	 * say
	 * @param schedules when it is called
	 */
	record RecordedJob(JobId id, boolean registered, boolean recorded, boolean template, @Nullable String state,
			List<Problem> problems, @Nullable RunDescriptor lastRun, @Nullable Instant executedAt,
			@Nullable Instant lastTick, @Nullable Instant nextAt, @Nullable TickDescriptor openTick,
			@Nullable Duration catchUp, @Nullable Instant completedAt, @Nullable PauseDescriptor paused,
			@Nullable RescheduledDescriptor rescheduled, @Nullable String target, @Nullable LockScope scope,
			int permits, List<ScheduleDescriptor> schedules) {

	}

	/**
	 * A schedule that an operator wants: that of the annotation without a cron expression
	 * and an interval.
	 *
	 * @param cron the cron expression
	 * @param zone the time zone of that, {@code null} for that of the annotation
	 * @param interval the time between two calls
	 */
	record Schedule(@Nullable String cron, @Nullable String zone, @Nullable String interval) {

		/**
		 * Return whether any part of it was named.
		 */
		boolean isNamed() {
			return this.cron != null || this.zone != null || this.interval != null;
		}

		/**
		 * Return it without what is empty, which addresses name for that of the
		 * annotation.
		 */
		Schedule withoutBlanks() {
			return new Schedule(textOrNull(this.cron), textOrNull(this.zone), textOrNull(this.interval));
		}

		private static @Nullable String textOrNull(@Nullable String text) {
			return StringUtils.hasText(text) ? text : null;
		}

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

}
