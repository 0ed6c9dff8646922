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

import com.zaxxer.hikari.HikariDataSource;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * JobRunr with a recurring job.
 */
public final class JobRunrScheduler implements JobScheduler {

	private static @Nullable Runnable work;

	private @Nullable HikariDataSource dataSource;

	@Override
	public void start(String url, String cron, Runnable work) {
		this.dataSource = Tables.pool(url);
		JobRunrScheduler.work = work;
		JobRunr.configure()
			.useStorageProvider(new PostgresStorageProvider(this.dataSource))
			.useBackgroundJobServer(BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
				.andPollIntervalInSeconds(5))
			.initialize();
		BackgroundJob.<JobRunrScheduler>scheduleRecurrently(JOB, cron, (scheduler) -> scheduler.run());
	}

	/**
	 * The job, which is called by its name on an instance of its own.
	 */
	public void run() {
		Assert.state(work != null, "There is no work");
		work.run();
	}

	@Override
	public void close() {
		JobRunr.destroy();
		if (this.dataSource != null) {
			this.dataSource.close();
		}
	}

}
