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

import java.util.Properties;

import org.jspecify.annotations.Nullable;
import org.quartz.CronScheduleBuilder;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

import org.springframework.core.io.ClassPathResource;
import org.springframework.util.Assert;

/**
 * Quartz with its JDBC store, clustered, and a job that may not run beside itself and
 * asks to be recovered.
 */
final class QuartzScheduler implements JobScheduler {

	private static final String WORK = "work";

	private @Nullable Scheduler scheduler;

	@Override
	public void start(String url, String cron, Runnable work) throws Exception {
		Tables.create(url, new ClassPathResource("org/quartz/impl/jdbcjobstore/tables_postgres.sql"));
		this.scheduler = new StdSchedulerFactory(properties(url)).getScheduler();
		this.scheduler.getContext().put(WORK, work);
		this.scheduler.scheduleJob(JobBuilder.newJob(GuardedJob.class).withIdentity(JOB).requestRecovery().build(),
				TriggerBuilder.newTrigger()
					.withIdentity(JOB)
					.withSchedule(CronScheduleBuilder.cronSchedule(cron.substring(0, cron.length() - 1) + "?"))
					.build());
		this.scheduler.start();
	}

	private static Properties properties(String url) {
		Properties properties = new Properties();
		properties.setProperty("org.quartz.scheduler.instanceName", "schedulers");
		properties.setProperty("org.quartz.scheduler.instanceId", "AUTO");
		properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
		properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
		properties.setProperty("org.quartz.threadPool.threadCount", "5");
		properties.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
		properties.setProperty("org.quartz.jobStore.driverDelegateClass",
				"org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
		properties.setProperty("org.quartz.jobStore.isClustered", "true");
		properties.setProperty("org.quartz.jobStore.dataSource", "jobs");
		properties.setProperty("org.quartz.dataSource.jobs.provider", "hikaricp");
		properties.setProperty("org.quartz.dataSource.jobs.driver", "org.postgresql.Driver");
		properties.setProperty("org.quartz.dataSource.jobs.URL", url);
		properties.setProperty("org.quartz.dataSource.jobs.user", "postgres");
		properties.setProperty("org.quartz.dataSource.jobs.maxConnections", "10");
		return properties;
	}

	@Override
	public void close() {
		try {
			if (this.scheduler != null) {
				this.scheduler.shutdown(true);
			}
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * The job, which Quartz makes.
	 */
	@DisallowConcurrentExecution
	public static class GuardedJob implements Job {

		@Override
		public void execute(JobExecutionContext context) throws JobExecutionException {
			try {
				Object work = context.getScheduler().getContext().get(WORK);
				Assert.state(work instanceof Runnable, "There is no work");
				((Runnable) work).run();
			}
			catch (SchedulerException ex) {
				throw new JobExecutionException(ex);
			}
		}

	}

}
