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
import java.util.Properties;

import io.github.advisorylock.faults.Contestant;
import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;
import org.jspecify.annotations.Nullable;
import org.quartz.CronScheduleBuilder;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.ObjectAlreadyExistsException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

import org.springframework.util.Assert;

/**
 * Quartz with its JDBC store, clustered, and a job that may not run beside itself and
 * asks to be recovered; check-in and misfire threshold are as it has them by default.
 */
public final class QuartzContestant implements Contestant {

	private static final String WORK = "work";

	private @Nullable Scheduler scheduler;

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		Tables.createFrom(settings, "qrtz_locks", "org/quartz/impl/jdbcjobstore/tables_postgres.sql");
		this.scheduler = new StdSchedulerFactory(properties(settings)).getScheduler();
		this.scheduler.getContext().put(WORK, work);
		JobDetail job = JobBuilder.newJob(GuardedJob.class).withIdentity(Schedule.JOB).requestRecovery().build();
		Trigger trigger = TriggerBuilder.newTrigger()
			.withIdentity(Schedule.JOB)
			.withSchedule(CronScheduleBuilder.cronSchedule("0/" + settings.period().toSeconds() + " * * * * ?"))
			.build();
		try {
			this.scheduler.scheduleJob(job, trigger);
		}
		catch (ObjectAlreadyExistsException ex) {
			// another instance has
		}
		this.scheduler.start();
	}

	private static Properties properties(ContestantSettings settings) {
		Properties properties = new Properties();
		properties.setProperty("org.quartz.scheduler.instanceName", "rivals");
		properties.setProperty("org.quartz.scheduler.instanceId", "AUTO");
		properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
		properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
		properties.setProperty("org.quartz.threadPool.threadCount", "5");
		properties.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
		properties.setProperty("org.quartz.jobStore.driverDelegateClass",
				"org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
		properties.setProperty("org.quartz.jobStore.isClustered", "true");
		properties.setProperty("org.quartz.jobStore.dataSource", "rivals");
		properties.setProperty("org.quartz.dataSource.rivals.provider", "hikaricp");
		properties.setProperty("org.quartz.dataSource.rivals.driver", "org.postgresql.Driver");
		properties.setProperty("org.quartz.dataSource.rivals.URL", settings.url());
		properties.setProperty("org.quartz.dataSource.rivals.user", settings.user());
		properties.setProperty("org.quartz.dataSource.rivals.password", settings.password());
		properties.setProperty("org.quartz.dataSource.rivals.maxConnections", "10");
		return properties;
	}

	@Override
	public void close() throws SchedulerException {
		if (this.scheduler != null) {
			this.scheduler.shutdown(false);
		}
	}

	/**
	 * The job. A run that is recovered says in its data which tick it makes up for.
	 */
	@DisallowConcurrentExecution
	public static class GuardedJob implements Job {

		@Override
		public void execute(JobExecutionContext context) throws JobExecutionException {
			try {
				Object work = context.getScheduler().getContext().get(WORK);
				Assert.state(work instanceof Work, "There is no work");
				((Work) work).run(Schedule.JOB, tick(context));
			}
			catch (Exception ex) {
				throw new JobExecutionException(ex);
			}
		}

		private static Instant tick(JobExecutionContext context) {
			if (context.isRecovering()) {
				JobDataMap data = context.getMergedJobDataMap();
				return Instant.ofEpochMilli(data
					.getLongFromString(Scheduler.FAILED_JOB_ORIGINAL_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS));
			}
			return context.getScheduledFireTime().toInstant();
		}

	}

}
