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

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what the {@link AdvisoryLocksEndpoint} and its page tell of ticks, attempts
 * and keys that run once, and for what operators repair there.
 */
@Tag("slow")
class TicksAndKeysTests {

	private static final String TEMPLATE = "webhook:#{#id}";

	private static final String NOTICES = "notice:#{#id}";

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted");
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@Test
	void keyThatRunsOnceIsShownWithItsRunAndCompletion() {
		application.bean(Jobs.class).webhook("17", false);
		EndpointAnswer answer = one("webhook:17");
		assertThat(answer.<Map<String, Object>>read("$.job")).containsKeys("completedAt", "lastRun")
			.doesNotContainKey("problems")
			.containsEntry("actions", List.of("paused", "resumed"));
		assertThat(answer.<List<String>>read("$.runs[*].outcome")).containsExactly("EXECUTED");
		TestPostgres.execute("DELETE FROM operated_run WHERE key = 'webhook:17'");
		assertThat(one("webhook:17").<Map<String, Object>>read("$.job")).containsKey("completedAt")
			.doesNotContainKey("lastRun");
		assertThat(application.get(EndpointAnswer.ALL + "/webhook:18").statusCode()).isEqualTo(404);
	}

	@Test
	void keysThatFailAreAProblemOfTheirTemplateUntilTheyHaveRun() {
		fail("bad");
		fail("worse");
		Map<String, Object> job = EndpointAnswer.job(application, TEMPLATE);
		assertThat(job).containsEntry("problems", List.of("FAILED"));
		assertThat(job).extractingByKey("keys")
			.asString()
			.contains("failureCount=2", "webhook:worse", "webhook:bad", "java.lang.IllegalStateException")
			.doesNotContain("secret");
		assertThat(one("webhook:bad").<List<String>>read("$.job.problems")).containsExactly("FAILED");
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?state=problem"))
			.<List<String>>read("$.jobs[*].key")).contains(TEMPLATE);
		application.bean(Jobs.class).webhook("bad", false);
		application.bean(Jobs.class).webhook("worse", false);
		assertThat(EndpointAnswer.job(application, TEMPLATE)).containsEntry("problems", List.of());
	}

	@Test
	void keysOfAnotherApplicationThatFailAreShownUnderTheirTemplate() {
		registerTemplate("billing", "bill:#{#id}");
		TestPostgres.execute("INSERT INTO operated_run (namespace, key, template, scope, instance, fencing_token, "
				+ "started_at, finished_at, outcome) SELECT 'billing', 'bill:' || n, 'bill:#{#id}', 'SESSION', 'b:1', "
				+ "900000 + n, now() - n * INTERVAL '1 hour', now(), 'ABANDONED' FROM generate_series(1, 60) n");
		Map<String, Object> job = EndpointAnswer.job(application, "bill:#{#id}");
		assertThat(job).containsEntry("problems", List.of("ABANDONED"));
		assertThat(job).extractingByKey("keys").asString().contains("count=60", "failed=[{");
		assertThat(one("bill:%23%7B%23id%7D?namespace=billing").<String>read("$.job.key")).isEqualTo("bill:#{#id}");
		TestPostgres.execute(
				"DELETE FROM operated_run WHERE namespace = 'billing'; DELETE FROM operated_job WHERE namespace = 'billing'");
	}

	@Test
	void failedKeysOfATemplateOfOthersAreAmongTheProblems() {
		registerTemplate("depot", "parcel:#{#id}");
		TestPostgres.execute("INSERT INTO operated_run (namespace, key, template, scope, instance, fencing_token, "
				+ "started_at, finished_at, outcome, error_class) SELECT 'depot', 'parcel:' || n, 'parcel:#{#id}', "
				+ "'SESSION', 'b:1', 910000 + n, now() - n * INTERVAL '1 minute', now(), 'FAILED', 'java.io.IOException' "
				+ "FROM generate_series(1, 3) n");
		AdvisoryLocksDescriptor all = application.bean(AdvisoryLocksSource.class)
			.getLocks(null, "parcel", "problem", null, null, null, false);
		assertThat(all.problems()).flatExtracting(AdvisoryLocksDescriptor.ProblemGroup::latest)
			.filteredOn((problem) -> "parcel:#{#id}".equals(problem.key()))
			.singleElement()
			.satisfies((problem) -> assertThat(problem.detail()).isEqualTo("parcel:3: java.io.IOException"));
		assertThat(all.jobs()).extracting(AdvisoryLocksDescriptor.JobDescriptor::key).containsExactly("parcel:#{#id}");
		TestPostgres.execute(
				"DELETE FROM operated_run WHERE namespace = 'depot'; DELETE FROM operated_job WHERE namespace = 'depot'");
	}

	@Test
	void runsOfKeysThatRunOnceAreShownWithTheirTemplate() {
		for (int i = 0; i < 25; i++) {
			application.bean(Jobs.class).notice("n" + i);
		}
		EndpointAnswer answer = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + encode(NOTICES)));
		assertThat(answer.<List<String>>read("$.runs[*].key")).hasSize(25).startsWith("notice:n24", "notice:n23");
		assertThat(answer.<List<String>>read("$.runs[*].outcome")).containsOnly("EXECUTED");
	}

	private static String encode(String template) {
		return template.replace("#", "%23").replace("{", "%7B").replace("}", "%7D");
	}

	@Test
	void jobThatIsNoMoreIsForgottenButNoneOfThisInstance() {
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, last_tick) VALUES ('shop', 'gone', now())");
		TestPostgres.execute("INSERT INTO operated_schedule (namespace, key, expression, zone, effective_at) "
				+ "VALUES ('shop', 'gone', '* * * * * *', 'UTC', now())");
		try (ForeignSession running = ForeignSession.holding(AdvisoryLockKey.of("shop", "gone"))) {
			assertThat(one("gone").<List<String>>read("$.job.actions")).contains("paused").doesNotContain("forgotten");
			assertRefused(application.setState("gone", "forgotten"), "it runs");
		}
		assertThat(application.setState("gone", "forgotten").statusCode()).isEqualTo(200);
		assertThat(TestPostgres.query("SELECT key FROM operated_schedule WHERE key = 'gone'"))
			.as("would hold for a job that comes under this key later")
			.isEmpty();
		assertThat(application.get(EndpointAnswer.ALL + "/gone").statusCode()).isEqualTo(404);
		assertRefused(application.setState("future", "forgotten"), "has a method on this instance");
		assertThat(audited("gone")).containsExactly("ADVISORY_LOCK_FORGOTTEN");
	}

	@Test
	void attemptsOfATickAreShown() {
		setTicks("tried", "open_tick = '2026-03-01 02:00Z', attempts = 2, retry_at = '2026-03-01 02:04Z', "
				+ "last_outcome = 'FAILED'");
		TestPostgres.execute("INSERT INTO operated_run (namespace, key, tick, attempt, scope, instance, fencing_token, "
				+ "started_at, finished_at, outcome) SELECT 'shop', 'tried', '2026-03-01 02:00Z', n, 'SESSION', 'a:1', n, "
				+ "now(), now(), 'FAILED' FROM generate_series(1, 2) n");
		EndpointAnswer answer = one("tried");
		assertThat(answer.<Map<String, Object>>read("$.job.openTick")).as("nobody makes up for it by itself")
			.isEqualTo(Map.of("tick", "2026-03-01T02:00:00Z", "attempts", 2));
		assertThat(answer.<List<Integer>>read("$.runs[*].attempt")).containsExactly(2, 1);
		TestPostgres.execute("UPDATE operated_job SET last_outcome = NULL WHERE key = 'tried'");
		TestPostgres.execute("DELETE FROM operated_run WHERE key = 'tried'");
	}

	@Test
	void runWithoutTickHasNoAttempt() {
		application.setState("future", "running");
		assertThat(one("future").<Map<String, Object>>read("$.job.lastRun")).doesNotContainKeys("tick", "attempt");
	}

	@Test
	void eachMethodOfASharedKeyIsRunNow() {
		assertThat(application.setState("shared", "running").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(application.bean(Jobs.class).calls()).containsExactlyInAnyOrder("one", "two");
	}

	private static void setTicks(String key, String columns) {
		TestPostgres.execute("UPDATE operated_job SET " + columns + " WHERE key = '" + key + "'");
	}

	private static void registerTemplate(String namespace, String template) {
		TestPostgres.execute("INSERT INTO operated_job (namespace, key, template) VALUES ('" + namespace + "', '"
				+ template + "', '" + template + "')");
	}

	private static void fail(String id) {
		assertThatIllegalStateException().isThrownBy(() -> application.bean(Jobs.class).webhook(id, true))
			.withMessage("secret");
	}

	private static EndpointAnswer one(String key) {
		HttpResponse<String> answer = application.get(EndpointAnswer.ALL + "/" + key);
		assertThat(answer.statusCode()).isEqualTo(200);
		return EndpointAnswer.of(answer);
	}

	private static List<String> audited(String key) {
		return new ArrayList<>(application.bean(InMemoryAuditEventRepository.class)
			.find("unauthenticated", null, null)
			.stream()
			.filter((event) -> key.equals(event.getData().get("key")) && !event.getType().endsWith("RUNNING"))
			.map(AuditEvent::getType)
			.distinct()
			.toList());
	}

	private static void assertRefused(HttpResponse<String> answer, String reason) {
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(EndpointAnswer.of(answer).<String>read("$.error")).contains(reason);
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		List<String> calls() {
			return this.calls;
		}

		@SingleRunner(key = TEMPLATE, once = Once.PER_KEY)
		void webhook(String id, boolean broken) {
			if (broken) {
				throw new IllegalStateException("secret");
			}
		}

		@SingleRunner(key = NOTICES, once = Once.PER_KEY)
		void notice(String id) {
		}

		@SingleRunner("future")
		void future() {
		}

		@SingleRunner("tried")
		void tried() {
		}

		@SingleRunner(key = "shared", allowSharedKey = true)
		void one() {
			this.calls.add("one");
		}

		@SingleRunner(key = "shared", allowSharedKey = true)
		void two() {
			this.calls.add("two");
		}

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

	}

}
