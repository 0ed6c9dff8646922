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
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor.TicksDescriptor;
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

	private static final int NEXT = 5;

	private static final int MOST_EXPECTED = 10_000;

	private static final int MOST_MISSED = 100;

	/**
	 * How long after its time a tick may begin, and nobody has missed it yet.
	 */
	private static final Duration GRACE = Duration.ofMinutes(5);

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
	@Nullable Instant nextTick(Instant after) {
		return this.ticks.stream()
			.map((ticks) -> ticks.nextAfter(after))
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	/**
	 * Return the latest tick that is not after a time, where more are to come.
	 * @return the tick, {@code null} if there is none
	 */
	@Nullable Instant latestTick(Instant now, Instant time) {
		CronTicks ticks = ticks();
		try {
			return (ticks != null && ticks.nextAfter(now) != null) ? ticks.latestAt(time) : null;
		}
		catch (IllegalStateException ex) {
			// nothing was planned in the last nine years
			return null;
		}
	}

	/**
	 * Return what is called again after a time, the first of these.
	 * @return the schedule, {@code null} if there is none
	 */
	@Nullable ScheduleDescriptor interval() {
		return this.schedules.stream().filter((schedule) -> schedule.interval() != null).findFirst().orElse(null);
	}

	/**
	 * Return the next times of cron schedules.
	 */
	List<Instant> nextTicks(Instant after, int count) {
		List<Instant> next = new ArrayList<>();
		Instant tick = nextTick(after);
		while (tick != null && next.size() < count) {
			next.add(tick);
			tick = nextTick(tick);
		}
		return next;
	}

	/**
	 * Return the next ticks, and those since the first that is known of which nothing is
	 * known.
	 * @param now the time
	 * @param known the ticks that are known, latest first, of a job that runs once for
	 * each
	 * @param open whether the latest tick need not be complete: it is tried again, or the
	 * job is paused
	 */
	TicksDescriptor ticks(Instant now, List<Instant> known, boolean open) {
		List<Instant> next = nextTicks(now, NEXT);
		CronTicks ticks = ticks();
		if (ticks == null || known.isEmpty()) {
			return new TicksDescriptor(next, null, 0, List.of());
		}
		Instant last = known.get(0);
		Instant end = open ? last : now.minus(GRACE);
		Instant since = known.get(known.size() - 1);
		List<Instant> expected = expected(ticks, since, end);
		Set<Instant> runs = new HashSet<>(known);
		List<Instant> missed = new ArrayList<>(expected.stream().filter((tick) -> !runs.contains(tick)).toList());
		Collections.reverse(missed);
		return new TicksDescriptor(next, since, expected.size(), missed.stream().limit(MOST_MISSED).toList());
	}

	/**
	 * A job that has not run for long may have missed more ticks than anybody wants to
	 * know.
	 */
	private static List<Instant> expected(CronTicks ticks, Instant since, Instant end) {
		List<Instant> expected = new ArrayList<>();
		Instant tick = since;
		while (tick != null && !tick.isAfter(end) && expected.size() < MOST_EXPECTED) {
			expected.add(tick);
			tick = ticks.nextAfter(tick);
		}
		return expected;
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
