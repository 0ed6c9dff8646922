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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

/**
 * A model of the rows of schedules that operators have chosen, and of what one more does
 * to them.
 */
public final class SimulatedSchedules {

	private static final Duration AHEAD = Duration.ofSeconds(31);

	/**
	 * How many are kept of a job.
	 */
	private static final int MOST = 51;

	private final Map<JobName, CronTicks.Changes> rows = new HashMap<>();

	/**
	 * Give a job another schedule, in the place of one that does not hold yet.
	 * @param cron the expression, {@code null} for the one in the code
	 */
	public void reschedule(String namespace, String key, @Nullable String cron, Instant now) {
		CronTicks.Changes before = of(namespace, key);
		Instant last = before.changedAt();
		Instant changedAt = (last != null && !last.isBefore(now)) ? last.plusNanos(1000) : now;
		List<CronTicks.Change> after = new ArrayList<>(before.all());
		after.removeIf((change) -> change.from().isAfter(now));
		after.add(CronTicks.Change.of(now.plus(AHEAD).truncatedTo(ChronoUnit.SECONDS), changedAt, cron,
				(cron != null) ? ZoneOffset.UTC.getId() : null));
		this.rows.put(new JobName(namespace, key),
				new CronTicks.Changes(after.subList(Math.max(0, after.size() - MOST), after.size())));
	}

	/**
	 * Return the schedules of a job.
	 */
	public CronTicks.Changes of(String namespace, String key) {
		return this.rows.getOrDefault(new JobName(namespace, key), CronTicks.Changes.NONE);
	}

	boolean isKnown(String namespace, String key, @Nullable Instant changedAt) {
		return Objects.equals(of(namespace, key).changedAt(), changedAt);
	}

	Map<JobName, CronTicks.Changes> all() {
		return Map.copyOf(this.rows);
	}

	/**
	 * Return what tells them from what they were.
	 */
	String summary() {
		long count = this.rows.values().stream().mapToLong((changes) -> changes.all().size()).sum();
		return count + this.rows.values()
			.stream()
			.map(CronTicks.Changes::changedAt)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.map((last) -> " " + last)
			.orElse("");
	}

}
