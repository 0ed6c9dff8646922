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
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link CronTicks}.
 */
class CronTicksTests {

	private static final List<String> ZONES = List.of("Europe/Berlin", "America/New_York", "America/Santiago");

	static final Duration JOB = Duration.ofMillis(5);

	@ParameterizedTest(name = "{0} in {1}")
	@MethodSource("cronsAndZones")
	void callBelongsToTickOfSpringsTriggerOverClockChanges(String cron, ZoneId zone) {
		assertThat(clockChanges(zone)).isNotEmpty();
		for (ZoneOffsetTransition change : clockChanges(zone)) {
			Duration around = cron.startsWith("*/2") ? Duration.ofMinutes(5) : Duration.ofDays(3);
			assertCallsBelongToTicks(cron, zone,
					chain(cron, zone, change.getInstant().minus(around), change.getInstant().plus(around)));
		}
	}

	static Stream<Arguments> cronsAndZones() {
		return ZONES.stream()
			.flatMap((zone) -> Stream
				.of("*/2 * * * * *", "0 */15 * * * *", "0 30 2 * * *", "0 0 2 * * *", "0 15 1 * * *",
						"0 59 1,2,3 * * *")
				.map((cron) -> Arguments.of(cron, ZoneId.of(zone))));
	}

	@ParameterizedTest
	@CsvSource({ "0 30 2 1 * *, 36", "0 0 0 1 1 *, 15", "0 30 2 L 10 *, 15", "0 0 12 29 2 *, 24",
			"0 15 2 * * SUN, 36" })
	void callBelongsToTickOfScheduleThatIsSeldom(String cron, int years) {
		for (String zone : ZONES) {
			Instant from = Instant.parse("2090-01-01T00:00:00Z");
			assertCallsBelongToTicks(cron, ZoneId.of(zone),
					chain(cron, ZoneId.of(zone), from, from.plus(366L * years, ChronoUnit.DAYS)));
		}
	}

	@ParameterizedTest(name = "{0} in {1}")
	@CsvSource({ "0 */10 * * * *, Pacific/Chatham, 2010-04-03T13:55:00Z 2010-04-03T14:05:00Z 2010-04-03T14:15:00Z",
			"0 30 2 * * *, Pacific/Chatham, 2010-09-24T13:45:00Z 2010-09-25T13:45:00Z 2010-09-26T12:45:00Z",
			"0 */30 * * * *, Australia/Lord_Howe, 2026-10-03T15:00:00Z 2026-10-03T15:30:00Z 2026-10-03T16:00:00Z",
			"0 */30 * * * *, Australia/Lord_Howe, 2026-04-04T14:30:00Z 2026-04-04T15:00:00Z 2026-04-04T15:30:00Z",
			"0 0 0 * * *, America/Havana, 2010-10-30T04:00:00Z 2010-10-31T04:00:00Z 2010-11-01T05:00:00Z",
			"0 0 * * * SUN, America/Havana, 2010-10-31T04:00:00Z 2010-10-31T05:00:00Z 2010-10-31T06:00:00Z" })
	void tickIsWhatClockOnTheWallShowsWhereSpringLeavesItOut(String cron, ZoneId zone, String ticks) {
		List<Instant> expected = Stream.of(ticks.split(" ")).map(Instant::parse).toList();
		for (Duration before : List.of(Duration.ofNanos(1), Duration.ofSeconds(1), Duration.ofMinutes(9))) {
			List<Instant> found = new ArrayList<>();
			for (Instant tick : expected) {
				found.add(new CronTicks(cron, zone).nextAfter(tick.minus(before)));
				assertThat(new CronTicks(cron, zone).latestAt(tick.plus(before))).isEqualTo(tick);
			}
			assertThat(found).as("%s before", before).isEqualTo(expected);
		}
	}

	@Test
	void callThatSpringPlansForSecondMidnightBelongsToFirst() {
		CronTicks ticks = new CronTicks("0 0 0 * * *", ZoneId.of("America/Havana"));
		Instant midnight = Instant.parse("2010-10-31T04:00:00Z");
		Instant again = midnight.plus(1, ChronoUnit.HOURS);
		assertThat(ticks.ofCallPlannedFor(again, again)).isEqualTo(midnight);
	}

