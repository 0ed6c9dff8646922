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

package io.github.advisorylock.interceptor;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Comparator;
import java.util.List;

import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * The ticks of a cron schedule: the instants it plans, which are the same on every
 * instance, whenever and by whichever clock a timer fires.
 * <p>
 * They are what the expression plans by the clock on the wall, and so depend on nothing
 * else. Spring plans by the hours that have passed since its last plan: where clocks are
 * changed at midnight, or not by an hour on the hour, it may leave out a tick then, which
 * is one all the same. All that it does plan is a tick, or belongs to one.
 * <p>
 * At the end of summer time an hour is there twice. Spring plans a schedule with fixed
 * hours, such as daily at 02:30, in both, and that is one tick here, at the first; a
 * schedule with a wildcard or a step there, or with each hour of the day, has its ticks
 * in both. What is skipped at the beginning of summer time has none.
 *
 * @since 0.1.0
 */
public final class CronTicks {

	private static final Duration MOST_EARLY = Duration.ofMillis(100);

	private static final Duration SHORTEST_LOOK_BACK = Duration.ofMinutes(1);

	private static final Duration LONGEST_LOOK_BACK = Duration.ofDays(366 * 9L);

	private final CronExpression expression;

	private final ZoneId zone;

	private final boolean fixedHours;

	/**
	 * What is planned until another schedule begins, which this is, {@code null} where it
	 * always was.
	 */
	private final @Nullable CronTicks before;

	private final Instant begin;

	private volatile @Nullable Gap lastGap;

	/**
	 * Create ticks.
	 * @param cron the expression, as {@code @Scheduled} has it
	 * @param zone the zone it is meant in
	 * @throws IllegalArgumentException if the expression can't be parsed
	 */
	public CronTicks(String cron, ZoneId zone) {
		this.expression = CronExpression.parse(cron);
		this.zone = zone;
		this.fixedHours = hasFixedHours(StringUtils.tokenizeToStringArray(this.expression.toString(), " ")[2]);
		this.before = null;
		this.begin = Instant.MIN;
	}

	private CronTicks(CronTicks before, Instant begin, CronTicks then) {
		this.expression = then.expression;
		this.zone = then.zone;
		this.fixedHours = then.fixedHours;
		this.before = before;
		this.begin = begin;
	}

	/**
	 * Return these ticks before a time, and others from it on.
	 * @param time the time
	 * @param then ticks of one schedule
	 * @return the ticks
	 */
	CronTicks until(Instant time, CronTicks then) {
		return new CronTicks(this, time, then);
	}

	/**
	 * Return whether hours are named, and not each of a day.
	 */
	private static boolean hasFixedHours(String hours) {
		if (hours.contains("*") || hours.contains("/")) {
			return false;
		}
		CronExpression expression = CronExpression.parse("0 0 " + hours + " * * *");
		LocalDateTime hour = LocalDateTime.of(1999, Month.DECEMBER, 31, 23, 0);
		for (int i = 0; i < 24; i++) {
			if (!hour.plusHours(1).equals(expression.next(hour))) {
				return true;
			}
			hour = hour.plusHours(1);
		}
		return false;
	}

	/**
	 * Return the tick that a call belongs to: the latest one, or the next one if that is
	 * so near that a timer may have fired a little early (100 ms, but no more than a
	 * quarter of the time between the two).
	 * @param time when the call is made
	 * @return the tick
	 * @throws IllegalStateException if nothing was planned in the last nine years
	 */
	public Instant ofCallAt(Instant time) {
		Gap gap = gap(time);
		Duration early = Duration.between(time, gap.next);
		boolean belongsToNext = early.compareTo(MOST_EARLY) <= 0
				&& early.multipliedBy(4).compareTo(Duration.between(gap.last, gap.next)) <= 0;
		return belongsToNext ? gap.next : gap.last;
	}

	/**
	 * Return the tick that a call belongs to which was planned for a time. Its own clock
	 * does not decide, unless the next tick has come meanwhile: then it is late, and for
	 * the latest one. What Spring plans for fixed hours when they are there again belongs
	 * to the tick that a clock on the wall showed as the same before.
	 * @param planned what the call was planned for
	 * @param time when the call is made
	 * @return the tick, {@code null} if these ticks have none at the planned time
	 * @throws IllegalStateException if nothing was planned in the last nine years
	 */
	public @Nullable Instant ofCallPlannedFor(Instant planned, Instant time) {
		Instant tick = first(planned);
		if (!latestAt(tick).equals(tick)) {
			return null;
		}
		return time.isBefore(gap(planned).next) ? tick : latestAt(time);
	}

	/**
	 * Return whether what Spring has planned is a tick again, in an hour that is there
	 * for the second time.
	 * @param planned what a call was planned for
	 */
	boolean isRepeated(Instant planned) {
		Instant first = first(planned);
		return !first.equals(planned) && latestAt(first).equals(first);
	}

