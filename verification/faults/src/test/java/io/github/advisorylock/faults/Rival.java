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

package io.github.advisorylock.faults;

import io.github.advisorylock.faults.rivals.AdvisoryLockContestant;
import io.github.advisorylock.faults.rivals.DbSchedulerContestant;
import io.github.advisorylock.faults.rivals.DbosContestant;
import io.github.advisorylock.faults.rivals.JobRunrContestant;
import io.github.advisorylock.faults.rivals.QuartzContestant;
import io.github.advisorylock.faults.rivals.ShedLockContestant;
import io.github.advisorylock.faults.rivals.SpringIntegrationContestant;
import io.github.advisorylock.faults.rivals.UnguardedContestant;

/**
 * Who is put to the same faults, and how it is set up.
 */
enum Rival {

	/**
	 * Ours, as in the README.
	 */
	ADVISORY_LOCK("advisory-lock", AdvisoryLockContestant.class, "`@SingleRunner` with its defaults"),

	/**
	 * Ours, with the ledger.
	 */
	ADVISORY_LOCK_LEDGER("advisory-lock, ledger", AdvisoryLockContestant.Recorded.class,
			"`once = PER_TICK, catchUp = \"10m\"`"),

	/**
	 * ShedLock with a lease that some runs outlast.
	 */
	SHEDLOCK("ShedLock 7.10, 15 s", ShedLockContestant.class, "JDBC, database time, `lockAtMostFor` 15 s"),

	/**
	 * ShedLock with a lease that no run outlasts.
	 */
	SHEDLOCK_LONG("ShedLock 7.10, 10 min", ShedLockContestant.LongLease.class,
			"JDBC, database time, `lockAtMostFor` 10 min"),

	/**
	 * ShedLock with a lease that is extended while a run is under way.
	 */
	SHEDLOCK_KEEP_ALIVE("ShedLock 7.10, KeepAlive", ShedLockContestant.KeepAlive.class,
			"JDBC, database time, `lockAtMostFor` 30 s, `KeepAliveLockProvider`"),

	/**
	 * Spring Integration's lock.
	 */
	SPRING_INTEGRATION("Spring Integration 7.1", SpringIntegrationContestant.class,
			"`JdbcLockRegistry`, time to live 10 s"),

	/**
	 * Quartz in a cluster.
	 */
	QUARTZ("Quartz 2.5", QuartzContestant.class,
			"clustered, check-in 7.5 s, `@DisallowConcurrentExecution`, `requestRecovery`"),

	/**
	 * db-scheduler.
	 */
	DB_SCHEDULER("db-scheduler 16", DbSchedulerContestant.class, "polls each second; heartbeat 5 min, 6 may be missed"),

	/**
	 * JobRunr without a licence.
	 */
	JOBRUNR("JobRunr 8 (free)", JobRunrContestant.class,
			"polls each 5 s, its smallest; a server is gone after 4 polls"),

	/**
	 * DBOS, as its tutorial schedules a workflow.
	 */
	DBOS("DBOS Transact 1.1-m6", DbosContestant.class, "scheduled workflow, fixed executor id, no Conductor"),

	/**
	 * DBOS, one workflow at a time.
	 */
	DBOS_QUEUE("DBOS Transact 1.1-m6, queue", DbosContestant.Queued.class, "the same on a queue of `concurrency` 1"),

	/**
	 * Nobody's lock: what the checker must see.
	 */
	UNGUARDED("no lock", UnguardedContestant.class, "`@Scheduled` alone");

	private final String title;

	private final Class<? extends Contestant> contestant;

	private final String setup;

	Rival(String title, Class<? extends Contestant> contestant, String setup) {
		this.title = title;
		this.contestant = contestant;
		this.setup = setup;
	}

	String title() {
		return this.title;
	}

	Class<? extends Contestant> contestant() {
		return this.contestant;
	}

	String setup() {
		return this.setup;
	}

}
