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

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * What a job is, which the instances that have its method tell all others.
 *
 * @param name its name
 * @param method the method as {@code Class.method}, {@code null} if there is none
 * @param scope how long its lock lives
 * @param schedules when the method is called, {@code null} if nobody has told
 * @param once what it runs once for, {@code PER_TICK}, {@code PER_KEY} or {@code NONE}
 * @param minInterval the time from the start of a run to that of the next, {@code null}
 * if any will do
 * @param catchUp for how long any instance makes up for a tick, {@code null} if none does
 * @param lock the entry of its lock in the table of locks, as class:object:kind; where
 * several may hold its key, those of all permits with commas between them
 * @param recorded whether its runs are recorded
 * @param template whether keys with arguments are made from it
 * @param maxRetries how often a tick that failed is tried again
 * @param changes the schedules that operators have chosen
 */
record JobFacts(JobName name, @Nullable String method, @Nullable String scope, @Nullable List<Schedule> schedules,
		@Nullable String once, @Nullable Duration minInterval, @Nullable Duration catchUp, @Nullable String lock,
		boolean recorded, boolean template, int maxRetries, CronTicks.Changes changes) {

	boolean isOncePerTick() {
		return "PER_TICK".equals(this.once);
	}

	@Nullable String toJson() {
		return (this.schedules != null) ? Schedule.toJson(this.schedules) : null;
	}

	/**
	 * Return when the job is called, and how it runs then, as it is told where instances
	 * differ.
	 */
	Stream<String> inWords() {
		int permits = StringUtils.countOccurrencesOf((this.lock != null) ? this.lock : "", ",") + 1;
		String how = ("SESSION".equals(this.scope) ? " in scope SESSION" : "")
				+ ((permits > 1) ? " with " + permits + " permits" : "")
				+ ((this.maxRetries > 0) ? " with maxRetries " + this.maxRetries : "");
		return times().stream()
			.map((one) -> one.inWords() + ((one.ticks() != null && !isOncePerTick()) ? " not PER_TICK" : "") + how);
	}

	private List<Schedule> times() {
		return (this.schedules != null) ? this.schedules : List.of();
	}

	/**
	 * Return the first tick after a time.
	 */
	@Nullable Instant nextTick(Instant now) {
		return first((schedule) -> schedule.nextTick(now), now);
	}

	/**
	 * Return when the job is called next, now that a run has ended.
	 */
	@Nullable Instant next(Instant startedAt, Instant now) {
		Instant first = null;
		for (Schedule schedule : times()) {
			Instant next = schedule.changed(this.changes, now).next(startedAt, now);
			first = (next == null || (first != null && first.isBefore(next))) ? first : next;
		}
		return first;
	}

	/**
	 * Return after which time since the start of a run the schedules have called the job
	 * again.
	 */
	@Nullable Duration period(Instant now) {
		return first((schedule) -> schedule.period(now), now);
	}

	private <T extends Comparable<T>> @Nullable T first(Function<Schedule, @Nullable T> question, Instant now) {
		return times().stream()
			.map((schedule) -> question.apply(schedule.changed(this.changes, now)))
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	/**
	 * When a method is called, as {@code @Scheduled} says: by a cron expression, or with
	 * a time between calls.
	 *
	 * @param type {@code cron}, {@code fixedRate} or {@code fixedDelay}
	 * @param expression the cron expression
	 * @param zone the time zone of the expression
	 * @param interval the time between calls, or between the end of one and the next
	 * @param ticks the ticks of the cron expression
	 */
	record Schedule(String type, @Nullable String expression, @Nullable ZoneId zone, @Nullable Duration interval,
			@Nullable CronTicks ticks) {

		private static final String FIXED_DELAY = "fixedDelay";

		/**
		 * How many ticks are looked at for the longest time between two: a week of days.
		 */
		private static final int TICKS = 8;

		/**
		 * Return the schedules of a method, without those that are switched off.
		 * @param resolver resolves what stands in the annotation
		 * @throws IllegalArgumentException if one can't be read
		 */
		static List<Schedule> of(Method method, StringValueResolver resolver) {
			return AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class)
				.stream()
				.map((schedule) -> of(schedule, resolver))
				.filter(Objects::nonNull)
				.toList();
		}

		private static @Nullable Schedule of(Scheduled schedule, StringValueResolver resolver) {
			String cron = resolve(schedule.cron(), resolver);
			if (!cron.isEmpty()) {
				String zone = resolve(schedule.zone(), resolver);
				return cron.equals(Scheduled.CRON_DISABLED) ? null : cron(cron, StringUtils.hasText(zone)
						? StringUtils.parseTimeZoneString(zone).toZoneId() : ZoneId.systemDefault());
			}
			TimeUnit unit = schedule.timeUnit();
			Duration rate = first(interval(schedule.fixedRate(), unit),
					interval(resolve(schedule.fixedRateString(), resolver), unit));
			Duration delay = first(interval(schedule.fixedDelay(), unit),
					interval(resolve(schedule.fixedDelayString(), resolver), unit));
			return (rate != null) ? new Schedule("fixedRate", null, null, rate, null)
					: (delay != null) ? new Schedule(FIXED_DELAY, null, null, delay, null) : null;
		}

		static Schedule cron(String expression, ZoneId zone) {
			return new Schedule("cron", expression, zone, null, new CronTicks(expression, zone));
		}

		/**
		 * Return what holds where operators have chosen another schedule.
		 */
		Schedule changed(CronTicks.Changes changes, Instant now) {
			return changes.all().isEmpty() ? this : new Schedule(this.type, this.expression, this.zone,
					(this.interval != null) ? changes.interval(now, this.interval) : null, changes.ticks(this.ticks));
		}

		@Nullable Instant nextTick(Instant after) {
			return (this.ticks != null) ? this.ticks.nextAfter(after) : null;
		}

		/**
		 * Return when the method is called next, now that a run has ended.
		 */
		@Nullable Instant next(Instant startedAt, Instant now) {
			if (this.interval == null || this.interval.compareTo(LedgerOperation.FOR_EVER) > 0) {
				return nextTick(now);
			}
			Instant next = this.type.equals(FIXED_DELAY) ? now.plus(this.interval) : startedAt.plus(this.interval);
			return next.isBefore(now) ? now : next;
		}

		/**
		 * Return the longest time from one call to the next, which a {@code fixedDelay}
		 * has not: there the next call waits for the end of a run.
		 */
		@Nullable Duration period(Instant now) {
			return Stream
				.concat(Stream.ofNullable(this.type.equals(FIXED_DELAY) ? null : this.interval), gaps(now, TICKS))
				.max(Comparator.naturalOrder())
				.orElse(null);
		}

		/**
		 * Return the times between ticks that are to come.
		 * @param most how many at most
		 */
		Stream<Duration> gaps(Instant now, int most) {
			List<Instant> next = Stream.iterate(nextTick(now), Objects::nonNull, this::nextTick)
				.limit(most + 1L)
				.toList();
			return IntStream.range(1, next.size()).mapToObj((i) -> Duration.between(next.get(i - 1), next.get(i)));
		}

		private static @Nullable Duration first(@Nullable Duration one, @Nullable Duration other) {
			return (one != null) ? one : other;
		}

		private static @Nullable Duration interval(long time, TimeUnit unit) {
			return (time >= 0) ? Duration.of(time, unit.toChronoUnit()) : null;
		}

		private static @Nullable Duration interval(String time, TimeUnit unit) {
			return !time.isEmpty() ? DurationFormatterUtils.detectAndParse(time,
					DurationFormat.Unit.fromChronoUnit(unit.toChronoUnit())) : null;
		}

		private static String resolve(String text, StringValueResolver resolver) {
			String resolved = resolver.resolveStringValue(text);
			return (resolved != null) ? resolved.strip() : "";
		}

		/**
		 * Write it as a developer does.
		 */
		String inWords() {
			boolean utc = this.zone != null && this.zone.normalized().equals(ZoneOffset.UTC);
			return Stream.of(this.type, this.expression, utc ? "UTC" : this.zone, this.interval)
				.filter(Objects::nonNull)
				.map(Object::toString)
				.collect(Collectors.joining(" "));
		}

		/**
		 * Write schedules as a JSON array of objects.
		 */
		static String toJson(List<Schedule> schedules) {
			return schedules.stream().map(Schedule::toJson).collect(Collectors.joining(",", "[", "]"));
		}

		private String toJson() {
			return Stream
				.of(member("type", this.type), member("expression", this.expression), member("zone", this.zone),
						member("interval", this.interval))
				.filter(Objects::nonNull)
				.collect(Collectors.joining(",", "{", "}"));
		}

		/**
		 * None of the values has a character that JSON would want escaped, but for what
		 * can't be a schedule.
		 */
		private static @Nullable String member(String name, @Nullable Object value) {
			return (value != null)
					? "\"" + name + "\":\"" + value.toString().replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"" : null;
		}

	}

}
