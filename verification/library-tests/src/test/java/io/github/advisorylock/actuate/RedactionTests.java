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

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Redaction}.
 */
class RedactionTests {

	private static final String SHOW = "management.endpoint.advisorylocks.show-values=";

	@BeforeEach
	void dropTables() {
		OperatedApplication.dropTables();
	}

	@Test
	void valuesAreShownOnlyToWhoMaySeeThem() {
		Redaction hiding = new Redaction(new Sanitizer(), false);
		assertThat(hiding.stackTrace("IllegalStateException: 1234\n\tat Jobs.pay")).isNull();
		assertThat(hiding.query("SELECT 1234")).isEqualTo("******");
		assertThat(hiding.error("IllegalStateException", "IllegalStateException: 1234"))
			.isEqualTo("IllegalStateException");
		assertThat(hiding.error(null, "1234")).isEqualTo("******");
		Redaction showing = new Redaction(new Sanitizer(), true);
		assertThat(showing.stackTrace("\tat Jobs.pay")).isEqualTo("\tat Jobs.pay");
		assertThat(showing.query(" SELECT 1234 ")).isEqualTo("SELECT 1234");
		assertThat(showing.error("IllegalStateException", "IllegalStateException: 1234"))
			.isEqualTo("IllegalStateException: 1234");
		assertThat(showing.error(null, "1234")).isEqualTo("1234");
	}

	@Tag("slow")
	@Test
	void statementsAndMessagesAreHiddenUnlessShown() {
		try (OperatedApplication application = start(Jobs.class)) {
			assertThat(statement(application)).isEqualTo("******");
			assertThat(failure(application)).isEqualTo("java.lang.IllegalStateException");
		}
	}

	@Tag("slow")
	@Test
	void statementsAndMessagesAreShownToAnyoneIfAlwaysShown() {
		try (OperatedApplication application = start(Jobs.class, SHOW + "always")) {
			assertThat(statement(application)).startsWith("SET LOCAL");
			assertThat(failure(application)).isEqualTo("java.lang.IllegalStateException: token=secret: 1234");
		}
	}

	@Tag("slow")
	@Test
	void statementsAndMessagesAreHiddenFromWhoIsNotLoggedIn() {
		try (OperatedApplication application = start(Jobs.class, SHOW + "when-authorized")) {
			assertThat(statement(application)).isEqualTo("******");
			assertThat(failure(application)).isEqualTo("java.lang.IllegalStateException");
		}
	}

	@Tag("slow")
	@Test
	void functionOfTheApplicationHidesWhatItWants() {
		try (OperatedApplication application = start(SanitizingJobs.class, SHOW + "always")) {
			assertThat(statement(application)).startsWith("SET LOCAL");
			assertThat(failure(application)).isEqualTo("java.lang.IllegalStateException: token=***");
		}
	}

	@Tag("slow")
	@Test
	void exceptionThatPrintsItselfIsToldByItsClassOnly() {
		try (OperatedApplication application = start(Jobs.class)) {
			assertThat(failure(application, "chatty")).isEqualTo(ChattyException.class.getName());
			assertThat(EndpointAnswer.all(application).body()).doesNotContain("1234");
		}
		try (OperatedApplication application = start(Jobs.class, SHOW + "always")) {
			assertThat(failure(application, "chatty")).isEqualTo("no money on account 1234");
		}
	}

	@Tag("slow")
	@Test
	void failureThatWasKeptWithoutItsClassIsHiddenWhole() {
		try (OperatedApplication application = start(Jobs.class)) {
			failure(application, "chatty");
			TestPostgres.execute("UPDATE operated_run SET error_class = NULL");
			assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/chatty"))
				.<String>read("$.job.lastRun.error")).isEqualTo("******");
		}
	}

	private static OperatedApplication start(Class<?> jobs, String... properties) {
		List<String> all = new ArrayList<>(List.of(properties));
		all.add("management.endpoints.web.exposure.include=advisorylocks,advisorylockspage");
		all.add("management.endpoint.advisorylocks.access=unrestricted");
		return OperatedApplication.start(jobs, all.toArray(String[]::new));
	}

	private static String statement(OperatedApplication application) {
		try (Gate gate = Gate.enteredBy(application.bean(Jobs.class)::hold)) {
			List<?> holders = (List<?>) EndpointAnswer.job(application, "hold").get("holders");
			return (String) ((Map<?, ?>) holders.get(0)).get("query");
		}
	}

	/**
	 * Let a run fail, and return what is told of it, in the answer and in the history.
	 */
	private static String failure(OperatedApplication application) {
		return failure(application, "broken");
	}

	private static String failure(OperatedApplication application, String key) {
		String answer = EndpointAnswer.of(application.runNow(key)).read("$.error");
		EndpointAnswer job = EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key));
		assertThat(job.<String>read("$.job.lastRun.error")).isEqualTo(answer);
		assertThat(job.<String>read("$.runs[0].error")).isEqualTo(answer);
		return answer;
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("hold")
		void hold(Gate gate) {
			gate.pass();
		}

		@SingleRunner("broken")
		void broken() {
			throw new IllegalStateException("token=secret: 1234");
		}

		@SingleRunner("chatty")
		void chatty() {
			throw new ChattyException();
		}

	}

	/**
	 * The same in an application that hides tokens.
	 */
	static class SanitizingJobs extends Jobs {

		@Bean
		SanitizingFunction tokens() {
			return (data) -> (String.valueOf(data.getValue()).startsWith("token=")) ? data.withValue("token=***")
					: data;
		}

	}

	/**
	 * Prints neither its class nor a colon.
	 */
	static class ChattyException extends RuntimeException {

		@Override
		public String toString() {
			return "no money on account 1234";
		}

	}

}
