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

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which of the latest runs of all jobs are asked for.
 *
 * @param runs how many at most
 * @param outcome how they have ended, {@code null} for any way, and for runs under way
 * @param instance who ran them, {@code null} for anybody
 * @param from the earliest begin, {@code null} for any
 * @param to the first begin that is too late, {@code null} for none
 */
record RunFilter(int runs, @Nullable String outcome, @Nullable String instance, @Nullable Instant from,
		@Nullable Instant to) {

	private static final List<String> OUTCOMES = List.of("EXECUTED", "FAILED", "ABANDONED", "CANCELLED");

	private static final int MOST = 1000;

	RunFilter {
		Assert.isTrue(runs >= 1 && runs <= MOST, "'runs' must be from 1 to " + MOST);
		Assert.isTrue(outcome == null || OUTCOMES.contains(outcome),
				() -> "Unknown outcome '" + AdvisoryLockKey.display(String.valueOf(outcome)) + "': choose one of "
						+ OUTCOMES + "; 'state=running' has the jobs that run");
		ActSubject.checkText("instance", instance);
		Assert.isTrue(from == null || to == null || from.isBefore(to), "'from' must be before 'to'");
	}

	/**
	 * Read what a request names.
	 * @param jobs what is named of a list of jobs, which goes with none of this
	 * @return the filter, {@code null} if no runs are asked for
	 */
	static @Nullable RunFilter of(@Nullable Integer runs, @Nullable String outcome, @Nullable String instance,
			@Nullable String from, @Nullable String to, @Nullable Object... jobs) {
		if (runs == null) {
			Assert.isTrue(Stream.of(outcome, instance, from, to).allMatch(Objects::isNull),
					"'outcome', 'instance', 'from' and 'to' need 'runs', which says how many runs are wanted");
			return null;
		}
		Assert.isTrue(Stream.of(jobs).allMatch(Objects::isNull),
				"'q', 'state', 'sort', 'page' and 'size' are for lists of jobs, without 'runs'");
		return new RunFilter(runs, outcome, instance, ActSubject.instant("from", from), ActSubject.instant("to", to));
	}

}
