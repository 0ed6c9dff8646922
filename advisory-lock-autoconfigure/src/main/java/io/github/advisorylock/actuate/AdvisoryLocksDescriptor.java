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
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of one database at a moment, a page of them, and what needs an operator.
 *
 * @param time the moment, by the database's clock
 * @param clockSkew by how much that clock is certainly ahead of this instance's
 * @param clockSkewBetween the least and the most by which it can be ahead
 * @param instance the instance that tells this, as {@code host:pid}
 * @param drained {@code true} if that is drained, else {@code null}
 * @param namespace its namespace
 * @param database the database that has the locks
 * @param databases the transaction managers of all databases that have locks, where there
 * are several
 * @param ledger whether the ledger is in use: without it, nothing is known of runs
 * @param members how many instances have an open lock session, {@code null} for none
 * @param paused the pause of all jobs of the namespace, {@code null} if they are not
 * @param goOn how many jobs go on nevertheless, as the pause does not hold for them, or
 * until their run has ended; {@code null} without such a pause
 * @param jobCount how many jobs there are
 * @param states how many of these are in each state
 * @param problemCount how many problems there are
 * @param problems the problems, each kind once, what weighs most first
 * @param matching how many jobs are asked for
 * @param page which page of them this is, from 1
 * @param size how many are on a page
 * @param jobs the jobs of the page
 * @param leaders who leads which role
 * @param instances the instances of the namespace that the ledger knows: those that are
 * alive first, then those that ended last, 50 at most
 * @since 0.1.0
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record AdvisoryLocksDescriptor(Instant time, Duration clockSkew, List<Duration> clockSkewBetween, String instance,
		@Nullable Boolean drained, String namespace, String database, @Nullable List<String> databases, boolean ledger,
		@Nullable Integer members, @Nullable PauseDescriptor paused, @Nullable Integer goOn, int jobCount,
		Map<String, Integer> states, int problemCount, List<ProblemGroup> problems, int matching, int page, int size,
		List<JobDescriptor> jobs, List<LeaderDescriptor> leaders, List<InstanceDescriptor> instances) {

	/**
	 * One job. Of a list, it has no more than what is asked of each: what comes after the
	 * problems is {@code null} there.
	 *
	 * @param key its key, with expressions where these depend on arguments
	 * @param namespace the namespace of the key
	 * @param method the method as {@code Class.method}, {@code null} if nobody has told
	 * @param scope how long the lock lives, {@code null} if nobody has told
	 * @param once what it is in fact run once for here, and why not where that would be
	 * expected; {@code null} if this instance has no such method
	 * @param permits how many may run at a time, {@code null} for one
	 * @param schedules when the method is called
	 * @param state the first that holds of {@code running}; {@code waiting}, which is for
	 * a lock that nobody holds yet; {@code paused}; {@code failing}, where its last run
	 * was not executed; {@code overdue}; {@code idle}
	 * @param next when it is called next, {@code null} if that is not planned, or not
	 * known
	 * @param lastRun the last run, {@code null} if the ledger knows of none; where the
	 * key depends on arguments, the latest that failed within a day and whose key has not
	 * run since
	 * @param attempt which attempt at its tick the run is that is under way, {@code null}
	 * if there is none, or that is not known
	 * @param outcomes how often calls ended how on this instance since it started
	 * @param holders who has the lock
	 * @param waiters who waits for it
	 * @param paused since when, by whom and why it is paused, {@code null} if it is not
	 * @param rescheduled the schedule that an operator has chosen in the place of that of
	 * the annotation, {@code null} if none has
	 * @param problems what an operator should look at
	 * @param actions what can be asked of it over the web
	 * @param nextHere when the scheduler of this instance calls it next, {@code null} if
	 * it does not
	 * @param lastTick the latest tick that was completed
	 * @param openTick the tick that was tried last and is not completed, {@code null} if
	 * there is none
	 * @param completedAt since when the key is not run again, {@code null} if it is
	 * @param keys the keys that were made from it where it depends on arguments,
	 * {@code null} if it does not, or the ledger knows of none
	 * @param statistics what its last 60 runs have in common
	 * @param backfill its last backfill, {@code null} if there was none
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record JobDescriptor(String key, String namespace, @Nullable String method, @Nullable LockScope scope,
			@Nullable String once, @Nullable Integer permits, List<ScheduleDescriptor> schedules, String state,
			@Nullable Instant next, @Nullable RunDescriptor lastRun, @Nullable Integer attempt,
			Map<String, Long> outcomes, List<HolderDescriptor> holders, List<WaiterDescriptor> waiters,
			@Nullable PauseDescriptor paused, @Nullable RescheduledDescriptor rescheduled, List<Problem> problems,
			List<String> actions, @Nullable Instant nextHere, @Nullable Instant lastTick,
			@Nullable TickDescriptor openTick, @Nullable Instant completedAt, @Nullable KeysDescriptor keys,
			@Nullable RunStatistics statistics, @Nullable BackfillDescriptor backfill) {

		JobDescriptor with(RunStatistics statistics, @Nullable BackfillDescriptor backfill) {
			return new JobDescriptor(this.key, this.namespace, this.method, this.scope, this.once, this.permits,
					this.schedules, this.state, this.next, this.lastRun, this.attempt, this.outcomes, this.holders,
					this.waiters, this.paused, this.rescheduled, this.problems, this.actions, this.nextHere,
					this.lastTick, this.openTick, this.completedAt, this.keys, statistics, backfill);
		}

		/**
		 * Return what a list has of the job.
		 */
		JobDescriptor brief() {
			return new JobDescriptor(this.key, this.namespace, this.method, this.scope, this.once, this.permits,
					this.schedules, this.state, (this.next != null) ? this.next.truncatedTo(ChronoUnit.MILLIS) : null,
					(this.lastRun != null) ? this.lastRun.brief() : null, this.attempt, this.outcomes,
					this.holders.stream().map(HolderDescriptor::brief).toList(),
					this.waiters.stream().map(WaiterDescriptor::brief).toList(), this.paused, this.rescheduled,
					this.problems, List.of(), null, null, null, null, null, null, null);
		}

	}

	/**
	 * The ticks that an operator wants to be run.
	 *
	 * @param from the first time whose ticks are run
	 * @param to the first time whose ticks are not any more
	 * @param done how many runs were executed
	 * @param of how many ticks there are
	 * @param skipped how many were left out, as they were executed before
	 * @param tick the tick that is run, {@code null} if none is
	 * @param instance the instance that makes it
	 * @param by who wanted it
	 * @param startedAt when it began
	 * @param outcome how it ended: {@code EXECUTED}, {@code FAILED}, {@code CANCELLED},
	 * {@code PAUSED}, {@code TOO_SOON}, or {@code ABANDONED} with its instance;
	 * {@code null} while it is under way
	 * @param error why it failed; only the class for who may not see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record BackfillDescriptor(Instant from, Instant to, int done, int of, int skipped, @Nullable Instant tick,
			String instance, String by, Instant startedAt, @Nullable String outcome, @Nullable String error) {

	}

	/**
	 * All problems of one kind.
	 *
	 * @param problem the kind
	 * @param count how many there are
	 * @param latest the latest of them, latest first, five at most
	 */
	record ProblemGroup(Problem problem, int count, List<ProblemDescriptor> latest) {

	}

	/**
	 * One problem.
	 *
	 * @param key the key of the job, {@code null} for an instance
	 * @param namespace the namespace of either
	 * @param since since when, as far as that is known: the end of the last run that
	 * failed, the begin of the pause, when the instance was seen last
	 * @param instance where it happened, {@code null} if that is not known
	 * @param detail what there is to say of it: the failure, only its class for who may
	 * not see values; who paused it and why; how far the clock is off; which schedules
	 * differ
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record ProblemDescriptor(@Nullable String key, String namespace, @Nullable Instant since, @Nullable String instance,
			@Nullable String detail) {

	}

	/**
	 * The keys of the ledger that were made from arguments.
	 *
	 * @param count how many of them have a row of their own, or of those that run once,
	 * which have none, a run that is told; 1,000 stands for more, too
	 * @param latest the latest few, newest first
	 * @param failureCount how many keys, among the last 50 failures, have failed within a
	 * day and not run since
	 * @param failed the latest few of these, newest first
	 */
	record KeysDescriptor(int count, List<KeyDescriptor> latest, int failureCount, List<KeyDescriptor> failed) {

		/**
		 * Count also keys that have no row, of which runs are told.
		 */
		KeysDescriptor with(List<RunDescriptor> runs) {
			int known = (int) runs.stream().map(RunDescriptor::key).distinct().count();
			return new KeysDescriptor(Math.max(this.count, known), this.latest, this.failureCount, this.failed);
		}

	}

	/**
	 * A tick that is not completed.
	 *
	 * @param tick the planned time
	 * @param attempts how often it was tried
	 * @param retryAt before when it is not tried again by itself, {@code null} for at
	 * once, and where nobody makes up for it
	 * @param givenUp {@code true} if it is not tried again by itself, as it has failed
	 * too often or its run was told to end; else {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record TickDescriptor(Instant tick, int attempts, @Nullable Instant retryAt, @Nullable Boolean givenUp) {

	}

	/**
	 * A key that was made from arguments.
	 *
	 * @param key the key
	 * @param startedAt when its last run started
	 * @param outcome how its last run that has ended did so
	 * @param error its failure, where failures are told; only its class for who may not
	 * see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record KeyDescriptor(String key, @Nullable Instant startedAt, @Nullable String outcome, @Nullable String error) {

	}

	/**
	 * What an operator should look at, what weighs most first.
	 */
	enum Problem {

		/**
		 * This instance lost the lock in mid-run within the last hour.
		 */
		LOST,

		/**
		 * This instance has ended a run within the last hour, as it lasted for longer
		 * than {@code maxRun}.
		 */
		MAX_RUN,

		/**
		 * The last run failed, or that of a key that was made from it.
		 */
		FAILED,

		/**
		 * The last run ended with its instance, or its lock, and was not run again yet.
		 */
		ABANDONED,

		/**
		 * A tick was not completed in time.
		 */
		OVERDUE,

		/**
		 * A run is still under way though its schedule has called it again since.
		 */
		OVERRUN,

		/**
		 * Another instance lets another number hold the key at a time than this one.
		 */
		PERMITS,

		/**
		 * Several methods have this key.
		 */
		SHARED_KEY,

		/**
		 * Two instances call the job by schedules that differ, for longer than ten
		 * minutes.
		 */
		SCHEDULES_DIFFER,

		/**
		 * Other members have guarded something else than this instance for longer than
		 * ten minutes.
		 */
		MEMBERS_DIFFER,

		/**
		 * An instance went away without a word: killed, or cut off from the database.
		 */
		INSTANCE_VANISHED,

		/**
		 * The clock of an instance is more than five seconds from that of the database.
		 */
		CLOCK_SKEW,

		/**
		 * The annotation has another schedule than when an operator replaced it.
		 */
		ANNOTATION_CHANGED,

		/**
		 * No instance runs it for now.
		 */
		PAUSED

	}

	/**
	 * When a method is called.
	 *
	 * @param type {@code cron}, {@code fixedDelay}, {@code fixedRate} or {@code custom}
	 * @param expression the cron expression, or what the trigger prints
	 * @param zone the time zone of the expression
	 * @param interval the time between calls
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record ScheduleDescriptor(String type, @Nullable String expression, @Nullable String zone,
			@Nullable Duration interval) {

	}

	/**
	 * A schedule that an operator has chosen.
	 *
	 * @param cron its cron expression, {@code null} if it has none
	 * @param zone the time zone of that
	 * @param interval the time between two calls, {@code null} if there is none; where
	 * there are neither, the schedule of the annotation is to hold again
	 * @param effectiveAt from when on it holds, on all instances
	 * @param since when it was chosen
	 * @param by who has chosen it
	 * @param reason why, {@code null} if that is not told
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record RescheduledDescriptor(@Nullable String cron, @Nullable String zone, @Nullable String interval,
			Instant effectiveAt, Instant since, String by, @Nullable String reason) {

	}

	/**
	 * When a job would be called with another schedule.
	 *
	 * @param key its key
	 * @param next the next times
	 */
	record PreviewDescriptor(String key, List<Instant> next) {

	}

	/**
	 * A pause.
	 *
	 * @param since since when, {@code null} if it is configured
	 * @param by who paused the job, or the property that does
	 * @param reason why, {@code null} if nobody said so
	 * @param all {@code true} if all jobs of the namespace are paused, {@code null} if
	 * this one is
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record PauseDescriptor(@Nullable Instant since, String by, @Nullable String reason, @Nullable Boolean all) {

	}

	/**
	 * A run.
	 *
	 * @param tick the planned time it ran for
	 * @param attempt how often that tick had been tried, this time included, {@code null}
	 * without a tick
	 * @param instance who ran it
	 * @param fencingToken its fencing token, {@code null} in lists
	 * @param startedAt when it started
	 * @param finishedAt when it ended, {@code null} while it runs
	 * @param duration how long it took, {@code null} while it runs
	 * @param outcome {@code EXECUTED}, {@code FAILED}, {@code CANCELLED} or
	 * {@code ABANDONED}, {@code null} while it runs
	 * @param error its failure; only its class for who may not see values
	 * @param traceId the id of its trace, {@code null} if it had none
	 * @param stackTrace the stack trace of its failure, {@code null} for who may not see
	 * values, and in lists; of the last runs of a job, the last one that is over has it
	 * @param hangStack what its thread was doing when it was told that it lasts for too
	 * long, or had lasted for long; as for the stack trace, and of a run under way
	 * @param key the key, where runs of several are asked for
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record RunDescriptor(@Nullable Instant tick, @Nullable Integer attempt, String instance,
			@Nullable Long fencingToken, Instant startedAt, @Nullable Instant finishedAt, @Nullable Duration duration,
			@Nullable String outcome, @Nullable String error, @Nullable String traceId, @Nullable String stackTrace,
			@Nullable String hangStack, @Nullable String key) {

		RunDescriptor brief() {
			return new RunDescriptor(null, this.attempt, this.instance, null,
					this.startedAt.truncatedTo(ChronoUnit.MILLIS), null,
					(this.duration != null && this.duration.toMillis() > 0)
							? this.duration.truncatedTo(ChronoUnit.MILLIS) : this.duration,
					this.outcome, this.error, null, null, null, this.key);
		}

	}

	/**
	 * The latest runs of all jobs, and what comes next.
	 *
	 * @param time the moment, by the database's clock
	 * @param instance the instance that tells this
	 * @param namespace its namespace
	 * @param database the database that has the runs
	 * @param databases the transaction managers of all databases that have locks, where
	 * there are several
	 * @param ledger whether the ledger is in use: without it, nothing is known of runs
	 * @param runs the runs, latest first, each with its key
	 * @param forecast when jobs are called next
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record RunsDescriptor(Instant time, String instance, String namespace, String database,
			@Nullable List<String> databases, boolean ledger, List<RunDescriptor> runs, ForecastDescriptor forecast) {

	}

	/**
	 * When jobs are called next that are not paused.
	 *
	 * @param next the next ten times
	 * @param together of the next ten times of each job those at which most are called,
	 * five at most
	 * @param often how many jobs are called more often than once a minute, and are in
	 * neither
	 */
	record ForecastDescriptor(List<PlannedDescriptor> next, List<PlannedDescriptor> together, int often) {

	}

	/**
	 * A time at which jobs are called.
	 *
	 * @param time the time
	 * @param count how many jobs are called then
	 * @param keys their keys, five at most
	 */
	record PlannedDescriptor(Instant time, int count, List<String> keys) {

	}

	/**
	 * Who has a lock. What the role of this application may not see is {@code null}.
	 *
	 * @param instance the instance, {@code null} if it is none of this library
	 * @param pid the process id of the server process, 0 for a prepared transaction
	 * @param since since when, as far as that is known
	 * @param application the name of the connection, or the prepared transaction
	 * @param user the role that is logged in
	 * @param client address and port of the client
	 * @param state what the connection is doing
	 * @param query its current or last statement; hidden from who may not see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record HolderDescriptor(@Nullable String instance, int pid, @Nullable Instant since, @Nullable String application,
			@Nullable String user, @Nullable String client, @Nullable String state, @Nullable String query) {

		private HolderDescriptor brief() {
			return new HolderDescriptor(this.instance, this.pid, this.since,
					(this.instance != null) ? null : this.application, null, null, null, null);
		}

	}

	/**
	 * Who waits for a lock.
	 *
	 * @param pid the process id of the server process
	 * @param since since when
	 * @param blockedBy the server processes it waits for
	 * @param application the name of the connection
	 * @param user the role that is logged in
	 * @param client address and port of the client, if the role of this application may
	 * see it
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record WaiterDescriptor(int pid, @Nullable Instant since, List<Integer> blockedBy, @Nullable String application,
			@Nullable String user, @Nullable String client) {

		private WaiterDescriptor brief() {
			return new WaiterDescriptor(this.pid, this.since, List.of(), null, null, null);
		}

	}

	/**
	 * One instance of the application.
	 *
	 * @param instance its name, as {@code host:pid}
	 * @param namespace its namespace
	 * @param state {@code alive}, {@code stopped} for one that ended in order, or
	 * {@code vanished}
	 * @param startedAt since when it is known
	 * @param seenAt when it said last that it lives
	 * @param endedAt when it ended, or was seen last if it vanished; {@code null} while
	 * it lives
	 * @param version the version of the application, {@code null} if that is not known
	 * @param library the version of this library, {@code null} if that is not known
	 * @param clockSkew by how much the clock of the database is ahead of its own,
	 * {@code null} if that is not known
	 * @param locks how many advisory locks it holds
	 * @param leaderOf the roles that it leads
	 * @param drainedAt since when it begins no guarded run and leads no role,
	 * {@code null} if it does
	 * @param drainedBy who has drained it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record InstanceDescriptor(String instance, String namespace, String state, Instant startedAt, Instant seenAt,
			@Nullable Instant endedAt, @Nullable String version, @Nullable String library, @Nullable Duration clockSkew,
			int locks, List<String> leaderOf, @Nullable Instant drainedAt, @Nullable String drainedBy) {

		InstanceDescriptor leading(List<String> roles) {
			return new InstanceDescriptor(this.instance, this.namespace, this.state, this.startedAt, this.seenAt,
					this.endedAt, this.version, this.library, this.clockSkew, this.locks, roles, this.drainedAt,
					this.drainedBy);
		}

	}

	/**
	 * The leader of one role.
	 *
	 * @param role the role
	 * @param namespace its namespace
	 * @param instance who leads, {@code null} if nobody does for now
	 * @param pid the server process of its session, {@code null} if nobody leads
	 * @param term the number of its term, which is higher than all before it,
	 * {@code null} if that is not known
	 * @param since since when it leads, {@code null} if that is not known
	 * @param waiting the instances that would take over
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record LeaderDescriptor(String role, String namespace, @Nullable String instance, @Nullable Integer pid,
			@Nullable Long term, @Nullable Instant since, List<String> waiting) {

	}

	/**
	 * One job with its last runs.
	 *
	 * @param time the moment, by the database's clock
	 * @param instance the instance that tells this
	 * @param job the job
	 * @param runs its last 60 runs, latest first; those of all keys that were made from
	 * it where it depends on arguments
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record JobDetailsDescriptor(Instant time, String instance, JobDescriptor job, List<RunDescriptor> runs) {

	}

	/**
	 * What is done under a key at this moment, on whatever instance.
	 *
	 * @param instance the instance that tells this
	 * @param key the key
	 * @param namespace the namespace of the key
	 * @param runs what each holder of its lock does, empty if nobody holds it
	 */
	record StackDescriptor(String instance, String key, String namespace, List<RunningDescriptor> runs) {

	}

	/**
	 * What a holder of a lock does. Is {@code null} where it is not known.
	 *
	 * @param instance the instance, {@code null} if it is none of this library
	 * @param thread the name of the thread
	 * @param state the state of the thread
	 * @param since since when the run lasts, as is recorded, or the transaction that has
	 * the lock
	 * @param pid the process of the server whose transaction has the lock
	 * @param connection what its connection is doing
	 * @param statement its statement; hidden from who may not see values
	 * @param waitsFor the processes of the server that it waits for
	 * @param frames the frames of the thread, the innermost first; {@code null} for who
	 * may not see values
	 * @param error why the thread is not known, {@code null} if it is
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	record RunningDescriptor(@Nullable String instance, @Nullable String thread, @Nullable String state,
			@Nullable Instant since, @Nullable Integer pid, @Nullable String connection, @Nullable String statement,
			List<Integer> waitsFor, @Nullable List<String> frames, @Nullable String error) {

	}

	/**
	 * What an operator did.
	 *
	 * @param key the key of the job
	 * @param namespace the namespace of the key
	 * @param state what was asked for: {@code running}, {@code retried}, {@code paused},
	 * {@code resumed}, {@code rescheduled}, {@code forgotten}, {@code backfilled} or
	 * {@code cancelled}, for the role of a leader {@code resigned}
	 * @param by who asked, {@code unauthenticated} for who is not logged in
	 * @param outcome how a run ended that was asked for, {@code null} if it still runs;
	 * {@code ENDED} if one that was cancelled has
	 * @param error its failure; only its class for who may not see values
	 * @param effectiveAt from when on another schedule holds
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record ActionDescriptor(String key, String namespace, String state, String by, @Nullable String outcome,
			@Nullable String error, @Nullable Instant effectiveAt) {

	}

	/**
	 * What an operator did with all jobs of a namespace.
	 *
	 * @param namespace the namespace
	 * @param state what was asked for: {@code paused} or {@code resumed}
	 * @param by who asked, {@code unauthenticated} for who is not logged in
	 * @param jobs how many jobs that holds for
	 */
	record AllJobsActionDescriptor(String namespace, String state, String by, int jobs) {

	}

	/**
	 * What an operator did with an instance.
	 *
	 * @param namespace its namespace
	 * @param instance its name
	 * @param state what was asked for: {@code drained} or {@code resumed}
	 * @param by who asked, {@code unauthenticated} for who is not logged in
	 */
	record InstanceActionDescriptor(String namespace, String instance, String state, String by) {

	}

	/**
	 * Why nothing was done.
	 *
	 * @param error the reason
	 */
	record ErrorDescriptor(String error) {

	}

	/**
	 * What the last runs of a job have in common.
	 *
	 * @param runs how many of them are over
	 * @param executed how many of these were executed
	 * @param failures how many in a row were not, the last one that is over and those
	 * before it
	 * @param median what half of those that were executed took no longer than,
	 * {@code null} if there was none
	 * @param p95 what 95 of a hundred of these took no longer than
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record RunStatistics(int runs, int executed, int failures, @Nullable Duration median, @Nullable Duration p95) {

		/**
		 * Look at some runs, latest first.
		 */
		static RunStatistics of(List<RunDescriptor> runs) {
			List<RunDescriptor> over = runs.stream().filter((run) -> run.outcome() != null).toList();
			List<Duration> executed = over.stream()
				.filter(RunStatistics::isExecuted)
				.map(RunDescriptor::duration)
				.sorted()
				.toList();
			int failures = (int) over.stream().takeWhile((run) -> !isExecuted(run)).count();
			return new RunStatistics(over.size(), executed.size(), failures, at(executed, 0.5), at(executed, 0.95));
		}

		private static boolean isExecuted(RunDescriptor run) {
			return "EXECUTED".equals(run.outcome());
		}

		/**
		 * The smallest that so many are not longer than.
		 */
		private static @Nullable Duration at(List<Duration> sorted, double part) {
			return sorted.isEmpty() ? null : sorted.get((int) Math.ceil(part * sorted.size()) - 1);
		}

	}

}