	private Instant first(Instant planned) {
		if (this.before != null && planned.isBefore(this.begin)) {
			return this.before.first(planned);
		}
		return this.fixedHours ? planned.atZone(this.zone).withEarlierOffsetAtOverlap().toInstant() : planned;
	}

	/**
	 * Return whether a time is a tick.
	 * @param time the time
	 * @return whether it is one
	 */
	public boolean has(Instant time) {
		return time.equals(nextAfter(time.minusNanos(1)));
	}

	/**
	 * Return the zone that the expression is meant in.
	 * @return the zone
	 */
	public ZoneId zone() {
		return this.zone;
	}

	/**
	 * Return the latest tick that is not after a time.
	 * @param time the time
	 * @return the tick
	 * @throws IllegalStateException if nothing was planned in the last nine years
	 */
	public Instant latestAt(Instant time) {
		return gap(time).last;
	}

	/**
	 * Return the first tick after a time.
	 * @param time the time
	 * @return the tick, {@code null} if none is planned
	 */
	public @Nullable Instant nextAfter(Instant time) {
		if (this.before == null || !time.isBefore(this.begin)) {
			return nextOfExpression(time);
		}
		Instant next = this.before.nextAfter(time);
		return (next != null && next.isBefore(this.begin)) ? next : nextOfExpression(this.begin.minusNanos(1));
	}

	private @Nullable Instant nextOfExpression(Instant time) {
		ZoneRules rules = this.zone.getRules();
		ZoneOffset offset = rules.getOffset(time);
		LocalDateTime wall = this.expression.next(wall(time, offset));
		ZoneOffsetTransition change = rules.nextTransition(time);
		while (wall != null && change != null && !wall.isBefore(change.getDateTimeBefore())) {
			// What was found is after the change, where a clock starts again by another
			// offset
			if (change.isOverlap() ? !this.fixedHours : wall.isBefore(change.getDateTimeAfter())) {
				wall = this.expression.next(change.getDateTimeAfter().minusNanos(1));
			}
			offset = change.getOffsetAfter();
			change = rules.nextTransition(change.getInstant());
		}
		return (wall != null) ? wall.toInstant(offset) : null;
	}

	/**
	 * What a clock on the wall shows. While it shows an hour for the second time, that is
	 * over already for fixed hours.
	 */
	private LocalDateTime wall(Instant time, ZoneOffset offset) {
		LocalDateTime wall = LocalDateTime.ofInstant(time, offset);
		ZoneOffsetTransition change = this.zone.getRules().getTransition(wall);
		if (this.fixedHours && change != null && change.isOverlap() && offset.equals(change.getOffsetAfter())) {
			return change.getDateTimeBefore().minusNanos(1);
		}
		return wall;
	}

	/**
	 * Most calls are for the tick after the one that was asked for last.
	 */
	private Gap gap(Instant time) {
		Gap gap = this.lastGap;
		if (gap != null && !time.isBefore(gap.next)) {
			Instant next = nextAfter(gap.next);
			gap = (next != null) ? new Gap(gap.next, next) : gap;
		}
		if (gap == null || !gap.contains(time)) {
			gap = findGap(time);
		}
		this.lastGap = gap;
		return gap;
	}

	private Gap findGap(Instant time) {
		Duration lookBack = SHORTEST_LOOK_BACK;
		boolean longest = false;
		while (!longest) {
			longest = lookBack.compareTo(LONGEST_LOOK_BACK) >= 0;
			Instant tick = nextAfter(time.minus(longest ? LONGEST_LOOK_BACK : lookBack));
			if (tick != null && !tick.isAfter(time)) {
				return walk(tick, time);
			}
			lookBack = lookBack.multipliedBy(4);
		}
		throw new IllegalStateException(
				"Failed to find a tick of cron expression '" + this.expression + "' before " + time);
	}

	private Gap walk(Instant from, Instant time) {
		Instant last = from;
		Instant next = nextAfter(last);
		while (next != null && !next.isAfter(time)) {
			Assert.state(next.isAfter(last), "'next' must be after 'last'");
			last = next;
			next = nextAfter(last);
		}
		return new Gap(last, (next != null) ? next : Instant.MAX);
	}

	@Override
	public String toString() {
		return ((this.before != null) ? this.before + " until " + this.begin + ", then " : "") + "'" + this.expression
				+ "' in " + this.zone;
	}

	/**
	 * The schedules that operators have given a job in the place of the one in its code,
	 * each from its time on until that of the next one: decides which holds when, and
	 * whether a call belongs to it. Asks no clock.
	 *
	 * @param all the schedules, in the order of their times
	 */
	public record Changes(List<Change> all) {

		/**
		 * Always the schedule in the code.
		 */
		public static final Changes NONE = new Changes(List.of());

		/**
		 * Return when the schedule was changed last, which tells what is known from what
		 * others know.
		 * @return the time, {@code null} if it never was
		 */
		public @Nullable Instant changedAt() {
			return this.all.stream().map(Change::changedAt).max(Comparator.naturalOrder()).orElse(null);
		}

