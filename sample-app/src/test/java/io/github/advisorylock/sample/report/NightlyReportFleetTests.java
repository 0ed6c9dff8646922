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

import java.time.Duration;
import java.time.OffsetDateTime;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;

/**
 * Tests for {@link NightlyReport} on several instances.
 */
@FleetTest(value = NightlyReport.class, from = "2026-10-24T00:00:00Z", properties = "sample.report.cron=0 0 2 * * *")
class NightlyReportFleetTests {

	@MockitoBean(answers = Answers.RETURNS_DEEP_STUBS)
	private JdbcClient jdbc;

	@MockitoBean
	private Instance instance;

	@MockitoBean
	private Pace pace;

	@BeforeEach
	void answerQueries() {
		given(this.jdbc.sql(anyString()).query(Integer.class).single()).willReturn(0);
		given(this.jdbc.sql(anyString()).query(OffsetDateTime.class).single()).willReturn(OffsetDateTime.now());
	}

	@Test
	void anotherInstanceMakesTheReportAgainWhoseRunnerWasKilled(Fleet fleet) {
		fleet.takes("nightly-report", Duration.ofMinutes(20));
		fleet.advanceTo("2026-10-24T02:10:00Z");
		fleet.kill(fleet.runnerOf("nightly-report"));
		fleet.advanceTo("2026-10-25T04:00:00Z");
		assertThatLock("nightly-report").hasRunOncePerTick().neverOverlapped();
	}

}
