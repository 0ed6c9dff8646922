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

package io.github.advisorylock.faults.rivals;

import java.time.Instant;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Queue;
import dev.dbos.transact.workflow.Workflow;
import dev.dbos.transact.workflow.WorkflowSchedule;
import io.github.advisorylock.faults.Contestant;
import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;
import org.jspecify.annotations.Nullable;

/**
 * DBOS Transact with a scheduled workflow of one step, and an executor id that an
 * instance keeps over its restarts.
 */
public class DbosContestant implements Contestant {

	private final boolean queued;

	private @Nullable DBOS dbos;

	public DbosContestant() {
		this(false);
	}

	DbosContestant(boolean queued) {
		this.queued = queued;
	}

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		this.dbos = new DBOS(DBOSConfig.defaults("rivals")
			.withDatabaseUrl(settings.url())
			.withDbUser(settings.user())
			.withDbPassword(settings.password())
			.withExecutorId(settings.instance()));
		if (this.queued) {
			this.dbos.registerQueue(new Queue(Schedule.JOB).withConcurrency(1));
		}
		this.dbos.registerProxy(Job.class, new GuardedJob(this.dbos, work));
		this.dbos.launch();
		WorkflowSchedule schedule = new WorkflowSchedule(Schedule.JOB, Schedule.JOB, GuardedJob.class.getName(),
				Schedule.cron(settings.period()));
		this.dbos.applySchedules(this.queued ? schedule.withQueueName(Schedule.JOB) : schedule);
	}

	@Override
	public void close() {
		if (this.dbos != null) {
			this.dbos.shutdown();
		}
	}

	/**
	 * What DBOS puts its proxy in front of.
	 */
	public interface Job {

		/**
		 * Do the work of a tick.
		 */
		void run(Instant tick, @Nullable Object context) throws Exception;

	}

	static final class GuardedJob implements Job {

		private final DBOS dbos;

		private final Work work;

		GuardedJob(DBOS dbos, Work work) {
			this.dbos = dbos;
			this.work = work;
		}

		@Override
		@Workflow(name = Schedule.JOB)
		public void run(Instant tick, @Nullable Object context) throws Exception {
			this.dbos.runStep(() -> this.work.run(Schedule.JOB, tick), Schedule.JOB);
		}

	}

	/**
	 * The same on a queue that lets one workflow run at a time.
	 */
	public static final class Queued extends DbosContestant {

		public Queued() {
			super(true);
		}

	}

}