		/**
		 * Return which change holds at a time.
		 * @param time the time
		 * @return the change, {@code null} if the schedule in the code has always held
		 */
		public @Nullable Change at(Instant time) {
			Change last = null;
			for (Change change : this.all) {
				last = change.from().isAfter(time) ? last : change;
			}
			return last;
		}

		/**
		 * Return the ticks that are planned.
		 * @param inCode those of the schedule in the code, {@code null} if it plans none
		 * @return the ticks, {@code null} if there are none
		 */
		public @Nullable CronTicks ticks(@Nullable CronTicks inCode) {
			CronTicks ticks = inCode;
			for (Change change : this.all) {
				CronTicks then = (change.ticks() != null) ? change.ticks() : inCode;
				ticks = (ticks != null && then != null) ? ticks.until(change.from(), then) : then;
			}
			return ticks;
		}

		/**
		 * Return whether a run for a tick may begin: one of the schedule that holds then,
		 * where an operator has chosen that; none of those that were chosen before, where
		 * the one in the code holds again.
		 * @param tick the tick
		 * @param inCode the ticks of the schedule in the code, {@code null} for none
		 * @return whether it may
		 */
		public boolean allows(Instant tick, @Nullable CronTicks inCode) {
			Change holding = at(tick);
			if (holding != null && holding.ticks() != null) {
				return holding.ticks().has(tick);
			}
			return holding == null || (inCode != null && inCode.has(tick))
					|| this.all.stream().noneMatch((one) -> one.ticks() != null && one.ticks().has(tick));
		}

		/**
		 * Return whether a run for an interval may begin: by the interval that holds, or
		 * that an instance whose clock is ahead takes for the one that holds; none of the
		 * one that was replaced by the one in the code.
		 */
		boolean allows(RequestDetail.Interval interval, Instant now) {
			Change holding = at(now);
			boolean inCode = holding == null || holding.interval() == null;
			return (inCode && !interval.schedule().contains(Change.CHOSEN)) || this.all.stream()
				.anyMatch((one) -> (one.equals(holding) || one.from().isAfter(now)) && one.plans(interval));
		}

		/**
		 * Return the interval that holds at a time.
		 * @param time the time
		 * @param inCode the one in the code
		 * @return the interval
		 */
		public Duration interval(Instant time, Duration inCode) {
			Change holding = at(time);
			return (holding != null && holding.interval() != null) ? holding.interval() : inCode;
		}

		/**
		 * Return when a job with an interval is called next.
		 * @param last its last call, or the end of that
		 * @param inCode the interval in the code
		 * @return the time
		 */
		public Instant next(Instant last, Duration inCode) {
			Instant next = last.plus(interval(last, inCode));
			for (Change change : this.all) {
				if (change.from().isAfter(last) && !change.from().isAfter(next)) {
					Instant then = last.plus(interval(change.from(), inCode));
					next = then.isAfter(change.from()) ? then : change.from();
				}
			}
			return next;
		}

	}

	/**
	 * A schedule that holds from a time on.
	 *
	 * @param from the time
	 * @param changedAt when it was chosen
	 * @param ticks its ticks, {@code null} if it plans none
	 * @param interval the time between calls, {@code null} if there is none; the schedule
	 * in the code holds again where there are neither
	 */
	public record Change(Instant from, Instant changedAt, @Nullable CronTicks ticks, @Nullable Duration interval) {

		/**
		 * Stands before the time of a change in the name of what is remembered by it.
		 */
		private static final String CHOSEN = "/";

		/**
		 * Return the interval of a task. What was remembered of another one does not hold
		 * for it.
		 */
		RequestDetail.Interval intervalOf(RequestDetail.Interval inCode) {
			return new RequestDetail.Interval((this.interval != null) ? this.interval : inCode.length(),
					inCode.counted(), inCode.schedule() + CHOSEN + this.from.getEpochSecond());
		}

		private boolean plans(RequestDetail.Interval interval) {
			return (this.interval != null) ? this.interval.equals(interval.length())
					: interval.schedule().endsWith(CHOSEN + this.from.getEpochSecond());
		}

		/**
		 * Read a schedule.
		 * @param from from when on it holds
		 * @param changedAt when it was chosen
		 * @param expression a cron expression, an interval where there is no zone, or
		 * {@code null}
		 * @param zone the zone of the cron expression
		 * @return the change
		 * @throws IllegalArgumentException if there is no such expression or zone
		 */
		public static Change of(Instant from, Instant changedAt, @Nullable String expression, @Nullable String zone) {
			try {
				return new Change(from, changedAt,
						(expression != null && zone != null) ? new CronTicks(expression, ZoneId.of(zone)) : null,
						(expression != null && zone == null) ? Duration.parse(expression) : null);
			}
			catch (DateTimeException ex) {
				throw new IllegalArgumentException(ex.getMessage(), ex);
			}
		}

	}

	/**
	 * The time from one tick to the next.
	 */
	private record Gap(Instant last, Instant next) {

		private boolean contains(Instant time) {
			return !time.isBefore(this.last) && time.isBefore(this.next);
		}

	}

}
