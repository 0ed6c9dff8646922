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

package io.github.advisorylock.sample.report;

import java.util.List;

import io.github.advisorylock.sample.SampleInstance;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the catch-up of {@link NightlyReport}, whose schedule here has one tick a
 * year.
 */
@Tag("gate")
class MissedReportTests {

	private static final String[] PROPERTIES = { "advisory-lock.namespace=missed-report",
			"sample.report.cron=0 0 0 1 1 *", "advisory-lock.jobs.nightly-report.catch-up=800d" };

	@Test
	void tickThatWasMissedByAllIsRunOnceWhenFiveInstancesStartTogether() {
		try (SampleInstance first = SampleInstance.start(PROPERTIES)) {
			awaitCatchUp();
			assertThat(ticks()).as("what the first start runs").isEmpty();
			first.bean(NightlyReport.class).create();
		}
		List<String> ran = ticks();
		assertThat(ran).hasSize(1);
		TestPostgres.execute("UPDATE advisory_lock_job SET last_tick = last_tick - interval '1 year' "
				+ "WHERE namespace = 'missed-report'");
		List<SampleInstance> instances = SampleInstance.startTogether(5, PROPERTIES);
		try {
			Awaitility.await().until(() -> ticks().size() > 1);
			awaitCatchUp();
			assertThat(ticks()).containsExactly(ran.get(0), ran.get(0));
		}
		finally {
			instances.forEach(SampleInstance::close);
		}
	}

	/**
	 * Wait until no instance looks for missed ticks any more.
	 */
	private static void awaitCatchUp() {
		Awaitility.await()
			.atMost(Patience.TIME)
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("advisory-lock-catch-up")));
	}

	private static List<String> ticks() {
		return TestPostgres
			.query("SELECT tick FROM advisory_lock_run WHERE namespace = 'missed-report' AND outcome = 'EXECUTED'");
	}

}
