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

import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.ledger.JobRescheduledEvent;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OperatorActions} that give a job another schedule.
 */
@Tag("gate")
class RescheduleActionsTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted",
			"management.endpoint.advisorylocks.show-values=always" };

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, PROPERTIES);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		TestPostgres.execute("DELETE FROM operated_schedule");
		application.bean(PostgresAdvisoryLockLedger.class).rescheduled();
	}

	@Test
	void anotherScheduleIsShownBesideThatOfTheAnnotationUntilItIsTakenBack() {
		HttpResponse<String> answer = post("report",
				"{\"state\":\"rescheduled\",\"cron\":\"0 0 4 * * *\",\"zone\":\"Europe/Berlin\",\"reason\":\"backup\"}");
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
		Instant from = Instant.parse(EndpointAnswer.of(answer).read("$.effectiveAt"));
		assertThat(Duration.between(Instant.now(), from)).isBetween(Duration.ofSeconds(25), Duration.ofSeconds(35));
		Map<String, Object> job = EndpointAnswer.job(application, "report");
		assertThat(job.get("schedules")).asString().contains("0 0 3 1 1 *", "UTC");
		assertThat(job.get("rescheduled")).asString()
			.contains("cron=0 0 4 * * *", "zone=Europe/Berlin", "effectiveAt=" + from, "by=unauthenticated",
					"reason=backup", "since=");
		assertThat(Instant.parse(job.get("next").toString())).isBetween(from, from.plus(Duration.ofHours(25)));
		assertThat(job.get("nextHere")).isEqualTo(job.get("next"));
		assertThat(application.bean(Jobs.class).events()).singleElement()
			.isEqualTo(
					new JobRescheduledEvent("shop", "report", "0 0 4 * * *", "Europe/Berlin", from, "unauthenticated"));
		assertThat(job.get("problems")).asString().doesNotContain("ANNOTATION_CHANGED");
		TestPostgres.execute("UPDATE operated_schedule SET schedules = '[]'");
		assertThat(EndpointAnswer.job(application, "report").get("problems")).asString().contains("ANNOTATION_CHANGED");
		assertThat(post("report", "{\"state\":\"rescheduled\"}").statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.job(application, "report").get("next")).asString().endsWith("-01-01T03:00:00Z");
		TestPostgres.execute("UPDATE operated_schedule SET effective_at = now()");
		assertThat(EndpointAnswer.job(application, "report")).doesNotContainKey("rescheduled");
	}

	@Test
	void intervalIsShown() {
		HttpResponse<String> answer = post("rate", "{\"state\":\"rescheduled\",\"interval\":\"10m\"}");
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
		assertThat(EndpointAnswer.job(application, "rate").get("rescheduled")).asString().contains("interval=PT10M");
	}

	@Test
	void nextTimesAreToldBeforeTheScheduleIsChanged() {
		List<String> next = preview("report", "cron=" + encode("0 0 4 1 2 *") + "&zone=UTC").read("$.next");
		assertThat(next).hasSize(5).allMatch((time) -> time.endsWith("-02-01T04:00:00Z")).doesNotHaveDuplicates();
		assertThat(preview("report", "cron=").<List<String>>read("$.next")).hasSize(5)
			.allMatch((time) -> time.endsWith("-01-01T03:00:00Z"));
		Instant earliest = Instant.now().plusSeconds(29);
		assertThat(preview("report", "cron=" + encode("* * * * * *")).<List<String>>read("$.next")).hasSize(5)
			.allSatisfy((time) -> assertThat(Instant.parse(time)).isAfter(earliest));
		List<String> calls = preview("rate", "interval=PT10M").read("$.next");
		assertThat(Duration.between(Instant.parse(calls.get(0)), Instant.parse(calls.get(1))))
			.isEqualTo(Duration.ofMinutes(10));
		assertThat(preview("report", "cron=x").status()).isEqualTo(400);
		assertThat(preview("nobody", "cron=x").status()).isEqualTo(404);
		assertThat(TestPostgres.query("SELECT count(*) FROM operated_schedule")).containsExactly("0");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = { "report | \"cron\":\"soon\" | 400 | 'cron'",
			"report | \"cron\":\"\" | 400 | 'cron'", "report | \"cron\":\"* * * * * *\\u0000\" | 400 | 'cron'",
			"rate | \"interval\":\"PT2562047788015215H\" | 400 | 'interval'",
			"rate | \"interval\":\"-PT2562047788015215H\" | 400 | 'interval'",
			"report | \"cron\":\"0 0 0 31 2 *\" | 400 | no time that is to come",
			"report | \"cron\":\"* * * * * *\",\"zone\":\"Mars\" | 400 | 'zone'",
			"report | \"zone\":\"UTC\" | 400 | 'zone'",
			"report | \"cron\":\"* * * * * *\",\"interval\":\"PT1M\" | 400 | both",
			"report | \"interval\":\"PT1M\" | 400 | 'interval'", "rate | \"cron\":\"* * * * * *\" | 400 | 'cron'",
			"delay | \"cron\":\"* * * * * *\" | 400 | 'cron'", "rate | \"interval\":\"10\" | 400 | 'interval'",
			"rate | \"interval\":\"PT0S\" | 400 | 'interval'", "rate | \"interval\":\"-PT1M\" | 400 | 'interval'",
			"rate | \"interval\":\"soon\" | 400 | 'interval'", "none | \"interval\":\"PT1M\" | 409 | no schedule",
			"off | \"cron\":\"* * * * * *\" | 409 | no schedule",
			"several | \"cron\":\"* * * * * *\" | 409 | 2 schedules",
			"#{#id} | \"cron\":\"* * * * * *\" | 409 | not recorded",
			"nobody | \"cron\":\"* * * * * *\" | 404 | no such job" })
	void whatCanNotBeAScheduleIsRefused(String key, String schedule, int status, String reason) {
		HttpResponse<String> answer = post(encode(key), "{\"state\":\"rescheduled\"," + schedule + "}");
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
		assertThat(answer.body()).contains(reason);
		assertThat(TestPostgres.query("SELECT count(*) FROM operated_schedule")).containsExactly("0");
	}

	@Test
	void scheduleIsForThisActOnly() {
		assertThat(post("report", "{\"state\":\"paused\",\"cron\":\"* * * * * *\"}").statusCode()).isEqualTo(400);
	}

	private HttpResponse<String> post(String key, String body) {
		return application.post(EndpointAnswer.ALL + "/" + key, "application/json", body);
	}

	private EndpointAnswer preview(String key, String query) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key + "?" + query));
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
	}

	@Configuration
	@EnableScheduling
	static class Jobs {

		private final Queue<JobRescheduledEvent> events = new ConcurrentLinkedQueue<>();

		@SingleRunner("report")
		@Scheduled(cron = "0 0 3 1 1 *", zone = "UTC")
		void report() {
		}

		@SingleRunner("rate")
		@Scheduled(fixedRateString = "PT12H")
		void rate() {
		}

		@SingleRunner("delay")
		@Scheduled(fixedDelayString = "PT12H")
		void delay() {
		}

		@SingleRunner("none")
		void none() {
		}

		@SingleRunner("off")
		@Scheduled(cron = "-")
		void off() {
		}

		@SingleRunner("several")
		@Scheduled(cron = "0 0 3 1 1 *")
		@Scheduled(cron = "0 0 4 1 1 *")
		void several() {
		}

		@SingleRunner("#{#id}")
		void byId(String id) {
		}

		Queue<JobRescheduledEvent> events() {
			return this.events;
		}

		@EventListener
		void rescheduled(JobRescheduledEvent event) {
			this.events.add(event);
		}

	}

}
