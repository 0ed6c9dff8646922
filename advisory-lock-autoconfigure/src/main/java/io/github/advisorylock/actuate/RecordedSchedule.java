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

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.StringUtils;

/**
 * When a job is called, as the instances that have its method have recorded.
 */
final class RecordedSchedule {

	private static final RecordedSchedule NONE = new RecordedSchedule(List.of());

	private static final int MOST = 10_000;

	/**
	 * Many jobs have the same schedule.
	 */
	private static final Map<String, RecordedSchedule> KNOWN = new ConcurrentHashMap<>();

	private final List<ScheduleDescriptor> schedules;

	private final List<CronTicks> ticks;

	private RecordedSchedule(List<ScheduleDescriptor> schedules) {
		this.schedules = schedules;
		this.ticks = schedules.stream().map(RecordedSchedule::ticks).filter(Objects::nonNull).toList();
	}

	/**
	 * Read what was recorded. What a later version has written, and this one can't read,
	 * is nothing.
	 */
	static RecordedSchedule of(@Nullable String json) {
		if (json == null) {
			return NONE;
		}
		if (KNOWN.size() > MOST) {
			KNOWN.clear();
		}
		return KNOWN.computeIfAbsent(json, RecordedSchedule::parse);
	}

	private static RecordedSchedule parse(String json) {
		try {
			List<ScheduleDescriptor> schedules = new ArrayList<>();
			for (Object schedule : JsonParserFactory.getJsonParser().parseList(json)) {
				if (schedule instanceof Map<?, ?> members && members.get("type") != null) {
					String interval = text(members, "interval");
					schedules
						.add(new ScheduleDescriptor(String.valueOf(members.get("type")), text(members, "expression"),
								text(members, "zone"), (interval != null) ? Duration.parse(interval) : null));
				}
			}
			return new RecordedSchedule(List.copyOf(schedules));
		}
		catch (IllegalArgumentException | DateTimeException ex) {
			return NONE;
		}
	}

	private static @Nullable String text(Map<?, ?> members, String name) {
		Object value = members.get(name);
		return (value != null) ? value.toString() : null;
	}

	private static @Nullable CronTicks ticks(ScheduleDescriptor schedule) {
		String expression = schedule.expression();
		String zone = schedule.zone();
		return (schedule.type().equals("cron") && expression != null && zone != null)
				? new CronTicks(expression, StringUtils.parseTimeZoneString(zone).toZoneId()) : null;
	}

	List<ScheduleDescriptor> schedules() {
		return this.schedules;
	}

	/**
	 * Return the ticks, {@code null} if there are none, or of several schedules.
	 */
	@Nullable CronTicks ticks() {
		return (this.ticks.size() == 1 && this.schedules.size() == 1) ? this.ticks.get(0) : null;
	}

	/**
	 * Return when the job is called next by a cron schedule.
	 * @return the time, {@code null} if that is not planned
	 */
	private @Nullable Instant nextTick(Instant after) {
		return this.ticks.stream()
			.map((ticks) -> ticks.nextAfter(after))
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	/**
	 * Return when the job is called next, by any schedule.
	 * @param startedAt when its last run started
	 * @param finishedAt when that ended
	 * @return the time, {@code null} if that is not planned or not known
	 */
	@Nullable Instant next(Instant now, @Nullable Instant startedAt, @Nullable Instant finishedAt) {
		Instant next = nextTick(now);
		for (ScheduleDescriptor schedule : this.schedules) {
			Instant from = schedule.type().equals("fixedDelay") ? finishedAt : startedAt;
			Duration interval = schedule.interval();
			if (interval != null && from != null) {
				Instant call = from.plus(interval);
				next = (next == null || call.isBefore(next)) ? call : next;
			}
		}
		return next;
	}

}
