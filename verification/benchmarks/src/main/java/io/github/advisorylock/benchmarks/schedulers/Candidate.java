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

package io.github.advisorylock.benchmarks.schedulers;

import java.util.function.Supplier;

/**
 * The libraries that are measured.
 */
enum Candidate {

	/**
	 * Ours.
	 */
	PLAIN("`@SingleRunner`, TRANSACTION", 1, () -> new LibraryScheduler(LibraryScheduler.PlainJob.class)),

	/**
	 * Ours.
	 */
	SESSION("`@SingleRunner`, SESSION", 1, () -> new LibraryScheduler(LibraryScheduler.SessionJob.class)),

	/**
	 * Ours, with the ledger.
	 */
	RECORDED("`@SingleRunner`, PER_TICK, `catchUp`", 1, () -> new LibraryScheduler(LibraryScheduler.RecordedJob.class)),

	/**
	 * Quartz.
	 */
	QUARTZ("Quartz, clustered", 1, QuartzScheduler::new),

	/**
	 * The scheduler db-scheduler.
	 */
	DB_SCHEDULER("db-scheduler, polls each second", 1, DbScheduler::new),

	/**
	 * JobRunr, whose jobs recur as often as it polls, which is each five seconds at most.
	 */
	JOB_RUNR("JobRunr, polls each 5 s", 5, JobRunrScheduler::new),

	/**
	 * DBOS Transact.
	 */
	DBOS("DBOS Transact, a workflow of one step", 1, DbosScheduler::new);

	private final String description;

	private final int period;

	@SuppressWarnings("ImmutableEnumChecker") // a constructor
	private final Supplier<JobScheduler> scheduler;

	Candidate(String description, int period, Supplier<JobScheduler> scheduler) {
		this.description = description;
		this.period = period;
		this.scheduler = scheduler;
	}

	String description() {
		return this.description;
	}

	/**
	 * Return the seconds between two runs.
	 */
	int period() {
		return this.period;
	}

	JobScheduler create() {
		return this.scheduler.get();
	}

}
