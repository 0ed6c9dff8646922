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

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JobFacts}.
 */
class JobFactsTests {

	private static final Instant NOW = Instant.parse("2026-03-01T00:00:00Z");

	private static final JobFacts.Schedule AT_TWO = JobFacts.Schedule.cron("0 0 2 * * *", ZoneOffset.UTC);

	private static final JobFacts.Schedule AT_THREE = JobFacts.Schedule.cron("0 0 3 * * *", ZoneOffset.UTC);

	private static final JobFacts.Schedule NEVER_AGAIN = JobFacts.Schedule.cron("0 0 0 30 2 *", ZoneOffset.UTC);

	@Test
	void jobOfSeveralSchedulesIsCalledNextByTheFirstThatComes() {
		Instant two = Instant.parse("2026-03-01T02:00:00Z");
		assertThat(next(AT_TWO, NEVER_AGAIN, AT_THREE)).isEqualTo(two);
		assertThat(next(AT_THREE, AT_TWO)).isEqualTo(two);
		assertThat(next(NEVER_AGAIN)).isNull();
		assertThat(next()).isNull();
	}

	private static @Nullable Instant next(JobFacts.Schedule... schedules) {
		return new JobFacts(new JobName("tests", "job"), null, null, List.of(schedules), null, null, null, null, true,
				false, 0, CronTicks.Changes.NONE)
			.next(NOW, NOW);
	}

}
