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

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.Schedules;
import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ByteArrayResource;

/**
 * The scheduler db-scheduler with a recurring task. It looks for what is due each second.
 */
final class DbScheduler implements JobScheduler {

	private static final String TABLE = """
			CREATE TABLE scheduled_tasks (task_name text, task_instance text, task_data bytea,
			execution_time timestamptz NOT NULL, picked boolean NOT NULL, picked_by text, last_success timestamptz,
			last_failure timestamptz, consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL,
			priority smallint, PRIMARY KEY (task_name, task_instance));
			CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time);
			CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)""";

	private @Nullable HikariDataSource dataSource;

	private @Nullable Scheduler scheduler;

	@Override
	public void start(String url, String cron, Runnable work) throws Exception {
		Tables.create(url, new ByteArrayResource(TABLE.getBytes(StandardCharsets.UTF_8)));
		this.dataSource = Tables.pool(url);
		this.scheduler = Scheduler.create(this.dataSource)
			.startTasks(Tasks.recurring(JOB, Schedules.cron(cron)).execute((instance, context) -> work.run()))
			.pollingInterval(Duration.ofSeconds(1))
			.build();
		this.scheduler.start();
	}

	@Override
	public void close() {
		if (this.scheduler != null) {
			this.scheduler.stop();
		}
		if (this.dataSource != null) {
			this.dataSource.close();
		}
	}

}
