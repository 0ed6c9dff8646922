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

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ForecastDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.PlannedDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RescheduledDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;

/**
 * When jobs are called next, by the schedules that hold, and at which times many of them
 * are.
 */
final class Forecast {

	/**
	 * So many times of each job, and of all together.
	 */
	private static final int TIMES = 10;

	private static final int MOST_TOGETHER = 5;

	private static final int MOST_KEYS = 5;

	/**
	 * What is called more often would fill the forecast, and is only counted.
	 */
	private static final Duration OFTEN = Duration.ofMinutes(1);

	private final Instant now;

	private final SortedMap<Instant, SortedSet<String>> planned = new TreeMap<>();

	/**
	 * Many jobs have the same schedule.
	 */
	private final Map<List<ScheduleDescriptor>, List<Instant>> known = new HashMap<>();

	private int often;

	private Forecast(Instant now) {
		this.now = now;
	}

	/**
	 * Look ahead, as far as jobs are not paused.
	 */
	static ForecastDescriptor of(List<JobDescriptor> jobs, Instant now) {
		Forecast forecast = new Forecast(now);
		jobs.stream().filter((job) -> job.paused() == null).forEach(forecast::add);
		return forecast.describe();
	}

	private void add(JobDescriptor job) {
		boolean own = job.rescheduled() != null || interval(job) != null;
		List<Instant> times = own ? times(job) : this.known.computeIfAbsent(job.schedules(), (schedules) -> times(job));
		if (times.size() > 1 && Duration.between(times.get(0), times.get(1)).compareTo(OFTEN) < 0) {
			this.often++;
			return;
		}
		times.forEach((time) -> this.planned.computeIfAbsent(time, (at) -> new TreeSet<>()).add(job.key()));
	}

	private List<Instant> times(JobDescriptor job) {
		List<Instant> times = new ArrayList<>();
		Instant time = next(job, this.now);
		while (time != null && times.size() < TIMES) {
			times.add(time);
			time = next(job, time);
		}
		return times;
	}

	private @Nullable Instant next(JobDescriptor job, Instant after) {
		Instant tick = RecordedSchedule.next(job.schedules(), job.rescheduled(), after);
		Duration interval = interval(job);
		Instant known = job.next();
		boolean over = known != null && !known.isAfter(after);
		if (interval == null || known == null || (over && interval.compareTo(LedgerOperation.FOR_EVER) > 0)) {
			return tick;
		}
		Instant call = over ? known.plus(interval.multipliedBy(Duration.between(known, after).dividedBy(interval) + 1))
				: known;
		return (tick == null || call.isBefore(tick)) ? call : tick;
	}

	private static @Nullable Duration interval(JobDescriptor job) {
		RescheduledDescriptor chosen = job.rescheduled();
		if (chosen != null && chosen.interval() != null) {
			return Duration.parse(chosen.interval());
		}
		return job.schedules()
			.stream()
			.flatMap((one) -> Stream.ofNullable(one.interval()))
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	private ForecastDescriptor describe() {
		List<PlannedDescriptor> all = this.planned.entrySet()
			.stream()
			.map((one) -> new PlannedDescriptor(one.getKey(), one.getValue().size(),
					one.getValue().stream().limit(MOST_KEYS).toList()))
			.toList();
		return new ForecastDescriptor(all.stream().limit(TIMES).toList(),
				all.stream()
					.filter((one) -> one.count() > 1)
					.sorted(Comparator.comparing(PlannedDescriptor::count).reversed())
					.limit(MOST_TOGETHER)
					.toList(),
				this.often);
	}

}
