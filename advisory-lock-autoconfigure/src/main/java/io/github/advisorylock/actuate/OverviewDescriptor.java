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
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.DatabaseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PauseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Problem;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * What needs an operator now, and how much there is of everything.
 *
 * @param time the moment, by the database's clock
 * @param clockSkew by how much that clock is ahead of this instance's
 * @param instance the instance that tells this, as {@code host:pid}
 * @param namespace its namespace
 * @param database the database that has the locks
 * @param ledger whether the ledger is in use: without it, nothing is known of runs and
 * instances
 * @param jobCount how many jobs there are
 * @param states how many of these are in each state, all states of
 * {@link JobDescriptor#state()} among them
 * @param problemCount how many problems there are
 * @param problems the problems, each kind once, what weighs most first
 * @param runningCount how many jobs run
 * @param running those that run, which began first before others, 20 at most
 * @param leaders who leads which role
 * @param instanceStates how many instances are {@code alive}, {@code stopped} and
 * {@code vanished}
 * @param instances the instances, those that are alive first, 50 at most
 * @param paused the pause of all jobs of the namespace, {@code null} if they are not
 * @param lockCount how many holders and waiters of advisory locks there are on the server
 * @param waiterCount how many of these wait
 * @param databases the databases that have the locks, {@code null} where there is one
 * @since 0.1.0
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OverviewDescriptor(Instant time, Duration clockSkew, String instance, String namespace, String database,
		boolean ledger, int jobCount, Map<String, Integer> states, int problemCount, List<ProblemGroup> problems,
		int runningCount, List<RunningDescriptor> running, List<LeaderDescriptor> leaders,
		Map<String, Integer> instanceStates, List<InstanceDescriptor> instances, @Nullable PauseDescriptor paused,
		int lockCount, int waiterCount, @Nullable List<DatabaseDescriptor> databases) {

	OverviewDescriptor in(String transactionManager) {
		return new OverviewDescriptor(this.time, this.clockSkew, this.instance, this.namespace, this.database,
				this.ledger, this.jobCount, this.states, this.problemCount,
				this.problems.stream().map((group) -> group.in(transactionManager)).toList(), this.runningCount,
				this.running.stream().map((job) -> job.in(transactionManager)).toList(), this.leaders,
				this.instanceStates, this.instances, this.paused, this.lockCount, this.waiterCount,
				List.of(new DatabaseDescriptor(transactionManager, this.database, this.clockSkew, this.ledger)));
	}

	/**
	 * All problems of one kind.
	 *
	 * @param problem the kind
	 * @param count how many there are
	 * @param latest the latest of them, latest first, five at most
	 */
	public record ProblemGroup(Problem problem, int count, List<ProblemDescriptor> latest) {

		private ProblemGroup in(String transactionManager) {
			return new ProblemGroup(this.problem, this.count,
					this.latest.stream().map((one) -> one.in(transactionManager)).toList());
		}

	}

	/**
	 * One problem.
	 *
	 * @param name the key of the job, or the name of the instance
	 * @param namespace the namespace of either
	 * @param id what stands for the job in addresses, {@code null} for an instance
	 * @param since since when, as far as that is known: the end of the last run that
	 * failed, the tick that is overdue, the begin of the pause, when the instance was
	 * seen last
	 * @param instance where it happened, {@code null} if that is not known
	 * @param failures how many runs in a row were not executed, {@code null} where that
	 * is not the problem
	 * @param detail what there is to say of it: the failure, only its class for who may
	 * not see values; who paused it and why; how far the clock is off
	 * @param transactionManager whose database it is in, {@code null} where there is one
	 * database
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record ProblemDescriptor(String name, String namespace, @Nullable String id, @Nullable Instant since,
			@Nullable String instance, @Nullable Integer failures, @Nullable String detail,
			@Nullable String transactionManager) {

		private ProblemDescriptor in(String transactionManager) {
			return (this.id == null) ? this : new ProblemDescriptor(this.name, this.namespace, this.id, this.since,
					this.instance, this.failures, this.detail, transactionManager);
		}

	}

	/**
	 * A job that runs.
	 *
	 * @param key its key
	 * @param namespace the namespace of the key
	 * @param id what stands for the job in addresses
	 * @param instance where it runs, {@code null} if that is not known
	 * @param since since when, {@code null} if that is not known
	 * @param waiters how many wait for its lock
	 * @param transactionManager whose database it is in, {@code null} where there is one
	 * database
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record RunningDescriptor(String key, String namespace, String id, @Nullable String instance,
			@Nullable Instant since, int waiters, @Nullable String transactionManager) {

		private RunningDescriptor in(String transactionManager) {
			return new RunningDescriptor(this.key, this.namespace, this.id, this.instance, this.since, this.waiters,
					transactionManager);
		}

	}

	/**
	 * Some of the jobs.
	 *
	 * @param time the moment, by the database's clock
	 * @param instance the instance that tells this
	 * @param namespace its namespace
	 * @param ledger whether the ledger is in use
	 * @param jobCount how many jobs there are
	 * @param matching how many of these are asked for
	 * @param page which page of them this is, from 1
	 * @param size how many are on a page
	 * @param sort in which order they are
	 * @param paused the pause of all jobs of the namespace, {@code null} if they are not
	 * @param jobs the jobs of the page
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record JobsDescriptor(Instant time, String instance, String namespace, boolean ledger, int jobCount,
			int matching, int page, int size, String sort, @Nullable PauseDescriptor paused, List<JobDescriptor> jobs) {

		JobsDescriptor in(String transactionManager) {
			return new JobsDescriptor(this.time, this.instance, this.namespace, this.ledger, this.jobCount,
					this.matching, this.page, this.size, this.sort, this.paused,
					this.jobs.stream().map((job) -> job.in(transactionManager)).toList());
		}

		JobsDescriptor and(JobsDescriptor other, Function<Stream<JobDescriptor>, List<JobDescriptor>> sort) {
			return new JobsDescriptor(this.time, this.instance, this.namespace, this.ledger || other.ledger,
					this.jobCount + other.jobCount, this.matching + other.matching, this.page, this.size, this.sort,
					(this.paused != null) ? this.paused : other.paused,
					sort.apply(Stream.concat(this.jobs.stream(), other.jobs.stream())));
		}

	}

	/**
	 * Some of the runs of a job.
	 *
	 * @param matching how many are asked for
	 * @param page which page of them this is, from 1
	 * @param size how many are on a page
	 * @param sort in which order they are
	 * @param runs the runs of the page
	 */
	public record RunsDescriptor(int matching, int page, int size, String sort, List<RunDescriptor> runs) {

	}

	/**
	 * The ticks of a job.
	 *
	 * @param next the next five, as far as they are planned
	 * @param since since when ticks were looked at, {@code null} if they were not: the
	 * job has none, or does not run once for each
	 * @param expected how many there were since then
	 * @param missed those of them that no run is known of, latest first, 100 at most
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record TicksDescriptor(List<Instant> next, @Nullable Instant since, int expected, List<Instant> missed) {

	}

}
