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

import java.time.Instant;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.dbos.transact.workflow.WorkflowSchedule;
import org.jspecify.annotations.Nullable;

/**
 * DBOS Transact with a scheduled workflow of one step.
 */
final class DbosScheduler implements JobScheduler {

	private @Nullable DBOS dbos;

	@Override
	public void start(String url, String cron, Runnable work) throws Exception {
		this.dbos = new DBOS(DBOSConfig.defaults("schedulers")
			.withDatabaseUrl(url)
			.withDbUser("postgres")
			.withDbPassword("postgres")
			.withExecutorId("schedulers"));
		this.dbos.registerProxy(Job.class, new GuardedJob(this.dbos, work));
		this.dbos.launch();
		this.dbos.applySchedules(new WorkflowSchedule(JOB, JOB, GuardedJob.class.getName(), cron));
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
		 * @param tick the planned time
		 * @param context what DBOS hands over
		 */
		void run(Instant tick, @Nullable Object context);

	}

	/**
	 * Does its work as a step.
	 */
	static final class GuardedJob implements Job {

		private final DBOS dbos;

		private final Runnable work;

		GuardedJob(DBOS dbos, Runnable work) {
			this.dbos = dbos;
			this.work = work;
		}

		@Override
		@Workflow(name = JOB)
		public void run(Instant tick, @Nullable Object context) {
			this.dbos.runStep(this.work::run, JOB);
		}

	}

}
