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

package io.github.advisorylock.actuate;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Problems}: an alarm begins with its reason, and ends with it.
 */
@Tag("gate")
class ProblemsTests {

	private static OperatedApplication application;

	private static Jobs jobs;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, "management.endpoints.web.exposure.include=advisorylocks",
				"advisory-lock.ledger.instances=false", "advisory-lock.session.heartbeat=200ms");
		jobs = application.bean(Jobs.class);
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void runThatLastedForLongerThanItMayIsNoLossAndIsOverWithTheNextRun() {
		Gate.runAsync(jobs::tooLong).handle((done, failure) -> null).join();
		await().untilAsserted(() -> assertThat(problems("too-long")).containsExactlyInAnyOrder("MAX_RUN", "FAILED"));
		Jobs.hangs = false;
		jobs.tooLong();
		await().untilAsserted(() -> assertThat(problems("too-long")).isEmpty());
	}

	@Test
	void runThatIsStillUnderWayWhenItsScheduleCallsAgainIsAProblem() {
		TestPostgres.execute("UPDATE operated_job SET period = 1000000 WHERE key = 'overrunning'");
		try (Gate gate = Gate.enteredBy(jobs::overrunning)) {
			await().untilAsserted(() -> assertThat(problems("overrunning")).containsExactly("OVERRUN"));
		}
		await().untilAsserted(() -> assertThat(problems("overrunning")).isEmpty());
	}

	@Test
	void instanceThatVanishedIsAProblemUntilAnotherHasStartedInItsPlace() {
		TestPostgres.execute("INSERT INTO operated_instance (namespace, instance, started_at, seen_at) SELECT 'shop', "
				+ "'gone:' || n, now() - interval '2 hours', now() - interval '1 hour' FROM generate_series(1, 2) n");
		assertThat(vanished()).containsExactly(2);
		for (int started = 1; started <= 2; started++) {
			TestPostgres.execute("INSERT INTO operated_instance (namespace, instance, started_at, seen_at) VALUES ("
					+ "'shop', 'new:" + started + "', now() - interval '30 minutes', now())");
		}
		assertThat(vanished()).isEmpty();
	}

	private static List<Integer> vanished() {
		return EndpointAnswer.all(application).read("$.problems[?(@.problem == 'INSTANCE_VANISHED')].count");
	}

	@SuppressWarnings("unchecked")
	private static List<String> problems(String key) {
		Map<String, Object> job = EndpointAnswer.job(application, key);
		return (List<String>) job.get("problems");
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private static volatile boolean hangs = true;

		@SingleRunner(key = "too-long", scope = LockScope.SESSION, maxRun = "300ms")
		void tooLong() {
			try {
				assertThat(!hangs || new CountDownLatch(1).await(60, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@SingleRunner(key = "overrunning", scope = LockScope.SESSION)
		void overrunning(Gate gate) {
			gate.pass();
		}

	}

}
