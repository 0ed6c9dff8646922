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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

/**
 * Jobs and locks at a moment.
 *
 * @param time the moment, by the database's clock
 * @param clockSkew by how much that clock is ahead of this instance's
 * @param instance the instance that tells this, as {@code host:pid}
 * @param namespace its namespace
 * @param database the database that has the locks
 * @param ledger whether the ledger is in use: without it, nothing is known of runs
 * @param jobCount how many jobs there are; of those that only the ledger knows, 10,000
 * are looked at
 * @param matching how many of these are asked for
 * @param page which page of them this is, from 1
 * @param size how many are on a page
 * @param jobs the jobs of the page in the order of namespace and key
 * @param lockCount how many holders and waiters of advisory locks there are
 * @param locks the advisory locks of the server that are held or waited for, with a
 * thousand holders and waiters at most
 * @param waits who waits for other locks in this database, those of rows above all: this
 * application, and all who are in one chain with it
 * @param instances the instances of the namespace that the ledger knows: those that are
 * alive first, then those that ended last
 * @param leaders who leads which role
 * @param databases the databases that have the locks, {@code null} where there is one
 * @since 0.1.0
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdvisoryLocksDescriptor(Instant time, Duration clockSkew, String instance, String namespace,
		String database, boolean ledger, int jobCount, int matching, int page, int size, List<JobDescriptor> jobs,
		int lockCount, List<LockDescriptor> locks, List<WaitDescriptor> waits, List<InstanceDescriptor> instances,
		List<LeaderDescriptor> leaders, @Nullable List<DatabaseDescriptor> databases) {

	/**
	 * Return the same with the name of its database on each job.
	 */
	AdvisoryLocksDescriptor in(String transactionManager) {
		return with(this.ledger, this.jobCount, this.matching,
				this.jobs.stream().map((job) -> job.in(transactionManager)).toList(), this.lockCount, this.locks,
				this.waits, this.instances, this.leaders,
				List.of(new DatabaseDescriptor(transactionManager, this.database, this.clockSkew, this.ledger)));
	}

	/**
	 * Return the same with what is in another database. Servers tell of the locks of all
	 * their databases, and name only those of the one that was asked.
	 */
	AdvisoryLocksDescriptor and(AdvisoryLocksDescriptor other) {
		Map<List<String>, LockDescriptor> all = new LinkedHashMap<>();
		this.locks.forEach((lock) -> all.put(List.of(lock.database(), lock.number()), lock));
		int added = 0;
		for (LockDescriptor lock : other.locks) {
			LockDescriptor known = all.get(List.of(lock.database(), lock.number()));
			added += (known != null) ? 0 : 1;
			if (known == null || known.kind() == Kind.OTHER_DATABASE) {
				all.put(List.of(lock.database(), lock.number()), lock);
			}
		}
		return with(this.ledger || other.ledger, this.jobCount + other.jobCount, this.matching + other.matching,
				Stream.concat(this.jobs.stream(), other.jobs.stream()).toList(), this.lockCount + added,
				List.copyOf(all.values()), Stream.concat(this.waits.stream(), other.waits.stream()).distinct().toList(),
				InstanceDescriptor.merge(this.instances, other.instances),
				Stream.concat(this.leaders.stream(), other.leaders.stream()).toList(),
				Stream.of(this.databases, other.databases).filter(Objects::nonNull).flatMap(List::stream).toList());
	}

	/**
	 * Return the same with its jobs in another order.
	 */
	AdvisoryLocksDescriptor with(List<JobDescriptor> jobs) {
		return with(this.ledger, this.jobCount, this.matching, jobs, this.lockCount, this.locks, this.waits,
				this.instances, this.leaders, (this.databases != null) ? this.databases : List.of());
	}

	private AdvisoryLocksDescriptor with(boolean ledger, int jobCount, int matching, List<JobDescriptor> jobs,
			int lockCount, List<LockDescriptor> locks, List<WaitDescriptor> waits, List<InstanceDescriptor> instances,
			List<LeaderDescriptor> leaders, List<DatabaseDescriptor> databases) {
		return new AdvisoryLocksDescriptor(this.time, this.clockSkew, this.instance, this.namespace, this.database,
				ledger, jobCount, matching, this.page, this.size, jobs, lockCount, locks, waits, instances, leaders,
				databases);
	}

	/**
	 * One of several databases that have locks.
	 *
	 * @param transactionManager the name of its transaction manager, as jobs have it
	 * @param database its name on the server, as locks have it
	 * @param clockSkew by how much its clock is ahead of this instance's
	 * @param ledger whether its ledger is in use
	 */
	public record DatabaseDescriptor(String transactionManager, String database, Duration clockSkew, boolean ledger) {

	}

	/**
	 * One job.
	 *
	 * @param key its key, with expressions where these depend on arguments
	 * @param namespace the namespace of the key
	 * @param id what stands for namespace and key in addresses, whatever these hold
	 * @param target the method as {@code Class.method}, {@code null} if this instance has
	 * none of that key
	 * @param scope how long the lock lives, {@code null} without a method
	 * @param schedules when the method is called
	 * @param next when it is called next, {@code null} if that is not planned, or not
	 * known
	 * @param nextHere when the scheduler of this instance calls it next, {@code null} if
	 * it does not
	 * @param state the first that holds of {@code running}; {@code waiting}, which is for
	 * a lock that nobody holds yet; {@code paused}; {@code failing}, where its last run
	 * was not executed; {@code overdue}; {@code idle}
	 * @param paused since when and by whom it is paused, {@code null} if it is not
	 * @param lastTick the latest tick that was completed
	 * @param openTick the tick that was tried last and is not completed, {@code null} if
	 * there is none
	 * @param completedAt since when the key is not run again, {@code null} if it is
	 * @param lastRun the last run, {@code null} if the ledger knows of none
	 * @param history the first letters of the outcomes of the last 60 runs, latest last:
	 * E(xecuted), F(ailed), A(bandoned), R(unning)
	 * @param outcomes how often calls ended how on this instance since it started
	 * @param holders who has the lock
	 * @param waiters who waits for it
	 * @param problems what an operator should look at
	 * @param actions what can be asked of it over the web: {@code running},
	 * {@code retried}, {@code paused}, {@code resumed}, {@code forgotten},
	 * {@code cancelled} and {@code freed}
	 * @param keys the keys that were made from it where it depends on arguments,
	 * {@code null} if it does not, or the ledger knows of none
	 * @param failures how many of its last runs in a row failed or were abandoned, 60 for
	 * as many or more
	 * @param median what half of the executed ones of its last 60 runs took no longer
	 * than, {@code null} if there was none
	 * @param p95 what 95 of a hundred of these took no longer than
	 * @param durations what each of its last 60 runs took, in milliseconds, in the order
	 * of the history, -1 for one that is not over
	 * @param success which part of those of its last 60 runs that are over was executed,
	 * 0 to 1, {@code null} if there was none
	 * @param runningSince since when it runs, {@code null} if it does not, or that is not
	 * known
	 * @param instance where it runs, {@code null} if it does not, or that is not known
	 * @param transactionManager whose database it is in, {@code null} where there is one
	 * database
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record JobDescriptor(String key, String namespace, String id, @Nullable String target,
			@Nullable LockScope scope, List<ScheduleDescriptor> schedules, @Nullable Instant next,
			@Nullable Instant nextHere, String state, @Nullable PauseDescriptor paused, @Nullable Instant lastTick,
			@Nullable TickDescriptor openTick, @Nullable Instant completedAt, @Nullable RunDescriptor lastRun,
			String history, Map<String, Long> outcomes, List<HolderDescriptor> holders, List<WaiterDescriptor> waiters,
			List<Problem> problems, List<String> actions, @Nullable KeysDescriptor keys, int failures,
			@Nullable Duration median, @Nullable Duration p95, List<Long> durations, @Nullable Double success,
			@Nullable Instant runningSince, @Nullable String instance, @Nullable String transactionManager) {

		JobDescriptor in(String transactionManager) {
			return new JobDescriptor(this.key, this.namespace, this.id, this.target, this.scope, this.schedules,
					this.next, this.nextHere, this.state, this.paused, this.lastTick, this.openTick, this.completedAt,
					this.lastRun, this.history, this.outcomes, this.holders, this.waiters, this.problems, this.actions,
					this.keys, this.failures, this.median, this.p95, this.durations, this.success, this.runningSince,
					this.instance, transactionManager);
		}

	}

	/**
	 * The keys of the ledger that were made from arguments.
	 *
	 * @param count how many of them have a row of their own, which those that run once
	 * have not; 1,000 stands for more, too
	 * @param latest the latest few, newest first
	 * @param failureCount how many keys, among the last 50 failures, have failed within a
	 * day and not run since
	 * @param failed the latest few of these, newest first
	 */
	public record KeysDescriptor(int count, List<KeyDescriptor> latest, int failureCount, List<KeyDescriptor> failed) {

	}

	/**
	 * A tick that is not completed.
	 *
	 * @param tick the planned time
	 * @param attempts how often it was tried
	 * @param retryAt before when it is not tried again by itself, {@code null} for at
	 * once, and where nobody makes up for it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record TickDescriptor(Instant tick, int attempts, @Nullable Instant retryAt) {

	}

	/**
	 * A key that was made from arguments.
	 *
	 * @param key the key
	 * @param id what stands for namespace and key in addresses
	 * @param startedAt when its last run started
	 * @param outcome how its last run that has ended did so
	 * @param error its failure, where failures are told; only its class for who may not
	 * see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record KeyDescriptor(String key, String id, @Nullable Instant startedAt, @Nullable String outcome,
			@Nullable String error) {

	}

	/**
	 * What an operator should look at, what weighs most first.
	 */
	public enum Problem {

		/**
		 * This instance lost the lock in mid-run within the last hour.
		 */
		LOST,

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
		 * The last completed tick is in the future: it does not run before.
		 */
		FUTURE_TICK,

		/**
		 * Several methods have this key.
		 */
		SHARED_KEY,

		/**
		 * An instance went away without a word: killed, or cut off from the database.
		 */
		INSTANCE_VANISHED,

		/**
		 * The clock of an instance is more than five seconds from that of the database.
		 */
		CLOCK_SKEW,

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
	public record ScheduleDescriptor(String type, @Nullable String expression, @Nullable String zone,
			@Nullable Duration interval) {

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
	public record PauseDescriptor(@Nullable Instant since, String by, @Nullable String reason, @Nullable Boolean all) {

	}

	/**
	 * A run.
	 *
	 * @param tick the planned time it ran for
	 * @param attempt how often that tick had been tried, this time included, {@code null}
	 * without a tick
	 * @param instance who ran it
	 * @param fencingToken its fencing token
	 * @param startedAt when it started
	 * @param finishedAt when it ended, {@code null} while it runs
	 * @param duration how long it took, {@code null} while it runs
	 * @param outcome {@code EXECUTED}, {@code FAILED} or {@code ABANDONED}, {@code null}
	 * while it runs
	 * @param error its failure; only its class for who may not see values
	 * @param traceId the id of its trace, {@code null} if it had none
	 * @param stackTrace the stack trace of its failure, {@code null} for who may not see
	 * values, and in lists; of the last runs of a job, the last one that is over has it
	 * @param key the key, where that depends on arguments and the runs of all of them are
	 * asked for
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record RunDescriptor(@Nullable Instant tick, @Nullable Integer attempt, String instance, long fencingToken,
			Instant startedAt, @Nullable Instant finishedAt, @Nullable Duration duration, @Nullable String outcome,
			@Nullable String error, @Nullable String traceId, @Nullable String stackTrace, @Nullable String key) {

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
	public record HolderDescriptor(@Nullable String instance, int pid, @Nullable Instant since,
			@Nullable String application, @Nullable String user, @Nullable String client, @Nullable String state,
			@Nullable String query) {

	}

	/**
	 * Who waits for a lock.
	 *
	 * @param pid the process id of the server process
	 * @param since since when
	 * @param waiting how long
	 * @param blockedBy the server processes it waits for
	 * @param application the name of the connection
	 * @param user the role that is logged in
	 * @param client address and port of the client, if the role of this application may
	 * see it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record WaiterDescriptor(int pid, @Nullable Instant since, @Nullable Duration waiting,
			List<Integer> blockedBy, @Nullable String application, @Nullable String user, @Nullable String client) {

	}

	/**
	 * One lock.
	 *
	 * @param kind whose it is
	 * @param key the name of its key, {@code null} if that is not known
	 * @param namespace the namespace of the key
	 * @param id what stands for the job in addresses, {@code null} if it is the lock of
	 * none
	 * @param target its method as {@code Class.method}, {@code null} if that is not known
	 * @param number what is locked, as the arguments of PostgreSQL's lock functions
	 * @param database the database it is in
	 * @param shared whether it is a shared lock
	 * @param holders who has it
	 * @param waiters who waits for it
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record LockDescriptor(Kind kind, @Nullable String key, @Nullable String namespace, @Nullable String id,
			@Nullable String target, String number, String database, boolean shared, List<HolderDescriptor> holders,
			List<WaiterDescriptor> waiters) {

	}

	/**
	 * A wait for a lock that is no advisory one: mostly that of a row which somebody has
	 * changed in a transaction that is not over.
	 *
	 * @param lock what is waited for, in words
	 * @param since since when, {@code null} if the wait has only begun
	 * @param waiting how long
	 * @param waiter who waits
	 * @param blockers for whom
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record WaitDescriptor(String lock, @Nullable Instant since, @Nullable Duration waiting,
			SessionDescriptor waiter, List<SessionDescriptor> blockers) {

	}

	/**
	 * A server process with what it does. What the role of this application may not see
	 * is {@code null}.
	 *
	 * @param pid its process id, 0 for a prepared transaction
	 * @param key the job whose lock it has, {@code null} if it has none, or several, or
	 * which is not known
	 * @param namespace the namespace of the key
	 * @param id what stands for the job in addresses
	 * @param target the method of the job
	 * @param instance the instance that runs it, {@code null} if it is none of this
	 * library
	 * @param application the name of the connection
	 * @param user the role that is logged in
	 * @param client address and port of the client
	 * @param state what the connection is doing
	 * @param query its current or last statement; hidden from who may not see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record SessionDescriptor(int pid, @Nullable String key, @Nullable String namespace, @Nullable String id,
			@Nullable String target, @Nullable String instance, @Nullable String application, @Nullable String user,
			@Nullable String client, @Nullable String state, @Nullable String query) {

	}

	/**
	 * Whose lock it is.
	 */
	public enum Kind {

		/**
		 * That of a method or a request of this application, or of a job of the ledger.
		 */
		JOB,

		/**
		 * That of the leader of a role.
		 */
		LEADER,

		/**
		 * One of this library's own.
		 */
		LIBRARY,

		/**
		 * One that an instance with this library holds or waits for, with a key that is
		 * not known here: it depends on arguments, or is that of another application.
		 */
		UNNAMED,

		/**
		 * One of another application.
		 */
		FOREIGN,

		/**
		 * One in another database of the server, which this application can't meet.
		 */
		OTHER_DATABASE

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
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record InstanceDescriptor(String instance, String namespace, String state, Instant startedAt, Instant seenAt,
			@Nullable Instant endedAt, @Nullable String version, @Nullable String library, @Nullable Duration clockSkew,
			int locks, List<String> leaderOf) {

		InstanceDescriptor leading(List<String> roles) {
			return new InstanceDescriptor(this.instance, this.namespace, this.state, this.startedAt, this.seenAt,
					this.endedAt, this.version, this.library, this.clockSkew, this.locks, roles);
		}

		private InstanceDescriptor and(InstanceDescriptor other) {
			InstanceDescriptor later = this.seenAt.isBefore(other.seenAt) ? other : this;
			return new InstanceDescriptor(later.instance, later.namespace, later.state, later.startedAt, later.seenAt,
					later.endedAt, later.version, later.library, later.clockSkew, this.locks + other.locks,
					Stream.concat(this.leaderOf.stream(), other.leaderOf.stream()).distinct().toList());
		}

		/**
		 * Put together what several databases know. Of processes that had one name, one
		 * after the other, each tells of the latest first.
		 */
		static List<InstanceDescriptor> merge(List<InstanceDescriptor> some, List<InstanceDescriptor> others) {
			Map<List<Object>, InstanceDescriptor> all = new LinkedHashMap<>();
			for (List<InstanceDescriptor> list : List.of(some, others)) {
				Map<List<String>, Integer> processes = new HashMap<>();
				for (InstanceDescriptor one : list) {
					int process = processes.merge(List.of(one.namespace, one.instance), 1, Integer::sum);
					all.merge(List.of(one.namespace, one.instance, process), one, InstanceDescriptor::and);
				}
			}
			return List.copyOf(all.values());
		}

	}

	/**
	 * The leader of one role.
	 *
	 * @param role the role
	 * @param namespace its namespace
	 * @param instance who leads, {@code null} if nobody does for now
	 * @param term the number of its term, which is higher than all before it,
	 * {@code null} if that is not known
	 * @param since since when it leads, {@code null} if that is not known
	 * @param waiting the instances that would take over
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record LeaderDescriptor(String role, String namespace, @Nullable String instance, @Nullable Long term,
			@Nullable Instant since, List<String> waiting) {

	}

	/**
	 * One job with its last runs.
	 *
	 * @param job the job
	 * @param runs its last 60 runs, latest first
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record JobDetailsDescriptor(JobDescriptor job, List<RunDescriptor> runs) {

	}

	/**
	 * What an operator did.
	 *
	 * @param key the key of the job
	 * @param namespace the namespace of the key
	 * @param state what was asked for: {@code running}, {@code retried}, {@code paused},
	 * {@code resumed}, {@code forgotten}, {@code cancelled} or {@code freed}, for the
	 * role of a leader {@code resigned}
	 * @param by who asked, {@code unauthenticated} for who is not logged in
	 * @param outcome how a run ended that was asked for, {@code null} if it still runs;
	 * {@code ENDED} if one that was cancelled has
	 * @param error its failure; only its class for who may not see values
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record ActionDescriptor(String key, String namespace, String state, String by, @Nullable String outcome,
			@Nullable String error) {

	}

	/**
	 * What an operator did with all jobs of a namespace.
	 *
	 * @param namespace the namespace
	 * @param state what was asked for: {@code paused} or {@code resumed}
	 * @param by who asked, {@code unauthenticated} for who is not logged in
	 * @param jobs how many jobs that holds for
	 */
	public record AllJobsActionDescriptor(String namespace, String state, String by, int jobs) {

	}

	/**
	 * Why nothing was done.
	 *
	 * @param error the reason
	 * @param others how many other locks would be free as well, {@code null} if that is
	 * not the reason
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record ErrorDescriptor(String error, @Nullable Integer others) {

		/**
		 * Create a reason.
		 * @param error the reason
		 */
		public ErrorDescriptor(String error) {
			this(error, null);
		}

	}

}
