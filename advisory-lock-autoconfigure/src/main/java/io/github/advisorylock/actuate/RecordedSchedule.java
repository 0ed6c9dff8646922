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
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RescheduledDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.json.JsonParserFactory;
import org.springframework.scheduling.support.CronExpression;

/**
 * When a job is called, as the instances that have its method have recorded.
 */
final class RecordedSchedule {

	private static final int MOST = 10_000;

	/**
	 * Many jobs have the same schedule.
	 */
	private static final Map<String, List<ScheduleDescriptor>> KNOWN = new ConcurrentHashMap<>();

	private RecordedSchedule() {
	}

	/**
	 * Read what was recorded. What a later version has written, and this one can't read,
	 * is nothing.
	 */
	static List<ScheduleDescriptor> parse(@Nullable String json) {
		if (json == null) {
			return List.of();
		}
		if (KNOWN.size() > MOST) {
			KNOWN.clear();
		}
		return KNOWN.computeIfAbsent(json, RecordedSchedule::read);
	}

	private static List<ScheduleDescriptor> read(String json) {
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
			return List.copyOf(schedules);
		}
		catch (IllegalArgumentException | DateTimeException ex) {
			return List.of();
		}
	}

	/**
	 * Return the next time of a cron expression, by the schedule that an operator has
	 * chosen from when on that holds.
	 */
	static @Nullable Instant next(List<ScheduleDescriptor> schedules, @Nullable RescheduledDescriptor chosen,
			Instant now) {
		Instant next = next(schedules, now);
		if (chosen == null || chosen.cron() == null || (next != null && next.isBefore(chosen.effectiveAt()))) {
			return next;
		}
		Instant before = chosen.effectiveAt().minusNanos(1);
		return next(List.of(new ScheduleDescriptor("cron", chosen.cron(), chosen.zone(), null)),
				before.isAfter(now) ? before : now);
	}

	/**
	 * Return the next time of the cron expressions among some schedules, {@code null} if
	 * there is none: a scheduler does not know it while its call is under way.
	 */
	static @Nullable Instant next(List<ScheduleDescriptor> schedules, Instant now) {
		return schedules.stream().flatMap((one) -> next(one, now)).min(Comparator.naturalOrder()).orElse(null);
	}

	private static Stream<Instant> next(ScheduleDescriptor schedule, Instant now) {
		String expression = schedule.expression();
		String zone = schedule.zone();
		if (expression == null || zone == null || !CronExpression.isValidExpression(expression)) {
			return Stream.empty();
		}
		try {
			ZonedDateTime next = CronExpression.parse(expression).next(now.atZone(ZoneId.of(zone)));
			return Stream.ofNullable(next).map(ZonedDateTime::toInstant);
		}
		catch (DateTimeException ex) {
			return Stream.empty();
		}
	}

	private static @Nullable String text(Map<?, ?> members, String name) {
		Object value = members.get(name);
		return (value != null) ? value.toString() : null;
	}

}
