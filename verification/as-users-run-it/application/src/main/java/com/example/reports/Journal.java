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

package com.example.reports;

import java.sql.Timestamp;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Writes down what was done, on whatever connection that is done.
 */
@Component
public class Journal {

	private final JdbcTemplate jdbc;

	private final String instance;

	Journal(JdbcTemplate jdbc, @Value("${instance:none}") String instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	/**
	 * Write down that a job has run.
	 * @param job the job
	 * @param tick for which tick, {@code null} for none
	 */
	public void ran(String job, @Nullable Instant tick) {
		this.jdbc.update("INSERT INTO journal (job, tick, instance) VALUES (?, ?, ?)", job,
				(tick != null) ? Timestamp.from(tick) : null, this.instance);
	}

	/**
	 * Do what takes a moment.
	 */
	public void takeAMoment() {
		this.jdbc.execute("SELECT pg_sleep(0.2)");
	}

	/**
	 * Do what fails in the database.
	 */
	public void fail() {
		this.jdbc.update("INSERT INTO nowhere VALUES (1)");
	}

}
