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
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.interceptor.CronTicks.Change;
import io.github.advisorylock.interceptor.CronTicks.Changes;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Interval.Counted;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Changes}: which schedule holds when.
 */
class ScheduleChangesTests {

	private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

	private static final CronTicks IN_CODE = new CronTicks("0 */10 * * * *", ZoneOffset.UTC);

	private static final Change OTHER = change(15, "0 5/10 * * * *", "UTC");

	private static final Change BACK = change(40, null, null);

	@Test
	void ticksAreThoseOfTheScheduleThatHolds() {
		assertThat(minutes(new Changes(List.of(OTHER, BACK)).ticks(IN_CODE), 70)).containsExactly(10, 15, 25, 35, 40,
				50, 60, 70);
		assertThat(minutes(new Changes(List.of(change(10, "0 5/10 * * * *", "UTC"))).ticks(IN_CODE), 30))
			.as("the tick of the old schedule at that moment is none")
			.containsExactly(15, 25);
	}

	@Test
	void latestTickBeforeAndAfterTheChange() {
		CronTicks ticks = new Changes(List.of(OTHER)).ticks(IN_CODE);
		assertThat(ticks).isNotNull();
		assertThat(ticks.latestAt(at(14))).isEqualTo(at(10));
		assertThat(ticks.latestAt(at(15))).isEqualTo(at(15));
		assertThat(ticks.latestAt(at(24))).isEqualTo(at(15));
		assertThat(ticks.ofCallPlannedFor(at(20), at(20))).as("a call of the old schedule").isNull();
		assertThat(ticks.ofCallPlannedFor(at(15), at(26))).as("a call that is late").isEqualTo(at(25));
	}

	@Test
	void tickOfTheScheduleThatWasReplacedIsRefused() {
		Changes changes = new Changes(List.of(OTHER, BACK));
		assertThat(changes.allows(at(10), IN_CODE)).as("before the change").isTrue();
		assertThat(changes.allows(at(20), IN_CODE)).as("old").isFalse();
		assertThat(changes.allows(at(25), IN_CODE)).as("new").isTrue();
		assertThat(changes.allows(at(45), IN_CODE)).as("taken back").isFalse();
		assertThat(changes.allows(at(50), IN_CODE)).as("that of the code again").isTrue();
		assertThat(changes.allows(at(51), IN_CODE)).as("planned by another task").isTrue();
		assertThat(Changes.NONE.allows(at(51), IN_CODE)).isTrue();
		assertThat(changes.changedAt()).isEqualTo(BACK.changedAt());
	}

	@Test
	void tickOfAScheduleThatWasWithdrawnBeforeItHeldIsRefused() {
		ScheduledTicks ticks = ScheduledTicks.of(IN_CODE);
		ticks.change(new Changes(List.of(OTHER)));
		ticks.change(new Changes(List.of(BACK)));
		assertThat(ticks.allows(at(15))).isFalse();
		assertThat(ticks.allows(at(45))).as("also later").isFalse();
		assertThat(ticks.allows(at(20))).as("that of the code").isTrue();
		assertThat(ticks.allows(at(21))).as("planned by another task").isTrue();
		ticks.change(new Changes(List.of(BACK, change(60, "0 5/20 * * * *", "UTC"))));
		assertThat(ticks.allows(at(65))).as("chosen again").isTrue();
	}

	@Test
	void tickOfAnyScheduleBeforeIsRefusedWhereTheCodeHoldsAgain() {
		Change third = change(30, "0 3/10 * * * *", "UTC");
		Changes others = new Changes(List.of(OTHER, third, BACK));
		assertThat(others.allows(at(45), IN_CODE)).as("the one before the last").isFalse();
		assertThat(others.allows(at(43), IN_CODE)).as("the last one").isFalse();
		Changes twice = new Changes(List.of(OTHER, BACK, change(60, null, null)));
		assertThat(twice.allows(at(65), IN_CODE)).as("taken back twice").isFalse();
		assertThat(twice.allows(at(70), IN_CODE)).as("that of the code").isTrue();
		assertThat(twice.allows(at(71), IN_CODE)).as("planned by another task").isTrue();
	}

