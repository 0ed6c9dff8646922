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

package io.github.advisorylock.actuate.page;

import java.util.List;
import java.util.Locale;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.jdbc.JobName;
import org.jspecify.annotations.Nullable;

import org.springframework.web.util.UriComponentsBuilder;

/**
 * What the address asks for.
 *
 * @param key the job to show, with its namespace, {@code null} for all
 * @param text what keys and methods must contain
 * @param state the state of jobs: {@code running}, {@code paused}, {@code idle},
 * {@code problem}, or {@code all}
 * @param hours how far the timeline goes back
 * @param page the page of the table, from 1
 */
record PageQuery(@Nullable String key, String text, String state, int hours, int page) {

	static final List<String> STATES = List.of("all", "running", "paused", "idle", "problem");

	static final List<Integer> HOURS = List.of(1, 6, 24);

	static PageQuery of(@Nullable String key, @Nullable String text, @Nullable String state, @Nullable Integer hours,
			@Nullable Integer page, int defaultHours) {
		return new PageQuery((key != null && !key.isBlank()) ? key : null, (text != null) ? text.strip() : "",
				(state != null && STATES.contains(state)) ? state : "all",
				(hours != null) ? Math.max(1, Math.min(hours, 24 * 7)) : defaultHours,
				(page != null) ? Math.max(1, page) : 1);
	}

	boolean matches(JobDescriptor job) {
		if (this.key != null) {
			return this.key.equals(name(job));
		}
		boolean stateMatches = this.state.equals("all") || this.state.equals(job.state())
				|| (this.state.equals("problem") && !job.problems().isEmpty());
		return stateMatches && (contains(name(job)) || contains(job.target()));
	}

	/**
	 * Return the address of another page of the table.
	 */
	String withPage(int other) {
		return UriComponentsBuilder.newInstance()
			.queryParam("q", "{q}")
			.queryParam("state", "{state}")
			.queryParam("hours", this.hours)
			.queryParam("page", other)
			.encode()
			.build(this.text, this.state)
			.toString();
	}

	/**
	 * Return the address of one job.
	 */
	static String of(JobDescriptor job) {
		return UriComponentsBuilder.newInstance().queryParam("key", "{key}").encode().build(name(job)).toString();
	}

	static String name(JobDescriptor job) {
		return name(job.namespace(), job.key());
	}

	static String name(String namespace, String key) {
		return new JobName(namespace, key).toString();
	}

	private boolean contains(@Nullable String value) {
		return value != null && value.toLowerCase(Locale.ROOT).contains(this.text.toLowerCase(Locale.ROOT));
	}

}
