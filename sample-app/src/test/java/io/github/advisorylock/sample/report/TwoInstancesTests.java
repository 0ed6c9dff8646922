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
import java.util.concurrent.CompletableFuture;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleInstance;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link NightlyReport} with two instances of the application on one database.
 */
@Tag("gate")
class TwoInstancesTests {

	private static SampleInstance one;

	private static SampleInstance two;

	@BeforeAll
	static void startTwoInstancesAtOnceOnOnePort() {
		List<SampleInstance> instances = SampleInstance.startTogether(2, "sample.report.cron=0 0 0 1 1 *",
				"sample.report.pause-per-day=10ms");
		one = instances.get(0);
		two = instances.get(1);
	}

	@AfterAll
	static void stop() {
		one.close();
		two.close();
	}

	@BeforeEach
	void forgetTickAndEvents() {
		TestPostgres.execute("UPDATE advisory_lock_job SET last_tick = NULL WHERE key = 'nightly-report'");
		one.events().clear();
		two.events().clear();
	}

	@Test
	void reportThatRunsOnOneInstanceIsSkippedOnTheOther() {
		int before = runs();
		CompletableFuture<Void> running = CompletableFuture.runAsync(() -> one.bean(NightlyReport.class).create());
		OutsideLock.awaitHolder("nightly-report");
		two.bean(NightlyReport.class).create();
		assertThat(running).isNotDone();
		running.join();
		assertThat(one.events()).singleElement().isInstanceOf(SingleRunnerFinishedEvent.class);
		assertSkipped(two, LockOutcome.BUSY);
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void instanceWhoseTimerFiresWhenTheReportIsDoneSkipsTheTick() {
		int before = runs();
		one.bean(NightlyReport.class).create();
		two.bean(NightlyReport.class).create();
		assertThat(one.events()).singleElement().isInstanceOf(SingleRunnerFinishedEvent.class);
		assertSkipped(two, LockOutcome.ALREADY_RAN);
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void reportThatIsAskedToFailLeavesNothingAndIsMadeByTheNextAttempt() {
		int before = runs();
		assertThat(one.calls().press("/try/failure").statusCode()).isEqualTo(204);
		assertThat(one.calls().get("/").body()).contains("The first attempt at the next tick will fail");
		assertThatIllegalStateException().isThrownBy(one.bean(NightlyReport.class)::create)
			.withMessageContaining("asked this report to fail");
		assertThat(runs()).isEqualTo(before);
		two.bean(NightlyReport.class).create();
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(two.calls().get("/").body()).doesNotContain("will fail, half-way")
			.containsSubsequence("EXECUTED", "FAILED", "asked this report to fail");
	}

	@Test
	void ordersAreCreatedOnceWhenTwoInstancesStartTogether() {
		assertThat(TestPostgres.query("SELECT count(*) FROM customer_order")).containsExactly("3000");
	}

	@Test
	void instanceTakesAnotherPortWhenItsOwnIsTaken() {
		int taken = one.bean(Instance.class).port();
		try (SampleInstance third = SampleInstance.start("server.port=" + taken)) {
			assertThat(third.bean(Instance.class).port()).isNotEqualTo(taken);
			assertThat(third.calls().get("/reports").statusCode()).isEqualTo(200);
		}
	}

	private static void assertSkipped(SampleInstance instance, LockOutcome reason) {
		assertThat(instance.events()).singleElement()
			.isInstanceOfSatisfying(SingleRunnerSkippedEvent.class,
					(skipped) -> assertThat(skipped.outcome()).isEqualTo(reason));
	}

	private static int runs() {
		return Integer.parseInt(TestPostgres.query("SELECT count(*) FROM report_run").get(0));
	}

}
