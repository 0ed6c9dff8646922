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

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;

import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.sample.Instance;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Remembers for the page who ran and who skipped, as the library tells each instance in
 * events; only the last ones of all.
 */
@Component
class ActivityLog {

	private static final int KEPT = 1000;

	private static final int MOST_SHOWN = 6;

	private final JdbcClient jdbc;

	private final Instance instance;

	ActivityLog(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		remember(event.key().name(),
				event.cancelled() ? "CANCELLED" : (event.failure() != null) ? "FAILED" : "EXECUTED", event.tick(),
				event.duration().toMillis());
	}

	@EventListener
	void skipped(SingleRunnerSkippedEvent event) {
		remember(event.key().name(), event.outcome().name(), event.tick(), null);
	}

	private void remember(String key, String outcome, @Nullable Instant tick, @Nullable Long tookMs) {
		this.jdbc.sql("""
				WITH old AS (DELETE FROM activity WHERE id < (SELECT max(id) FROM activity) - :kept)
				INSERT INTO activity (instance, key, outcome, tick, took_ms)
				VALUES (:instance, :key, :outcome, :tick, :tookMs)
				""")
			.param("kept", KEPT)
			.param("instance", this.instance.name())
			.param("key", key)
			.param("outcome", outcome)
			.param("tick", (tick != null) ? OffsetDateTime.ofInstant(tick, ZoneOffset.UTC) : null)
			.param("tookMs", tookMs)
			.update();
	}

	/**
	 * Return what instances did under keys that begin with something, the last first.
	 */
	List<Activity> of(String prefix) {
		return this.jdbc.sql("""
				SELECT key, instance, outcome, to_char(tick AT TIME ZONE 'UTC', 'HH24:MI:SS') AS tick, took_ms,
				extract(epoch FROM clock_timestamp() - at)::integer AS seconds_ago
				FROM activity WHERE starts_with(key, ?) ORDER BY id DESC LIMIT ?
				""").params(prefix, MOST_SHOWN).query(Activity.class).list();
	}

	/**
	 * A run or a skip.
	 */
	record Activity(String key, String instance, String outcome, @Nullable String tick, @Nullable Long tookMs,
			int secondsAgo) {

	}

}
