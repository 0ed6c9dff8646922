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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import org.jspecify.annotations.Nullable;

import org.springframework.web.util.UriComponentsBuilder;

/**
 * What the address asks for.
 *
 * @param key the id or the name of the job to show, {@code null} for all
 * @param text what keys and methods must contain
 * @param state the state of jobs: {@code running}, {@code paused}, {@code idle},
 * {@code problem}, or {@code all}
 * @param hours how far the timeline goes back
 * @param page the page of the table, from 1
 */
record PageQuery(@Nullable String key, String text, String state, int hours, int page) {

	private static final int LONGEST_TEXT = 1000;

	static final List<Integer> HOURS = List.of(1, 6, 24);

	static PageQuery of(@Nullable String key, @Nullable String text, @Nullable String state, @Nullable Integer hours,
			@Nullable Integer page, int defaultHours) {
		return new PageQuery((key != null && !key.isBlank()) ? key : null, text(text),
				(state != null && AdvisoryLocksSource.STATES.contains(state)) ? state : "all",
				(hours != null) ? Math.max(1, Math.min(hours, 24 * 7)) : defaultHours,
				(page != null) ? Math.max(1, Math.min(page, 10_000)) : 1);
	}

	private static String text(@Nullable String text) {
		String stripped = (text != null) ? text.strip().replace("\0", "") : "";
		return stripped.substring(0, Math.min(stripped.length(), LONGEST_TEXT));
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
	static String of(String id) {
		return "?key=" + id;
	}

	static String name(JobDescriptor job) {
		return name(job.namespace(), job.key());
	}

	static String name(String namespace, String key) {
		return AdvisoryLockKey.display(namespace.isEmpty() ? key : namespace + "/" + key);
	}

}
