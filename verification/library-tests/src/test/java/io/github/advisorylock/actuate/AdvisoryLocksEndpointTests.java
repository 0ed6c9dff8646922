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

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import javax.management.MBeanOperationInfo;
import javax.management.ObjectName;

import io.github.advisorylock.annotation.SingleRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLocksEndpoint} and its
 * {@link AdvisoryLocksEndpointWebExtension}.
 */
class AdvisoryLocksEndpointTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks";

	private static final String UNRESTRICTED = "management.endpoint.advisorylocks.access=unrestricted";

	private static final String JSON = "application/json";

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, EXPOSED, UNRESTRICTED);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void jobIsRunPausedAndResumed() {
		assertThat(application.runNow("nightly-report").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(application.setState("nightly-report", "paused").statusCode()).isEqualTo(200);
		assertThat(application.runNow("nightly-report").body()).contains("\"outcome\":\"PAUSED\"");
		assertThat(EndpointAnswer.job(application, "nightly-report")).containsEntry("problems", List.of("PAUSED"));
		assertThat(application.setState("nightly-report", "resumed").statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.job(application, "nightly-report")).containsEntry("problems", List.of());
	}

	@Test
	void unknownKeyIsNotFound() {
		assertThat(application.get(EndpointAnswer.ALL + "/unknown").statusCode()).isEqualTo(404);
		assertThat(application.get(EndpointAnswer.ALL + "/billing/nightly-report").statusCode()).isEqualTo(404);
		assertThat(application.setState("unknown", "paused").statusCode()).isEqualTo(404);
		assertThat(application.setState("unknown", "cancelled").statusCode()).isEqualTo(404);
		assertThat(application.setState("nightly-report", "cancelled").statusCode()).isEqualTo(409);
	}

	@Test
	void unknownStateIsRefusedWithReason() {
		HttpResponse<String> answer = application.setState("nightly-report", "stopped");
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body())
			.isEqualTo("{\"error\":\"Unknown state 'stopped': choose 'running', 'retried', 'paused', 'resumed', "
					+ "'rescheduled', 'forgotten', 'backfilled' or 'cancelled'\"}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{}", "{\"state\":null}", "{\"status\":\"paused\"}", "{\"state\":{\"a\":1}}", "[]",
			"paused", "{\"state\":[\"paused\",\"resumed\"]}", "{\"state\":\"\"}", "{\"state\":\"PAUSED\"}" })
	void bodyWithoutStateIsRefused(String body) {
		assertThat(application.post(EndpointAnswer.ALL + "/nightly-report", JSON, body).statusCode()).isEqualTo(400);
		assertThat(EndpointAnswer.job(application, "nightly-report")).doesNotContainKey("paused");
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b" })
	void bodyThatFormOfAnotherSiteCanSendIsRefused(String contentType) {
		HttpResponse<String> answer = application.post(EndpointAnswer.ALL + "/nightly-report", contentType,
				"{\"state\":\"paused\"}");
		assertThat(answer.statusCode()).isEqualTo(415);
		assertThat(EndpointAnswer.job(application, "nightly-report")).doesNotContainKey("paused");
	}

	@Test
	void bodyWithoutContentTypeIsRefused() {
		HttpResponse<String> answer = application
			.send(application.request(EndpointAnswer.ALL + "/nightly-report?state=paused")
				.POST(BodyPublishers.ofString("{\"state\":\"paused\"}"))
				.build());
		assertThat(answer.statusCode()).isIn(400, 415);
		assertThat(EndpointAnswer.job(application, "nightly-report")).doesNotContainKey("paused");
	}

	@Test
	void writeWithoutKeyIsForPausesOnly() {
		HttpResponse<String> answer = application.post(EndpointAnswer.ALL, JSON, "{\"state\":\"running\"}");
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body()).contains("choose 'paused' or 'resumed'");
		assertThat(application.post(EndpointAnswer.ALL, JSON, "{\"state\":\"resumed\",\"others\":1}").body())
			.contains("only 'state', 'instance', 'reason' and 'transactionManager' are known");
	}

	@Test
	void endpointIsReadOnlyUnlessAccessIsGiven() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, EXPOSED)) {
			assertThat(other.get(EndpointAnswer.ALL + "/nightly-report").statusCode()).isEqualTo(200);
			assertThat(other.setState("nightly-report", "paused").statusCode()).isEqualTo(405);
			assertThat(EndpointAnswer.job(other, "nightly-report")).doesNotContainKey("paused");
		}
	}

	@Test
	void endpointWithoutAccessIsNotThere() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, EXPOSED,
				"management.endpoint.advisorylocks.access=none")) {
			assertThat(other.get(EndpointAnswer.ALL).statusCode()).isEqualTo(404);
			assertThat(other.setState("nightly-report", "paused").statusCode()).isEqualTo(404);
		}
	}

	@Test
	void endpointThatIsNotExposedIsNotThere() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, UNRESTRICTED)) {
			assertThat(other.get(EndpointAnswer.ALL).statusCode()).isEqualTo(404);
			assertThat(other.context().getBeansOfType(AdvisoryLocksEndpoint.class)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "with/slash", "with space", "100%", "schlüssel-✓", "<script>alert(1)</script>",
			"payment:#{#id}", "semi;colon", "quo\"te", "question?mark", "plus+sign" })
	void keyIsFoundWhateverItsText(String key) {
		HttpResponse<String> answer = application.get(EndpointAnswer.ALL + "/" + encode(key));
		assertThat(answer.statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.of(answer).<String>read("$.job.key")).isEqualTo(key);
		assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).contains("json");
	}

	@Test
	void keyIsFoundWithItsNamespace() {
		for (String path : List.of("nightly-report", "with/slash")) {
			assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + path + "?namespace=shop"))
				.<String>read("$.job.key")).isEqualTo(path);
			assertThat(application.get(EndpointAnswer.ALL + "/" + path + "?namespace=billing").statusCode())
				.isEqualTo(404);
			assertThat(application.get(EndpointAnswer.ALL + "/shop/" + path).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void textOfKeyStaysDataInJson() {
		assertThat(EndpointAnswer.job(application, "<script>alert(1)</script>")).containsEntry("state", "idle");
		HttpResponse<String> answer = application.setState(encode("<script>alert(1)</script>"), "<b>");
		assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).contains("json");
	}

	@Test
	void onlyReadsCanBeDoneByJmx() throws Exception {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, "spring.jmx.enabled=true", UNRESTRICTED,
				"management.endpoints.jmx.exposure.include=advisorylocks")) {
			ObjectName name = new ObjectName("org.springframework.boot:type=Endpoint,name=Advisorylocks");
			assertThat(ManagementFactory.getPlatformMBeanServer().getMBeanInfo(name).getOperations())
				.extracting(MBeanOperationInfo::getName)
				.containsExactlyInAnyOrder("advisoryLocks", "job");
			assertThat(ManagementFactory.getPlatformMBeanServer()
				.invoke(name, "advisoryLocks", new Object[0], new String[0])).asString().contains("nightly-report");
		}
	}

	@Test
	void answersAreHintedForNativeImages() {
		RuntimeHints hints = new RuntimeHints();
		new AdvisoryLocksEndpointWebExtension.Hints().registerHints(hints, getClass().getClassLoader());
		assertThat(Stream.of(AdvisoryLocksDescriptor.class.getDeclaredClasses()).filter(Class::isRecord)).isNotEmpty()
			.allSatisfy((type) -> assertThat(
					RuntimeHintsPredicates.reflection().onMethodInvocation(type.getRecordComponents()[0].getAccessor()))
				.accepts(hints));
	}

	private static String encode(String key) {
		return Stream.of(key.split("/"))
			.map((part) -> URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20"))
			.reduce((left, right) -> left + "/" + right)
			.map((path) -> URI.create(path).toString())
			.orElseThrow();
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
		@SingleRunner("nightly-report")
		void report() {
		}

		@SingleRunner("payment:#{#id}")
		void pay(String id) {
		}

		@SingleRunner("with/slash")
		void slash() {
		}

		@SingleRunner("with space")
		void space() {
		}

		@SingleRunner("100%")
		void percent() {
		}

		@SingleRunner("schlüssel-✓")
		void unicode() {
		}

		@SingleRunner("<script>alert(1)</script>")
		void script() {
		}

		@SingleRunner("semi;colon")
		void semicolon() {
		}

		@SingleRunner("quo\"te")
		void quote() {
		}

		@SingleRunner("question?mark")
		void question() {
		}

		@SingleRunner("plus+sign")
		void plus() {
		}

	}

}