	@Test
	void callHasTickWhereExpressionLeadsBackInTime() {
		CronTicks ticks = new CronTicks("0 15 1 * * *", ZoneId.of("Australia/Lord_Howe"));
		Instant tick = Instant.parse("2026-04-04T14:15:00Z");
		assertThat(ticks.ofCallAt(tick)).isEqualTo(tick);
		assertThat(ticks.ofCallAt(tick.plusSeconds(30 * 60))).isEqualTo(tick);
		assertThat(ticks.nextAfter(tick)).isEqualTo(Instant.parse("2026-04-05T14:45:00Z"));
	}

	@Test
	void timerThatFiresEarlyBelongsToNextTickOnlyWhenNear() {
		CronTicks ticks = new CronTicks("0 0 3 * * *", ZoneId.of("UTC"));
		Instant tick = Instant.parse("2026-03-02T03:00:00Z");
		assertThat(ticks.ofCallAt(tick.minusMillis(100))).isEqualTo(tick);
		assertThat(ticks.ofCallAt(tick.minusMillis(101))).isEqualTo(tick.minus(1, ChronoUnit.DAYS));
		assertThat(ticks.latestAt(tick.minusMillis(1))).isEqualTo(tick.minus(1, ChronoUnit.DAYS));
		assertThat(ticks.latestAt(tick)).isEqualTo(tick);
	}

	@Test
	void hourThatIsThereTwiceHasDailyTickOnceAndHourlyTickTwice() {
		ZoneId berlin = ZoneId.of("Europe/Berlin");
		Instant first = Instant.parse("2026-10-25T00:30:00Z");
		Instant second = Instant.parse("2026-10-25T01:30:00Z");
		for (String cron : List.of("0 30 2 * * *", "0 30 1-3 * * *")) {
			assertThat(new CronTicks(cron, berlin).ofCallAt(second)).as(cron).isEqualTo(first);
		}
		for (String cron : List.of("0 30 * * * *", "0 */15 * * * *", "0 30 0/2 * * *", "@hourly")) {
			assertThat(new CronTicks(cron, berlin).ofCallAt(second)).as(cron)
				.isBetween(second.minusSeconds(30 * 60), second);
		}
	}

	/**
	 * Worked out by hand.
	 */
	@ParameterizedTest(name = "{0} in {1}")
	@CsvSource(delimiter = '|', textBlock = """
			0 30 2 * * *     | Europe/Berlin       | 2026-10-25T00:30 2026-10-26T01:30
			0 0 0-23 * * *   | Europe/Berlin       | 2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00
			0 0 1,2,0,3-23 * * * | Europe/Berlin   | 2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00
			0 0,30 1-3 * * * | Europe/Berlin       | 2026-10-24T23:30 2026-10-25T00:00 2026-10-25T00:30 2026-10-25T02:00
			0 0 */2 * * *    | Europe/Berlin       | 2026-10-25T00:00 2026-10-25T01:00 2026-10-25T03:00
			0 30 2 * * *     | Europe/Berlin       | 2026-03-28T01:30 2026-03-30T00:30
			@hourly          | Europe/Berlin       | 2026-03-29T00:00 2026-03-29T01:00 2026-03-29T02:00
			0 30 1 * * *     | America/New_York    | 2026-11-01T05:30 2026-11-02T06:30
			@hourly          | America/New_York    | 2026-11-01T05:00 2026-11-01T06:00 2026-11-01T07:00
			0 30 2 * * *     | America/New_York    | 2026-03-07T07:30 2026-03-09T06:30
			0 45 1 * * *     | Australia/Lord_Howe | 2026-04-04T14:45 2026-04-05T15:15
			0 */15 * * * *   | Australia/Lord_Howe | 2026-04-04T14:45 2026-04-04T15:00 2026-04-04T15:15 2026-04-04T15:30
			@daily           | Australia/Lord_Howe | 2026-04-04T13:00 2026-04-05T13:30
			0 15 2 * * *     | Australia/Lord_Howe | 2026-10-02T15:45 2026-10-04T15:15
			0 30 23 * * *    | America/Sao_Paulo   | 2018-02-18T01:30 2018-02-19T02:30
			@daily           | America/Sao_Paulo   | 2018-11-03T03:00 2018-11-05T02:00
			""")
	void ticksOfNightsInWhichClocksChange(String cron, ZoneId zone, String expected) {
		CronTicks ticks = new CronTicks(cron, zone);
		List<Instant> times = Stream.of(expected.split(" ")).map((time) -> Instant.parse(time + ":00Z")).toList();
		List<Instant> found = new ArrayList<>(List.of(ticks.nextAfter(times.get(0).minusSeconds(1))));
		for (Instant time : times.subList(1, times.size())) {
			found.add(ticks.nextAfter(found.get(found.size() - 1)));
			assertThat(ticks.latestAt(time.minusSeconds(1))).isEqualTo(found.get(found.size() - 2));
		}
		assertThat(found).isEqualTo(times);
	}

