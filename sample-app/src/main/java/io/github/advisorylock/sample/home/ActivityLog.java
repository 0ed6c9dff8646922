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

package io.github.advisorylock.sample.home;

import java.util.List;

import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Says in one line each who ran and who skipped, and remembers it for the page.
 */
@Component
class ActivityLog {

	private static final Log logger = LogFactory.getLog(ActivityLog.class);

	private final JdbcClient jdbc;

	private final Instance instance;

	ActivityLog(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		long took = event.duration().toMillis();
		String how = (event.failure() != null) ? " failed in '" : " ran '";
		logger.info("Instance " + this.instance + how + event.key().name() + "', " + took + " ms");
		this.jdbc.sql("""
				INSERT INTO instance_activity AS known (instance, method, runs, last_run, last_took_ms)
				VALUES (?, ?, 1, now(), ?) ON CONFLICT (instance, method)
				DO UPDATE SET runs = known.runs + 1, last_run = now(), last_took_ms = excluded.last_took_ms
				""").params(this.instance.name(), event.method(), took).update();
	}

	@EventListener
	void skipped(SingleRunnerSkippedEvent event) {
		logger.info("Instance " + this.instance + " skipped '" + event.key().name() + "': " + event.outcome());
		this.jdbc.sql("""
				INSERT INTO instance_activity AS known (instance, method, skips, last_skip)
				VALUES (?, ?, 1, now()) ON CONFLICT (instance, method)
				DO UPDATE SET skips = known.skips + 1, last_skip = now()
				""").params(this.instance.name(), event.method()).update();
	}

	/**
	 * Return what all instances did, the last run first.
	 */
	List<Activity> recent() {
		return this.jdbc.sql("""
				SELECT instance, method, runs, extract(epoch FROM now() - last_run)::integer AS ran_seconds_ago,
				last_took_ms, skips, extract(epoch FROM now() - last_skip)::integer AS skipped_seconds_ago
				FROM instance_activity
				ORDER BY last_run DESC NULLS LAST, last_skip DESC LIMIT 30
				""").query(Activity.class).list();
	}

	/**
	 * What one instance did with one method.
	 */
	record Activity(String instance, String method, int runs, @Nullable Integer ranSecondsAgo,
			@Nullable Long lastTookMs, int skips, @Nullable Integer skippedSecondsAgo) {

	}

}
