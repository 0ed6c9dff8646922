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
import java.time.ZoneOffset;

import io.github.advisorylock.LedgerJob;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LedgerOperation}: when a job is overdue.
 */
class LedgerOperationTests {

	private static final String NIGHTLY = "0 0 2 * * *";

	private static final Instant TICK = Instant.parse("2026-11-10T02:00:00Z");

	private static final Instant DAY_BEFORE = Instant.parse("2026-11-09T02:00:00Z");

	@Test
	void tickThatNobodyCompletedIsOverdueAfterFiveMinutes() {
		LedgerOperation operation = perTick(NIGHTLY, null);
		assertThat(operation.overdueTick(TICK.plusSeconds(299), job(DAY_BEFORE, null))).isNull();
		assertThat(operation.overdueTick(TICK.plusSeconds(300), job(DAY_BEFORE, null))).isEqualTo(TICK);
		assertThat(operation.overdueTick(TICK.plusSeconds(300), job(TICK, null))).isNull();
	}

	@Test
	void frequentJobIsOverdueWhenItCompletedNothingForFiveMinutes() {
		LedgerOperation operation = perTick("*/10 * * * * *", null);
		assertThat(operation.overdueTick(TICK.plusSeconds(300), job(TICK, null))).isNull();
		assertThat(operation.overdueTick(TICK.plusSeconds(310), job(TICK, null))).isEqualTo(TICK.plusSeconds(10));
	}

	@Test
	void intervalThatLetsTicksPassIsWaitedForToo() {
		LedgerOperation operation = perTick("0 * * * * *", Duration.ofMinutes(30));
		assertThat(operation.overdueTick(TICK.plusSeconds(2100), job(TICK, null))).isNull();
		assertThat(operation.overdueTick(TICK.plusSeconds(2160), job(TICK, null))).isEqualTo(TICK.plusSeconds(60));
	}

	@Test
	void pausedJobIsNotOverdueNorIsOneWithoutTicks() {
		Instant later = TICK.plusSeconds(3600);
		assertThat(perTick(NIGHTLY, null).overdueTick(later, job(DAY_BEFORE, later))).isNull();
		assertThat(perTick("0 0 0 30 2 *", null).overdueTick(later, job(DAY_BEFORE, null))).isNull();
		assertThat(LedgerOperation.RECORDED.overdueTick(later, job(DAY_BEFORE, null))).isNull();
	}

	@Test
	void jobThatWasSeenFirstAfterTheTickIsNotOverdue() {
		LedgerJob job = new LedgerJob("", "nightly", TICK.plusSeconds(1), null, null, null, null, null, null, null);
		assertThat(perTick(NIGHTLY, null).overdueTick(TICK.plusSeconds(3600), job)).isNull();
	}

	private static LedgerOperation perTick(String cron, @Nullable Duration minInterval) {
		return new LedgerOperation(true, true, new CronTicks(cron, ZoneOffset.UTC), false, minInterval, null);
	}

	private static LedgerJob job(Instant lastTick, @Nullable Instant pausedAt) {
		return new LedgerJob("", "nightly", Instant.EPOCH, lastTick, null, null, null, null, pausedAt, null);
	}

}
