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
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the {@link AdvisoryLocksEndpoint} of applications with Spring Security.
 */
@Tag("slow")
class EndpointSecurityTests {

	private static final String[] USER = { "spring.security.user.name=anna", "spring.security.user.password=secret",
			"spring.security.user.roles=OPS" };

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks";

	private static final String UNRESTRICTED = "management.endpoint.advisorylocks.access=unrestricted";

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.startSecured(Jobs.class, with(EXPOSED, UNRESTRICTED));
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void endpointAsksWhoIsThere() {
		assertThat(application.get(EndpointAnswer.ALL).statusCode()).isEqualTo(401);
		assertThat(application.get(EndpointAnswer.ALL + "/report").statusCode()).isEqualTo(401);
		assertThat(read(application, EndpointAnswer.ALL).statusCode()).isEqualTo(200);
	}

	@Test
	void writeWithoutTokenAgainstForgeryIsForbidden() {
		assertThat(act(application, "report", "paused").statusCode()).isIn(401, 403);
		assertThat(application.setState("report", "paused").statusCode()).isIn(401, 403);
		assertThat(TestPostgres.query("SELECT key FROM operated_pause WHERE paused_at IS NOT NULL")).isEmpty();
	}

	@Test
	void endpointThatIsNotExposedIsNotThereForUserEither() {
		try (OperatedApplication other = OperatedApplication.startSecured(Jobs.class, with(UNRESTRICTED))) {
			assertThat(read(other, EndpointAnswer.ALL).statusCode()).isEqualTo(404);
			assertThat(other.get(EndpointAnswer.ALL).statusCode()).isEqualTo(401);
		}
	}

	@Test
	void nameOfUserStandsInPauseAndAuditEvent() {
		try (OperatedApplication other = OperatedApplication.startSecured(ScriptedJobs.class,
				with(EXPOSED, UNRESTRICTED))) {
			assertThat(other.setState("report", "paused").statusCode()).isEqualTo(401);
			assertThat(act(other, "report", "paused").body()).contains("\"by\":\"anna\"");
			assertThat(TestPostgres.query("SELECT paused_by FROM operated_pause WHERE key = 'report'"))
				.containsExactly("anna");
			assertThat(act(other, "report", "resumed").statusCode()).isEqualTo(200);
			assertThat(other.bean(InMemoryAuditEventRepository.class).find("anna", null, null))
				.extracting(AuditEvent::getType)
				.contains("ADVISORY_LOCK_PAUSED", "ADVISORY_LOCK_RESUMED");
		}
	}

	@ParameterizedTest
	@CsvSource({ "'', true", "OPS, true", "ADMIN, false" })
	void messagesAreShownToUsersWithRole(String role, boolean shown) {
		try (OperatedApplication other = OperatedApplication.startSecured(ScriptedJobs.class,
				with(EXPOSED, UNRESTRICTED, "management.endpoint.advisorylocks.show-values=when-authorized",
						"management.endpoint.advisorylocks.roles=" + role))) {
			assertThat(act(other, "broken", "running").body().contains("password is 1234")).isEqualTo(shown);
			assertThat(read(other, EndpointAnswer.ALL + "/broken").body().contains("password is 1234"))
				.isEqualTo(shown);
		}
	}

	private static String[] with(String... properties) {
		List<String> all = new ArrayList<>(List.of(USER));
		all.addAll(List.of(properties));
		return all.toArray(String[]::new);
	}

	private static HttpResponse<String> read(OperatedApplication application, String path) {
		return application.send(asAnna(application.request(path)).GET().build());
	}

	private static HttpResponse<String> act(OperatedApplication application, String key, String state) {
		return application
			.send(asAnna(application.request(EndpointAnswer.ALL + "/" + key)).header("Content-Type", "application/json")
				.POST(BodyPublishers.ofString("{\"state\":\"" + state + "\"}"))
				.build());
	}

	private static HttpRequest.Builder asAnna(HttpRequest.Builder request) {
		return request.header("Authorization",
				"Basic " + Base64.getEncoder().encodeToString("anna:secret".getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

		@SingleRunner("broken")
		void broken() {
			throw new IllegalStateException("password is 1234");
		}

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

	}

	/**
	 * The same in an application whose users are scripts, which send no cookies.
	 */
	static class ScriptedJobs extends Jobs {

		@Bean
		SecurityFilterChain scripts(HttpSecurity http) throws Exception {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf((csrf) -> csrf.disable())
				.build();
		}

	}

}
