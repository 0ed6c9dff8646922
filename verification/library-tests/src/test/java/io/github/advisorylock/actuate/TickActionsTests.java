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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link OperatorActions} with ticks that failed, and with all jobs at once.
 */
@Tag("gate")
class TickActionsTests {

	private static final String[] PROPERTIES = {
			"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
			"management.endpoint.advisorylocks.access=unrestricted",
			"management.endpoint.advisorylocks.show-values=always" };

	private OperatedApplication application;

	@BeforeEach
	void start() {
		OperatedApplication.dropTables();
		this.application = OperatedApplication.start(Jobs.class, PROPERTIES);
	}

	@AfterEach
	void stop() {
		this.application.close();
	}

	@Test
	void tickThatFailedIsTriedAgainWithoutItsWaitAndCompletedOnce() {
		fail("report", jobs()::report);
		assertThat(job("report")).extractingByKey("openTick")
			.asString()
			.contains("attempts=1", "givenUp=true")
			.doesNotContain("retryAt");
		assertThat(retry("report")).containsEntry("state", "retried").containsEntry("outcome", "FAILED");
		assertThat(job("report")).extractingByKey("openTick")
			.asString()
			.contains("attempts=2", "givenUp=true")
			.doesNotContain("retryAt");
		jobs().repair();
		assertThat(retry("report")).containsEntry("outcome", "EXECUTED");
		assertThat(job("report")).containsKey("lastTick").doesNotContainKey("openTick");
		assertRefused("report", "none that was tried and not completed");
		assertThat(jobs().runs()).isEqualTo(3);
		assertThat(TestPostgres.query("SELECT concat_ws(' ', attempt, outcome) FROM operated_run ORDER BY id"))
			.containsExactly("1 FAILED", "2 FAILED", "3 EXECUTED");
		assertThat(this.application.bean(InMemoryAuditEventRepository.class).find(null, null, "ADVISORY_LOCK_RETRIED"))
			.extracting(AuditEvent::getData)
			.containsExactly(Map.of("namespace", "shop", "key", "report"),
					Map.of("namespace", "shop", "key", "report"));
	}

	@Test
	void tickThatNobodyMakesUpForIsTriedAgainHereOnly() {
		fail("once", jobs()::once);
		assertThat(job("once")).extractingByKey("openTick").asString().doesNotContain("retryAt");
		try (OperatedApplication other = OperatedApplication.start(Nothing.class, PROPERTIES)) {
			assertThat(EndpointAnswer.job(other, "once")).extractingByKey("actions")
				.asString()
				.doesNotContain("retried");
			assertThat(other.setState("once", "retried").statusCode()).isEqualTo(400);
		}
		jobs().repair();
		assertThat(retry("once")).containsEntry("outcome", "EXECUTED");
	}

	@Test
	void instanceWithoutTheMethodLeavesTheTickToOneThatMakesUpForIt() {
		try (OperatedApplication other = OperatedApplication.start(Nothing.class, PROPERTIES)) {
			fail("report", jobs()::report);
			jobs().repair();
			// in most cases before this instance has looked at the wait, which takes half
			// a minute
			HttpResponse<String> answer = other.setState("report", "retried");
			assertThat(answer.statusCode()).isEqualTo(200);
			assertThat(EndpointAnswer.of(answer).<Map<String, Object>>read("$")).containsEntry("state", "retried")
				.doesNotContainKey("outcome");
			Awaitility.await()
				.atMost(Duration.ofMinutes(2))
				.untilAsserted(() -> assertThat(EndpointAnswer.job(other, "report")).containsKey("lastTick"));
		}
		assertThat(jobs().runs()).isEqualTo(2);
	}

	@Test
	void cronJobHasANextRunWhileItsPlannedOneIsUnderWay() {
		try (OperatedApplication other = OperatedApplication.start(Nothing.class, PROPERTIES)) {
			TestPostgres.execute("UPDATE operated_job SET next_at = now() - INTERVAL '1 second' WHERE key = 'report'");
			assertThat(EndpointAnswer.job(other, "report").get("next")).asString().endsWith("-01-01T03:00:00Z");
		}
	}

	@Test
	void answerThatThereIsNoSuchJobHasAReason() {
		HttpResponse<String> answer = this.application.get(EndpointAnswer.ALL + "/unknown");
		assertThat(answer.statusCode()).isEqualTo(404);
		assertThat(answer.body()).contains("There is no such job");
	}

	@Test
	void tickOfAJobThatRunsOrIsPausedIsNotTriedAgain() {
		fail("report", jobs()::report);
		try (ForeignSession session = ForeignSession.holding(AdvisoryLockKey.of("shop", "report"))) {
			assertThat(job("report")).as("a run by hand: the tick is given up").doesNotContainKey("attempt");
			TestPostgres.execute("UPDATE operated_job SET given_up = false, retry_at = NULL WHERE key = 'report'");
			assertThat(job("report")).as("the run after the one that failed").containsEntry("attempt", 2);
			TestPostgres.execute("UPDATE operated_job SET given_up = true WHERE key = 'report'");
			assertRefused("report", "or it runs");
		}
		this.application.setState("report", "paused");
		assertRefused("report", "or is paused");
		this.application.setState("report", "resumed");
		assertThat(retry("report")).containsEntry("outcome", "FAILED");
		assertRefused("plain", "none that was tried and not completed");
	}

