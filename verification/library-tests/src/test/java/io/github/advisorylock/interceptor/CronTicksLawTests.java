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
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import org.springframework.scheduling.support.CronExpression;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what is true of all {@link CronTicks}, most of all when clocks are changed.
 */
@PropertyDefaults(edgeCases = EdgeCasesMode.NONE)
class CronTicksLawTests {

	private static final Duration JOB = CronTicksTests.JOB;

	private static final Set<String> SPRING_LEAVES_OUT = Set.of("America/Havana", "Australia/Lord_Howe",
			"Pacific/Chatham");

	@Property(seed = "11")
	void eachInstantIsBetweenTwoTicks(@ForAll("crons") String cron, @ForAll("zones") ZoneId zone,
			@ForAll("moments") Moment moment) {
		CronTicks ticks = new CronTicks(cron, zone);
		Instant time = moment.in(zone);
		Instant last = ticks.latestAt(time);
		Instant next = ticks.nextAfter(time);
		assertThat(last).isBeforeOrEqualTo(time);
		assertThat(next).isAfter(time);
		assertThat(ticks.nextAfter(last)).as("next after the last of %s", time).isEqualTo(next);
		assertThat(ticks.latestAt(next)).isEqualTo(next);
		assertThat(ticks.latestAt(next.minusNanos(1))).isEqualTo(last);
	}

	/**
	 * One has looked for other ticks before, the other has not. The law fails where their
	 * clocks mostly differ by more than the time between two ticks.
	 */
	@Property(seed = "11", maxDiscardRatio = 1)
	void callsOfInstancesWhoseClocksDifferBelongToOneTick(@ForAll("crons") String cron, @ForAll("zones") ZoneId zone,
			@ForAll("moments") Moment moment, @ForAll @IntRange(min = -100, max = 2000) int offset) {
		CronTicks one = new CronTicks(cron, zone);
		Instant tick = one.latestAt(moment.in(zone));
		Instant next = one.nextAfter(tick);
		Duration gap = Duration.between(tick, next);
		Duration late = Duration.ofMillis(offset);
		Instant before = one.latestAt(tick.minusNanos(1));
		Duration early = Duration.between(before, tick).dividedBy(4);
		Assume.that(late.compareTo(gap.minusMillis(101)) < 0 && late.negated().compareTo(early) <= 0);
		assertThat(one.ofCallAt(tick.plus(late))).isEqualTo(tick);
		assertThat(new CronTicks(cron, zone).ofCallAt(tick.plus(late))).isEqualTo(tick);
		assertThat(new CronTicks(cron, zone).ofCallPlannedFor(tick, tick.plus(late))).isEqualTo(tick);
	}

	@Property(seed = "11")
	void whereClocksAreNeverChangedTicksAreThoseOfSpringsExpression(@ForAll("crons") String cron,
			@ForAll("offsets") ZoneOffset zone, @ForAll("moments") Moment moment) {
		CronTicks ticks = new CronTicks(cron, zone);
		Instant time = moment.in(zone);
		for (int i = 0; i < 5; i++) {
			Instant next = CronExpression.parse(cron).next(time.atZone(zone)).toInstant();
			assertThat(ticks.nextAfter(time)).isEqualTo(next);
			time = next;
		}
	}

	/**
	 * What the expression plans by a calendar without zones is what clocks on the wall
	 * show at the ticks. An hour that is skipped has none; one that is there twice has
	 * those of fixed hours at the first time only, and all others at both times.
	 */
	@Property(seed = "11")
	void ticksAreWhatIsPlannedByTheClockOnTheWall(@ForAll("crons") String cron, @ForAll("zones") ZoneId zone,
			@ForAll("moments") Moment moment) {
		CronTicks ticks = new CronTicks(cron, zone);
		LocalDateTime from = wallBeforeRepeatedHour(moment.in(zone), zone);
		List<Instant> planned = new ArrayList<>();
		LocalDateTime wall = CronExpression.parse(cron).next(from);
		while (planned.size() < 20) {
			List<ZoneOffset> offsets = zone.getRules().getValidOffsets(wall);
			for (ZoneOffset offset : offsets.subList(0, Math.min(offsets.size(), hasFixedHours(cron) ? 1 : 2))) {
				planned.add(wall.toInstant(offset));
			}
			wall = CronExpression.parse(cron).next(wall);
		}
		planned.sort(null);
		Instant tick = planned.get(0);
		for (Instant expected : planned.subList(1, 10)) {
			Instant next = ticks.nextAfter(tick);
			assertThat(next).as("after %s", tick.atZone(zone)).isEqualTo(expected);
			tick = next;
		}
	}

	private static LocalDateTime wallBeforeRepeatedHour(Instant time, ZoneId zone) {
		LocalDateTime wall = time.atZone(zone).toLocalDateTime();
		ZoneOffsetTransition change = zone.getRules().getTransition(wall);
		return (change != null && change.isOverlap()) ? change.getDateTimeAfter().minusSeconds(1) : wall;
	}

