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

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.DatabaseDescriptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link About}.
 */
class AboutTests {

	@Test
	void clockOfEachDatabaseIsJudgedAndNamed() {
		String about = write(Duration.ZERO, List.of(new DatabaseDescriptor("mainTx", "orders", Duration.ZERO, true),
				new DatabaseDescriptor("reportingTx", "reporting", Duration.ofSeconds(90), true)));
		assertThat(about).contains("in databases orders of mainTx and reporting of reportingTx")
			.containsOnlyOnce("Its clock is")
			.contains("Its clock is 1 min 30 s behind that of database reporting.");
	}

	@Test
	void clockOfTheOnlyDatabaseIsJudged() {
		assertThat(write(Duration.ofSeconds(-5), null)).contains("in database orders,")
			.contains("Its clock is 5.0 s ahead of that of database orders.");
		assertThat(write(Duration.ofMillis(5), null)).doesNotContain("Its clock is");
	}

	private static String write(Duration skew, @Nullable List<DatabaseDescriptor> databases) {
		return About
			.of(new AdvisoryLocksDescriptor(Instant.EPOCH, skew, "host:1", "shop", "orders", true, 0, 0, 1, 100,
					List.of(), 0, List.of(), List.of(), List.of(), List.of(), databases))
			.write()
			.markup();
	}

}
