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

import java.util.Comparator;
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
 * @param state the state of jobs, {@code problem} for those with problems, or {@code all}
 * @param sort their order: by key, what is next, ran last, or took longest first
 * @param page which page of them, from 1
 * @param size how many are on a page
 */
record JobFilter(String text, String state, String sort, int page, int size) {

	private static final List<String> SORTS = List.of("key", "next", "last", "duration");

	private static final int LARGEST_PAGE = 1000;

	JobFilter {
		Assert.isTrue(state.equals("all") || state.equals("problem") || JobTable.STATES.contains(state),
				() -> "Unknown state '" + AdvisoryLockKey.display(state) + "': choose one of " + JobTable.STATES
						+ ", problem or all");
		Assert.isTrue(SORTS.contains(sort),
				() -> "Unknown order '" + AdvisoryLockKey.display(sort) + "': choose one of " + SORTS);
		Assert.isTrue(page >= 1 && page <= 1_000_000, "'page' must be from 1 to 1000000");
		Assert.isTrue(size >= 1 && size <= LARGEST_PAGE, "'size' must be from 1 to " + LARGEST_PAGE);
		ActSubject.checkText("q", text);
	}

	/**
	 * Create a filter from what may be left out.
	 */
	static JobFilter of(@Nullable String text, @Nullable String state, @Nullable String sort, @Nullable Integer page,
			@Nullable Integer size) {
		return new JobFilter((text != null) ? text.strip() : "", (state != null) ? state : "all",
				(sort != null) ? sort : "key", (page != null) ? page : 1, (size != null) ? size : 100);
	}

	boolean matches(JobDescriptor job) {
		boolean stateMatches = this.state.equals("all") || this.state.equals(job.state())
				|| (this.state.equals("problem") && !job.problems().isEmpty());
		return stateMatches && (contains(job.namespace() + "/" + job.key()) || contains(job.method()));
	}

	/**
	 * Return the order of jobs, which are in that of their keys.
	 */
	Comparator<JobDescriptor> order() {
		return Comparator.comparing(this::rank, Comparator.nullsLast(Comparator.naturalOrder()));
	}

	private @Nullable Long rank(JobDescriptor job) {
		RunDescriptor last = job.lastRun();
		return switch (this.sort) {
			case "next" -> (job.next() != null) ? job.next().toEpochMilli() : null;
			case "last" -> (last != null) ? -last.startedAt().toEpochMilli() : null;
			case "duration" -> (last != null && last.duration() != null) ? -last.duration().toMillis() : null;
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