	@Test
	void allJobsArePausedAndResumedOnEveryInstance() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, PROPERTIES)) {
			assertThat(all(other, "{\"state\":\"paused\",\"reason\":\"no paper\"}"))
				.isEqualTo(Map.of("namespace", "shop", "state", "paused", "by", "unauthenticated", "jobs", 3));
			jobs().plain();
			assertThat(jobs().runs()).isZero();
			assertThat(EndpointAnswer.all(other).<Integer>read("$.goOn")).isZero();
			try (ForeignSession session = ForeignSession.holding(AdvisoryLockKey.of("shop", "plain"))) {
				assertThat(EndpointAnswer.all(other).<Integer>read("$.goOn")).isEqualTo(1);
			}
			assertThat(job("plain")).containsEntry("state", "paused")
				.extractingByKey("paused")
				.asString()
				.contains("reason=no paper", "by=unauthenticated", "all=true");
			assertThat(EndpointAnswer.of(this.application.get(EndpointAnswer.ALL + "?state=paused"))
				.<Integer>read("$.matching")).isEqualTo(3);
			assertThat(all(this.application, "{\"state\":\"resumed\"}")).containsEntry("jobs", 3);
			other.bean(Jobs.class).plain();
			assertThat(other.bean(Jobs.class).runs()).isEqualTo(1);
			HttpResponse<String> again = post(other, "{\"state\":\"resumed\"}");
			assertThat(again.statusCode()).isEqualTo(400);
			assertThat(again.body()).contains("they were not all paused together");
			assertThat(post(other, "{\"state\":\"resumed\",\"reason\":\"paper\"}").statusCode()).isEqualTo(400);
			assertThat(other.bean(InMemoryAuditEventRepository.class).find(null, null, "ADVISORY_LOCK_ALL_PAUSED"))
				.extracting(AuditEvent::getData)
				.containsExactly(Map.of("namespace", "shop"));
		}
	}

	private Jobs jobs() {
		return this.application.bean(Jobs.class);
	}

	/**
	 * Have a tick fail that nobody tries again.
	 */
	private void fail(String key, Runnable job) {
		assertThatIllegalStateException().isThrownBy(job::run).withMessage("expected");
		assertThat(job(key)).extractingByKey("actions").asString().contains("retried");
	}

	private Map<String, Object> job(String key) {
		return EndpointAnswer.job(this.application, key);
	}

	private Map<String, Object> retry(String key) {
		int runs = runs(key).size();
		HttpResponse<String> answer = this.application.setState(key, "retried");
		assertThat(answer.statusCode()).isEqualTo(200);
		Map<String, Object> told = EndpointAnswer.of(answer).read("$");
		if (told.containsKey("outcome") && !List.of("TOO_SOON", "BUSY").contains(told.get("outcome"))) {
			return told;
		}
		// the instance that looks at open ticks is at the same attempt, or has ended it
		Awaitility.await()
			.until(() -> runs(key), (after) -> after.size() > runs && after.get(0).get("outcome") != null);
		told.put("outcome", runs(key).get(0).get("outcome"));
		return told;
	}

	private List<Map<String, Object>> runs(String key) {
		return EndpointAnswer.of(this.application.get(EndpointAnswer.ALL + "/" + key)).read("$.runs");
	}

	private void assertRefused(String key, String reason) {
		assertThat(job(key)).extractingByKey("actions").asString().doesNotContain("retried");
		HttpResponse<String> answer = this.application.setState(key, "retried");
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body()).contains(reason);
	}

	private static Map<String, Object> all(OperatedApplication application, String body) {
		HttpResponse<String> answer = post(application, body);
		assertThat(answer.statusCode()).isEqualTo(200);
		return EndpointAnswer.of(answer).read("$");
	}

	private static HttpResponse<String> post(OperatedApplication application, String body) {
		return application.post("actuator/advisorylocks", "application/json", body);
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		private volatile boolean broken = true;

		int runs() {
			return this.runs.get();
		}

		void repair() {
			this.broken = false;
		}

		@Scheduled(cron = "0 0 3 1 1 *", zone = "UTC")
		@SingleRunner(key = "report", once = Once.PER_TICK, catchUp = "400d")
		void report() {
			work();
		}

		@Scheduled(cron = "0 0 3 1 1 *", zone = "UTC")
		@SingleRunner(key = "once", once = Once.PER_TICK)
		void once() {
			work();
		}

		private void work() {
			this.runs.incrementAndGet();
			if (this.broken) {
				throw new IllegalStateException("expected");
			}
		}

		@SingleRunner("plain")
		void plain() {
			this.runs.incrementAndGet();
		}

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

	}

	/**
	 * No method at all.
	 */
	static class Nothing {

	}

}
