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

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

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
	}

	/**
	 * Return whether hours are named, and not each of a day.
	 */
	private static boolean hasFixedHours(String hours) {
		CronExpression expression = CronExpression.parse("0 0 " + hours + " * * *");
		LocalDateTime last = LocalDateTime.of(1999, Month.DECEMBER, 31, 23, 0);
		for (int i = 0; i < 24 && last != null; i++) {
			last = expression.next(last);
		}
		return !hours.contains("*") && !hours.contains("/")
				&& !LocalDateTime.of(2000, Month.JANUARY, 1, 23, 0).equals(last);
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
		Instant tick = this.fixedHours ? planned.atZone(this.zone).withEarlierOffsetAtOverlap().toInstant() : planned;
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
		Instant first = planned.atZone(this.zone).withEarlierOffsetAtOverlap().toInstant();
		return this.fixedHours && !first.equals(planned) && latestAt(first).equals(first);
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

	private Gap gap(Instant time) {
		Gap gap = this.lastGap;
		if (gap == null || !gap.contains(time)) {
			gap = findGap(time);
			this.lastGap = gap;
		}
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
		return "'" + this.expression + "' in " + this.zone;
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
