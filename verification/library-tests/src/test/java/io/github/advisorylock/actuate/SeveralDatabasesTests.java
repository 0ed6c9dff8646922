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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
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
 * Tests for the endpoint and the page of an application with locks in two databases: each
 * job is shown and acted on in its own.
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
		for (String table : List.of("job", "run", "completion")) {
			TestPostgres.execute(ReportingDatabase.url(), "DROP TABLE IF EXISTS operated_" + table);
		}
	}

	@Test
	void eachJobAndEachLockIsToldWithItsDatabase() {
		try (Gate gate = Gate.enteredBy(jobs::report)) {
			EndpointAnswer answer = EndpointAnswer.all(application);
			assertThat(answer.jobs("main")).singleElement()
				.satisfies((job) -> assertThat(job).containsEntry("transactionManager", "mainTx")
					.containsEntry("state", "idle"));
			assertThat(answer.jobs("report")).singleElement()
				.satisfies((job) -> assertThat(job).containsEntry("transactionManager", "reportingTx")
					.containsEntry("state", "running"));
			assertThat(answer.lock("report")).containsEntry("database", "reporting").containsEntry("kind", "JOB");
			assertThat(answer.<List<String>>read("$.databases[*].transactionManager")).containsExactly("mainTx",
					"reportingTx");
			assertThat(answer.<List<String>>read("$.databases[*].database")).containsExactly("postgres", "reporting");
			assertThat(answer.<List<Boolean>>read("$.databases[*].ledger")).containsExactly(true, true);
			assertThat(answer.<List<String>>read("$.databases[*].clockSkew")).hasSize(2);
		}
	}

	/**
	 * Jobs of two databases, one after the other by their last runs.
	 */
	@Test
	void jobsOfAllDatabasesAreSortedBeforeTheyArePaged() {
		for (String url : List.of(TestPostgres.url(), ReportingDatabase.url())) {
			int odd = url.equals(TestPostgres.url()) ? 1 : 0;
			TestPostgres.execute(url, "INSERT INTO operated_job (namespace, key, last_started_at, last_finished_at, "
					+ "last_outcome) SELECT 'sorted', 'job-' || n, '2026-01-01Z'::timestamptz + n * interval '1 s', "
					+ "'2026-01-01Z'::timestamptz + n * interval '2 s', 'EXECUTED' FROM generate_series(1, 40) n "
					+ "WHERE n % 2 = " + odd);
		}
		try {
			AdvisoryLocksSource source = application.bean(AdvisoryLocksSource.class);
			assertThat(source.getJobs("sorted/", null, "last", 1, 5, false).jobs()).extracting(JobDescriptor::key)
				.containsExactly("job-40", "job-39", "job-38", "job-37", "job-36");
			OverviewDescriptor.JobsDescriptor third = source.getJobs("sorted/", "idle", "duration", 3, 5, false);
			assertThat(third.jobs()).extracting(JobDescriptor::key)
				.containsExactly("job-30", "job-29", "job-28", "job-27", "job-26");
			assertThat(third.jobs()).extracting(JobDescriptor::transactionManager)
				.startsWith("reportingTx", "mainTx", "reportingTx");
			assertThat(third.matching()).isEqualTo(40);
			AdvisoryLocksDescriptor all = source.getLocks("sorted/", "idle", 2, 3, false);
			assertThat(all.jobs()).extracting(JobDescriptor::key).containsExactly("job-12", "job-13", "job-14");
			assertThat(all.matching()).isEqualTo(40);
		}
		finally {
			for (String url : List.of(TestPostgres.url(), ReportingDatabase.url())) {
				TestPostgres.execute(url, "DELETE FROM operated_job WHERE namespace = 'sorted'");
			}
		}
	}

	@Test
	void jobRunsNowAndHasItsHistoryInItsDatabase() {
		assertThat(application.setState("ticking", "running").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(runs(ReportingDatabase.url(), "ticking")).containsExactly("EXECUTED");
		assertThat(runs(TestPostgres.url(), "ticking")).isEmpty();
		EndpointAnswer answer = one("ticking");
		assertThat(answer.<String>read("$.job.transactionManager")).isEqualTo("reportingTx");
		assertThat(answer.<List<String>>read("$.runs[*].outcome")).containsOnly("EXECUTED");
	}

	@Test
	void jobIsPausedAndResumedInItsDatabase() {
		assertThat(application.setState("pausing", "paused").statusCode()).isEqualTo(200);
		assertThat(paused(ReportingDatabase.url())).containsExactly("pausing");
		assertThat(paused(TestPostgres.url())).isEmpty();
		assertThat(EndpointAnswer.job(application, "pausing")).containsEntry("state", "paused");
		assertThat(application.runNow("pausing").body()).contains("\"outcome\":\"PAUSED\"");
		assertThat(application.setState("pausing", "resumed").statusCode()).isEqualTo(200);
		assertThat(paused(ReportingDatabase.url())).isEmpty();
		assertThat(application.runNow("pausing").body()).contains("\"outcome\":\"EXECUTED\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "hanging", "hanging-session" })
	void runIsCancelledInItsDatabase(String key) throws SQLException {
		try (Connection stranger = holdInMain(key)) {
			CompletableFuture<Void> run = hang(key);
			await().untilAsserted(() -> assertThat(one(key).<List<String>>read("$.job.actions")).contains("cancelled"));
			assertThat(application.setState(key, "cancelled").body()).contains("\"outcome\":\"ENDED\"");
			Gate.assertThatCancellationEnds(run);
			assertThat(stranger.isValid(5)).isTrue();
			await().untilAsserted(() -> assertThat(one(key).<String>read("$.job.lastRun.error"))
				.contains("it was cancelled by unauthenticated"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "hanging", "hanging-session" })
	void lockIsFreedInItsDatabase(String key) throws SQLException {
		try (Connection stranger = holdInMain(key)) {
			CompletableFuture<Void> run = hang(key);
			await().untilAsserted(() -> assertThat(one(key).<List<String>>read("$.job.actions")).contains("freed"));
			if (key.equals("hanging")) {
				TestPostgres.awaitLook("shop", Duration.ofMillis(200));
			}
			assertThat(application.setState(key, "freed").statusCode()).isEqualTo(200);
			assertThat(ReportingDatabase.databasesWith(AdvisoryLockKey.of("shop", key))).containsExactly("postgres");
			Gate.assertThatInterruptEnds(run);
			assertThat(stranger.isValid(5)).isTrue();
		}
	}

	@Test
	void lockThatNothingRecordsIsFoundInWhateverDatabaseItIs() {
		LockRequest request = LockRequest.of("unrecorded");
		AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
		try (HeldLock reporting = operations.tryAcquire(request.transactionManager("reportingTx")).orElseThrow()) {
			assertThat(application.setState("unrecorded", "cancelled").body()).contains("\"outcome\":\"ENDED\"");
			assertThat(reporting.isHeld()).isFalse();
		}
		assertThat(application.setState("unrecorded", "cancelled").body()).contains("Nobody holds the lock");
	}

	@Test
	void lockThatIsHeldInTwoDatabasesIsEndedInTheOneThatIsNamed() {
		LockRequest request = LockRequest.of("twice");
		AdvisoryLockOperations operations = application.bean(AdvisoryLockOperations.class);
		try (HeldLock main = operations.tryAcquire(request).orElseThrow();
				HeldLock reporting = operations.tryAcquire(request.transactionManager("reportingTx")).orElseThrow()) {
			HttpResponse<String> refused = application.setState("twice", "cancelled");
			assertThat(refused.statusCode()).isEqualTo(409);
			assertThat(refused.body()).contains("'twice' is in several databases", "mainTx, reportingTx");
			assertThat(setState("twice", "cancelled", "reportingTx").body()).contains("\"outcome\":\"ENDED\"");
			assertThat(reporting.isHeld()).isFalse();
			assertThat(main.isHeld()).isTrue();
		}
	}

	@Test
	void jobThatIsRecordedInTwoDatabasesIsActedOnInTheOneThatIsNamed() {
		for (String url : List.of(TestPostgres.url(), ReportingDatabase.url())) {
			TestPostgres.execute(url, "INSERT INTO operated_job (namespace, key, first_seen_at) VALUES "
					+ "('shop', 'moved', now()), ('shop', 'moved-here', now()) ON CONFLICT DO NOTHING");
		}
		HttpResponse<String> refused = application.setState("moved", "paused");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.body()).contains("'moved' is in several databases", "mainTx, reportingTx");
		assertThat(one("moved").status()).isEqualTo(400);
		assertThat(setState("moved", "paused", "reportingTx").statusCode()).isEqualTo(200);
		assertThat(paused(ReportingDatabase.url())).contains("moved");
		assertThat(paused(TestPostgres.url())).isEmpty();
		assertThat(one("moved?transactionManager=mainTx").<String>read("$.job.state")).isEqualTo("idle");
		assertThat(one("moved?transactionManager=reportingTx").<String>read("$.job.state")).isEqualTo("paused");
		assertThat(setState("moved", "resumed", "reportingTx").statusCode()).isEqualTo(200);
		assertThat(one("moved-here").<String>read("$.job.transactionManager")).isEqualTo("reportingTx");
		HttpResponse<String> unknown = setState("moved", "paused", "otherTx");
		assertThat(unknown.statusCode()).isEqualTo(400);
		assertThat(unknown.body()).contains("'otherTx'", "mainTx, reportingTx");
	}

	@Test
	void pageNamesTheDatabaseOfEachJob() {
		assertThat(page("")).contains("postgres of mainTx and reporting of reportingTx");
		String jobs = page("?view=jobs");
		assertThat(row(jobs, "shop/main")).contains("<span>shop (mainTx)</span>").contains("data-manager=\"mainTx\"");
		assertThat(row(jobs, "shop/report")).contains("<span>shop (reportingTx)</span>")
			.contains("data-manager=\"reportingTx\"");
	}

	@Test
	void linkToAJobNamesItsDatabase() {
		Matcher address = Pattern.compile("href=\"([^\"]+)\"").matcher(row(page("?view=jobs"), "shop/report"));
		assertThat(address.find()).isTrue();
		String query = address.group(1).replace("&amp;", "&");
		assertThat(query).contains("manager=reportingTx");
		assertThat(page(query)).contains("<div id=\"job\" data-key=\"shop/report\"", "data-manager=\"reportingTx\"");
		assertThat(page(query.replace("reportingTx", "mainTx"))).contains("There is no such job");
		assertThat(page(query.replace("reportingTx", "nobodysTx"))).contains("There is no such job");
	}

	private static String page(String query) {
		return application.get("actuator/advisorylockspage" + query).body();
	}

	private static String row(String page, String key) {
		int begin = page.indexOf("<tr data-key=\"" + key + "\"");
		assertThat(begin).isPositive();
		return page.substring(begin, page.indexOf("</tr>", begin));
	}

	private static EndpointAnswer one(String key) {
		return EndpointAnswer.of(application.get(EndpointAnswer.ALL + "/" + key));
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
		void main() {
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
