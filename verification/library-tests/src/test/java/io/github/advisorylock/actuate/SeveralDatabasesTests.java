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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the endpoint of an application with locks in two databases: each answer and
 * each act is that of one.
 */
@Tag("slow")
class SeveralDatabasesTests {

	private static OperatedApplication application;

	private static Jobs jobs;

	@BeforeAll
	static void start() {
		dropTables();
		application = OperatedApplication.start(Application.class,
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted",
				"management.endpoint.advisorylocks.show-values=always", "advisory-lock.session.heartbeat=200ms");
		jobs = application.bean(Jobs.class);
	}

	@AfterAll
	static void stop() {
		application.close();
		dropTables();
	}

	private static void dropTables() {
		OperatedApplication.dropTables();
		for (String table : List.of("job", "run", "completion", "instance")) {
			TestPostgres.execute(ReportingDatabase.url(), "DROP TABLE IF EXISTS operated_" + table + " CASCADE");
		}
	}

	@Test
	void eachDatabaseListsItsOwnJobsAndNamesTheOthers() {
		try (Gate gate = Gate.enteredBy(jobs::report)) {
			EndpointAnswer main = EndpointAnswer.all(application);
			assertThat(main.<List<String>>read("$.jobs[*].key")).containsExactly("main");
			assertThat(main.<String>read("$.database")).isEqualTo("postgres");
			assertThat(main.<List<String>>read("$.databases")).containsExactly("mainTx", "reportingTx");
			EndpointAnswer reporting = EndpointAnswer
				.of(application.get(EndpointAnswer.ALL + "?transactionManager=reportingTx"));
			assertThat(reporting.<String>read("$.database")).isEqualTo("reporting");
			assertThat(reporting.job("report")).containsEntry("state", "running");
			assertThat(reporting.jobs("main")).isEmpty();
		}
	}

	@Test
	void lockIsEndedInTheDatabaseThatIsNamed() {
		LockRequest request = LockRequest.of("twice");
		AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
		try (HeldLock main = operations.tryAcquire(request).orElseThrow();
				HeldLock reporting = operations.tryAcquire(request.transactionManager("reportingTx")).orElseThrow()) {
			assertThat(setState("twice", "cancelled", "reportingTx").body()).contains("\"outcome\":\"ENDED\"");
			assertThat(reporting.isHeld()).isFalse();
			assertThat(main.isHeld()).isTrue();
		}
	}

	@Test
	void everythingIsPausedInTheDatabaseThatIsNamed() {
		assertThat(application
			.post(EndpointAnswer.ALL, "application/json",
					"{\"state\":\"paused\",\"transactionManager\":\"reportingTx\"}")
			.statusCode()).isEqualTo(200);
		assertThat(EndpointAnswer.of(application.get(EndpointAnswer.ALL + "?transactionManager=reportingTx"))
			.<String>read("$.paused.by")).isEqualTo("unauthenticated");
		assertThat(EndpointAnswer.all(application).<Map<String, Object>>read("$")).doesNotContainKey("paused");
		assertThat(application
			.post(EndpointAnswer.ALL, "application/json",
					"{\"state\":\"resumed\",\"transactionManager\":\"reportingTx\"}")
			.statusCode()).isEqualTo(200);
	}

	/**
	 * Whichever database is named: the instance is one.
	 */
	@Test
	void instanceIsDrainedAndResumedAsAWhole() {
		List<String> databases = List.of(TestPostgres.url(), ReportingDatabase.url());
		jobs.main();
		jobs.ticking();
		await().until(() -> databases.stream().noneMatch((url) -> instances(url, "true").isEmpty()));
		actOnInstance("drained", "reportingTx");
		assertThat(databases).hasSize(2).allMatch((url) -> instances(url, "drained_at IS NULL").isEmpty());
		assertThat(jobs.main()).isNull();
		assertThat(jobs.counted()).isNull();
		actOnInstance("resumed", "mainTx");
		assertThat(databases).hasSize(2).allMatch((url) -> instances(url, "drained_at IS NOT NULL").isEmpty());
		assertThat(jobs.main()).isEqualTo("done");
		assertThat(jobs.counted()).isEqualTo("done");
		assertThat(EndpointAnswer
			.of(application.get(EndpointAnswer.ALL + "?runs=2&outcome=EXECUTED&transactionManager=reportingTx"))
			.<List<String>>read("$.runs[*].key")).startsWith("counted");
	}

	private static void actOnInstance(String state, String manager) {
		HttpResponse<String> answer = application.post(EndpointAnswer.ALL, "application/json",
				"{\"state\":\"" + state + "\",\"instance\":\"" + application.bean(LockInstance.class).name()
						+ "\",\"transactionManager\":\"" + manager + "\"}");
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
	}

	private static List<String> instances(String url, String condition) {
		return TestPostgres.query(url, "SELECT instance FROM operated_instance WHERE " + condition);
	}

