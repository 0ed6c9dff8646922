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
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link OperatorActions} with who holds a lock: there are two instances, and
 * the operator asks the one that does not hold it.
 */
@Tag("gate")
class HolderActionsTests {

	private static final String[] PROPERTIES = { "management.endpoints.web.exposure.include=advisorylocks",
			"management.endpoint.advisorylocks.access=unrestricted",
			"management.endpoint.advisorylocks.show-values=always", "advisory-lock.session.heartbeat=200ms" };

	private static OperatedApplication holder;

	private static OperatedApplication asked;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		holder = OperatedApplication.start(Jobs.class, PROPERTIES);
		asked = OperatedApplication.start(Jobs.class, PROPERTIES);
	}

	@AfterAll
	static void stop() {
		holder.close();
		asked.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void runIsCancelledOnTheInstanceThatHasItAndNoOther(String key) {
		String other = key.equals("session") ? "transaction" : "session";
		CompletableFuture<Void> bystander = hang(other);
		await().untilAsserted(() -> assertThat(actions(other)).contains("cancelled"));
		CompletableFuture<Void> run = hang(key);
		await().untilAsserted(() -> assertThat(actions(key)).contains("cancelled"));
		assertThat(asked.setState(key, "cancelled").body()).contains("\"state\":\"cancelled\"",
				"\"by\":\"unauthenticated\"", "\"outcome\":\"ENDED\"");
		Gate.assertThatCancellationEnds(run);
		await().untilAsserted(() -> assertThat(
				EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/" + key)).<String>read("$.job.lastRun.error"))
			.contains("it was cancelled by unauthenticated"));
		assertThat(actions(key)).doesNotContain("cancelled");
		assertThat(audited(key, "ADVISORY_LOCK_CANCELLED").getData()).containsEntry("namespace", "shop")
			.containsKeys("holder", "pid");
		assertThat(bystander).isNotDone();
		assertThat(asked.setState(other, "cancelled").statusCode()).isEqualTo(200);
		Gate.assertThatCancellationEnds(bystander);
	}

	@Test
	void runThatHasAnyPermitIsCancelledUnlessThereAreSeveral() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "permits");
		CompletableFuture<Void> run;
		try (ForeignSession first = ForeignSession.holding(key)) {
			run = hang("permits");
			await().until(() -> ForeignSession.isHeld(key.permit(2)));
			HttpResponse<String> answer = asked.setState("permits", "cancelled");
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(answer.body()).contains("has 2 holders: which is meant?");
			assertThat(actions("permits")).doesNotContain("cancelled");
			assertThat(first.unlock(key)).isTrue();
		}
		await().untilAsserted(() -> assertThat(actions("permits")).contains("cancelled"));
		assertThat(asked.setState("permits", "cancelled").body()).contains("ENDED");
		Gate.assertThatCancellationEnds(run);
	}

	@Test
	void holderThatIsNotOursIsLeftAlone() throws SQLException {
		try (Connection other = foreign("psql", "transaction")) {
			HttpResponse<String> answer = asked.setState("transaction", "cancelled");
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(answer.body()).contains("no instance of an application with this library");
			assertThat(actions("transaction")).doesNotContain("cancelled");
			assertThat(other.isValid(5)).isTrue();
		}
	}

	@Tag("slow")
	@Test
	void holderThatDoesNotListenKeepsItsLock() throws SQLException {
		try (Connection other = foreign("al:shop@other-host:77", "transaction")) {
			HttpResponse<String> answer = asked.setState("transaction", "cancelled");
			assertThat(answer.statusCode()).isEqualTo(200);
			assertThat(answer.body()).doesNotContain("outcome");
			assertThat(other.isValid(5)).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "leader:no role", "leader:", "advisory-lock:anything" })
	void keysOfTheLibraryAreRefused(String key) {
		assertThat(asked.setState(key.replace(" ", "%20"), "cancelled").statusCode()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"state\":\"freed\"}", "{\"state\":\"cancelled\",\"others\":1}",
			"{\"state\":\"cancelled\",\"pid\":1}" })
	void requestThatIsNoneIsRefused(String body) {
		assertThat(asked.post("actuator/advisorylocks/transaction", "application/json", body).statusCode())
			.isEqualTo(400);
	}

	/**
	 * What Spring Boot refuses itself has no reason in its answer.
	 */
	@Test
	void refusalOfOursHasAReason() {
		String path = "actuator/advisorylocks/transaction";
		assertThat(asked.post(path, "application/json", "{}").body()).contains("'state' must be a text");
		assertThat(asked.get(EndpointAnswer.ALL + "?page=x").body()).contains("\"error\":\"Bad Request\"");
		assertThat(asked.post(path, "application/json", "state").body()).contains("\"error\":\"Bad Request\"");
	}

	@Test
	void anythingThatIsSaidOnTheChannelIsSurvived() {
		String entry = entry("session");
		CompletableFuture<Void> run = hang("session");
		await().untilAsserted(() -> assertThat(actions("session")).contains("cancelled"));
		for (String text : List.of("", "x", "1:2:3", "1:2:3 x y", entry + " 999999999 me",
				entry + " 99999999999999999999 me", "1:2:1 999999999 me")) {
			TestPostgres.execute("SELECT pg_notify('advisory_lock_cancel', '" + text + "')");
		}
		assertThat(asked.setState("session", "cancelled").body()).contains("ENDED");
		await().until(run::isDone);
	}

	/**
	 * Whoever may connect may say anything on the channel.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "transaction", "session" })
	void strangerEndsNoRun(String key) throws SQLException {
		TestPostgres.execute("CREATE ROLE cancel_stranger LOGIN PASSWORD 'low'");
		CompletableFuture<Void> run = hang(key);
		await().untilAsserted(() -> assertThat(actions(key)).contains("cancelled"));
		try (Connection stranger = DriverManager.getConnection(url(), "cancel_stranger", "low");
				Statement statement = stranger.createStatement()) {
			for (int i = 0; i < 10; i++) {
				statement.execute("SELECT pg_notify('advisory_lock_cancel', '" + entry(key)
						+ " ' || (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint || ' operator')");
				Pause.of(Duration.ofMillis(200));
			}
			assertThat(run).isNotDone();
		}
		finally {
			asked.setState(key, "cancelled");
			TestPostgres.execute("DROP ROLE cancel_stranger");
		}
		Gate.assertThatCancellationEnds(run);
	}

	private static String url() {
		return TestPostgres.url().replaceAll("(?<=[?&])(user|password)=[^&]*&?", "");
	}

	private static CompletableFuture<Void> hang(String key) {
		Jobs jobs = holder.bean(Jobs.class);
		return Gate.runAsync(() -> {
			try {
				if (key.equals("session")) {
					jobs.session();
				}
				else if (key.equals("permits")) {
					jobs.permits();
				}
				else {
					jobs.transaction();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private static List<String> actions(String key) {
		return EndpointAnswer.of(asked.get(EndpointAnswer.ALL + "/" + key)).read("$.job..actions[*]");
	}

	private static AuditEvent audited(String key, String type) {
		List<AuditEvent> events = asked.bean(InMemoryAuditEventRepository.class).find("unauthenticated", null, type);
		return events.stream().filter((event) -> key.equals(event.getData().get("key"))).findFirst().orElseThrow();
	}

	private static String number(String key) {
		return Long.toString(AdvisoryLockKey.of("shop", key).value());
	}

	private static String entry(String key) {
		AdvisoryLockKey lock = AdvisoryLockKey.of("shop", key);
		return Integer.toUnsignedString(lock.classId()) + ":" + Integer.toUnsignedString(lock.objectId()) + ":1";
	}

	private static Connection foreign(String name, String... keys) throws SQLException {
		Connection connection = TestPostgres.open();
		hold(connection, name, keys);
		return connection;
	}

	private static void hold(Connection connection, String name, String... keys) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = '" + name + "'");
			for (String key : keys) {
				statement.execute("SELECT pg_advisory_lock(" + number(key) + ")");
			}
		}
	}

	static class Jobs {

		@Bean
		InMemoryAuditEventRepository auditEvents() {
			return new InMemoryAuditEventRepository();
		}

		@SingleRunner("transaction")
		void transaction() throws InterruptedException {
			hang();
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void session() throws InterruptedException {
			hang();
		}

		@SingleRunner(key = "permits", permits = 2, scope = LockScope.SESSION)
		void permits() throws InterruptedException {
			hang();
		}

		private static void hang() throws InterruptedException {
			new CountDownLatch(1).await(60, TimeUnit.SECONDS);
		}

	}

}