	@Test
	void callFailsWhenNothingWasPlannedInNineYears() {
		CronTicks ticks = new CronTicks("0 0 0 30 2 *", ZoneId.of("UTC"));
		assertThatIllegalStateException().isThrownBy(() -> ticks.ofCallAt(Instant.parse("2026-03-01T00:00:00Z")))
			.withMessageContainingAll("'0 0 0 30 2 *'", "2026-03-01");
		assertThat(ticks.nextAfter(Instant.parse("2026-03-01T00:00:00Z"))).isNull();
	}

	@Tag("gate")
	@Test
	void neighbouringCallsOfRealSchedulerHaveDifferentTicks() throws InterruptedException {
		CronTicks ticks = new CronTicks("* * * * * *", ZoneId.systemDefault());
		List<Instant> called = Collections.synchronizedList(new ArrayList<>());
		CountDownLatch calls = new CountDownLatch(4);
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.initialize();
		try {
			scheduler.schedule(() -> {
				called.add(ticks.ofCallAt(Instant.now()));
				calls.countDown();
			}, new CronTrigger("* * * * * *"));
			assertThat(calls.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			scheduler.shutdown();
		}
		assertThat(called).isSorted().doesNotHaveDuplicates();
	}

	private static void assertCallsBelongToTicks(String cron, ZoneId zone, List<Instant> chain) {
		CronTicks kept = new CronTicks(cron, zone);
		int step = Math.max(1, chain.size() / 100);
		assertThat(chain).hasSizeGreaterThan(2);
		for (int i = 0; i < chain.size() - 1; i++) {
			Instant tick = chain.get(i);
			Instant end = chain.get(i + 1).minusMillis(101);
			assertThat(chain.get(i + 1)).isAfter(tick);
			for (Instant call : List.of(tick.minusMillis(20), tick, tick.plus(JOB), end)) {
				assertThat(kept.ofCallAt(call)).as("%s at %s", kept, call.atZone(zone)).isEqualTo(tick);
				if (i % step == 0) {
					assertThat(new CronTicks(cron, zone).ofCallAt(call)).as("%s at %s", kept, call.atZone(zone))
						.isEqualTo(tick);
				}
			}
		}
	}

	/**
	 * Return the times at which Spring's scheduler would call a method, three at least,
	 * but for those of fixed hours in the hour that is there twice, when it calls again.
	 */
	static List<Instant> chain(String cron, ZoneId zone, Instant from, Instant to) {
		return calls(cron, zone, from, to).stream().filter((call) -> firstOf(call, cron, zone).equals(call)).toList();
	}

	/**
	 * Return the call that stands for another in the hour that is there twice.
	 */
	static Instant firstOf(Instant call, String cron, ZoneId zone) {
		boolean fixedHours = !cron.split(" ")[2].matches(".*[*/].*");
		return fixedHours ? call.atZone(zone).withEarlierOffsetAtOverlap().toInstant() : call;
	}

	/**
	 * Return the times at which Spring's scheduler would call a method, three at least.
	 * Where its expression leads back in time, it calls again and again until that is
	 * over.
	 */
	static List<Instant> calls(String cron, ZoneId zone, Instant from, Instant to) {
		CronTrigger trigger = new CronTrigger(cron, zone);
		List<Instant> calls = new ArrayList<>();
		Instant last = from;
		Instant now = from;
		Instant next = trigger.nextExecution(new SimpleTriggerContext(last, last, now));
		while (next != null && (next.isBefore(to) || calls.size() < 3)) {
			if (next.isAfter(last)) {
				calls.add(next);
				last = next;
				now = next;
			}
			now = now.plus(next.isBefore(now) ? Duration.ofMinutes(1) : JOB);
			next = trigger.nextExecution(new SimpleTriggerContext(last, last, now));
		}
		return calls;
	}

	private static List<ZoneOffsetTransition> clockChanges(ZoneId zone) {
		Instant from = ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, zone).toInstant();
		ZoneOffsetTransition first = zone.getRules().nextTransition(from);
		return List.of(first, zone.getRules().nextTransition(first.getInstant()));
	}

}