	@Test
	void databaseThatThereIsNotIsRefused() {
		HttpResponse<String> unknown = setState("moved", "paused", "otherTx");
		assertThat(unknown.statusCode()).isEqualTo(400);
		assertThat(unknown.body()).contains("'otherTx'", "mainTx, reportingTx");
	}

	@Test
	void jobRunsNowAndHasItsHistoryInItsDatabase() {
		assertThat(setState("ticking", "running", "reportingTx").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(runs(ReportingDatabase.url(), "ticking")).containsExactly("EXECUTED");
		assertThat(runs(TestPostgres.url(), "ticking")).isEmpty();
		EndpointAnswer answer = one("ticking");
		assertThat(answer.<List<String>>read("$.runs[*].outcome")).containsOnly("EXECUTED");
	}

	@Test
	void jobIsPausedAndResumedInItsDatabase() {
		assertThat(setState("pausing", "paused", "reportingTx").statusCode()).isEqualTo(200);
		assertThat(paused(ReportingDatabase.url())).containsExactly("pausing");
		assertThat(paused(TestPostgres.url())).isEmpty();
		assertThat(one("pausing").<String>read("$.job.state")).isEqualTo("paused");
		assertThat(setState("pausing", "running", "reportingTx").body()).contains("\"outcome\":\"PAUSED\"");
		assertThat(setState("pausing", "resumed", "reportingTx").statusCode()).isEqualTo(200);
		assertThat(paused(ReportingDatabase.url())).isEmpty();
		assertThat(setState("pausing", "running", "reportingTx").body()).contains("\"outcome\":\"EXECUTED\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "hanging", "hanging-session" })
	void runIsCancelledInItsDatabase(String key) throws SQLException {
		try (Connection stranger = holdInMain(key)) {
			CompletableFuture<Void> run = hang(key);
			await().untilAsserted(() -> assertThat(one(key).<List<String>>read("$.job.actions")).contains("cancelled"));
			assertThat(setState(key, "cancelled", "reportingTx").body()).contains("\"outcome\":\"ENDED\"");
			Gate.assertThatCancellationEnds(run);
			assertThat(stranger.isValid(5)).isTrue();
			await().untilAsserted(() -> assertThat(one(key).<String>read("$.job.lastRun.error"))
				.contains("it was cancelled by unauthenticated"));
		}
	}

	private static EndpointAnswer one(String key) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key + "?transactionManager=reportingTx"));
	}

	private static HttpResponse<String> setState(String key, String state, String manager) {
		return application.post(EndpointAnswer.ALL + "/" + key, "application/json",
				"{\"state\":\"" + state + "\",\"transactionManager\":\"" + manager + "\"}");
	}

	private static List<String> runs(String url, String key) {
		return TestPostgres.query(url, "SELECT outcome FROM operated_run WHERE key = '" + key + "'");
	}

	private static List<String> paused(String url) {
		return TestPostgres.query(url, "SELECT key FROM operated_pause WHERE paused_at IS NOT NULL ORDER BY key");
	}

	/**
	 * Hold a key in the other database, as another instance does.
	 */
	private static Connection holdInMain(String key) throws SQLException {
		Connection connection = DriverManager.getConnection(TestPostgres.url());
		try (Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = 'al:shop@other-host:77'");
			statement.execute("SELECT pg_advisory_lock(" + AdvisoryLockKey.of("shop", key).value() + ")");
		}
		return connection;
	}

	private static CompletableFuture<Void> hang(String key) {
		return Gate.runAsync(() -> {
			try {
				if (key.equals("hanging")) {
					jobs.hanging();
				}
				else {
					jobs.hangingSession();
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ ReportingDatabase.TwoDatabases.class, Jobs.class })
	static class Application {

	}

	static class Jobs {

		@SingleRunner("main")
		String main() {
			return "done";
		}

		@SingleRunner(key = "counted", transactionManager = "reportingTx")
		String counted() {
			return "done";
		}

		@SingleRunner(key = "report", transactionManager = "reportingTx")
		void report(Gate gate) {
			gate.pass();
		}

		@SingleRunner(key = "ticking", transactionManager = "reportingTx")
		void ticking() {
		}

		@SingleRunner(key = "pausing", transactionManager = "reportingTx")
		void pausing() {
		}

		@SingleRunner(key = "moved-here", transactionManager = "reportingTx")
		void movedHere() {
		}

		@SingleRunner(key = "hanging", transactionManager = "reportingTx")
		void hanging() throws InterruptedException {
			new CountDownLatch(1).await(60, TimeUnit.SECONDS);
		}

		@SingleRunner(key = "hanging-session", scope = LockScope.SESSION, transactionManager = "reportingTx")
		void hangingSession() throws InterruptedException {
			new CountDownLatch(1).await(60, TimeUnit.SECONDS);
		}

	}

}