	@Property(seed = "11", tries = 100)
	void callsOfSpringsTriggerBelongToTheirTicks(@ForAll("crons") String cron,
			@ForAll("zonesWhereSpringLeavesOutNothing") ZoneId zone, @ForAll("moments") Moment moment) {
		CronTicks kept = new CronTicks(cron, zone);
		Instant change = new Moment(moment.year(), moment.change(), 0).in(zone);
		List<Instant> ticks = CronTicksTests.chain(cron, zone, change.minus(3, ChronoUnit.HOURS),
				change.plus(3, ChronoUnit.HOURS));
		assertThat(ticks).hasSizeGreaterThan(1);
		for (int i = 0; i < ticks.size() - 1; i++) {
			Instant tick = ticks.get(i);
			for (Instant call : List.of(tick.minusMillis(20), tick, tick.plus(JOB),
					ticks.get(i + 1).minusMillis(101))) {
				assertThat(kept.ofCallAt(call)).as("call at %s", call.atZone(zone)).isEqualTo(tick);
			}
		}
	}

	/**
	 * What Spring plans is a tick, from wherever it starts, or the same again as one in
	 * an hour that is there twice. Here only it may leave out others.
	 */
	@Property(seed = "11")
	void callsThatSpringsTriggerPlansHaveTicks(@ForAll("crons") String cron, @ForAll("zones") ZoneId zone,
			@ForAll("moments") Moment moment) {
		CronTicks kept = new CronTicks(cron, zone);
		Instant start = moment.in(zone);
		List<Instant> calls = CronTicksTests.calls(cron, zone, start, start.plus(20, ChronoUnit.MINUTES));
		assertThat(calls).hasSizeGreaterThan(2);
		for (Instant call : calls) {
			Instant tick = CronTicksTests.firstOf(call, cron, zone);
			assertThat(kept.ofCallPlannedFor(call, call.plus(JOB))).as("call at %s", call.atZone(zone)).isEqualTo(tick);
		}
	}

	private static boolean hasFixedHours(String cron) {
		return !cron.split(" ")[2].matches(".*[*/].*");
	}

	@Provide
	Arbitrary<String> crons() {
		Arbitrary<String> seconds = Arbitraries.of("0", "0", "30", "*/20", "5,55");
		Arbitrary<String> minutes = Arbitraries.of("0", "15", "30", "59", "*/10", "*", "0,45");
		Arbitrary<String> hours = Arbitraries.of("*", "*/2", "0", "1", "2", "3", "1,2,3", "0-4", "0/3", "23");
		Arbitrary<String> days = Arbitraries.of("*", "*", "*", "1", "L", "15");
		Arbitrary<String> weekdays = Arbitraries.of("*", "*", "*", "SUN", "MON-FRI");
		return Combinators.combine(seconds, minutes, hours, days, weekdays)
			.as((second, minute, hour, day, weekday) -> "%s %s %s %s * %s".formatted(second, minute, hour, day,
					weekday));
	}

	@Provide
	Arbitrary<ZoneId> zones() {
		return Arbitraries
			.of("Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kathmandu", "Antarctica/Troll", "UTC",
					"Asia/Beirut", "Pacific/Apia", "America/Santiago", "Asia/Tehran", "America/Havana",
					"Australia/Lord_Howe", "Pacific/Chatham")
			.map(ZoneId::of);
	}

	@Provide
	Arbitrary<ZoneId> zonesWhereSpringLeavesOutNothing() {
		return zones().filter((zone) -> !SPRING_LEAVES_OUT.contains(zone.getId()));
	}

	@Provide
	Arbitrary<ZoneOffset> offsets() {
		return Arbitraries.integers()
			.between(-18 * 4, 18 * 4)
			.map((quarters) -> ZoneOffset.ofTotalSeconds(quarters * 900));
	}

	@Provide
	Arbitrary<Moment> moments() {
		Arbitrary<Integer> years = Arbitraries.integers().between(2010, 2060);
		Arbitrary<Integer> changes = Arbitraries.integers().between(0, 2);
		Arbitrary<Integer> seconds = Arbitraries.integers().between(-5 * 3600, 5 * 3600);
		return Combinators.combine(years, changes, seconds).as(Moment::new);
	}

	/**
	 * An instant near a change of clocks.
	 *
	 * @param year a year
	 * @param change which change after its beginning, by number
	 * @param seconds how long after it
	 */
	record Moment(int year, int change, int seconds) {

		Instant in(ZoneId zone) {
			Instant time = LocalDateTime.of(this.year, 1, 1, 0, 0).toInstant(ZoneOffset.UTC);
			for (int i = 0; i <= this.change; i++) {
				ZoneOffsetTransition next = zone.getRules().nextTransition(time);
				time = (next != null) ? next.getInstant() : time;
			}
			return time.plus(this.seconds, ChronoUnit.SECONDS);
		}

	}

}
