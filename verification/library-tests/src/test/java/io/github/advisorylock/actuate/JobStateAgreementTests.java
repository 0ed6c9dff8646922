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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the {@link AdvisoryLocksEndpoint} says of each job what the view of the
 * database says of it, in the list, in its filter, and of one job.
 */
class JobStateAgreementTests {

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, "advisory-lock.ledger.instances=false",
				"management.endpoints.web.exposure.include=advisorylocks");
		String due = "once = 'PER_TICK', first_seen_at = '2020-01-01', next_at = now() - interval '1 hour'";
		insert("idle", "last_outcome = 'EXECUTED'");
		insert("running", "last_outcome = 'FAILED'");
		insert("failing", "last_outcome = 'ABANDONED'");
		insert("overdue", due);
		insert("failing-and-overdue", due + ", last_outcome = 'FAILED'");
		insert("paused", due + ", last_outcome = 'FAILED'");
		TestPostgres.execute("INSERT INTO operated_pause (namespace, key, paused_at, paused_by) "
				+ "VALUES ('other', 'paused', now(), 'ann')");
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void endpointSaysWhatTheViewSays() {
		try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of("other", "running"))) {
			Map<String, String> view = view();
			assertThat(view).containsEntry("failing", "failing [ABANDONED]")
				.containsEntry("failing-and-overdue", "failing [FAILED, OVERDUE]")
				.containsEntry("idle", "idle []")
				.containsEntry("overdue", "overdue [OVERDUE]")
				.containsEntry("paused", "paused [FAILED, PAUSED]")
				.containsEntry("running", "running []")
				.hasSize(7);
			assertThat(list("")).isEqualTo(view);
			for (String state : List.of("running", "paused", "failing", "overdue", "idle")) {
				view = view();
				view.values().removeIf((text) -> !text.startsWith(state + " "));
				assertThat(list("?state=" + state)).as(state).isNotEmpty().isEqualTo(view);
			}
			assertThat(view()).hasSize(7)
				.allSatisfy((key, state) -> assertThat(text(EndpointAnswer.job(application, key))).isEqualTo(state));
		}
	}

	private static Map<String, String> view() {
		Map<String, String> states = new TreeMap<>();
		TestPostgres.query("SELECT key || '|' || state || ' [' || coalesce(problem, '') || ']' FROM operated_job_state")
			.forEach((row) -> states.put(row.split("\\|")[0], row.split("\\|")[1]));
		return states;
	}

	private static Map<String, String> list(String query) {
		Map<String, String> states = new TreeMap<>();
		List<Map<String, Object>> jobs = EndpointAnswer.of(application.get(EndpointAnswer.ALL + query)).read("$.jobs");
		jobs.forEach((job) -> states.put((String) job.get("key"), text(job)));
		return states;
	}

	private static String text(Map<String, Object> job) {
		return job.get("state") + " " + new ArrayList<>((List<?>) job.getOrDefault("problems", List.of()));
	}

	private static void insert(String key, String columns) {
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, lock) VALUES ('other', '" + key + "', '"
				+ PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of("other", key))
				+ "'); UPDATE operated_job SET " + columns + " WHERE key = '" + key + "'");
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

	}

}
