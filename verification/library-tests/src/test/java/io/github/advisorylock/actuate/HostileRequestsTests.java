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

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.SecurityFilterChain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for keys and requests that want the {@link AdvisoryLocksEndpoint}, or who looks
 * at its page, to do something else than what was asked for.
 */
@Tag("slow")
class HostileRequestsTests {

	private static final String[] PROPERTIES = {
			"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage,shutdown",
			"management.endpoint.shutdown.access=unrestricted",
			"management.endpoint.advisorylocks.access=unrestricted" };

	private static final String PAGE = "actuator/advisorylockspage";

	private static OperatedApplication open;

	private static OperatedApplication secured;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		open = OperatedApplication.start(Jobs.class, PROPERTIES);
		secured = OperatedApplication.startSecured(SecuredJobs.class,
				Stream
					.concat(Stream.of(PROPERTIES),
							Stream.of("spring.security.user.name=anna", "spring.security.user.password=secret"))
					.toArray(String[]::new));
	}

	@AfterAll
	static void stop() {
		open.close();
		secured.close();
	}

	@BeforeEach
	void forget() {
		TestPostgres.execute("DELETE FROM operated_run");
		TestPostgres.execute("DELETE FROM operated_job WHERE key NOT IN ('leaky', 'other', 'invoice')");
		TestPostgres.execute("DELETE FROM operated_pause");
	}

	static Stream<String> hostileKeys() {
		return Stream.of("../../shutdown", "..", ".", "../shutdown", "a/../../../shutdown", "a/./b", "a//b", "/", "/a",
				"a/", "a;b=c", ";jsessionid=1", "100%", "%2e%2e%2fshutdown", "%00", "a\\b", "..\\..\\shutdown",
				"?state=x", "#top", "javascript:alert(1)", "//example.com/", "~leaky", "~c2hvcC9vdGhlcg", "~~", "a b",
				"\t\n\r", "\u202egnp.exe", "\u2028line", "\ud83c\udfe2", "\"><script>alert(1)</script>",
				"x".repeat(511), "\u4e2d".repeat(511));
	}

	@ParameterizedTest
	@MethodSource("hostileKeys")
	void jobIsReadAndActedOnByItsIdWhateverItsKey(String key) {
		open.bean(AdvisoryLockOperations.class)
			.execute(LockRequest.of("k" + key).minInterval(Duration.ofMillis(1)), (lock) -> null);
		open.bean(AdvisoryLockOperations.class)
			.execute(LockRequest.of(key.isBlank() ? "blank" + key : key).minInterval(Duration.ofMillis(1)),
					(lock) -> null);
		for (OperatedApplication application : List.of(open, secured)) {
			for (String listed : List.of("k" + key, key.isBlank() ? "blank" + key : key)) {
				String id = id(application, listed);
				assertRead(application, listed, id);
				assertPausedAndResumed(application, listed, id);
			}
		}
	}

	private static void assertRead(OperatedApplication application, String key, String id) {
		assertThat(id).matches("~[A-Za-z0-9_-]+");
		EndpointAnswer job = EndpointAnswer.of(send(application, request(application, id).GET()));
		assertThat(job.status()).isEqualTo(200);
		assertThat(job.<String>read("$.job.key")).isEqualTo(key);
		assertThat(job.<List<Object>>read("$.runs")).hasSize(1);
	}

	private static void assertPausedAndResumed(OperatedApplication application, String key, String id) {
		assertThat(act(application, id, "{\"state\":\"paused\"}").statusCode()).isEqualTo(200);
		assertThat(paused()).containsExactly("shop/" + key);
		assertThat(act(application, id, "{\"state\":\"resumed\"}").statusCode()).isEqualTo(200);
		assertThat(paused()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "~", "~~", "~!", "~c2hvcA", "~c2hvcC9vdGhlcg==", "~c2hvcC9ub3RoaW5n", "~~AAAA", "~leaky" })
	void idOfNoJobIsNotFound(String id) {
		assertThat(act(open, id, "{\"state\":\"paused\"}").statusCode()).isEqualTo(404);
		assertThat(send(open, request(open, id).GET()).statusCode()).isEqualTo(404);
		assertThat(paused()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"state\":\"paused\",\"key\":\"other\"}", "{\"state\":\"paused\",\"key\":[\"other\"]}",
			"{\"key\":\"other\",\"state\":\"paused\"}", "{\"state\":\"paused\",\"key\":null}",
			"{\"state\":\"paused\",\"securityContext\":\"root\"}", "{\"state\":\"paused\",\"x\":1}",
			"{\"state\":[\"paused\"]}", "{\"state\":\"paused\",\"\":\"\"}" })
	void bodyCannotNameAnotherJobOrAnythingUnknown(String body) {
		for (OperatedApplication application : List.of(open, secured)) {
			HttpResponse<String> answer = act(application, "leaky", body);
			assertThat(answer.statusCode()).isEqualTo(400);
			assertThat(EndpointAnswer.of(answer).<String>read("$.error")).isNotBlank();
			assertThat(paused()).isEmpty();
		}
	}

	@Test
	void queryCannotNameAnotherJobEither() {
		assertThat(act(open, "leaky?key=other", "{\"state\":\"paused\"}").statusCode()).isEqualTo(400);
		assertThat(act(open, "leaky?x=y", "{\"state\":\"paused\"}").statusCode()).isEqualTo(400);
		assertThat(send(open, request(open, "leaky?key=other").GET()).statusCode()).isEqualTo(400);
		assertThat(send(open, open.request(EndpointAnswer.ALL + "/leaky?state=paused").POST(BodyPublishers.noBody()))
			.statusCode()).isIn(400, 415);
		assertThat(paused()).isEmpty();
	}

	@Test
	void unknownStateIsEchoedBounded() {
		HttpResponse<String> answer = act(open, "leaky", "{\"state\":\"\u202e" + "x".repeat(1_000_000) + "\"}");
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body()).hasSizeLessThan(500).contains("Unknown state").doesNotContain("\u202e");
		answer = act(open, "leaky", "{\"state\":\"paused\",\"" + "x".repeat(10_000) + "\":1}");
		assertThat(answer.body()).hasSizeLessThan(500).contains("Unknown field");
	}

	@Test
	void pageKeepsItselfOutOfCachesAndFrames() {
		for (OperatedApplication application : List.of(open, secured)) {
			HttpResponse<String> page = send(application, asAnna(application.request(PAGE)).GET());
			assertThat(page.headers().firstValue("Cache-Control").orElse("")).contains("no-store");
			assertThat(page.headers().firstValue("X-Frame-Options")).hasValue("DENY");
			assertThat(page.headers().firstValue("Content-Security-Policy")).hasValue("frame-ancestors 'none'");
		}
	}

	@Test
	void pageOfSeparateManagementServerKeepsItselfOutOfFramesToo() {
		try (OperatedApplication application = OperatedApplication.start(Jobs.class, PROPERTIES[0], PROPERTIES[2],
				"management.server.port=0")) {
			String port = application.context().getEnvironment().getProperty("local.management.port");
			HttpResponse<String> page = application
				.send(application.request("http://127.0.0.1:" + port + "/" + PAGE).GET().build());
			assertThat(page.headers().firstValue("X-Frame-Options")).hasValue("DENY");
		}
	}

	@Test
	void writeOfWhoIsNotLoggedInIsAuditedAsSuch() {
		InMemoryAuditEventRepository events = open.bean(InMemoryAuditEventRepository.class);
		act(open, "leaky", "{\"state\":\"paused\"}");
		assertThat(events.find(null, null, "ADVISORY_LOCK_PAUSED")).last()
			.satisfies((event) -> assertThat(event.getPrincipal()).isEqualTo("unauthenticated"));
		assertThat(TestPostgres.query("SELECT paused_by FROM operated_pause WHERE key = 'leaky'"))
			.containsExactly("unauthenticated");
	}

	private static List<String> paused() {
		return TestPostgres
			.query("SELECT namespace || '/' || key FROM operated_pause WHERE paused_at IS NOT NULL ORDER BY 1");
	}

	private static String id(OperatedApplication application, String key) {
		HttpRequest.Builder request = asAnna(application.request(EndpointAnswer.ALL + "?size=1000"));
		Map<String, Object> job = EndpointAnswer.of(send(application, request.GET())).job(key);
		return new JobId(String.valueOf(job.get("namespace")), key).text();
	}

	private static HttpResponse<String> act(OperatedApplication application, String address, String body) {
		return send(application, request(application, address).header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(body)));
	}

	private static HttpRequest.Builder request(OperatedApplication application, String address) {
		return asAnna(application.request(EndpointAnswer.ALL + "/" + address));
	}

	private static HttpRequest.Builder asAnna(HttpRequest.Builder request) {
		return request.header("Authorization",
				"Basic " + Base64.getEncoder().encodeToString("anna:secret".getBytes(StandardCharsets.UTF_8)));
	}

	private static HttpResponse<String> send(OperatedApplication application, HttpRequest.Builder request) {
		return application.send(request.build());
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("leaky")
		void leaky() {
		}

		@SingleRunner("other")
		void other() {
		}

		@SingleRunner(key = "invoice:#{#id}", minInterval = "1ms")
		void pay(String id) {
		}

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

	}

	/**
	 * The same in an application whose users are scripts, which send no cookies.
	 */
	static class SecuredJobs extends Jobs {

		/**
		 * One that takes no time for each request.
		 */
		@Bean
		PasswordEncoder passwordEncoder() {
			return new PasswordEncoder() {

				@Override
				public String encode(CharSequence rawPassword) {
					return rawPassword.toString();
				}

				@Override
				public boolean matches(CharSequence rawPassword, String encodedPassword) {
					return encodedPassword.contentEquals(rawPassword);
				}

			};
		}

		@Bean
		SecurityFilterChain scripts(HttpSecurity http) throws Exception {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf((csrf) -> csrf.disable())
				.build();
		}

	}

}
