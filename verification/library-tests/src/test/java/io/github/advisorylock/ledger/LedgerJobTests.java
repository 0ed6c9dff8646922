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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LedgerJob}: when a job is overdue.
 */
class LedgerJobTests {

	private static final String NIGHTLY = "0 0 2 * * *";

	private static final Instant TICK = Instant.parse("2026-11-10T02:00:00Z");

	private static final Instant DAY_BEFORE = Instant.parse("2026-11-09T02:00:00Z");

	@Test
	void tickThatNobodyCompletedIsOverdueAfterFiveMinutes() {
		LedgerOperation operation = perTick(NIGHTLY, null);
		assertThat(job(DAY_BEFORE, null).overdueTick(operation, TICK.plusSeconds(299))).isNull();
		assertThat(job(DAY_BEFORE, null).overdueTick(operation, TICK.plusSeconds(300))).isEqualTo(TICK);
		assertThat(job(TICK, null).overdueTick(operation, TICK.plusSeconds(300))).isNull();
	}

	@Test
	void frequentJobIsOverdueWhenItCompletedNothingForFiveMinutes() {
		LedgerOperation operation = perTick("*/10 * * * * *", null);
		assertThat(job(TICK, null).overdueTick(operation, TICK.plusSeconds(300))).isNull();
		assertThat(job(TICK, null).overdueTick(operation, TICK.plusSeconds(310))).isEqualTo(TICK.plusSeconds(10));
	}

	@Test
	void intervalThatLetsTicksPassIsWaitedForToo() {
		LedgerOperation operation = perTick("0 * * * * *", Duration.ofMinutes(30));
		assertThat(job(TICK, null).overdueTick(operation, TICK.plusSeconds(2100))).isNull();
		assertThat(job(TICK, null).overdueTick(operation, TICK.plusSeconds(2160))).isEqualTo(TICK.plusSeconds(60));
	}

	@Test
	void pausedJobIsNotOverdueNorIsOneWithoutTicks() {
		Instant later = TICK.plusSeconds(3600);
		assertThat(job(DAY_BEFORE, later).overdueTick(perTick(NIGHTLY, null), later)).isNull();
		assertThat(job(DAY_BEFORE, null).overdueTick(perTick("0 0 0 30 2 *", null), later)).isNull();
		assertThat(job(DAY_BEFORE, null).overdueTick(LedgerOperation.RECORDED, later)).isNull();
	}

	@Test
	void jobThatWasSeenFirstAfterTheTickIsNotOverdue() {
		LedgerJob job = new LedgerJob("", "nightly", TICK.plusSeconds(1), null, null, null, null, null, null, null,
				null, null, null, 0, null, false);
		assertThat(job.overdueTick(perTick(NIGHTLY, null), TICK.plusSeconds(3600))).isNull();
	}

	@Test
	void jobThatWasResumedAfterTheTickIsNotOverdueUntilTheNext() {
		LedgerOperation operation = perTick(NIGHTLY, null);
		LedgerJob job = resumed(TICK.plusSeconds(10));
		assertThat(job.overdueTick(operation, TICK.plusSeconds(3600))).isNull();
		assertThat(job.overdueTick(operation, TICK.plusSeconds(86_400 + 300))).isEqualTo(TICK.plusSeconds(86_400));
		assertThat(resumed(TICK.minusSeconds(10)).overdueTick(operation, TICK.plusSeconds(3600))).isEqualTo(TICK);
	}

	@Test
	void intervalForEverIsNeverOverdue() {
		LedgerOperation operation = perTick(NIGHTLY, Duration.ofSeconds(Long.MAX_VALUE));
		assertThat(operation.minInterval()).isEqualTo(LedgerOperation.FOR_EVER);
		assertThat(job(DAY_BEFORE, null).overdueTick(operation, TICK.plusSeconds(3600))).isNull();
	}

	private static LedgerJob resumed(Instant at) {
		return new LedgerJob("", "nightly", Instant.EPOCH, DAY_BEFORE, null, null, null, null, null, null, null, at,
				null, 0, null, false);
	}

	private static LedgerOperation perTick(String cron, @Nullable Duration minInterval) {
		return new LedgerOperation(true, true, new CronTicks(cron, ZoneOffset.UTC), false, minInterval, null);
	}

	private static LedgerJob job(Instant lastTick, @Nullable Instant pausedAt) {
		return new LedgerJob("", "nightly", Instant.EPOCH, lastTick, null, null, null, null, pausedAt, null, null, null,
				null, 0, null, false);
	}

}
