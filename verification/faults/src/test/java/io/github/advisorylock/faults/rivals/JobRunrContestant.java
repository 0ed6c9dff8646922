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
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.faults.Contestant;
import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.context.JobContext;
import org.jobrunr.jobs.states.ScheduledState;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * JobRunr with a recurring job. Its server polls as often as it allows, each five
 * seconds: it refuses to recur faster than it polls, and by default it polls each
 * fifteen. An instance counts as gone after four polls.
 */
public final class JobRunrContestant implements Contestant {

	private static @Nullable Work work;

	private static @Nullable StorageProvider storage;

	private @Nullable HikariDataSource dataSource;

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		this.dataSource = Tables.pool(settings);
		JobRunrContestant.work = work;
		JobRunrContestant.storage = new PostgresStorageProvider(this.dataSource);
		JobRunr.configure()
			.useStorageProvider(JobRunrContestant.storage)
			.useBackgroundJobServer(BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
				.andName(settings.instance())
				.andPollIntervalInSeconds(5))
			.initialize();
		BackgroundJob.<JobRunrContestant>scheduleRecurrently(Schedule.JOB, Schedule.cron(settings.period()),
				(contestant) -> contestant.run(JobContext.Null));
	}

	/**
	 * The job, which is called by its name on an instance of its own.
	 * @param context says which job it is
	 */
	public void run(JobContext context) throws Exception {
		Assert.state(work != null, "There is no work");
		work.run(Schedule.JOB, tick(context.getJobId()));
	}

	private static @Nullable Instant tick(UUID job) {
		Assert.state(storage != null, "There is no storage");
		return storage.getJobById(job)
			.getJobStatesOfType(ScheduledState.class)
			.findFirst()
			.map(ScheduledState::getScheduledAt)
			.orElse(null);
	}

	@Override
	public void close() {
		JobRunr.destroy();
		if (this.dataSource != null) {
			this.dataSource.close();
		}
	}

}
