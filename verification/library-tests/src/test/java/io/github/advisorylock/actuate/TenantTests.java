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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for an application that has two tenants, each in a namespace of its own: what one
 * locks, has completed or has paused is nothing to the other.
 */
@Tag("gate")
class TenantTests {

	private static OperatedApplication application;

	private static Jobs jobs;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, "management.endpoints.web.exposure.include=advisorylocks",
				"management.endpoint.advisorylocks.access=unrestricted");
		jobs = application.bean(Jobs.class);
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	@BeforeEach
	void clear() {
		jobs.ran().clear();
	}

	@Test
	void tenantWaitsForNoOther() {
		try (ForeignSession holder = ForeignSession.holding(AdvisoryLockKey.of("shop-acme", "invoices"))) {
			assertThat(jobs.invoices("acme").outcome()).isEqualTo(LockOutcome.BUSY);
			assertThat(jobs.invoices("globex").value()).isEqualTo(List.of("shop-globex/invoices"));
		}
		assertThat(jobs.invoices("acme").value()).isEqualTo(List.of("shop-acme/invoices"));
	}

	@Test
	void requestInNamespaceOfTenantIsForTheSameLock() {
		AdvisoryLockOperations locks = application.bean(AdvisoryLockOperations.class);
		LockRequest invoices = LockRequest.of("invoices");
		LockResult<LockOutcome> outcome = locks.execute(invoices.namespace("shop-acme"), (lock) -> {
			assertThat(locks.execute(invoices.namespace("shop-globex"), (other) -> true).value()).isTrue();
			return ForeignSession.isFree(AdvisoryLockKey.of("shop-acme", "invoices")) ? LockOutcome.EXECUTED
					: LockOutcome.BUSY;
		});
		assertThat(outcome.value()).isEqualTo(LockOutcome.BUSY);
	}

	@Test
	void whatTenantHasCompletedOtherHasNot() {
		jobs.book("acme", "4711");
		jobs.book("acme", "4711");
		jobs.book("globex", "4711");
		assertThat(jobs.ran()).containsExactly("acme 4711", "globex 4711");
	}

	@Test
	void tenantIsPausedAlone() {
		jobs.report("acme");
		jobs.report("globex");
		assertThat(application.setState("report?namespace=shop-acme", "paused").statusCode()).isEqualTo(200);
		jobs.ran().clear();
		jobs.report("acme");
		jobs.report("globex");
		assertThat(jobs.ran()).containsExactly("report of globex");
		EndpointAnswer all = EndpointAnswer.all(application);
		assertThat(all.jobs("report")).extracting((job) -> job.get("namespace") + " " + job.get("state"))
			.contains("shop-acme paused", "shop-globex idle");
		assertThat(application.setState("report?namespace=shop-acme", "resumed").statusCode()).isEqualTo(200);
		jobs.report("acme");
		assertThat(jobs.ran()).contains("report of acme");
	}

	@Test
	void methodIsListedWithItsExpression() {
		Map<String, Object> job = EndpointAnswer.all(application)
			.jobs("invoices")
			.stream()
			.filter((row) -> row.get("method") != null)
			.findFirst()
			.orElseThrow();
		assertThat(job).containsEntry("namespace", "shop-#{#tenant}").containsEntry("state", "idle");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "acme/globex" })
	void tenantThatMakesNoNamespaceIsRefusedAndNothingRuns(String tenant) {
		assertThatIllegalArgumentException().isThrownBy(() -> jobs.book(tenant, "4712"))
			.withMessageMatching(".*('#\\{#tenant}' is (empty|null)|'namespace' must not contain a slash).*");
		assertThat(jobs.ran()).isEmpty();
	}

	@Test
	void tenantCanNotHaveKeyOfAnotherMethod() {
		assertThatIllegalArgumentException().isThrownBy(() -> jobs.any("shop"))
			.withMessageContaining("is the key of method 'nightly'");
		assertThat(jobs.ran()).isEmpty();
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private final Queue<String> ran = new ConcurrentLinkedQueue<>();

		Queue<String> ran() {
			return this.ran;
		}

		@SingleRunner(namespace = "${tenants:shop}-#{#tenant}", key = "invoices")
		LockResult<List<String>> invoices(String tenant) {
			return LockResult.executed(LockContext.current().stream().map((lock) -> lock.key().toString()).toList());
		}

		@SingleRunner(namespace = "shop-#{#tenant}", key = "booking:#{#id}", once = Once.PER_KEY)
		void book(String tenant, String id) {
			this.ran.add(tenant + " " + id);
		}

		@SingleRunner(namespace = "shop-#{#tenant}", key = "report", minInterval = "1ms")
		void report(String tenant) {
			this.ran.add("report of " + tenant);
		}

		@SingleRunner(namespace = "#{#tenant}", key = "nightly")
		void any(String tenant) {
			this.ran.add(tenant);
		}

		@SingleRunner(key = "nightly")
		void nightly() {
		}

	}

}
