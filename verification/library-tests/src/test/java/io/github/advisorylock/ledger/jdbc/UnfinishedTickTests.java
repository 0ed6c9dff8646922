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
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.interceptor.SkippedValue;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.LedgerJob;
import org.junit.jupiter.api.Test;

import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnfinishedTick}.
 */
class UnfinishedTickTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "nightly");

	private static final Instant TICK = Instant.parse("2026-11-24T03:00:00Z");

	private static final Duration WINDOW = Duration.ofHours(1);

	private static final Instant END = TICK.plus(WINDOW);

	private static final Instant NOW = TICK.plus(Duration.ofMinutes(20));

	private final Job job = new Job();

	@Test
	void tickIsSettledByItsCompletionOrThatOfALaterOne() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.lastTick = TICK.minusSeconds(1);
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.READY);
		this.job.lastTick = TICK;
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.SETTLED);
		this.job.lastTick = TICK.plusSeconds(1);
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.SETTLED);
	}

	@Test
	void tickIsSettledWhenALaterOneWasTried() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.lastTick = TICK.minusSeconds(1);
		this.job.givenUp = true;
		this.job.openTick = TICK.plusSeconds(1);
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.SETTLED);
		this.job.openTick = NOW.plus(UnfinishedTick.MOST_AHEAD).plusSeconds(1);
		assertThat(tick.judge(seen(NOW))).as("one of the future decides nothing").isEqualTo(UnfinishedTick.State.READY);
	}

	@Test
	void tickFromBeforeTheJobWasSeenIsSettledUnlessItWasTried() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		assertThat(tick.judge(new JobRepository.ObservedJob(null, false, NOW))).isEqualTo(UnfinishedTick.State.SETTLED);
		this.job.firstSeenAt = TICK;
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.SETTLED);
		this.job.firstSeenAt = TICK.minusSeconds(1);
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.READY);
		this.job.firstSeenAt = TICK;
		tick.tried();
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.READY);
		assertThat(tick.judge(new JobRepository.ObservedJob(null, false, NOW))).isEqualTo(UnfinishedTick.State.READY);
	}

	@Test
	void tickThatSomebodyIsAtWasTried() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.firstSeenAt = TICK.minusSeconds(1);
		assertThat(tick.judge(held(NOW))).isEqualTo(UnfinishedTick.State.BUSY);
		this.job.firstSeenAt = TICK;
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.READY);
	}

	@Test
	void tickIsLostWhenItsWindowIsOver() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.lastTick = TICK.minusSeconds(1);
		assertThat(tick.judge(seen(END))).isEqualTo(UnfinishedTick.State.READY);
		assertThat(tick.judge(held(END.plusMillis(1)))).isEqualTo(UnfinishedTick.State.BUSY);
		assertThat(tick.judge(seen(END.plusMillis(1)))).isEqualTo(UnfinishedTick.State.LOST);
	}

	@Test
	void tickOfAPausedJobWaitsAndIsNotCalledLost() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.lastTick = TICK.minusSeconds(1);
		this.job.pausedAt = TICK;
		assertThat(tick.judge(seen(END))).isEqualTo(UnfinishedTick.State.PAUSED);
		assertThat(tick.judge(seen(END.plusMillis(1)))).isEqualTo(UnfinishedTick.State.SETTLED);
	}

	@Test
	void tickThatIsGivenUpIsLookedAtUntilItsWindowIsOver() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.givenUp = true;
		this.job.openTick = TICK;
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.GIVEN_UP);
		assertThat(tick.judge(held(NOW))).isEqualTo(UnfinishedTick.State.BUSY);
		assertThat(tick.judge(seen(END.plusMillis(1)))).isEqualTo(UnfinishedTick.State.SETTLED);
		this.job.openTick = TICK.minusSeconds(1);
		assertThat(tick.judge(seen(NOW))).as("an earlier one is").isEqualTo(UnfinishedTick.State.READY);
	}

	@Test
	void tickWaitsUntilItsTimeByTheClockOfTheDatabase() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.lastTick = TICK.minusSeconds(1);
		assertThat(tick.judge(seen(TICK.minusSeconds(3)))).isEqualTo(UnfinishedTick.State.WAITING);
		assertThat(tick.pause(seen(TICK.minusSeconds(3)))).isEqualTo(Duration.ofSeconds(3));
		assertThat(tick.pause(new JobRepository.ObservedJob(null, false, TICK.minusSeconds(3))))
			.isEqualTo(Duration.ofSeconds(3));
		assertThat(tick.pause(seen(NOW))).isZero();
	}

	@Test
	void tickWaitsForItsNextAttempt() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		this.job.retryAt = NOW.plusSeconds(10);
		this.job.openTick = TICK.minusSeconds(1);
		assertThat(tick.pause(seen(NOW))).isZero();
		this.job.openTick = TICK;
		assertThat(tick.pause(seen(NOW))).isEqualTo(Duration.ofSeconds(10));
		this.job.retryAt = END.plusSeconds(1);
		assertThat(tick.pause(seen(END.minusSeconds(5)))).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void tickWaitsForTheIntervalBetweenRuns() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, Duration.ofMinutes(30));
		assertThat(tick.pause(seen(NOW))).isZero();
		this.job.lastStartedAt = NOW.minus(Duration.ofMinutes(10));
		assertThat(tick.pause(seen(NOW))).isEqualTo(Duration.ofMinutes(20));
		this.job.openTick = TICK;
		this.job.retryAt = NOW.plus(Duration.ofMinutes(5));
		assertThat(tick.pause(seen(NOW))).isEqualTo(Duration.ofMinutes(20));
		this.job.lastStartedAt = NOW.minus(Duration.ofMinutes(25));
		this.job.retryAt = NOW.plus(Duration.ofMinutes(10));
		assertThat(tick.pause(seen(NOW))).isEqualTo(Duration.ofMinutes(10));
		assertThat(tick(LockScope.TRANSACTION, null).pause(seen(NOW))).isEqualTo(Duration.ofMinutes(10));
	}

	@Test
	void timeOfTheFutureDecidesNothing() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, Duration.ofHours(1));
		Instant future = NOW.plus(Duration.ofDays(1));
		this.job.lastTick = future;
		this.job.lastStartedAt = future;
		this.job.openTick = TICK;
		this.job.retryAt = future;
		assertThat(tick.judge(seen(NOW))).isEqualTo(UnfinishedTick.State.READY);
	}

	@Test
	void pauseAfterCallsThatFailInARowDoublesSevenTimes() {
		UnfinishedTick tick = tick(LockScope.TRANSACTION, null);
		tick.beginCall();
		assertThat(tick.isCalled()).isTrue();
		assertDueAfter(tick, true, Duration.ofHours(2));
		assertThat(tick.isCalled()).isFalse();
		for (int hours = 4; hours <= 128; hours *= 2) {
			assertDueAfter(tick, true, Duration.ofHours(hours));
		}
		assertDueAfter(tick, true, Duration.ofHours(128));
		assertDueAfter(tick, false, Duration.ofHours(1));
		assertDueAfter(tick, true, Duration.ofHours(2));
	}

	/**
	 * End a call with a pause of an hour, as it is without failures.
	 */
	private static void assertDueAfter(UnfinishedTick tick, boolean failed, Duration pause) {
		long before = System.nanoTime();
		tick.endCall(failed, TimeUnit.HOURS.toNanos(1));
		assertThat(tick.dueNanos()).isBetween(before + pause.toNanos(), System.nanoTime() + pause.toNanos());
	}

	private JobRepository.ObservedJob seen(Instant clock) {
		return new JobRepository.ObservedJob(this.job.toJob(), false, clock);
	}

	private JobRepository.ObservedJob held(Instant clock) {
		return new JobRepository.ObservedJob(this.job.toJob(), true, clock);
	}

	private static UnfinishedTick tick(LockScope scope, Duration minInterval) {
		Method method = ReflectionUtils.findMethod(UnfinishedTickTests.class, "nightly");
		CronTicks ticks = new CronTicks("0 0 3 * * *", ZoneOffset.UTC);
		SingleRunnerOperation operation = new SingleRunnerOperation("UnfinishedTickTests.nightly",
				SkippedValue.of(method), "nightly", KEY, (arguments) -> KEY, scope, 1, Duration.ZERO, null, false,
				false, new LedgerOperation(true, true, () -> ticks, false, minInterval, WINDOW, 0, null), null, null);
		return new UnfinishedTick(new SingleRunnerMethod("jobs", method, operation, "tests", KEY, false), TICK, 0,
				LockScheduler.Ticker.SYSTEM);
	}

	void nightly() {
	}

	/**
	 * What the ledger says of the job.
	 */
	private static final class Job {

		private Instant firstSeenAt = TICK.minus(Duration.ofDays(1));

		private Instant lastTick;

		private Instant lastStartedAt;

		private Instant lastFinishedAt;

		private Instant pausedAt;

		private Instant openTick;

		private int attempts;

		private Instant retryAt;

		private boolean givenUp;

		private LedgerJob toJob() {
			return new LedgerJob("tests", "nightly", this.firstSeenAt, this.lastTick, this.lastStartedAt,
					this.lastFinishedAt, null, null, this.pausedAt, null, null, null, this.openTick, this.attempts,
					this.retryAt, false, 0, null, this.givenUp);
		}

	}

}
