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
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OperatorActions} with jobs.
 */
@Tag("gate")
class JobActionsTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted" };

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

	@Test
	void runTellsHowItEnded() {
		assertThat(run("report")).isEqualTo(Map.of("key", "report", "namespace", "shop", "state", "running", "by",
				"unauthenticated", "outcome", "EXECUTED"));
	}

	@Test
	void runHasTheClassLoaderOfTheApplication() {
		assertThat(run("class-loader")).containsEntry("outcome", "EXECUTED");
		assertThat(Jobs.classLoader).isSameAs(application.context().getBeanFactory().getBeanClassLoader());
	}

	@Test
	void runOfKeyThatIsHeldTellsThatItIsBusy() {
		try (ForeignSession session = ForeignSession.holding(AdvisoryLockKey.of("shop", "report"))) {
			assertThat(runOnce("report")).containsEntry("outcome", "BUSY");
		}
	}

	@Test
	void runThatFailsTellsItsFailureButNotItsMessage() {
		assertThat(run("broken")).containsEntry("outcome", "FAILED")
			.containsEntry("error", "java.lang.IllegalStateException");
	}

	@Test
	void pauseMayHaveAReasonAndNothingElseMay() {
		assertThat(application
			.post("actuator/advisorylocks/broken", "application/json", "{\"state\":\"paused\",\"reason\":\"no paper\"}")
			.statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.job(application, "broken")).containsEntry("state", "paused")
			.extractingByKey("paused")
			.asString()
			.contains("reason=no paper", "by=unauthenticated");
		assertThat(application
			.post("actuator/advisorylocks/broken", "application/json", "{\"state\":\"resumed\",\"reason\":\"paper\"}")
			.statusCode()).isEqualTo(400);
		assertThat(application.setState("broken", "resumed").statusCode()).isEqualTo(200);
	}

	@Test
	void runThatLastsGoesOnAfterTheAnswer() {
		Gate gate = new Gate();
		Jobs.gate = gate;
		try (gate) {
			assertThat(runOnce("slow")).doesNotContainKey("outcome");
			assertThat(EndpointAnswer.job(application, "slow")).containsEntry("state", "running");
			assertThat(runOnce("slow")).containsEntry("outcome", "BUSY");
		}
		Awaitility.await()
			.atMost(Patience.TIME)
			.untilAsserted(() -> assertThat(EndpointAnswer.job(application, "slow")).extractingByKey("lastRun")
				.asString()
				.contains("outcome=EXECUTED"));
	}

	@Test
	void methodThatNeedsArgumentsIsRefused() {
		assertRefused(application.setState("pay", "running"), "takes no arguments");
		assertRefused(application.setState("payment:%23%7B%23id%7D", "running"), "takes no arguments");
		assertRefused(application.setState("payment:%23%7B%23id%7D", "paused"), "not recorded in the ledger");
	}

	@Test
	void ledgerThatIsSwitchedOffRefusesEverything() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, PROPERTIES[0], PROPERTIES[1],
				"advisory-lock.ledger.enabled=false")) {
			assertThat(EndpointAnswer.all(other).<Boolean>read("$.ledger")).isFalse();
			assertThat(EndpointAnswer.job(other, "report")).containsEntry("actions", List.of());
			assertRefused(other.setState("report", "running"), "recorded in the ledger");
			assertRefused(other.setState("report", "paused"), "recorded in the ledger");
			assertRefused(other.setState("report", "resumed"), "recorded in the ledger");
			assertThat(other.get(EndpointAnswer.ALL + "/report").statusCode()).isEqualTo(200);
		}
	}

	@Test
	void whatWasDoneIsAudited() {
		InMemoryAuditEventRepository events = application.bean(InMemoryAuditEventRepository.class);
		application.setState("audited", "paused");
		application.setState("audited", "resumed");
		application.setState("audited", "running");
		application.setState("audited", "stopped");
		assertThat(events.find("unauthenticated", null, null))
			.filteredOn((event) -> "audited".equals(event.getData().get("key")))
			.allSatisfy((event) -> assertThat(event.getData()).containsEntry("namespace", "shop"))
			.extracting(AuditEvent::getType)
			.containsExactly("ADVISORY_LOCK_PAUSED", "ADVISORY_LOCK_RESUMED", "ADVISORY_LOCK_RUNNING");
	}

	@Test
	void pauseHoldsOnEveryInstance() {
		try (OperatedApplication other = OperatedApplication.start(Jobs.class, PROPERTIES)) {
			Jobs jobs = other.bean(Jobs.class);
			jobs.count();
			assertThat(application.setState("count", "paused").statusCode()).isEqualTo(200);
			jobs.count();
			assertThat(EndpointAnswer.job(other, "count")).containsEntry("state", "paused")
				.containsEntry("outcomes", Map.of("EXECUTED", 1, "PAUSED", 1));
			assertThat(run("count")).containsEntry("outcome", "PAUSED");
			other.setState("count", "resumed");
			assertThat(run("count")).containsEntry("outcome", "EXECUTED");
		}
	}

	@Test
	void keyOfTwoNamespacesIsActedOnInTheOneThatWasNamed() {
		assertThat(application.setState("invoice?namespace=billing", "paused").statusCode()).isEqualTo(200);
		assertThat(state("invoice?namespace=billing")).isEqualTo("paused");
		assertThat(state("invoice")).isEqualTo("idle");
		assertThat(run("invoice?namespace=billing")).containsEntry("outcome", "PAUSED");
		assertThat(run("invoice")).containsEntry("namespace", "shop").containsEntry("outcome", "EXECUTED");
		application.setState("invoice?namespace=billing", "resumed");
		assertThat(run("invoice?namespace=billing")).containsEntry("namespace", "billing")
			.containsEntry("outcome", "EXECUTED");
	}

	private static String state(String key) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key)).read("$.job.state");
	}

	private static Map<String, Object> run(String key) {
		return body(application.runNow(key));
	}

	private static Map<String, Object> runOnce(String key) {
		return body(application.setState(key, "running"));
	}

	private static Map<String, Object> body(HttpResponse<String> answer) {
		assertThat(answer.statusCode()).isEqualTo(200);
		return EndpointAnswer.of(answer).read("$");
	}

	private static void assertRefused(HttpResponse<String> answer, String reason) {
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(EndpointAnswer.of(answer).<String>read("$.error")).contains(reason);
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		static volatile Gate gate = Gate.opened();

		static volatile @Nullable ClassLoader classLoader;

		@SingleRunner("report")
		void report() {
		}

		@SingleRunner("class-loader")
		void keepClassLoader() {
			classLoader = Thread.currentThread().getContextClassLoader();
		}

		@SingleRunner("audited")
		void audited() {
		}

		@SingleRunner("broken")
		void broken() {
			throw new IllegalStateException("password is 1234");
		}

		@SingleRunner("slow")
		void slow() {
			gate.pass();
		}

		@SingleRunner("pay")
		void pay(String id) {
		}

		@SingleRunner("payment:#{#id}")
		void payOnce(String id) {
		}

		@SingleRunner("invoice")
		void invoice() {
		}

		@SingleRunner(key = "invoice", namespace = "billing")
		void invoiceOfBilling() {
		}

		@SingleRunner("count")
		void count() {
		}

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

	}

}
