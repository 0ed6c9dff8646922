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

package io.github.advisorylock.benchmarks;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalTime;

import javax.sql.DataSource;

import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.Schedules;
import io.github.advisorylock.annotation.SingleRunner;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jobrunr.jobs.annotations.Recurring;
import org.quartz.CronScheduleBuilder;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * The same nightly job with each of those that have a starter, set up as its own
 * documentation says.
 */
final class NightlyJobs {

	private static final String NIGHTLY = "0 0 3 * * *";

	private static final String TABLES = """
			CREATE TABLE IF NOT EXISTS shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp NOT NULL,
			locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL);
			CREATE TABLE IF NOT EXISTS scheduled_tasks (task_name text, task_instance text, task_data bytea,
			execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text, last_success timestamptz,
			last_failure timestamptz, consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL,
			priority smallint, state text, PRIMARY KEY (task_name, task_instance))""";

	private NightlyJobs() {
	}

	/**
	 * Create the tables of those that do not create their own.
	 */
	static void createTables(String url) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			statement.execute(TABLES);
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("org/quartz/impl/jdbcjobstore/tables_postgres.sql"));
		}
	}

	/**
	 * On every instance.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Everywhere {

		@Scheduled(cron = NIGHTLY)
		void run() {
		}

	}

	/**
	 * With ours.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Guarded {

		@Scheduled(cron = NIGHTLY)
		@SingleRunner(key = "nightly")
		void run() {
		}

	}

	/**
	 * With ShedLock.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class ShedLock {

		@Bean
		LockProvider lockProvider(DataSource dataSource) {
			return new JdbcTemplateLockProvider(dataSource);
		}

		@Bean
		Locked locked() {
			return new Locked();
		}

		/**
		 * A job that ShedLock guards.
		 */
		static class Locked {

			@Scheduled(cron = NIGHTLY)
			@SchedulerLock(name = "nightly")
			void run() {
			}

		}

	}

	/**
	 * With Spring Boot's starter for Quartz.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Quartz {

		@Bean
		JobDetail nightly() {
			return JobBuilder.newJob(Empty.class).withIdentity("nightly").storeDurably().build();
		}

		@Bean
		Trigger nightlyTrigger(JobDetail nightly) {
			return TriggerBuilder.newTrigger()
				.forJob(nightly)
				.withIdentity("nightly")
				.withSchedule(CronScheduleBuilder.dailyAtHourAndMinute(3, 0))
				.build();
		}

	}

	/**
	 * A job of Quartz.
	 */
	public static class Empty implements Job {

		@Override
		public void execute(JobExecutionContext context) {
		}

	}

	/**
	 * With db-scheduler.
	 */
	@Configuration(proxyBeanMethods = false)
	static class DbScheduler {

		@Bean
		RecurringTask<Void> nightly() {
			return Tasks.recurring("nightly", Schedules.daily(LocalTime.of(3, 0))).execute((instance, context) -> {
			});
		}

	}

	/**
	 * With JobRunr.
	 */
	public static class JobRunr {

		/**
		 * The job.
		 */
		@Recurring(id = "nightly", cron = "0 3 * * *")
		public void run() {
		}

	}

}
