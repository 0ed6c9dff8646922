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
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.github.advisorylock.interceptor.PlannedTimeScheduler.Spread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Spread}: whose turn it is, and by how much others are later.
 */
class SpreadTurnsTests {

	private static final Duration MOST = Duration.ofMillis(50);

	private final List<Planned> planned = new ArrayList<>();

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler() {

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			SpreadTurnsTests.this.planned.add(new Planned(task, trigger, new SimpleTriggerContext()));
			return super.schedule(task, Instant.now().plusSeconds(3600));
		}

	};

	private final ScheduledTaskRegistrar registrar = new ScheduledTaskRegistrar();

	@AfterEach
	void stop() {
		this.registrar.destroy();
		this.scheduler.shutdown();
	}

	@Test
	void turnGoesFromMemberToMember() {
		Duration second = Duration.ofSeconds(1);
		for (long turn = -4; turn < 4; turn++) {
			long number = turn;
			assertThat(
					IntStream.range(0, 3).mapToObj((place) -> new Spread(MOST, 3, place).delay(number, second, false)))
				.containsExactlyInAnyOrder(Duration.ZERO, MOST, MOST);
		}
		assertThat(new Spread(MOST, 1, 0).delay(1, second, true)).isZero();
		assertThat(new Spread(MOST, 2, 1).delay(1, second, false)).isZero();
		assertThat(new Spread(MOST, 2, 1).delay(1, second, true)).isEqualTo(Duration.ofMillis(10));
		assertThat(new Spread(MOST, 2, 0).delay(1, second, true)).isEqualTo(MOST);
		assertThat(new Spread(MOST, 2, 0).delay(1, Duration.ofMillis(100), false)).isEqualTo(Duration.ofMillis(5));
		assertThat(new Spread(Duration.ZERO, 2, 0).delay(1, second, false)).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "10, 1", "970, 1", "1020, 2" })
	void delayLeavesOutNoTick(int millis, int next) {
		schedule(new Spread(MOST, 1_000_000, 1_000_000), "job");
		Planned job = this.planned.get(0);
		Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
		assertThat(job.next()).isAfter(now);
		job.call(now, now.plusMillis(5));
		Instant delayed = now.plusMillis(1050);
		assertThat(job.next()).isEqualTo(delayed);
		job.call(delayed, delayed.plusMillis(millis));
		assertThat(job.next()).isEqualTo(delayed.plusSeconds(next));
	}

	/**
	 * What is due together is shared among the members.
	 */
	@Test
	void tasksOfOneScheduleHaveTheirTurnsOneAfterTheOther() {
		schedule(new Spread(MOST, 2, 0), "one", "other");
		Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
		assertThat(this.planned).hasSize(2).allSatisfy((task) -> {
			assertThat(task.next()).isAfter(now);
			task.call(now, now.plusMillis(5));
		});
		assertThat(this.planned.stream().map(Planned::next)).containsExactlyInAnyOrder(now.plusSeconds(1),
				now.plusSeconds(1).plus(MOST));
	}

	/**
	 * A call that is under way for longer than is left until the next one is expected to
	 * be so then.
	 */
	@Test
	void callThatHasEndedMakesNoOtherLater() {
		AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
		InstantSource source = now::get;
		this.scheduler.setClock(source.withZone(ZoneOffset.UTC));
		schedule(new Spread(MOST, 2, 0), "one", "other");
		Planned one = this.planned.get(0);
		Planned other = this.planned.get(1);
		Instant first = one.next();
		one.call(first, first.plusMillis(5));
		other.call(other.next(), first.plusMillis(5));
		now.updateAndGet((time) -> time.plusSeconds(3600));
		assertThat(List.of(delayOf(one.next()), delayOf(other.next()))).containsExactlyInAnyOrder(Duration.ZERO, MOST);
	}

	private static Duration delayOf(Instant time) {
		return Duration.between(time.truncatedTo(ChronoUnit.SECONDS), time);
	}

	private void schedule(Spread spread, String... tasks) {
		this.scheduler.initialize();
		this.registrar.setTaskScheduler(this.scheduler);
		PlannedTimeScheduler.configurer((method, type) -> null, () -> spread).configureTasks(this.registrar);
		for (String task : tasks) {
			this.registrar.addCronTask(new Named(task), "* * * * * *");
		}
		this.registrar.afterPropertiesSet();
		assertThat(this.planned).hasSize(tasks.length);
	}

	/**
	 * A task that calls a method which has one run for each tick.
	 */
	private record Named(String name) implements Runnable {

		@Override
		public void run() {
			Optional.ofNullable(PlannedTime.current()).orElseThrow().guarded();
		}

	}

	private record Planned(Runnable task, Trigger trigger, SimpleTriggerContext context) {

		private Instant next() {
			return Optional.ofNullable(this.trigger.nextExecution(this.context)).orElseThrow();
		}

		private void call(Instant time, Instant end) {
			this.task.run();
			this.context.update(time, time, end);
		}

	}

}
