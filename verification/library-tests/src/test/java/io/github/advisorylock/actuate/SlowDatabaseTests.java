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
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the {@link AdvisoryLocksEndpoint}, and health, of an application whose
 * database answers late, or not at all.
 */
@Tag("gate")
class SlowDatabaseTests {

	private final TestProxy proxy = new TestProxy(Duration.ZERO);

	private OperatedApplication application;

	@BeforeEach
	void start() {
		OperatedApplication.dropTables();
		this.application = OperatedApplication.start(Jobs.class, "spring.datasource.url=" + this.proxy.url(),
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage,health",
				"management.endpoint.health.show-details=always",
				"management.endpoint.advisorylocks.access=unrestricted", "advisory-lock.ledger.instances=false");
		await().until(() -> this.application.get(EndpointAnswer.ALL).statusCode() == 200);
	}

	@AfterEach
	void stop() {
		this.proxy.resume();
		this.application.close();
		this.proxy.close();
	}

	/**
	 * The pool asks a connection that was idle for half a second whether it is alive.
	 */
	@Test
	void listTakesTwoRoundTrips() {
		await().untilAsserted(() -> {
			int before = this.proxy.waits();
			this.application.get(EndpointAnswer.ALL);
			assertThat(this.proxy.waits() - before).isEqualTo(2);
		});
	}

	@Test
	void pageAsksNoDatabase() {
		this.proxy.stall();
		HttpResponse<String> page = this.application.get("actuator/advisorylockspage");
		assertThat(page.statusCode()).isEqualTo(200);
		assertThat(page.body()).contains("data-endpoint=\"advisorylocks\"");
	}

	@Test
	void timeOfAnAnswerIsNoDifferenceOfClocks() {
		this.proxy.delay(Duration.ofMillis(900));
		EndpointAnswer answer = EndpointAnswer.of(this.application.get(EndpointAnswer.ALL));
		assertThat(answer.<String>read("$.clockSkew")).isEqualTo("PT0S");
		List<String> bounds = answer.read("$.clockSkewBetween");
		assertThat(Duration.parse(bounds.get(0))).isBetween(Duration.ofSeconds(-10), Duration.ofMillis(-800));
		assertThat(Duration.parse(bounds.get(1))).isBetween(Duration.ZERO, Duration.ofSeconds(10));
		assertThat(answer.<Integer>read("$.problemCount")).isZero();
	}

	@Test
	void silentDatabaseIsTold() {
		this.proxy.stall();
		HttpResponse<String> answer = this.application.get(EndpointAnswer.ALL);
		assertThat(answer.statusCode()).isEqualTo(503);
		assertThat(answer.body()).contains("No answer within 4 s");
		HttpResponse<String> health = this.application.get("actuator/health/advisoryLock");
		assertThat(health.statusCode()).isEqualTo(503);
		assertThat(health.body()).contains("No answer within 4 s", "\"ledger\":\"unreachable\"");
	}

	@Test
	void operatorIsToldThatTheDatabaseIsSilent() {
		this.proxy.stall();
		assertThat(together(() -> post("{\"state\":\"paused\"}"),
				() -> post("{\"state\":\"drained\",\"instance\":\"other\"}"),
				() -> this.application.setState("report", "paused"),
				() -> this.application.setState("report", "cancelled")))
			.hasSize(4)
			.allMatch((answer) -> answer.startsWith("503") && answer.contains("No answer within 4 s"));
	}

	/**
	 * Whoever looks or acts again and again would use the pool up.
	 */
	@Test
	void operatorIsToldThatATableIsLockedAndNothingGoesOnWaitingForIt() throws SQLException {
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("LOCK TABLE operated_pause, operated_run IN ACCESS EXCLUSIVE MODE");
			assertThat(together(() -> this.application.get(EndpointAnswer.ALL),
					() -> this.application.get(EndpointAnswer.ALL + "/report"), () -> post("{\"state\":\"paused\"}"),
					() -> this.application.setState("report", "resumed")))
				.hasSize(4)
				.allMatch((answer) -> answer.startsWith("503"))
				.anyMatch((answer) -> answer.contains("canceling statement"));
			await().until(() -> TestPostgres.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
				.isEmpty());
		}
		assertThat(this.application.setState("report", "paused").statusCode()).isEqualTo(200);
	}

	private HttpResponse<String> post(String act) {
		return this.application.post(EndpointAnswer.ALL, "application/json", act);
	}

	@SafeVarargs
	private static List<String> together(Supplier<HttpResponse<String>>... requests) {
		List<CompletableFuture<HttpResponse<String>>> answers = Stream.of(requests)
			.map((request) -> CompletableFuture.supplyAsync(request, (task) -> new Thread(task).start()))
			.toList();
		await().until(() -> answers.stream().allMatch(CompletableFuture::isDone));
		return answers.stream().map((answer) -> answer.join().statusCode() + answer.join().body()).toList();
	}

	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

	}

}
