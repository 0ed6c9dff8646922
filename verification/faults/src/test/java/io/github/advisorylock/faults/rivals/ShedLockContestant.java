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

import java.time.Duration;
import java.util.concurrent.Executors;

import javax.sql.DataSource;

import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * ShedLock on a table, by the database's clock, with a lease of fifteen seconds.
 * {@code lockAtLeastFor} is set, as its documentation says for clocks that differ.
 */
public class ShedLockContestant extends SpringContestant {

	public ShedLockContestant() {
		this(Duration.ofSeconds(15));
	}

	ShedLockContestant(Duration lease) {
		this(lease, false);
	}

	private ShedLockContestant(Duration lease, boolean keptAlive) {
		super(Application.class, "rivals.lease=" + lease, "rivals.kept-alive=" + keptAlive);
	}

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		Tables.create(settings, "shedlock", """
				CREATE TABLE shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp NOT NULL,
				locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL);""");
		super.start(settings, work);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "${rivals.lease}")
	static class Application {

		@Bean
		LockProvider lockProvider(DataSource dataSource, @Value("${rivals.kept-alive}") boolean keptAlive) {
			JdbcTemplateLockProvider provider = new JdbcTemplateLockProvider(
					JdbcTemplateLockProvider.Configuration.builder()
						.withJdbcTemplate(new JdbcTemplate(dataSource))
						.usingDbTime()
						.build());
			return keptAlive ? new KeepAliveLockProvider(provider, Executors.newSingleThreadScheduledExecutor())
					: provider;
		}

		@Bean
		Job job(Work work) {
			return new Job(work);
		}

	}

	public static class Job {

		private final Work work;

		Job(Work work) {
			this.work = work;
		}

		@Scheduled(cron = "${rivals.cron}")
		@SchedulerLock(name = Schedule.JOB, lockAtMostFor = "${rivals.lease}", lockAtLeastFor = "PT1S")
		public void run() throws Exception {
			this.work.run(Schedule.JOB, null);
		}

	}

	/**
	 * The same with a lease of thirty seconds, the shortest that it extends while the
	 * work goes on.
	 */
	public static final class KeepAlive extends ShedLockContestant {

		public KeepAlive() {
			super(Duration.ofSeconds(30), true);
		}

	}

	/**
	 * The same with a lease of ten minutes.
	 */
	public static final class LongLease extends ShedLockContestant {

		public LongLease() {
			super(Duration.ofMinutes(10));
		}

	}

}
