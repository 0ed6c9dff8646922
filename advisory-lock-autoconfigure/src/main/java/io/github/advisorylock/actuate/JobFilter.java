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

package io.github.advisorylock.actuate;

import java.util.List;
import java.util.Locale;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which jobs are asked for.
 *
 * @param text what keys and methods must contain
 * @param state the state of jobs: {@code running}, {@code waiting}, {@code paused},
 * {@code failing}, {@code overdue}, {@code idle}, {@code problem}, or {@code all}
 * @param sort their order
 * @param page which page of them, from 1
 * @param size how many are on a page
 */
record JobFilter(String text, String state, String sort, int page, int size) {

	/**
	 * The states that can be asked for.
	 */
	static final List<String> STATES = List.of("all", "running", "waiting", "paused", "failing", "overdue", "idle",
			"problem");

	/**
	 * The orders that can be asked for.
	 */
	static final List<String> SORTS = List.of("key", "next", "last", "duration", "failures");

	/**
	 * All jobs, and the first page of them.
	 */
	private static final JobFilter ALL = new JobFilter("", "all", "key", 1, 100);

	private static final int LARGEST_PAGE = 1000;

	private static final int LONGEST_TEXT = 1000;

	JobFilter {
		Assert.isTrue(STATES.contains(state),
				() -> "Unknown state '" + AdvisoryLockKey.display(state) + "': choose one of " + STATES);
		Assert.isTrue(SORTS.contains(sort),
				() -> "Unknown order '" + AdvisoryLockKey.display(sort) + "': choose one of " + SORTS);
		Assert.isTrue(page >= 1 && page <= 1_000_000, "'page' must be from 1 to 1000000");
		Assert.isTrue(size >= 1 && size <= LARGEST_PAGE, "'size' must be from 1 to " + LARGEST_PAGE);
		Assert.isTrue(text.length() <= LONGEST_TEXT && text.indexOf('\0') < 0,
				"'q' must have no more than " + LONGEST_TEXT + " characters, none of them NUL");
	}

	/**
	 * Create a filter from what may be left out.
	 */
	static JobFilter of(@Nullable String text, @Nullable String state, @Nullable String sort, @Nullable Integer page,
			@Nullable Integer size) {
		return new JobFilter((text != null) ? text.strip() : ALL.text, (state != null) ? state : ALL.state,
				(sort != null) ? sort : ALL.sort, (page != null) ? page : ALL.page, (size != null) ? size : ALL.size);
	}

	boolean matches(JobDescriptor job) {
		boolean stateMatches = this.state.equals("all") || this.state.equals(job.state())
				|| (this.state.equals("problem") && !job.problems().isEmpty());
		return stateMatches && (contains(job.namespace() + "/" + job.key()) || contains(job.target()));
	}

	/**
	 * Return the place of a job in the order that is asked for: what is lower comes
	 * first, {@code null} last.
	 */
	@Nullable Double rank(JobDescriptor job) {
		RunDescriptor last = job.lastRun();
		return switch (this.sort) {
			case "next" -> (job.next() != null) ? (double) job.next().toEpochMilli() / 1000 : null;
			case "last" -> (last != null) ? (double) -last.startedAt().toEpochMilli() / 1000 : null;
			case "duration" ->
				(last != null && last.duration() != null) ? (double) -last.duration().toMillis() / 1000 : null;
			case "failures" -> (double) -job.failures();
			default -> null;
		};
	}

	int offset() {
		return (this.page - 1) * this.size;
	}

	private boolean contains(@Nullable String value) {
		return value != null && value.toLowerCase(Locale.ROOT).contains(this.text.toLowerCase(Locale.ROOT));
	}

}