	@Test
	void ticksOfAllSchedulesThatWereWithdrawnAreRefused() {
		ScheduledTicks ticks = ScheduledTicks.of(IN_CODE);
		ticks.change(new Changes(List.of(OTHER)));
		ticks.change(new Changes(List.of(change(16, "0 3/10 * * * *", "UTC"))));
		ticks.change(new Changes(List.of(change(17, null, null))));
		ticks.change(new Changes(List.of(BACK)));
		assertThat(ticks.allows(at(25))).as("the first").isFalse();
		assertThat(ticks.allows(at(23))).as("the second").isFalse();
		assertThat(ticks.allows(at(20))).as("that of the code").isTrue();
	}

	@Test
	void hourThatComesTwiceIsThatOfTheScheduleThatHoldsInIt() {
		Instant first = Instant.parse("2026-10-25T00:30:00Z");
		Instant second = first.plus(Duration.ofHours(1));
		CronTicks later = nightlyUntil(Instant.parse("2026-10-25T12:00:00Z"));
		assertThat(later.ofCallPlannedFor(second, second)).isEqualTo(first);
		assertThat(later.isRepeated(second)).isTrue();
		CronTicks already = nightlyUntil(Instant.parse("2026-10-24T12:00:00Z"));
		assertThat(already.ofCallPlannedFor(second, second)).isEqualTo(second);
		assertThat(already.isRepeated(second)).isFalse();
	}

	@Test
	void intervalIsCountedFromTheChangeAtTheEarliest() {
		Duration hour = Duration.ofHours(1);
		Changes changes = new Changes(List.of(change(15, "PT10M", null)));
		assertThat(changes.next(START, hour)).as("longer than that ago").isEqualTo(at(15));
		assertThat(changes.next(at(10), hour)).isEqualTo(at(20));
		assertThat(changes.next(at(15), hour)).isEqualTo(at(25));
		assertThat(new Changes(List.of(change(15, "PT2H", null))).next(START, hour)).isEqualTo(at(120));
		RequestDetail.Interval inCode = new RequestDetail.Interval(hour, Counted.FROM_BEGIN);
		RequestDetail.Interval chosen = changes.all().get(0).intervalOf(inCode);
		assertThat(changes.allows(inCode, at(14))).isTrue();
		assertThat(changes.allows(inCode, at(15))).isFalse();
		assertThat(changes.allows(chosen, at(14))).as("by a clock that is ahead").isTrue();
		Changes takenBack = new Changes(List.of(changes.all().get(0), BACK));
		assertThat(takenBack.allows(chosen, at(39))).isTrue();
		assertThat(takenBack.allows(chosen, at(40))).as("taken back").isFalse();
		assertThat(takenBack.allows(BACK.intervalOf(inCode), at(40))).isTrue();
		assertThat(takenBack.allows(BACK.intervalOf(inCode), at(39))).as("by a clock that is ahead").isTrue();
		assertThat(takenBack.allows(inCode, at(40))).as("by an instance that has never heard of it").isTrue();
	}

	@Test
	void scheduleOfAnOperatorStaysWhenTheCodeIsReadAgain() {
		ScheduledTicks ticks = ScheduledTicks.of(IN_CODE);
		ticks.change(new Changes(List.of(OTHER)));
		assertThat(ticks.parseAgain()).isFalse();
		assertThat(ticks.current()).isNotNull();
		assertThat(minutes(ticks.current(), 26)).contains(15, 25).doesNotContain(20);
	}

	@Test
	void whatIsNoScheduleIsRefused() {
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> Change.of(START, START, "PT", null))
			.withMessageContaining("Text cannot be parsed");
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> Change.of(START, START, "* * * * * *", "Mars"))
			.withMessageContaining("Mars");
	}

	private static CronTicks nightlyUntil(Instant time) {
		ZoneId zone = ZoneId.of("Europe/Berlin");
		return new CronTicks("0 30 2 * * *", zone).until(time, new CronTicks("0 */30 * * * *", zone));
	}

	private static Change change(int minute, String expression, String zone) {
		return Change.of(at(minute), at(minute).minusSeconds(30), expression, zone);
	}

	private static Instant at(int minute) {
		return START.plus(Duration.ofMinutes(minute));
	}

	private static List<Integer> minutes(CronTicks ticks, int end) {
		List<Integer> minutes = new ArrayList<>();
		for (Instant tick = ticks.nextAfter(START); tick != null
				&& !tick.isAfter(at(end)); tick = ticks.nextAfter(tick)) {
			minutes.add((int) Duration.between(START, tick).toMinutes());
		}
		return minutes;
	}

}
